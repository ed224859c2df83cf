"""Visual Basic, parsed by lines: no grammar is bundled, but every declaration is a line and most have an `End`."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from cm_tui.engine.code.parse.records import ParsedBlob, ParsedImport, ParsedReference, ParsedSymbol

_MODIFIERS = (
    r"(?:<[^>]*>\s*)*(?:(?:Public|Private|Protected|Friend|Shared|Overridable|Overrides|MustOverride|NotOverridable|"
    r"MustInherit|NotInheritable|Overloads|Shadows|Partial|ReadOnly|WriteOnly|Default|Async|Iterator|Static|WithEvents|"
    r"Custom|Narrowing|Widening|Declare)\s+)*"
)
_DECLARATION = re.compile(
    rf"^\s*(?P<modifiers>{_MODIFIERS})(?P<word>Namespace|Module|Class|Structure|Interface|Enum|Delegate\s+Sub|"
    r"Delegate\s+Function|Sub|Function|Property|Operator|Event|Const)\s+(?P<name>\[?[\w.]+\]?|[^\s(]+)\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
_END = re.compile(
    r"^\s*End\s+(Namespace|Module|Class|Structure|Interface|Enum|Sub|Function|Property|Operator|Event)\b", re.IGNORECASE
)
_IMPORTS = re.compile(r"^\s*Imports\s+(?:(?P<alias>\w+)\s*=\s*)?(?P<module>[\w.]+)", re.IGNORECASE)
_PARENTS = re.compile(r"^\s*(?:Inherits|Implements)\s+(.+)$", re.IGNORECASE)
_ACCESSOR = re.compile(r"^\s*(?:(?:Public|Private|Protected|Friend)\s+)*(?:Get|Set)\b", re.IGNORECASE)
_LAMBDA = re.compile(r"\b(?P<word>Function|Sub)\s*\([^()]*\)(?:\s+As\s+\w+)?\s*$", re.IGNORECASE)
_STRING_OR_COMMENT = re.compile(r'"(?:[^"]|"")*"|\'.*$|(?i:^\s*REM\b.*$)')
_ATTRIBUTE_LINE = re.compile(r"^\s*(?:<[^>]*>\s*)+_?\s*$")
_DOC_TAG = re.compile(r"</?[^>]+>")

_KINDS = {
    "namespace": "namespace", "module": "module", "class": "class", "structure": "struct", "interface": "interface",
    "enum": "enum", "delegate sub": "type", "delegate function": "type", "property": "property", "event": "field",
    "const": "constant", "operator": "method",
}  # fmt: skip
_BLOCKLESS = frozenset({"const", "event", "delegate sub", "delegate function"})


@dataclass(slots=True)
class _Open:
    word: str
    index: int | None  # None: a lambda of several lines


def read(blob: ParsedBlob, text: str) -> None:
    """Fill a blob with the declarations, imports, base types and interfaces of a Visual Basic file.

    Calls and type uses are not read: without a grammar they would be guesses.
    """
    lines = text.split("\n")
    bare = [_STRING_OR_COMMENT.sub(_blank, line) for line in lines]
    stack: list[_Open] = []
    overloads: Counter[tuple[str, str]] = Counter()
    for number, line in enumerate(bare, start=1):
        parent = next((frame.index for frame in reversed(stack) if frame.index is not None), None)
        if match := _END.match(line):
            _close(blob, stack, match.group(1).lower(), number)
        elif match := _IMPORTS.match(line):
            blob.imports.append(ParsedImport(None, match["module"], None, match["alias"], False, number))
        elif match := _PARENTS.match(line):
            blob.references.extend(
                ParsedReference(parent, "inherit", name, receiver, None, number) for name, receiver in _names(match[1])
            )
        elif (match := _DECLARATION.match(line)) and not _inside_body(stack):
            index = _declare(blob, lines, match, number, parent, overloads)
            word = re.sub(r"\s+", " ", match["word"].lower())
            if _has_block(bare, number, word, match["modifiers"].lower(), stack):
                stack.append(_Open(word, index))
        elif match := _LAMBDA.search(line):
            stack.append(_Open(match["word"].lower(), None))


def _declare(
    blob: ParsedBlob,
    lines: list[str],
    match: re.Match[str],
    number: int,
    parent: int | None,
    overloads: Counter[tuple[str, str]],
) -> int:
    word = re.sub(r"\s+", " ", match["word"].lower())
    name = match["name"].strip("[]")
    outer = blob.symbols[parent] if parent is not None else None
    kind = _KINDS.get(word) or _kind_of_procedure(name, outer)
    qualname = f"{outer.qualname}.{name}" if outer else name
    overload = overloads[qualname, kind]
    overloads[qualname, kind] += 1
    signature = " ".join(lines[number - 1].split("'")[0].split()).removesuffix(" _")
    doc = _doc_above(lines, number)
    blob.symbols.append(ParsedSymbol(parent, kind, name, qualname, overload, signature, doc, number, number))
    return len(blob.symbols) - 1


def _kind_of_procedure(name: str, outer: ParsedSymbol | None) -> str:
    if outer is None or outer.kind in {"namespace", "module"}:
        return "function"
    return "constructor" if name.lower() == "new" else "method"


def _inside_body(stack: list[_Open]) -> bool:
    return bool(stack) and stack[-1].word in {"sub", "function", "operator", "property"}


def _has_block(bare: list[str], number: int, word: str, modifiers: str, stack: list[_Open]) -> bool:
    """Whether an `End` of its own closes the declaration on line `number`."""
    if word in _BLOCKLESS:
        return word == "event" and "custom" in modifiers
    if word in {"sub", "function", "property", "operator"}:
        if (stack and stack[-1].word == "interface") or "mustoverride" in modifiers or "declare" in modifiers:
            return False
        if word == "property":
            following = next((line for line in bare[number:] if line.strip()), "")
            return _ACCESSOR.match(following) is not None
    return True


def _close(blob: ParsedBlob, stack: list[_Open], word: str, number: int) -> None:
    """Close the innermost block of that kind, and open blocks inside it."""
    if not any(frame.word == word for frame in stack):
        return
    while stack:
        frame = stack.pop()
        if frame.index is not None:
            blob.symbols[frame.index] = blob.symbols[frame.index]._replace(end_line=number)
        if frame.word == word:
            return


def _doc_above(lines: list[str], number: int) -> str:
    above: list[str] = []
    for line in reversed(lines[: number - 1]):
        if line.lstrip().startswith("'"):
            above.append(_DOC_TAG.sub("", line.strip().lstrip("'")).strip())
        elif not _ATTRIBUTE_LINE.match(line):
            break
    return "\n".join(line for line in reversed(above) if line)


def _names(text: str) -> list[tuple[str, str | None]]:
    """Split `A.B, C(Of T)` into names with their qualifiers."""
    plain = re.sub(r"\([^()]*\)", "", text)
    parts = [part.strip().rpartition(".") for part in plain.split(",") if part.strip()]
    return [(name, receiver or None) for receiver, _, name in parts]


def _blank(match: re.Match[str]) -> str:
    return '""' if match.group().startswith('"') else ""
