"""Reads types and values from the text of LLVM IR, token by token."""

from __future__ import annotations

import re
from collections.abc import Mapping

from llvm_ir_to_ptx.reading.types import (
    FLOAT_BITS,
    Array,
    Float,
    Integer,
    Pointer,
    Struct,
    Type,
    Vector,
    Void,
)
from llvm_ir_to_ptx.reading.values import (
    Aggregate,
    Binary,
    Conversion,
    Element,
    Global,
    Local,
    Number,
    Typed,
    Value,
    Zero,
    float_bits,
)
from llvm_ir_to_ptx.unsupported import UnsupportedIR, shortened

_TOKEN = re.compile(
    r"""\s*(
    c?"(?:[^"\\]|\\.)*" |
    [%@](?:"[^"]*"|[-\w.$]+) |
    ![\w.]* |
    \#\d+ |
    0x[HKLMR]?[0-9A-Fa-f]+ |
    -?\d+(?:\.\d+(?:e[+-]?\d+)?)? |
    \.\.\. |
    [A-Za-z_][\w.]* |
    \S
    )""",
    re.X,
)
_CASTS = {"addrspacecast", "bitcast", "inttoptr", "ptrtoint", "sext", "trunc", "zext"}
_BINARY = {"add", "and", "ashr", "lshr", "mul", "or", "shl", "sub", "xor"}
_FLAGS = {"disjoint", "exact", "inbounds", "nneg", "nsw", "nusw", "nuw"}
_CLOSING = {"<": ">", "[": "]", "{": "}"}


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(re.findall(r"\w+", text))


# Words that may stand between the type of a parameter or argument and its value, or before the type of a call.
ATTRIBUTES = words(
    """
    noundef zeroext signext nonnull readonly writeonly readnone nocapture noalias nofree nounwind
    returned immarg inreg noext convergent nocallback willreturn mustprogress dead_on_unwind
    dead_on_return writable swiftself nest local_unnamed_addr unnamed_addr dso_local internal
    private linkonce_odr linkonce weak external hidden protected weak_odr ptx_kernel ptx_device
    fastcc ccc tail musttail notail contract fast nnan ninf nsz arcp afn reassoc allocptr allocalign
    swifterror
    """
)
# Those that are followed by something in parentheses.
_WITH_ARGUMENT = words(
    """
    align addrspace dereferenceable dereferenceable_or_null captures range initializes nofpclass
    memory byval sret byref elementtype preallocated inalloca alignstack
    """
)


def bare(name: str) -> str:
    """%name, @name or a label without its sign and its quotation marks."""
    return name.lstrip("%@").strip('"')


def unescaped(text: str) -> bytes:
    r"""The bytes of a string of LLVM IR, in which \0A is a byte by its two hexadecimal digits."""
    plain = re.sub(r"\\([0-9A-Fa-f]{2}|\\)", lambda m: "\\" if m[1] == "\\" else chr(int(m[1], 16)), text)
    return plain.encode("latin-1", "replace")


class Cursor:
    """A position in the tokens of a text. Each method reads on from it and raises `UnsupportedIR` for what it cannot.

    named: the named types of the module.
    """

    def __init__(self, text: str, named: Mapping[str, Type]):
        self.tokens = _TOKEN.findall(text)
        self.named, self.at, self.text = named, 0, text

    def peek(self) -> str:
        """The next token, or "" at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        """The next token, or "" at the end; it is read."""
        token = self.peek()
        self.at += 1
        return token

    def take(self, token: str) -> bool:
        """Whether the next token is this one; if so, it is read."""
        found = self.peek() == token
        self.at += found
        return found

    def need(self, token: str) -> None:
        """Read this token."""
        if not self.take(token):
            raise self.unreadable()

    def unreadable(self) -> UnsupportedIR:
        """The error for a text in which something else was expected."""
        return UnsupportedIR(f"The text “{shortened(self.text)}” at “{self.peek()}”")

    def number(self) -> int:
        """A whole number."""
        token = self.next()
        if not re.fullmatch(r"-?\d+", token):
            self.at -= 1
            raise self.unreadable()
        return int(token)

    def alignment(self) -> int:
        """The number of bytes behind the word `align`."""
        self.need("align")
        return self.number()

    # ---- Types ----

    def type(self) -> Type:
        """A type. One of the module's named types must have a body."""
        token = self.next()
        if token == "void":
            return Void()
        if re.fullmatch(r"i\d+", token):
            return Integer(int(token[1:]))
        if token in FLOAT_BITS:
            return Float(token)
        if token == "ptr":
            return Pointer(self.space())
        if token == "[":
            return Array(*self.repeated("]"))
        if token == "<" and self.take("{"):
            fields = self.types("}")
            self.need(">")
            return Struct(fields, packed=True)
        if token == "<":
            count, element = self.repeated(">")
            if not isinstance(element, (Integer, Float, Pointer)):
                raise self.unreadable()
            return Vector(count, element)
        if token == "{":
            return Struct(self.types("}"))
        if token[:1] == "%" and bare(token) in self.named:
            return self.named[bare(token)]
        self.at -= 1
        raise UnsupportedIR(f"The type {token or shortened(self.text)}")

    def space(self) -> int:
        """The number in `addrspace(3)`, or 0 where it does not stand here."""
        if not self.take("addrspace"):
            return 0
        self.need("(")
        number = self.number()
        self.need(")")
        return number

    def repeated(self, end: str) -> tuple[int, Type]:
        """The count and type of the elements of an array or vector, with the closing bracket."""
        count = self.number()
        self.need("x")
        element = self.type()
        self.need(end)
        return count, element

    def types(self, end: str) -> tuple[Type, ...]:
        """Types with commas between them, up to the closing bracket."""
        found = []
        while not self.take(end):
            found.append(self.type())
            self.take(",")
        return tuple(found)

    # ---- Values ----

    def skip_words(self, known: frozenset[str] | set[str]) -> set[str]:
        """Read those of the known words that stand here, and return them."""
        found = set()
        while self.peek() in known:
            found.add(self.next())
        return found

    def attributes(self) -> dict[str, str]:
        """Read the attributes that stand here: a dictionary of each to what stands in its parentheses, or to ""."""
        found: dict[str, str] = {}
        while True:
            token = self.peek()
            if token in ATTRIBUTES or token.startswith(('"', "#")):
                found[self.next().strip('"')] = ""
                if token.startswith('"') and self.take("="):
                    self.next()
            elif token in _WITH_ARGUMENT:
                start = self.at = self.at + 1
                if self.take("("):
                    depth = 1
                    while depth and self.peek():
                        depth += {"(": 1, ")": -1}.get(self.next(), 0)
                    found[token] = " ".join(self.tokens[start + 1 : self.at - 1])
                else:
                    found[token] = self.next()
            else:
                return found

    def typed(self) -> Typed:
        """A type, perhaps attributes, and a value of it."""
        of = self.type()
        self.attributes()
        return Typed(of, self.value(of))

    def typed_list(self, end: str) -> tuple[Typed, ...]:
        """Typed values with commas between them, up to the closing bracket."""
        found = []
        while not self.take(end):
            found.append(self.typed())
            if not self.take(",") and self.peek() != end:
                raise self.unreadable()
        return tuple(found)

    def value(self, of: Type) -> Value:
        """A value of a type that was read before it."""
        token = self.next()
        if token[:1] == "%":
            return Local(bare(token))
        if token[:1] == "@":
            return Global(bare(token))
        if token in ("undef", "poison"):
            return Zero(undefined=True)
        if token in ("zeroinitializer", "null", "none"):
            return Zero()
        if token in ("true", "false"):
            return Number(int(token == "true"))
        if token in _CLOSING:
            return Aggregate(self.typed_list(_CLOSING[token]))
        if token[:2] == 'c"':
            return Aggregate(tuple(Typed(Integer(8), Number(byte)) for byte in unescaped(token[2:-1])))
        if token == "splat" and isinstance(of, Vector):
            self.need("(")
            part = self.typed()
            self.need(")")
            return Aggregate((part,) * of.count)
        if token in _CASTS or token in _BINARY or token == "getelementptr":
            return self.expression(token)
        try:
            return Number(float_bits(token, of.kind) if isinstance(of, Float) else int(token))
        except ValueError:
            self.at -= 1
            raise self.unreadable() from None

    def expression(self, op: str) -> Value:
        """A constant expression behind its operation."""
        self.skip_words(_FLAGS)
        if self.take("inrange"):  # what the optimiser may assume of the address
            while self.next() not in (")", ""):
                pass
        self.need("(")
        if op in _CASTS:
            operand = self.typed()
            self.need("to")
            to = self.type()
            self.need(")")
            return Conversion(op, operand, to)
        if op in _BINARY:
            left = self.typed()
            self.need(",")
            right = self.typed()
            self.need(")")
            return Binary(op, left, right)
        element = self.type()
        self.need(",")
        return Element(element, self.typed_list(")"))
