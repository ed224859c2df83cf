"""Members of a type in a .NET assembly, read from its metadata when they are asked for.

The files come from strangers: they are read in a process of its own, which is ended after `SECONDS`. Numbers of tables,
flags and element types are those of ECMA-335, part II (22 and 23).
"""

from __future__ import annotations

import mmap
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cm_tui.counts import count
from cm_tui.errors import NotFoundError
from cm_tui.model import Page, Symbol
from cm_tui.worker_process import Worker, serve

SECONDS = 20.0
_FILE_BYTES = 64_000_000
_TYPES, _MEMBERS, _DEPTH = 50, 2000, 20
_START = "import cm_tui.engine.code.graph.assembly_members as members; members.main()"

_PRIMITIVES = {
    0x01: "void", 0x02: "bool", 0x03: "char", 0x04: "sbyte", 0x05: "byte", 0x06: "short", 0x07: "ushort", 0x08: "int",
    0x09: "uint", 0x0A: "long", 0x0B: "ulong", 0x0C: "float", 0x0D: "double", 0x0E: "string", 0x16: "TypedReference",
    0x18: "nint", 0x19: "nuint", 0x1C: "object",
}  # fmt: skip
_AROUND = {0x0F: "{}*", 0x10: "ref {}", 0x1D: "{}[]", 0x41: "{}", 0x45: "{}"}
_ACCESS = {4: "protected", 5: "protected internal", 6: "public"}
"""By the low bits of the flags of methods and fields; others cannot be used from outside."""
_ACCESSORS = ("get", "set", "add", "remove")
_VISIBLE = {1: "public", 2: "public", 4: "protected", 7: "protected internal"}
"""By the low bits of the flags of types."""
_ENDED = "The assemblies could not be read: the process that reads them ended."


def members_of(name: str, assemblies: Sequence[Path]) -> Page[Symbol]:
    """Return a type and the members of it that code outside its assembly can use.

    `name`: of the type, or an ending of its qualified name; without type parameters. Several types of that name are
    returned without members. Paths are those of the assemblies, which have no lines. Raises NotFoundError if no
    assembly has such a type, or they could not be read in time.
    """
    worker = Worker(_START)
    timer = threading.Timer(SECONDS, worker.stop)
    timer.start()
    try:
        types, unread = worker.exchange((name, [str(path) for path in assemblies]))
    except OSError as error:
        raise NotFoundError(_ENDED, hint="One of them may be damaged: `dotnet restore --force`.") from error
    finally:
        timer.cancel()
        worker.stop()
    note = f"could not be read: {', '.join(unread[:3])}" if unread else ""
    if not types:
        where = count(len(assemblies), "referenced assembly", "referenced assemblies")
        hint = f"Some {note}." if note else "`cm definitions` finds types of the project itself."
        raise NotFoundError(f"No type {name!r} in {where}.", hint=hint)
    if len(types) > 1:
        rows = tuple(rows[0] for rows in types)
        return Page(rows, len(rows), "several types have this name: give the qualified name")
    return Page(tuple(types[0]), len(types[0]), f"in {types[0][0].path}{f'; {note}' if note else ''}")


def main() -> None:
    """Answer one question after the other."""
    serve(lambda question: _read(*question))


def _read(name: str, paths: Sequence[str]) -> tuple[list[list[Symbol]], list[str]]:
    """Return the types of that name, each with its members, and the assemblies that are damaged or too large."""
    given = re.search(r"<(.*)>$|`(\d+)$", name)
    parameters = None if given is None else int(given[2]) if given[2] else given[1].count(",") + 1
    wanted = re.sub(r"<.*>|`\d+", "", name).replace("+", ".").replace("::", ".").strip(". ")
    found: dict[tuple[str, int], list[Symbol]] = {}
    unread: list[str] = []
    for path in paths if wanted else ():
        try:
            if _mentions(path, wanted.rpartition(".")[2]):
                for number, rows in _Assembly(path).types(wanted):
                    found.setdefault((rows[0].qualname, number), rows)
        except Exception:  # noqa: BLE001 - whatever a damaged file leads the library to raise
            unread.append(Path(path).name)
        if len(found) >= _TYPES:
            break
    exact = {key: rows for key, rows in found.items() if key[0] == wanted} or found
    # `Task` and `Task<T>` have one name: without type parameters the plainest is meant.
    fewest = {name: min(number for other, number in exact if other == name) for name, _ in exact}
    return [
        rows for (name, number), rows in exact.items() if number == (fewest[name] if parameters is None else parameters)
    ], unread


def _mentions(path: str, name: str) -> bool:
    """Return whether a file has this name among its strings, which costs less than reading its tables."""
    with Path(path).open("rb") as file:
        size = file.seek(0, 2)
        if size > _FILE_BYTES:
            raise ValueError("too large")
        if not size:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return re.search(re.escape(name.encode()) + rb"[\0`]", data) is not None


class _Assembly:
    """The tables of one file. Rows are counted from 1 in them, 0 is none."""

    def __init__(self, path: str) -> None:
        import dnfile  # in the process that reads: it takes 40 ms to import

        self._path = path
        # The library has no types; the file is closed with the process.
        library: Any = dnfile
        self._tables = library.dnPE(path, clr_lazy_load=True).net.mdtables
        rows = [row.struct for row in self._rows("NestedClass")]
        self._outer = {row.NestedClass_Index: row.EnclosingClass_Index for row in rows}

    def types(self, wanted: str) -> Iterator[tuple[int, list[Symbol]]]:
        """Yield the types of a name or an ending of a qualified name: the number of type parameters, type and members."""
        last = wanted.rpartition(".")[2]
        for number in range(1, len(self._tables.TypeDef.rows) + 1):
            row = self._tables.TypeDef.rows[number - 1]
            if _bare(row.TypeName) == last and row.struct.Flags & 7 in _VISIBLE:
                qualname = self._qualname(number)
                if qualname == wanted or qualname.endswith(f".{wanted}"):
                    rows = [
                        self._type(number, qualname),
                        *self._fields(number, qualname),
                        *self._methods(number, qualname),
                    ]
                    docs = _documentation(self._path, qualname)
                    yield _count(row.TypeName), [replace(one, doc=docs.get(_last(one), "")) for one in rows]

    def _qualname(self, number: int) -> str:
        row = self._tables.TypeDef.rows[number - 1]
        name = _bare(row.TypeName)
        outer = self._outer.get(number, 0)
        # An outer type has a lower number; a damaged file could name itself.
        if 0 < outer < number:
            return f"{self._qualname(outer)}.{name}"
        return f"{row.TypeNamespace}.{name}" if str(row.TypeNamespace) else name

    def _type(self, number: int, qualname: str) -> Symbol:
        struct = self._tables.TypeDef.rows[number - 1].struct
        base = self.type_name(struct.Extends_CodedIndex, ())
        flags = struct.Flags
        kind = {"Enum": "enum", "ValueType": "struct", "MulticastDelegate": "delegate"}.get(base, "class")
        kind = "interface" if flags & 0x20 else kind
        words = [_VISIBLE[flags & 7]]
        if kind == "class":
            words += {0x80: ["abstract"], 0x100: ["sealed"], 0x180: ["static"]}.get(flags & 0x180, [])
        own = self._parameters(number << 1)
        heading = f"{qualname}<{', '.join(own)}>" if own else qualname
        over = f" : {base}" if kind == "class" and base not in {"", "object", "Object"} else ""
        return self._symbol(
            qualname, kind if kind != "delegate" else "type", f"{' '.join(words)} {kind} {heading}{over}", None
        )

    def _fields(self, number: int, qualname: str) -> Iterator[Symbol]:
        types = self._parameters(number << 1)
        for at in self._run("TypeDef", number, "FieldList_Index", "Field"):
            row = self._tables.Field.rows[at]
            flags = row.struct.Flags
            if flags & 7 in _ACCESS and not flags & 0x200:
                kept = "const " if flags & 0x40 else "static " if flags & 0x10 else ""
                text = f"{_ACCESS[flags & 7]} {kept}{_Signature(self, _blob(row), types).field()} {row.Name}"
                yield self._symbol(f"{qualname}.{row.Name}", "constant" if flags & 0x40 else "field", text, qualname)

    def _methods(self, number: int, qualname: str) -> list[Symbol]:
        """Return constructors, methods, properties and events in the order of the file; accessors are joined."""
        types = self._parameters(number << 1)
        found: dict[str, Symbol] = {}
        for at in self._run("TypeDef", number, "MethodList_Index", "MethodDef"):
            row = self._tables.MethodDef.rows[at]
            if row.struct.Flags & 7 in _ACCESS:
                symbol = self._method(at, row, types, qualname)
                head, _, accessor = symbol.signature.partition(" { ")
                before = found.get(head)
                if before is not None and accessor:
                    symbol = replace(before, signature=f"{before.signature[:-2]} {accessor}")
                found[head] = symbol
        return list(found.values())

    def _method(self, at: int, row: Any, types: Sequence[str], qualname: str) -> Symbol:
        generic = self._parameters(at + 1 << 1 | 1)
        result, arguments = _Signature(self, _blob(row), types, generic).method()
        names = self._argument_names(at, len(arguments))
        given = [f"{of} {name}" for of, name in zip(arguments, names, strict=True)]
        words, name = _method_words(row.struct.Flags), str(row.Name)
        if name == ".ctor":
            own = qualname.rpartition(".")[2]
            return self._symbol(f"{qualname}.{own}", "constructor", f"{words} {own}({', '.join(given)})", qualname)
        accessor, _, rest = name.partition("_")
        if row.struct.Flags & 0x800 and rest and accessor in _ACCESSORS:
            value = result if accessor == "get" else arguments[-1] if arguments else result
            index = given if accessor == "get" else given[:-1]
            event = "event " if accessor in {"add", "remove"} else ""
            shown = f"this[{', '.join(index)}]" if index else rest
            text = f"{words} {event}{value} {shown} {{ {accessor}; }}"
            return self._symbol(f"{qualname}.{rest}", "property", text, qualname)
        shown = f"{name}<{', '.join(generic)}>" if generic else name
        return self._symbol(f"{qualname}.{name}", "method", f"{words} {result} {shown}({', '.join(given)})", qualname)

    def _symbol(self, qualname: str, kind: str, signature: str, parent: str | None) -> Symbol:
        name = qualname.rpartition(".")[2]
        return Symbol(self._path, qualname, name, kind, "csharp", signature, "", 0, 0, parent=parent)

    def _argument_names(self, at: int, count: int) -> list[str]:
        """Return the names of a method's arguments; numbers for those without a name."""
        names = [f"arg{n + 1}" for n in range(count)]
        for index in self._run("MethodDef", at + 1, "ParamList_Index", "Param"):
            row = self._tables.Param.rows[index]
            if 0 < row.struct.Sequence <= count and str(row.Name):
                names[row.struct.Sequence - 1] = str(row.Name)
        return names

    def _run(self, table: str, number: int, column: str, target: str) -> range:
        """Return the rows (from 0) of another table that belong to a row: up to those of the next row."""
        rows, count = self._rows(table), len(self._rows(target))
        first = getattr(rows[number - 1].struct, column)
        after = getattr(rows[number].struct, column) if number < len(rows) else count + 1
        return range(max(first - 1, 0), min(after - 1, count, first - 1 + _MEMBERS))

    def _parameters(self, owner: int) -> list[str]:
        """Return the names of the type parameters of a type or method, given as a coded index (22.20)."""
        return self._generic.get(owner, [])

    @cached_property
    def _generic(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for row in self._rows("GenericParam"):
            found.setdefault(row.struct.Owner_CodedIndex, []).append(str(row.Name))
        return found

    def _rows(self, table: str) -> Sequence[Any]:
        found = getattr(self._tables, table)
        return found.rows if found else ()

    def type_name(self, token: int, types: Sequence[str], depth: int = 0) -> str:
        """Return the name of a type by a coded index of TypeDef, TypeRef or TypeSpec (23.2.8)."""
        number, table = token >> 2, ("TypeDef", "TypeRef", "TypeSpec")[token & 3]
        if not number:
            return ""
        row = getattr(self._tables, table).rows[number - 1]
        return _Signature(self, _blob(row), types, depth=depth).type() if table == "TypeSpec" else _bare(row.TypeName)


def _method_words(flags: int) -> str:
    """Return the words before a method that its flags stand for."""
    words = _ACCESS[flags & 7]
    if flags & 0x10:
        return f"{words} static"
    if not flags & 0x40 or flags & 0x20:
        return words
    return words + (" abstract" if flags & 0x400 else " virtual" if flags & 0x100 else " override")


def _count(name: object) -> int:
    """Return the number of type parameters that is part of a type's name."""
    count = str(name).partition("`")[2]
    return int(count) if count.isdecimal() and len(count) < 4 else 0


def _last(symbol: Symbol) -> str:
    """Return what the documentation calls a member of a type; empty: the type itself."""
    return "#ctor" if symbol.kind == "constructor" else symbol.name if symbol.parent else ""


def _documentation(path: str, qualname: str) -> dict[str, str]:
    """Return the summaries of a type and its members from the documentation file beside an assembly, if there is one."""
    with suppress(OSError):
        file = Path(path).with_suffix(".xml")
        if file.stat().st_size <= _FILE_BYTES:
            text = file.read_text("utf-8", "replace")
            pattern = (
                rf'<member name="[TMPFE]:{re.escape(qualname)}(?:`+\d+)?(?:\.([\w#]+))?[^">]*">\s*<summary>([^<]*)'
            )
            return {name or "": " ".join(summary.split()) for name, summary in reversed(re.findall(pattern, text))}
    return {}


def _bare(name: object) -> str:
    """Return the name of a type without the number of its parameters."""
    return str(name).partition("`")[0]


def _blob(row: Any) -> bytes:
    return bytes(row.Signature.value)


class _Signature:
    """Reader of one signature (23.2), with the names of the type parameters in force."""

    def __init__(
        self, assembly: _Assembly, data: bytes, types: Sequence[str], methods: Sequence[str] = (), depth: int = 0
    ) -> None:
        if depth > _DEPTH:
            raise ValueError("nested too deeply")
        self._assembly, self._data, self._at, self._depth = assembly, data, 0, depth
        self._types, self._methods = types, methods

    def field(self) -> str:
        """Return the type of a field."""
        self._at += 1
        return self.type()

    def method(self) -> tuple[str, list[str]]:
        """Return the types of a method's result and arguments."""
        if self._number() & 0x10:
            self._number()
        count = self._number()
        result = self.type()
        return result, [self.type() for _ in range(min(count, _MEMBERS))]

    def type(self) -> str:
        """Return the type that begins here, as C# writes it."""
        self._depth += 1
        if self._depth > _DEPTH:
            raise ValueError("nested too deeply")
        try:
            return self._type(self._number())
        finally:
            self._depth -= 1

    def _type(self, kind: int) -> str:
        if kind in _AROUND:
            return _AROUND[kind].format(self.type())
        if kind in {0x1F, 0x20}:  # a modifier, of which C# shows nothing
            self._number()
            return self.type()
        if kind in {0x11, 0x12}:
            return self._assembly.type_name(self._number(), self._types, self._depth)
        if kind in {0x13, 0x1E}:
            names, number = self._types if kind == 0x13 else self._methods, self._number()
            return names[number] if number < len(names) else f"T{number}"
        of_several = {0x14: self._array, 0x15: self._instance, 0x1B: self._pointer}
        return of_several[kind]() if kind in of_several else _PRIMITIVES[kind]

    def _instance(self) -> str:
        name = self.type()
        inner = [self.type() for _ in range(min(self._number(), _DEPTH))]
        return f"{inner[0]}?" if name == "Nullable" else f"{name}<{', '.join(inner)}>"

    def _pointer(self) -> str:
        result, arguments = self.method()
        return f"delegate*<{', '.join([*arguments, result])}>"

    def _array(self) -> str:
        element, rank = self.type(), self._number()
        for _ in range(2):
            for _ in range(min(self._number(), _DEPTH)):
                self._number()
        return f"{element}[{',' * (min(rank, _DEPTH) - 1)}]"

    def _number(self) -> int:
        """Return the compressed number that begins here (23.2)."""
        first = self._data[self._at]
        length = 1 if first < 0x80 else 2 if first < 0xC0 else 4
        value = int.from_bytes(self._data[self._at : self._at + length], "big")
        self._at += length
        return value & {1: 0x7F, 2: 0x3FFF, 4: 0x1FFFFFFF}[length]
