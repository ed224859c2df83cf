"""Candidate names in a text of Markdown or plain words: paths, symbols, commands and settings.

Names unknown in all revisions of the project are dropped later. So a name that cannot be anything else counts anywhere,
and one that looks like a word only in backticks.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import NamedTuple

from cm_tui.engine.code.scan.languages import LANGUAGES
from cm_tui.engine.memory.mentions.commands import named_command
from cm_tui.model.stale import MentionKind

_MOST_CHARACTERS = 200_000
"""Most characters to read of a text."""
_MOST = 500
"""Names of one text."""
_LONGEST = 200
_NO_NAME = re.compile(r"(?<!\S)\S{1000,}+")
"""A word that is too long for names: in one, each letter could begin an address that is sought up to its end."""
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_URL = re.compile(r"\b[a-z][a-z+.-]*://\S+|\bwww\.\S+|(?<!\S)\S+@\S+\.\w+", re.IGNORECASE)
_PROMPT = re.compile(r"^\s*(?:\$|>|%)\s+(\S.*)$")

_NAME = r"[A-Za-z_$][\w$]*[!?]?"
_SEPARATED = rf"{_NAME}(?:(?:\.|::|->|#){_NAME})*"
_SYMBOL = re.compile(rf"(?:::)?({_SEPARATED})(\(\)|\([^()]*\))?")
_BARE_SYMBOL = re.compile(rf"(?<![\w./$@#-])({_SEPARATED})(\([^()\n]{{0,60}}\))?(?![\w/-])")
_PATH_PIECE = r"[\w@+.~{}\[\]-]+"
_PATH = re.compile(rf"(?:\.{{1,2}}/|/)?(?:{_PATH_PIECE}/)*{_PATH_PIECE}/?")
_BARE_PATH = re.compile(
    rf"(?<![\w/.:@~-])((?:\./)?(?:{_PATH_PIECE}/)+(?:{_PATH_PIECE})?|[\w-]+(?:\.[\w-]+)*\.\w{{1,10}})(?![\w@])"
)
_LINE_OF = re.compile(r"^(.*?)(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)$")
_SUFFIX = re.compile(r"\.([A-Za-z]\w{0,9})$")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_MARK = re.compile(rf"[_.(]|::|->|{_CAMEL.pattern}")
"""Something that a word must have to be taken for a name of code."""
_SETTING = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_KEY = re.compile(r"\[?([A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*)\]?")
_ASSIGNED = re.compile(r"([A-Za-z][\w.-]*)\s*[=:]\s*\S.*")
_WORDS: dict[str, str] = tomllib.loads((files(__package__) / "words.toml").read_text(encoding="utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_WORDS[name].split())


_PRODUCTS = _words("products")
LIBRARIES = frozenset(name.lower() for name in _PRODUCTS if "." in name) | _words("libraries")
"""Libraries that are written like a file, in lower case."""
_PLACEHOLDERS = _words("placeholders")
_ANY_NUMBER = re.compile(r"(?:0000+|123(?:4(?:5(?:6(?:78?9?)?)?)?)?|9999+|[xX#]{3,})\.")
"""Placeholder number at the start of a file name: `1234.bugfix.rst`."""
_SIGNS_OF_PATHS = ("/", ".", "`", "](")
"""A line without any of these names no file."""
_NO_SUFFIXES = _words("no_suffixes")
_FILE_SUFFIXES = {
    suffix for language in LANGUAGES.values() for one in language.extensions if (suffix := one[1:]) not in _NO_SUFFIXES
} | {"lock", "png", "tcl"}
"""Endings by which a word without a slash is taken for a file."""
_FILE_NAMES = _words("file_names")


class Named(NamedTuple):
    """A name in a text that may be one of the project's."""

    kinds: tuple[MentionKind, ...]
    """Its possible kinds, the likeliest first."""
    text: str
    """As written, without surrounding characters."""
    line: int
    plain: bool = False
    """It looks like an English word: only a unique, outermost definition matches."""


def named_in(text: str, *, files_only: bool = False) -> list[Named]:
    """Return the candidate names of a text, each once, in the order of its lines.

    `text`: as stored; a long one is read up to a limit.
    """
    found: dict[tuple[MentionKind, str], Named] = {}
    for one in _all(text[:_MOST_CHARACTERS], _SIGNS_OF_PATHS if files_only else ()):
        if files_only and "path" not in one.kinds:
            continue
        kept = one._replace(kinds=("path",)) if files_only else one
        found.setdefault((kept.kinds[0], kept.text), kept)
        if len(found) >= _MOST:
            break
    return list(found.values())


def _all(text: str, signs: Sequence[str]) -> Iterator[Named]:
    """Yield all names; `signs`: only those of lines with one of these, if there are any."""
    fenced = False
    for number, line in enumerate(_NO_NAME.sub(" ", text).split("\n"), start=1):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if signs and not any(sign in line for sign in signs):
            continue
        for one in _of_block(line) if fenced else _of_line(line):
            if len(one.text) <= _LONGEST and not _is_placeholder(one.text):
                yield one._replace(line=number)


def _is_placeholder(name: str) -> bool:
    """Return whether a name is a placeholder: `x.y`, `foo.bar`, `N/A`, `1234.bugfix.rst`."""
    if name.lower() in _PLACEHOLDERS or _ANY_NUMBER.match(name.rpartition("/")[2]):
        return True
    if _is_file_name(name):
        return name.rpartition("/")[2].partition(".")[0].lower() in _PLACEHOLDERS
    pieces = re.split(r"\.|::|->|#|/", name)
    return len(pieces) > 1 and all(len(piece) == 1 or piece.lower() in _PLACEHOLDERS for piece in pieces)


def _of_line(line: str) -> Iterator[Named]:
    for found in _LINK.finditer(line) if "](" in line else ():
        yield from _as_path(found[1].partition("#")[0])
    prompt = _PROMPT.match(line)
    if prompt is not None and (command := named_command(prompt[1])):
        yield Named(("command",), command, 0)
    if "`" not in line:
        yield from _of_words(line)
        return
    rest, last = [], 0
    for found in _CODE.finditer(line):
        yield from _of_code(found[2].strip())
        rest.append(line[last : found.start()])
        last = found.end()
    rest.append(line[last:])
    yield from _of_words(" \0 ".join(rest))


def _of_block(line: str) -> Iterator[Named]:
    """A line of a fenced block: a command, or code, in which only unmistakable names count."""
    prompt = _PROMPT.match(line)
    if command := named_command((prompt[1] if prompt else line).strip()):
        yield Named(("command",), command, 0)
        return
    yield from _of_words(line.partition("#")[0] if line.lstrip().startswith("#") else line)


def _of_code(code: str) -> Iterator[Named]:
    """Text in backticks."""
    if "." in code and code in _PRODUCTS:
        return
    if command := named_command(code):
        yield Named(("command",), command, 0)
        return
    if " " in code:
        assigned = _ASSIGNED.fullmatch(code)
        yield from _of_words(code) if assigned is None else _key(assigned[1])
        return
    if "/" in code or _is_file_name(code):
        yield from _as_path(code)
        if "/" in code:
            return
    symbol = _SYMBOL.fullmatch(code)
    if symbol is not None:
        yield _symbol(symbol[1], called=symbol[2] is not None)
    elif (key := _KEY.fullmatch(code) or _ASSIGNED.fullmatch(code)) is not None:
        yield from _key(key[1])


def _key(key: str) -> Iterator[Named]:
    """A key of settings; a single plain word could be anything."""
    if not key.isalpha() or (key.isupper() and "_" in key):
        yield Named(("setting",), key, 0)


def _of_words(words: str) -> Iterator[Named]:
    """Text among words, where only unmistakable names count."""
    # Most lines are plain words: what cannot be in them is not sought.
    if "://" in words or "@" in words or "www." in words.lower():
        words = _URL.sub(" ", words)
    for found in _BARE_PATH.finditer(words) if "/" in words or "." in words else ():
        path = found[1].rstrip(".")
        if path not in _PRODUCTS and (_is_file_name(path) or (path.endswith("/") and path.count("/") > 1)):
            yield from _as_path(path)
    for found in _BARE_SYMBOL.finditer(words) if _MARK.search(words) else ():
        name, called = found[1], found[2] is not None
        if not called and name.isalpha() and (name.islower() or name.istitle()):
            continue
        if _is_file_name(name) or name in _PRODUCTS:
            continue
        if _is_unmistakable(name, called=called):
            yield _symbol(name, called=called or not _SETTING.fullmatch(name))


def _symbol(name: str, *, called: bool) -> Named:
    kinds: tuple[MentionKind, ...] = ("symbol",)
    if not called and (_SETTING.fullmatch(name) or (name.islower() and _KEY.fullmatch(name))):
        kinds = ("symbol", "setting")
    plain = not called and name.isalpha() and (name.islower() or name.istitle())
    return Named(("symbol",) if plain else kinds, name, 0, plain)


def _is_unmistakable(name: str, *, called: bool) -> bool:
    """Whether a bare word can only be a name of code."""
    if "::" in name or "->" in name:
        return True
    if "." in name:
        # Two words with a dot between them may be the end and beginning of sentences.
        first, _, rest = name.partition(".")
        return (
            called
            or "_" in name
            or bool(_CAMEL.search(name))
            or (first[:1].isupper() and rest[:1].islower() and len(rest) > 2)
        )
    if called:
        return "_" in name.strip("_") or bool(_CAMEL.search(name)) or len(name) > 2
    return "_" in name.strip("_") or bool(_CAMEL.search(name[0] + name[1:]) and len(name) > 3)


def _is_file_name(word: str) -> bool:
    if word.rpartition("/")[2] in _FILE_NAMES:
        return True
    found = _SUFFIX.search(_without_line(word)) if "." in word else None
    return found is not None and found[1].lower() in _FILE_SUFFIXES


def _without_line(path: str) -> str:
    found = _LINE_OF.match(path) if ":" in path or "#" in path else None
    return found[1] if found else path


def _as_path(path: str) -> Iterator[Named]:
    plain = _without_line(path).removeprefix("./")
    if not _PATH.fullmatch(plain) or plain.startswith(("/", "~", "../")) or "//" in plain or "://" in path:
        return
    if not set(plain) - set("./0123456789-"):
        return
    yield Named(("path",), plain, 0)
