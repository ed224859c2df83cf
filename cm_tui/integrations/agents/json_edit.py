"""Edit JSON as text: what is not ours keeps every byte, comments and odd spacing included.

`json.loads` and `dumps` would keep the values and lose the file as its owner wrote it. Here a file is parsed into nodes
that know where they stand, and an edit replaces, inserts or removes the characters of one node.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from json import decoder
from typing import Any

from cm_tui.errors import RefusedError

Path = tuple[str | int, ...]
"""Keys and indexes from the root to a value."""

_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINE_END = re.compile(r"[ \t]*\r?\n")
_SPACE = " \t\r\n"
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class NotJsonError(RefusedError):
    """A file is not JSON; the message names line and column."""


@dataclass(slots=True)
class Node:
    """A value and where it stands; `begin` is where its key starts, when it has one."""

    begin: int
    start: int
    end: int
    value: Any
    children: dict[str | int, Node] = field(default_factory=dict)


def parse(text: str) -> Node:
    """The tree of a JSON text; comments and trailing commas are allowed.

    Raises NotJsonError if the text is not JSON.
    """
    reader = _Reader(text)
    try:
        root = reader.value(reader.skip(1 if text.startswith("\ufeff") else 0))
    except RecursionError as error:
        raise NotJsonError("nested too deeply to be read") from error
    if reader.skip(root.end) != len(text):
        raise reader.wrong(reader.skip(root.end), "nothing more")
    return root


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, at: int) -> int:
        found = _TRIVIA.match(self.text, at)
        return found.end() if found else at

    def wrong(self, at: int, wanted: str) -> NotJsonError:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        seen = repr(self.text[at]) if at < len(self.text) else "the end of the file"
        return NotJsonError(f"line {line}, column {column}: expected {wanted}, found {seen}")

    def value(self, at: int) -> Node:
        first = self.text[at : at + 1]
        if first == "{":
            return self._container(at, "}")
        if first == "[":
            return self._container(at, "]")
        if first == '"':
            text, end = self._string(at)
            return Node(at, at, end, text)
        found = _SCALAR.match(self.text, at)
        if not found:
            raise self.wrong(at, "a value")
        try:
            return Node(at, at, found.end(), json.loads(found[0]))
        except ValueError as error:
            raise self.wrong(at, "a valid number") from error

    def _string(self, at: int) -> tuple[str, int]:
        try:
            text, end = decoder.scanstring(self.text, at + 1, True)  # type: ignore[attr-defined]
        except json.JSONDecodeError as error:
            raise self.wrong(min(error.pos, len(self.text)), "a string that ends on its line") from error
        return text, end

    def _container(self, start: int, close: str) -> Node:
        children: dict[str | int, Node] = {}
        at = self.skip(start + 1)
        while self.text[at : at + 1] != close:
            begin = at
            key: str | int = len(children)
            if close == "}":
                key, at = self._key(at)
            child = self.value(at)
            child.begin = begin
            # The last of two equal keys counts, and is the one that an edit must reach.
            children[key] = child
            at = self.skip(child.end)
            if self.text[at : at + 1] == ",":
                at = self.skip(at + 1)
            elif self.text[at : at + 1] != close:
                raise self.wrong(at, f"`,` or `{close}`")
        values = [child.value for child in children.values()]
        value = dict(zip(children, values, strict=True)) if close == "}" else values
        return Node(start, start, at + 1, value, children)

    def _key(self, at: int) -> tuple[str, int]:
        if self.text[at : at + 1] != '"':
            raise self.wrong(at, "a key in double quotes")
        key, end = self._string(at)
        colon = self.skip(end)
        if self.text[colon : colon + 1] != ":":
            raise self.wrong(colon, "`:`")
        return key, self.skip(colon + 1)


class Document:
    """A JSON text and the edits that are made to it.

    `text`: the file's text; blank stands for an empty object. Raises NotJsonError if the text is not JSON, or is no
    object.
    """

    def __init__(self, text: str) -> None:
        self.text = text if text.strip(_SPACE + "\ufeff") else "{}\n"
        self._newline = "\r\n" if "\r\n" in self.text else "\n"
        if not isinstance(parse(self.text).value, dict):
            raise NotJsonError("line 1, column 1: expected an object")

    @property
    def value(self) -> Any:
        """What the text says."""
        return parse(self.text).value

    def put(self, path: Path, value: Any) -> None:
        """Set a value; objects on the way are made, and an equal value is left as it is written.

        Raises NotJsonError if something on the way is no object.
        """
        node = parse(self.text)
        for depth, key in enumerate(path):
            if not isinstance(node.value, dict):
                raise NotJsonError(f"{_dotted(path[:depth])} is not an object")
            if key not in node.children:
                for later in reversed(path[depth + 1 :]):
                    value = {later: value}
                self._insert(node, value, str(key))
                return
            node = node.children[key]
        if node.value != value:
            self._replace(node.start, node.end, self._written(value, self._indent_at(node.begin)))

    def append(self, path: Path, value: Any) -> None:
        """Add an item to a list, which is made when missing.

        Raises NotJsonError if there is something else than a list.
        """
        node = _find(parse(self.text), path)
        if node is None:
            self.put(path, [value])
        elif isinstance(node.value, list):
            self._insert(node, value, None)
        else:
            raise NotJsonError(f"{_dotted(path)} is not a list")

    def remove(self, path: Path) -> None:
        """Remove a value, and the objects and lists around it that this leaves empty, the root excepted."""
        while len(path) > 1:
            parent = _find(parse(self.text), path[:-1])
            if parent is None or path[-1] not in parent.children:
                return
            if len(parent.children) > 1:
                break
            path = path[:-1]
        parent = _find(parse(self.text), path[:-1])
        if parent is not None and path[-1] in parent.children:
            self._cut(parent, path[-1])

    # --- characters ---

    def _replace(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]

    def _insert(self, parent: Node, value: Any, key: str | None) -> None:
        prefix = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        if not parent.children:
            outer = self._indent_at(parent.begin)
            inner = outer + self._unit()
            body = f"{self._newline}{inner}{prefix}{self._written(value, inner)}{self._newline}{outer}"
            self._replace(parent.start + 1, parent.start + 1, body)
            return
        last = max(parent.children.values(), key=lambda child: child.end)
        first = min(parent.children.values(), key=lambda child: child.begin)
        own_line = self._starts_line(first.begin)
        indent = self._indent_at(first.begin)
        after = self._trivia_end(last.end)
        trailing = self.text[after : after + 1] == ","
        at = self._comment_end(after + 1 if trailing else last.end, parent.end - 1)
        gap = self._newline + indent if own_line or "//" in self.text[last.end : at] else " "
        written = self._written(value, indent) if own_line else json.dumps(value, ensure_ascii=False)
        self._replace(at, at, f"{gap}{prefix}{written}{',' if trailing else ''}")
        if not trailing:
            self._replace(last.end, last.end, ",")

    def _cut(self, parent: Node, key: str | int) -> None:
        node = parent.children[key]
        after = self._trivia_end(node.end)
        if self.text[after : after + 1] == ",":
            self._replace(self._gap_before(parent, node, after + 1), after + 1, self.text[node.end : after])
            return
        end = node.end
        if len(parent.children) == 1:
            # The line that `_insert` ended behind the only child goes with it.
            line = self._newline + self._indent_at(parent.begin)
            end += len(line) if self.text.startswith(line, end) else 0
        begin = self._gap_before(parent, node, end)
        self._replace(begin, end, "")
        before = [child.end for child in parent.children.values() if child.end <= begin]
        if before:
            comma = self._trivia_end(max(before))
            self._replace(comma, comma + 1, "")

    def _gap_before(self, parent: Node, node: Node, end: int) -> int:
        """Return where the blanks before a value begin that is cut out up to an offset.

        The line end of a comment there stays, unless another follows: what stands behind the value is no part of it.
        """
        begin = node.begin
        while self.text[begin - 1] in _SPACE:
            begin -= 1
        if _LINE_END.match(self.text, end):
            return begin
        ahead = max((child.end for child in parent.children.values() if child.end <= begin), default=parent.start + 1)
        comments = [one for one in _COMMENT.finditer(self.text, ahead, node.begin) if one.end() >= begin]
        return comments[-1].end() + 1 if comments and comments[-1][0].startswith("//") else begin

    def _trivia_end(self, at: int) -> int:
        return _Reader(self.text).skip(at)

    def _comment_end(self, at: int, limit: int) -> int:
        """Return where the last comment between two offsets ends, or the first offset."""
        end = self._trivia_end(at)
        return at + len(self.text[at : min(end, limit)].rstrip(_SPACE))

    def _starts_line(self, at: int) -> bool:
        return not self.text[self.text.rfind("\n", 0, at) + 1 : at].strip(" \t") and "\n" in self.text[:at]

    def _indent_at(self, at: int) -> str:
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _unit(self) -> str:
        """One step of indentation, as the file has it."""
        found = re.search(r"^([ \t]+)\S", self.text, re.MULTILINE)
        return found[1] if found and len(found[1]) <= 8 else "  "

    def _written(self, value: Any, indent: str) -> str:
        text = json.dumps(value, ensure_ascii=False, indent=self._unit())
        return text.replace("\n", self._newline + indent)


def _find(node: Node, path: Sequence[str | int]) -> Node | None:
    for key in path:
        if key not in node.children:
            return None
        node = node.children[key]
    return node


def _dotted(path: Sequence[str | int]) -> str:
    return ".".join(map(str, path)) or "the file"
