"""Sphinx's configuration of the site. Nothing that a page loads comes from another host."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from html import escape
from typing import Any

from docutils import nodes
from pygments.lexer import Lexer  # type: ignore[import-untyped]
from pygments.lexers import CppLexer, get_lexer_by_name  # type: ignore[import-untyped]
from pygments.token import Comment  # type: ignore[import-untyped]

project = "gemm_lab"
author = "The gemm_lab authors"
copyright = f"{author}. MIT licence"
language = "en"
html_title = "gemm_lab"
FIRST_TITLE = "gemm_lab: how a matrix multiplication becomes fast on NVIDIA GPUs"  # of the start page
LAB = "lite/lab/index.html?path=notebooks/00_start_here.ipynb"
CARD = "_static/share_card.png"  # drawn by tools/site/card.py
LONGEST = 155  # characters of a description that search engines show

extensions = ["myst_nb"]
root_doc = "index"
exclude_patterns = ["_static"]

# ---- Notebooks and Markdown ----

nb_execution_mode = "off"
nb_ipywidgets_js: dict = {}  # the widgets are drawn by _static/widgets.js
nb_merge_streams = True
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
nb_mime_priority_overrides = [("html", "text/html", 0), ("html", "image/png", 5), ("html", "text/plain", 20)]
myst_heading_anchors = 6
# What only MyST gives a meaning, and Jupyter and GitHub show as it is.
myst_disable_syntax = ["myst_line_comment", "myst_block_break", "myst_role", "myst_target"]
# Notebooks go from a title to a section of the third level here and there, and some code has a … for what is left out.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

# ---- The pages ----

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["look.css", "cards.css", "site.css"]
html_js_files = [(f"{name}.js", {"type": "module"}) for name in ("widgets", "scrolling", "narrow")]
html_favicon = "_static/icon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would show what is folded, such as answers
html_use_index = False
html_domain_indices = False
html_theme_options: dict = {"top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


class NotebookLexer(Lexer):
    """Colours of a cell: those of C++ behind a line with `%%kernel`, and those of IPython otherwise."""

    name = "Cells of this lab"

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        first = re.match(r"%%kernel[^\n]*\n", text)
        if not first:
            yield from get_lexer_by_name("ipython3").get_tokens_unprocessed(text)
            return
        yield 0, Comment.Preproc, first[0]
        for index, kind, value in CppLexer().get_tokens_unprocessed(text[first.end() :]):
            yield first.end() + index, kind, value


def give_captions_a_level(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Say at which level the captions of the sidebar are headings, which Sphinx leaves out and ARIA requires."""
    tree = context.get("furo_navigation_tree", "")
    tree = tree.replace('role="heading">', 'role="heading" aria-level="2">')
    context["furo_navigation_tree"] = (_in_browser(context["pathto"]) if app.config.lab_live else "") + tree


def _in_browser(pathto: Any) -> str:
    """The links of the sidebar to what runs in the browser, as entries of a tree."""
    places = {"live/index.html": "Run a kernel here", LAB: "All notebooks, in the browser"}
    entry = '<li class="toctree-l1"><a class="reference internal" href="{}">{}</a></li>'
    return f"<ul>{''.join(entry.format(pathto(place, 1), words) for place, words in places.items())}</ul>"


def describe(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give a page a description, and what others show of it where its address is shared: title, words, a picture."""
    texts = (" ".join(node.astext().split()) for node in (doctree.findall(nodes.paragraph) if doctree else ()))
    words = textwrap.shorten(next((text for text in texts if len(text) > 60), html_title), LONGEST, placeholder=" …")
    title = FIRST_TITLE if page == root_doc else re.sub(r"<[^>]*>", "", context.get("title", html_title))
    tags = {"og:type": "website", "og:site_name": html_title, "og:title": title, "og:description": words}
    if app.config.html_baseurl:  # the address of a picture has to be a whole one
        tags |= {"og:image": app.config.html_baseurl + CARD, "twitter:card": "summary_large_image"}
    lines = [f'<meta name="description" content="{escape(words)}">']
    lines += [f'<meta property="{name}" content="{escape(value)}">' for name, value in tags.items()]
    context["metatags"] = context.get("metatags", "") + "\n    ".join(lines)


def setup(app: Any) -> None:
    """Know the lexer by the name that `tools.site.pages` gives the cells of a notebook, and complete each page.

    lab_live: whether the site has the live page and JupyterLite.
    """
    app.add_lexer("lab_cell", NotebookLexer)
    app.add_config_value("lab_live", False, "html", bool)
    app.connect("html-page-context", describe)
    app.connect("html-page-context", give_captions_a_level, priority=900)  # after furo has made the sidebar
