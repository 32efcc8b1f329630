"""Sphinx's configuration of the site. Nothing that a page loads comes from another host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pygments.lexer import Lexer  # type: ignore[import-untyped]
from pygments.lexers import CppLexer, get_lexer_by_name  # type: ignore[import-untyped]
from pygments.token import Comment  # type: ignore[import-untyped]

project = "gemm_lab"
author = "The gemm_lab authors"
copyright = f"{author}. MIT licence"
language = "en"
html_title = "gemm_lab"

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
html_js_files = [("widgets.js", {"type": "module"}), ("scrolling.js", {"type": "module"})]
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
    context["furo_navigation_tree"] = tree.replace('role="heading">', 'role="heading" aria-level="2">')


def setup(app: Any) -> None:
    """Know the lexer by the name that `tools.site.pages` gives the cells of a notebook, and correct the sidebar."""
    app.add_lexer("lab_cell", NotebookLexer)
    app.connect("html-page-context", give_captions_a_level, priority=900)  # after furo has made the sidebar
