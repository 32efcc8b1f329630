"""The directives that tie the lines of PTX to those of the source: .loc, .file and the names of inlined functions."""

from __future__ import annotations

from llvm_ir_to_ptx.code import Line
from llvm_ir_to_ptx.reading.debug_lines import Frame


class SourceLines:
    """Notes the files and functions of a module that its .loc directives name."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        self.functions: dict[str, int] = {}

    def interleaved(self, lines: list[Line]) -> list[str]:
        """The texts of the lines, with a .loc before each whose position is not that of the one before."""
        texts: list[str] = []
        last: tuple[Frame, ...] = ()
        for line in lines:
            if line.is_label:
                texts.append(line.text)
                continue
            if line.frames and line.frames != last:
                texts += self.positions(line.frames)
                last = line.frames
            texts.append("\t" + line.text)
        return texts

    def positions(self, frames: tuple[Frame, ...]) -> list[str]:
        """The .loc directives of a position: those of the calls around it, outermost first, then its own."""
        found = []
        for number in range(len(frames) - 1, -1, -1):
            frame, around = frames[number], frames[number + 1 : number + 2]
            text = f"\t.loc\t{self._place(frame)}"
            for outer in around:
                name = self.functions.setdefault(frame.function, len(self.functions))
                text += f", function_name $L__info_string{name}, inlined_at {self._place(outer)}"
            found.append(text)
        return found

    def _place(self, frame: Frame) -> str:
        return f"{self.files.setdefault(frame.file, len(self.files) + 1)} {frame.line} {frame.column}"

    def tables(self) -> list[str]:
        """The .file directives, and the section with the names of the inlined functions."""
        found = [f'\t.file\t{number} "{name}"' for name, number in self.files.items()]
        if not self.functions:
            return found
        found += ["\t.section\t.debug_str", "\t{"]
        for name, number in self.functions.items():
            data = ",".join(str(byte) for byte in [*name.encode(), 0])
            found += [f"$L__info_string{number}:", f".b8 {data}"]
        return [*found, "\t}"]
