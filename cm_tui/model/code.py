"""Records of code: symbols, call edges, imports and source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

SymbolKind = Literal[
    "module", "namespace", "class", "struct", "interface", "trait", "enum", "type", "function", "method", "constructor",
    "property", "field", "constant", "variable", "macro", "section",
]  # fmt: skip
"""`section` is a Markdown heading; `type` an alias."""
SYMBOL_KINDS: tuple[SymbolKind, ...] = get_args(SymbolKind)

Resolution = Literal["same-file", "scope", "import", "receiver", "unique", "ambiguous", "external", "unresolved"]
"""How a reference was tied to its definition: the tier that answered.

`same-file` is in scope and in the file of the reference, `scope` in scope without an import from another file (the same
package, namespace or project, or a base class, as the language has it);
`ambiguous` names every candidate and claims none; `external` is known to come from outside the project.
"""


@dataclass(frozen=True, slots=True)
class SymbolKey:
    """Identity of a symbol across time: never a line."""

    path: str
    qualname: str
    kind: str
    overload: int = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition as it stands in one file.

    Lines are 1-based and inclusive. `overload` numbers definitions of one qualname and kind in one file from 0.
    """

    path: str
    qualname: str
    name: str
    kind: str
    language: str
    signature: str
    doc: str
    start_line: int
    end_line: int
    overload: int = 0
    parent: str | None = None
    """Qualname of the enclosing symbol."""

    @property
    def key(self) -> SymbolKey:
        """Identity across time."""
        return SymbolKey(self.path, self.qualname, self.kind, self.overload)

    @property
    def line(self) -> int:
        """Where it starts."""
        return self.start_line


@dataclass(frozen=True, slots=True)
class Edge:
    """One call site (or other reference) between two symbols.

    For `callers`, `path` / `qualname` / `kind` are the caller's; for `callees` they are the callee's, and
    `path` is empty when the callee is not in the project. `line` is always the line of the call and `site` the
    file it stands in.
    """

    path: str
    qualname: str
    kind: str
    line: int
    site: str
    reference: str
    """Kind of the reference: call, type, inherit, decorate, inject."""
    resolution: str
    depth: int = 1
    target: str = ""
    """The other end: qualname of the symbol asked about, or of the hop before when depth > 1."""
    target_path: str = ""
    text: str = ""
    """The source line, stripped."""
    candidates: tuple[SymbolKey, ...] = ()
    """All possible definitions when the resolution is ambiguous."""
    start_line: int = 0
    """Where the symbol named by `qualname` is defined (0: outside the project or module level)."""


@dataclass(frozen=True, slots=True)
class ImportEdge:
    """One import statement's name, tied to the file it brings in where that is in the project."""

    path: str
    """The importing file."""
    line: int
    module: str
    name: str | None
    alias: str | None
    target: str | None
    """The imported file or package (`.`: that of the root folder), or None when it is outside the project."""
    reexport: bool
    resolution: str
    """`import` when tied to a file of the project, `external` otherwise."""
    qualname: str = ""
    """For the CLI contract: the imported name in full, `module.name`."""
    kind: str = "import"
    file: str | None = None
    """The file to open: the imported one, or the first of the package."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the project as the index knows it."""

    path: str
    language: str
    lines: int
    bytes: int
    symbols: int
    generated: bool
    error: str | None = None
    state: str = "head"
    """`head` (as committed), `modified`, `untracked` or `deleted`."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that the walk skipped, and the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Source:
    """Lines of a file, from the working tree or from the store when the file has vanished."""

    path: str
    start_line: int
    text: str
    language: str
    stale: bool = False
    """True when the file on disk no longer is what the index holds."""
    kept: bool = False
    """True when the text is what was indexed, as the file has gone, or a link or something unreadable is in its place."""
    source: str = "code"
    """What it is a passage of: a file's is code, all else is remembered."""
    time: int | None = None
    """When what is remembered was written: seconds since the epoch."""
