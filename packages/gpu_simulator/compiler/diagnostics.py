"""Turns the messages of NVRTC and ptxas into diagnostics at the lines that the learner wrote.

NVRTC names the learner's lines itself, because the source contains `#line` directives. ptxas names lines of the PTX;
they are mapped back through the `.loc` directives above them.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gpu_simulator.compiler.refused_forms import about_cuda_form, about_gnu_form, about_instance
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.data_sheets import GPUS


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler. `line` is 1-based in `file`; 0 if the compiler named none.

    `text` is the source line, `caret` the 0-based column in it that the message is about, or None.
    """

    file: str
    line: int
    severity: str
    message: str
    text: str = ""
    caret: int | None = None

    @property
    def where(self) -> str:
        """The file with the line, if there is one."""
        return f"{self.file}, line {self.line}" if self.line else self.file

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.severity}: {self.message}"]
        if self.text:
            lines.append(f"    {self.text}")
            if self.caret is not None:
                lines.append("    " + " " * self.caret + "^")
        return "\n".join(lines)


class CompileError(SimulatorError):
    """The source does not compile. `diagnostics` lists why, those in the learner's own files first.

    left_out: headers that were not found. They are named first if a name is unknown, because that is then the cause.
    """

    def __init__(self, name: str, diagnostics: list[Diagnostic], left_out: Sequence[str] = ()):
        self.name, self.diagnostics, self.left_out = name, diagnostics, left_out
        super().__init__("\n".join([f"{name} does not compile.", *map(str, self._parts())]))

    def _parts(self) -> list[Diagnostic | str]:
        """The diagnostics, and the sentence about headers that were left out if there are any."""
        if not self.left_out:
            return [*self.diagnostics]
        none = "There are no such headers" if self.left_out[1:] else "There is no such header"
        told = (
            f"Left out: {', '.join(self.left_out)}. {none} here; if the kernel needs one, name its folder as an "
            "include folder."
        )
        caused = any(_UNKNOWN.search(d.message) for d in self.diagnostics)
        return [told, *self.diagnostics] if caused else [*self.diagnostics, told]

    def _repr_html_(self) -> str:
        rows = []
        for d in self._parts():
            if isinstance(d, str):
                rows.append(f'<div style="margin:4px 0">{html.escape(d)}</div>')
                continue
            colour = "#dc3b30" if d.severity == "error" else "#a06c00"  # legible on light and dark pages
            code = f"{html.escape(d.text)}"
            if d.caret is not None:
                code += "\n" + " " * d.caret + "^"
            rows.append(
                f'<div style="margin:4px 0"><b>{html.escape(d.where)}</b>: '
                f'<span style="color:{colour}">{html.escape(d.message)}</span>'
                + (f'<pre style="margin:2px 0 2px 12px">{code}</pre>' if d.text else "")
                + "</div>"
            )
        return (
            '<div style="border-left:4px solid #dc3b30;padding:4px 10px">'
            f"<b>✗ {html.escape(self.name)} does not compile.</b>{''.join(rows)}</div>"
        )


_NVRTC = re.compile(
    r"^(?P<file>[^\n(]+)\((?P<line>\d+)\): (?P<catastrophic>catastrophic )?(?P<severity>error|warning)"
    r"(?: #[\w-]+)?: (?P<message>[^\n]*)$"
)
_UNKNOWN = re.compile(
    r"is undefined|^this declaration has no|^name followed by|has no member|^incomplete type|not a \w*type"
    r"|undeclared identifier|^unknown type name|^no (?:member|type|template) named|does not have '"
)
_NAMES = "__nv_name_map"  # where NVRTC reads the names of instances of templates
_END = re.compile(r"^At end of source: (?P<severity>error|warning)(?: #[\w-]+)?: (?P<message>.*)$")
_MISSING = re.compile(r'cannot open source file "[\w/.]+"$')
_PTXAS = re.compile(r"^ptxas .*?, line (?P<line>\d+); (?P<severity>\w+)\s*: (?P<message>.*)$")
_PTXAS_BARE = re.compile(r"^ptxas (?P<severity>error|fatal|warning)\s*: (?P<message>.*)$")
# Info messages about lost speed: setmaxnreg is ignored, or each wgmma waits for the one before.
_PTXAS_LOSS = re.compile(r"^ptxas info\s*: (?P<message>\(C\d+\) Potential Performance Loss: .*)$")
_INTERNAL = re.compile(r"Internal Compiler Error(?: \(\w+\))?:? *\"?(?P<reason>[^\"\n]*)", re.I)
_TOO_FEW_OPERANDS = "asm operand index requested is larger"
_VARIABLE = re.compile(r"Parsing error near '\['|Unknown symbol '[A-Za-z_]")
_NEAR = re.compile(r"Parsing error near '(?P<word>[^']+)'")
_ABOVE = re.compile(r"requires \.target sm_\d+\w* or higher")


def parse_nvrtc(log: str, files: Mapping[str, str], own: tuple[str, ...]) -> list[Diagnostic]:
    """The diagnostics in an NVRTC log, each with its source line: errors first, and first those in the files of `own`.

    files: file name -> text, as for `source_line`.
    """
    found, lines = [], log.split("\n")
    for index, line in enumerate(lines):
        match = _NVRTC.match(line)
        if not match:
            if end := _END.match(line):
                found.append(Diagnostic("end of the file", 0, end["severity"], end["message"]))
            continue
        message, cursor = match["message"], index + 1
        while cursor < len(lines) and lines[cursor].startswith("          ") and "^" not in lines[cursor]:
            message += " " + lines[cursor].strip()
            cursor += 1
        file, number = short_name(match["file"]), int(match["line"])
        text, caret = source_line(files, file, number), None
        for position in (cursor + 1, cursor):
            shown = lines[position] if position < len(lines) else ""
            if shown.strip() == "^" and text:
                quoted = lines[position - 1]
                caret = shown.index("^") - (len(quoted) - len(quoted.lstrip()))
                break
        if file == _NAMES:
            if not message.startswith("Error in parsing"):
                found.append(
                    Diagnostic(
                        "the kernel's name", 0, match["severity"], about_instance(message, files.get(own[-1], ""))
                    )
                )
            continue
        told = about_gnu_form(message, text, caret, files) or about_cuda_form(message)
        told = f"{message}: {told}" if told else explained(message, text, caret)
        note = Diagnostic(file, number, match["severity"], told, *cropped(text, caret))
        if note.message == message or not any(
            note.message == other.message and note.where == other.where for other in found
        ):
            found.append(note)
    found.sort(key=lambda d: (d.severity != "error", d.file not in own))
    return found


def naming_host_code(diagnostics: list[Diagnostic], host: Mapping[str, str]) -> list[Diagnostic]:
    """The diagnostics; one about a name that was left out as host code says where it stood (`DeviceCode.host`)."""
    found = []
    for d in diagnostics:
        at = re.match(r"\w+", d.text[d.caret :]) if d.caret is not None else None
        names = [
            *re.findall(r"['\"](?:\w+::)*(\w+)['\"]", d.message),
            *([at[0]] if at and _UNKNOWN.search(d.message) else []),
        ]
        told = next((host[name] for name in names if name in host), "")
        found.append(replace(d, message=f"{d.message}; {told}") if told else d)
    return found


def explained(message: str, text: str, caret: int | None) -> str:
    """The compiler's message, with the reason added where the message alone does not say what is wrong."""
    if message == "unrecognized token":
        at = text[caret : caret + 1] if caret is not None else ""
        strange = at if at and not " " <= at <= "~" else next((c for c in text if not " " <= c <= "~"), "")
        if strange:
            told = unicodedata.name(strange, "a control character")
            sign = f"“{strange}” " if strange.isprintable() and not strange.isspace() else ""
            return f"{message}: {sign}U+{ord(strange):04X}, {told}, may stand in comments and strings only"
    if internal := _INTERNAL.search(message):
        return in_the_compiler(internal["reason"])
    if _MISSING.search(message):
        return f"{message}; there are the headers of CUDA, and none of the C and C++ libraries (printf needs no header)"
    return message


def in_the_compiler(reason: str) -> str:
    """A sentence in place of the message with which the compiler reports an internal error. reason: what it says."""
    if _TOO_FEW_OPERANDS in reason:
        return (
            "the text of this asm names an operand that it does not have. Behind the text, count the operands from %0 "
            "on, first those that are written, then those that are only read, and name none beyond the last"
        )
    told = f", and says only “{reason.strip().rstrip('!.')}”" if reason.strip() else ""
    return (
        f"the compiler stopped with an error of its own at this source{told}. Something in the source is not valid, or "
        "the compiler has a defect: undo the last change, or write it differently"
    )


def unreadable(log: str) -> str:
    """What a log says that holds no diagnostics: a sentence for an internal error of the compiler, else the log."""
    internal = _INTERNAL.search(log)
    return in_the_compiler(internal["reason"]) if internal else log.strip() or "NVRTC gave no reason"


def cropped(text: str, caret: int | None, most: int = 240) -> tuple[str, int | None]:
    """A line of source and its caret. A line longer than `most` characters is cut to the part around the caret."""
    if len(text) <= most:
        return text, caret
    start = max(min((caret or 0) - most // 2, len(text) - most), 0)
    before, after = "…" if start else "", "…" if start + most < len(text) else ""
    return (before + text[start : start + most] + after, None if caret is None else caret - start + len(before))


def parse_ptxas(log: str, ptx: str, files: Mapping[str, str], arch: str) -> list[Diagnostic]:
    """The diagnostics in a ptxas log; each line of the PTX is mapped to the source line that it came from.

    arch: the architecture for which the kernel is compiled.
    """
    found, seen = [], set()
    for line in log.split("\n"):
        match = _PTXAS.match(line)
        if match:
            number = int(match["line"])
            file, source = ptx_line_origin(ptx, number)
            shown = ptx.split("\n")[number - 1].strip() if 0 < number <= ptx.count("\n") + 1 else ""
            if (file, source, match["message"]) in seen:
                continue  # an unrolled loop repeats the same message
            seen.add((file, source, match["message"]))
            if shown.startswith(
                "//"
            ):  # a number that ptxas counts from elsewhere, behind an error that it cannot parse
                continue
            message = f"ptxas refuses the PTX “{shown}”: {match['message']}" + _too_low(match["message"], arch)
            told = about_cuda_form(message)
            message += f". {told[0].upper()}{told[1:]}" if told else _about_asm(match["message"], shown)
            found.append(Diagnostic(file, source, "error", message, *cropped(source_line(files, file, source), None)))
            continue
        match = _PTXAS_BARE.match(line)
        if match and "aborted" not in match["message"]:
            severity = "warning" if match["severity"] == "warning" else "error"
            message = re.sub(r"\b0x[0-9a-f]+\b", lambda number: f"{int(number[0], 16):,}", match["message"])
            name = re.search(r"Unresolved extern \w+ '([\w$]+)'", message)
            at = ptx.find(name[1], ptx.find("// callseq")) if name else -1
            file, source = ptx_line_origin(ptx, ptx.count("\n", 0, at) + 1) if at >= 0 else ("ptxas", 0)
            text = source_line(files, file, source)
            found.append(Diagnostic(file, source, severity, about_cuda_form(message) or message, *cropped(text, None)))
    return found


def _about_asm(message: str, shown: str) -> str:
    """A sentence about a usual mistake in the text of an asm statement, to follow a message of ptxas; "" without one.

    shown: the line of PTX that the message is about.
    """
    if _VARIABLE.search(message):
        return ". The text of asm knows no variables of C++: write %0, %1 … in their place"
    near = _NEAR.search(message)
    if near and shown.startswith(near["word"]):
        return ". Every instruction in the text of asm ends with a semicolon; the one before this has none"
    return ""


def _too_low(message: str, arch: str) -> str:
    """A sentence that names the architecture, to follow a message that requires a higher one; "" for other messages.

    The learner may not have chosen the architecture.
    """
    if not _ABOVE.search(message):
        return ""
    names = ", ".join(gpu.name for gpu in GPUS.values() if gpu.arch == arch)
    return f". This kernel is compiled for {arch}{f' ({names})' if names else ''} here."


def ptxas_warnings(log: str) -> list[Diagnostic]:
    """The warnings in the log of a successful ptxas run, and its messages on lost performance."""
    found = (_PTXAS_LOSS.match(line) or _PTXAS_BARE.match(line) for line in log.split("\n"))
    return [Diagnostic("ptxas", 0, "warning", told) for told in dict.fromkeys(m["message"] for m in found if m)]


_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.M)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+\d+(.*)$")
_INLINED = re.compile(r"inlined_at\s+(\d+)\s+(\d+)")


def ptx_files(ptx: str) -> dict[int, str]:
    """The `.file` table of a PTX module: number -> short file name."""
    return {int(index): short_name(name) for index, name in _FILE.findall(ptx)}


def ptx_line_origin(ptx: str, line: int) -> tuple[str, int]:
    """(file, line) of the source that PTX line `line` (1-based) came from.

    Code of a wrapper in a header is assigned to the outermost call in the learner's file; if a frame of the inline
    chain lies in the learner's cell, to that frame. Without a `.loc` above the line: ("PTX", line).
    """
    table = ptx_files(ptx)
    for text in reversed(ptx.split("\n")[:line]):
        match = _LOC.match(text)
        if match:
            frames = [(match[1], match[2]), *_INLINED.findall(match[3])]
            own = [frame for frame in frames if table.get(int(frame[0])) == "cell"]
            index, number = (own or frames)[-1]
            return table.get(int(index), "PTX"), int(number)
    return "PTX", line


def short_name(path: str) -> str:
    """A file's name as the learner knows it, without folders; headers keep theirs (`ptx/ldmatrix.cuh`)."""
    path = path.replace("\\", "/")
    for folder in ("/ptx/", "/tile/"):
        if folder in path:
            return folder[1:] + path.rsplit(folder, 1)[1]
    return path.rsplit("/", 1)[-1]


def source_line(files: Mapping[str, str], file: str, line: int) -> str:
    """Text of a 1-based line of one of `files`, without leading and trailing blanks; "" if it is not known."""
    lines = files.get(file, "").split("\n")
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
