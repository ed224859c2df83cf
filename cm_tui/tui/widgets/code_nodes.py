"""Nodes of the tree of folders, files and symbols, and the children of each."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from textual.content import Content

from cm_tui.model import FileEntry, Symbol

KIND_MARKS = {
    "class": "C", "struct": "S", "interface": "I", "trait": "T", "enum": "E", "type": "T", "function": "ƒ",
    "method": "m", "constructor": "m", "property": "p", "field": "p", "constant": "c", "variable": "v", "macro": "M",
    "module": "N", "namespace": "N", "section": "§",
}  # fmt: skip
KIND_STYLES = {
    "class": "$accent", "struct": "$accent", "interface": "$accent", "trait": "$accent", "enum": "$accent",
    "type": "$accent", "function": "$primary", "method": "$primary", "constructor": "$primary", "section": "$secondary",
}  # fmt: skip


def kind_mark(kind: str) -> tuple[str, str]:
    """One letter for a kind of symbol, and its style."""
    return KIND_MARKS.get(kind, "·"), KIND_STYLES.get(kind, "$success")


def highlighted(text: str, query: str) -> Content:
    """Text with the characters that a fuzzy query matched in bold: the query in one piece, else one by one."""
    content = Content(text)
    if not query:
        return content
    lowered, sought = text.lower(), query.lower()
    if len(lowered) != len(text):
        return content
    start = lowered.rfind(sought)
    if start >= 0:
        return content.stylize("bold $accent", start, start + len(sought))
    position = 0
    for character in sought:
        found = lowered.find(character, position)
        if found < 0:
            continue
        content = content.stylize("bold $accent", found, found + 1)
        position = found + 1
    return content


@dataclass
class Node:
    """A row of the tree. `path` is a folder's with a slash at the end, or a file's."""

    path: str
    depth: int
    name: str
    file: FileEntry | None = None
    symbol: Symbol | None = None
    opened: bool = False
    loading: bool = False
    inner: tuple[Symbol, ...] = field(default=(), repr=False)
    """Symbols directly within this one."""

    @property
    def folder(self) -> bool:
        """True for a folder."""
        return self.file is None and self.symbol is None

    @property
    def opens(self) -> bool:
        """True when there is something inside."""
        if self.symbol is not None:
            return bool(self.inner)
        return self.folder or bool(self.file and self.file.symbols)


class FileIndex:
    """The project's files, sorted by path: the content of any folder is found without a look at the others."""

    def __init__(self, files: Sequence[FileEntry] = ()) -> None:
        self.files = sorted(files, key=lambda entry: entry.path)
        self.paths = [entry.path for entry in self.files]

    def children(self, folder: str, depth: int) -> list[Node]:
        """Folders, then files, directly below a folder; whole sub-folders are skipped over in the sorted paths."""
        folders: list[Node] = []
        files: list[Node] = []
        index = bisect_left(self.paths, folder)
        while index < len(self.paths) and self.paths[index].startswith(folder):
            rest = self.paths[index][len(folder) :]
            name, slash, _ = rest.partition("/")
            if slash:
                path = f"{folder}{name}/"
                folders.append(Node(path, depth, name))
                # "0" is the character after "/".
                index = bisect_left(self.paths, f"{folder}{name}0", index)
            else:
                files.append(Node(self.paths[index], depth, name, file=self.files[index]))
                index += 1
        return folders + files

    def spread(self, folder: str, depth: int, opened: set[str]) -> list[Node]:
        """What is below a folder, and below those folders in it that are open."""
        rows: list[Node] = []
        for node in self.children(folder, depth):
            rows.append(node)
            if node.folder and node.path in opened:
                node.opened = True
                rows += self.spread(node.path, depth + 1, opened)
        return rows


def folders_above(path: str) -> list[str]:
    """Every folder that a file is in, the outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: index + 1]) + "/" for index in range(len(parts))]


def place_of(symbol: Symbol) -> tuple[str, str, int]:
    """What tells a symbol from all others."""
    return (symbol.path, symbol.qualname, symbol.start_line)


def nested(symbols: Sequence[Symbol]) -> dict[tuple[str, str, int] | None, tuple[Symbol, ...]]:
    """Symbols by the innermost one that they stand in, by lines; None: at the top."""
    result: dict[tuple[str, str, int] | None, list[Symbol]] = {None: []}
    stack: list[Symbol] = []
    for symbol in sorted(symbols, key=lambda s: (s.start_line, -s.end_line)):
        while stack and not (stack[-1].start_line <= symbol.start_line and symbol.end_line <= stack[-1].end_line):
            stack.pop()
        above = place_of(stack[-1]) if stack else None
        result.setdefault(above, []).append(symbol)
        stack.append(symbol)
    return {place: tuple(inner) for place, inner in result.items()}
