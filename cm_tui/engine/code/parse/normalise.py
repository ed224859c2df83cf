"""Text of code in its stored form: names, types, receivers, signatures and documentation."""

from __future__ import annotations

import re
from collections.abc import Collection

MAX_SIGNATURE = 400
MAX_DOC = 4000
MAX_RECEIVER = 160

_PLAIN = re.compile(r"[\w.$@#]+", re.ASCII)
_SEPARATOR = re.compile(r"::|->|\?\.|!!?\.|&\.|\\|\.\.\.?")
_QUOTES = frozenset("\"'`")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_MARK = re.compile(
    r"^\s*(?:/\*+!?|\*+/|\*(?!/)|///?!?/*|//!|#+!?|--+(?:\s?[|^](?!\|))?|;+|%+|\{-(?:\s?\|)?|\"\"\"|''+|<!--+|'(?!'))?\s?|\s*(?:\*+/|-\}|--+>)\s*$"
)
_XML_TAG = re.compile(
    r"</?(?:summary|remarks|para|returns|param|typeparam|see|c|code|value|exception|inheritdoc)\b[^>]*/?>"
)
_DOTTED = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*")
_LUA_LONG = re.compile(r"--\[(=*)\[(.*)\]\1\]", re.DOTALL)
_TRY = re.compile(r"^try[?!]?\s+")
_IMPORT_WORD = re.compile(r"^\s*(?:import|export)\s+")
_ANNOTATIONS = re.compile(
    r"^(?:@(?!interface\b)[\w.]+(?:\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?\s+|\[[^\[\]]*\]\s*(?=[\w\[@]))+"
)
_TURBOFISH = re.compile(r"::<(?:[^<>]|<[^<>]*>)*>")
_TYPE_WORDS = re.compile(
    r"^(?:[&*?!]|\b(?:mut|const|dyn|impl|final|readonly|struct|volatile|static|ref|out|in|params|unowned|inout|some|any|new)"
    r"\b\s*|'\w+\s+)+"
)
_AROUND_SIGNS = re.compile(r"\s*([^\w\s'])\s*")
_LITERAL = re.compile(r"\b(?:typing\.|t\.)?Literal\[[^\[\]]*\]")
_STRING_PREFIX = re.compile(r"^[A-Za-z]{0,2}(?=[\"'])")


def fold(text: str, limit: int = 0) -> str:
    """Return one line with single spaces, cut at `limit` characters when it is not 0."""
    line = " ".join(text.split())
    return line if not limit or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def plain_name(text: str) -> str:
    r"""Return a name without quotes, white space and foreign separators: `A::f` becomes `A.f`, `\f` `global.f`."""
    if text.isidentifier():
        return text
    name = _from_root("".join(text.split()).strip("\"'`").lstrip(":"))
    if name[:1] == "(" and name[-1:] == ")":
        name = name[1:-1]
    return _SEPARATOR.sub(".", name).strip(".")


def _from_root(text: str) -> str:
    r"""Name the root of PHP's namespaces as C# does: `\A\f` becomes `global\A\f`."""
    return f"global{text}" if text.startswith("\\") else text


def split_dotted(text: str) -> tuple[str, str | None]:
    """Return the name and its qualifier, without generics and arguments."""
    if text.isidentifier():
        return text, None
    dotted = without_brackets(text, "<[({").strip().lstrip("&*@#").strip()
    receiver, _, name = plain_name(dotted).rpartition(".")
    return name, receiver or None


def without_annotations(signature: str) -> str:
    """Return a signature without the annotations (`@A(1)`) and attributes (`[A(1)]`) before it."""
    return _ANNOTATIONS.sub("", signature)


def without_brackets(text: str, opening: str) -> str:
    """Return a text without brackets and their content."""
    closing = {"<": ">", **_BRACKETS}
    depth, kept = 0, []
    closers = {closing[c] for c in opening}
    for char in text:
        if char in opening:
            depth += 1
        elif char in closers and depth:
            depth -= 1
        elif not depth:
            kept.append(char)
    return "".join(kept)


def receiver_text(text: str) -> str:
    """Return the receiver of a call on one line, without arguments: `a.f(x, 1).b[0]` becomes `a.f().b[]`."""
    if _PLAIN.fullmatch(text):
        return text
    if len(text) > 20_000:
        return "…"
    line = _SEPARATOR.sub(".", fold(_without_contents(_TURBOFISH.sub("", _from_root(text)))))
    line = re.sub(r"\s*\.\s*", ".", line)
    line = _TRY.sub("", line)
    return line if len(line) <= MAX_RECEIVER else "…" + line[-MAX_RECEIVER:]


def _without_contents(text: str) -> str:
    """Remove the content of brackets and quotes."""
    kept: list[str] = []
    closers: list[str] = []
    quote = ""
    previous = ""
    for char in text:
        visible = not closers
        if quote:
            ends = char == quote and previous != "\\"
            quote = "" if ends else quote
            visible = visible and ends
        elif char in _QUOTES:
            quote = char
        elif char in _BRACKETS:
            closers.append(_BRACKETS[char])
        elif closers and char == closers[-1]:
            closers.pop()
            visible = not closers
        if visible:
            kept.append(char)
        previous = char if previous != "\\" else ""
    return "".join(kept)


def clean_doc(text: str) -> str:
    """Return documentation without comment marks, quotes and common indentation."""
    text = _STRING_PREFIX.sub("", text.strip())
    if (long := _LUA_LONG.fullmatch(text)) is not None:
        return _join(long[2].split("\n"))
    for quotes in ('"""', "'''", '"', "'"):
        if len(text) >= 2 * len(quotes) and text.startswith(quotes) and text.endswith(quotes):
            return _join(text[len(quotes) : -len(quotes)].split("\n"))
    return _join([_MARK.sub("", line) for line in text.split("\n")])


def _join(lines: list[str]) -> str:
    lines = [_XML_TAG.sub("", line).rstrip() for line in lines]
    margins = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    margin = min(margins, default=0)
    body = [lines[0].strip(), *(line[margin:] for line in lines[1:])]
    return "\n".join(body).strip()[:MAX_DOC]


def type_names(text: str, builtin: Collection[str]) -> list[tuple[str, str | None]]:
    """Return every (name, receiver) in a type as written, without built-in types."""
    if text.isidentifier():
        return [] if text in builtin else [(text, None)]
    found: dict[tuple[str, str | None], None] = {}
    for dotted in _DOTTED.findall(_LITERAL.sub("", text)):
        receiver, _, name = dotted.rpartition(".")
        if name not in builtin:
            found[name, receiver or None] = None
    return list(found)


def bound_types(text: str, transparent: Collection[str], builtin: Collection[str]) -> list[str]:
    """Return the possible types of a name declared as `text`, as plain dotted names.

    `text`: a type as written; `transparent`: generic types that are replaced by their first argument (`Optional`,
    `Box`); `builtin`: built-in types, which are dropped. Returns one name for each member of a union; none for arrays
    and invalid names.
    """
    if text.isidentifier() and text not in transparent:
        return [] if text in builtin else [text]
    found: list[str] = []
    queue = [text]
    for _ in range(64):  # a type with more parts does not identify a receiver
        if not queue:
            break
        part = queue.pop(0).strip().removeprefix(":").strip().strip("\"'`").strip()
        part = _TYPE_WORDS.sub("", part).rstrip("?!&* ")
        members = _split(part, "|")
        if len(members) > 1:
            queue = members + queue
            continue
        part = _AROUND_SIGNS.sub(r"\1", part)
        head = re.match(r"[\w.$:\\]+", part)
        if head is None:
            continue
        name = plain_name(head[0].rstrip(":"))
        rest = part[head.end() :]
        if name.rpartition(".")[2] in transparent and rest[:1] in {"[", "<"}:
            inner = _split(rest[1:-1], ",")
            queue = (inner if name.endswith("Union") else inner[:1]) + queue
        elif rest.endswith("[]") or (rest.startswith("[") and rest[1:2].isdigit()) or rest[:1] == "(":
            continue
        elif name and name not in builtin and name not in found and not name[0].isdigit():
            found.append(name)
    return found


def _split(text: str, separator: str) -> list[str]:
    if separator not in text:
        return [text]
    depth, parts, start = 0, [], 0
    for position, char in enumerate(text):
        if char in "[(<{":
            depth += 1
        elif char in "])>}":
            depth -= 1
        elif char == separator and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def multiply(text: str) -> list[tuple[str, str, str | None]]:
    r"""Expand an import with braces: `a::{b, c::{d as e}}` becomes (module, name, alias) for each leaf.

    Separators may be `::`, `.`, `\` or `/`; `*` and `_` mean everything; `self` is the module itself.
    """
    text = _IMPORT_WORD.sub("", text).replace("=>", " as ")
    separator = next((s for s in ("::", "\\", ".", "/") if s in text), ".")
    found: list[tuple[str, str, str | None]] = []
    queue = [("", text)]
    while queue and len(found) < 10_000:
        prefix, rest = queue.pop(0)
        rest = rest.strip().rstrip(";").strip()
        brace = rest.find("{")
        if brace >= 0:
            head = rest[:brace].strip().removesuffix(separator)
            base = separator.join(p for p in (prefix, head) if p) if not head.startswith(separator) else prefix + head
            inner = rest[brace + 1 : rest.rfind("}")]
            queue = [(base, part) for part in _split(inner, ",") if part.strip()] + queue
            continue
        path, alias = _alias(rest)
        full = separator.join(p for p in (prefix, path) if p)
        module, _, name = full.rpartition(separator)
        if name in {"self", "_", "*", "given"}:
            if name == "self":
                module, _, name = module.rpartition(separator)
            else:
                name = "*"
        if name and alias != "_":
            found.append((module, name, alias))
    return found


def _alias(text: str) -> tuple[str, str | None]:
    parts = re.split(r"\s+as\s+|\s*=>\s*", text.strip(), maxsplit=1)
    return re.sub(r"\s+", "", parts[0]), parts[1].strip() if len(parts) > 1 else None
