"""Mentions in a prompt: `@file`, `@symbol`, `@episode` and `@note`; unknown names are warnings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

MOST = 50
"""Mentions of one prompt that are looked at."""
_MENTION = re.compile(r"(?<![\w@/.`])@(?:(?P<kind>file|symbol|episode|note):)?(?P<name>[\w][\w./:#~-]*|\.[\w./-]+)")
_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_LINES = re.compile(r"#L?\d+(?:-L?\d+)?$")
_TRAILING = ".,:;-"


class Mentioned(NamedTuple):
    """A resolved mention.

    Attributes:
        text: as written, with its `@`.
        reference: its target.
    """

    text: str
    reference: str


@dataclass(frozen=True, slots=True)
class Names:
    """What mentions may name."""

    is_file: Callable[[str], bool]
    has_symbol: Callable[[str], bool]
    has_episode: Callable[[str], bool]
    note_named: Callable[[str], str]
    """Returns the id of a note; empty: no such note."""
    files: Callable[[], Sequence[str]]
    """All paths, for suggestions."""
    symbols_like: Callable[[str, int], Sequence[str]]
    """Names of symbols that are like a text, the nearest first."""
    notes: Callable[[], Sequence[str]]
    episodes: Callable[[int], Sequence[str]]
    """Ids of the latest."""


def found_in(prompt: str, names: Names) -> tuple[list[Mentioned], list[str]]:
    """Return the resolved mentions of a prompt, each once, and a warning for each of the others.

    Args:
        prompt: the prompt; text in backticks is code, without mentions.
        names: the known names.
    """
    mentioned: dict[str, Mentioned] = {}
    warnings: dict[str, None] = {}
    plain = _FENCED.sub(lambda found: " " * len(found[0]), prompt)
    for number, match in enumerate(_MENTION.finditer(plain)):
        if number == MOST:
            warnings[f"Only the first {MOST} mentions were read."] = None
            break
        name = match["name"].rstrip(_TRAILING)
        reference = _resolved(match["kind"] or "", name, names)
        if reference:
            mentioned.setdefault(reference, Mentioned(f"@{match[0][1:].rstrip(_TRAILING)}", reference))
        elif match["kind"] or _is_unambiguous(name):
            warnings[_warning(match["kind"] or "", name, names)] = None
    return list(mentioned.values()), list(warnings)


def _resolved(kind: str, name: str, names: Names) -> str:
    """Return the reference of a mention: without a kind, a file comes before a note, a symbol and an episode."""
    path, lines = (name[: found.start()], found[0]) if (found := _LINES.search(name)) else (name, "")
    if kind in ("", "file") and names.is_file(path):
        return f"file://{path}{lines}"
    if kind in ("", "note") and (note := names.note_named(name)):
        return f"markdown://{note}"
    if kind in ("", "symbol") and names.has_symbol(name):
        return f"symbol://{name}"
    if kind in ("", "episode") and names.has_episode(name):
        return f"episode://{name}"
    return ""


def _is_unambiguous(name: str) -> bool:
    """Return whether a bare name is certainly one of these, and not a plain word after an `@`."""
    return bool(re.search(r"[./:]|[a-z][A-Z]|_", name))


def _warning(kind: str, name: str, names: Names) -> str:
    near: Sequence[str]
    if kind == "symbol" or (not kind and not re.search(r"/|\.\w{1,5}$", name)):
        near = names.symbols_like(name, 1)
        what = "symbol"
    elif kind == "note":
        near, what = get_close_matches(name, list(names.notes()), 1), "note"
    elif kind == "episode":
        near, what = (), "episode"
    else:
        paths = list(names.files())
        by_name = {path.rpartition("/")[2]: path for path in paths}
        close = get_close_matches(name, paths, 1, 0.7) or get_close_matches(
            name.rpartition("/")[2], list(by_name), 1, 0.7
        )
        near, what = [by_name.get(one, one) for one in close], "file"
    meant = f" Did you mean @{near[0]}?" if near else ""
    shown = f"@{kind}:{name}" if kind else f"@{name}"
    return f"{shown}: no such {what}.{meant}"


def completed(text: str, names: Names, limit: int) -> Iterator[str]:
    """Yield mentions with a prefix: files, notes, then symbols; after `@kind:` only that kind."""
    kind, separator, rest = text.removeprefix("@").partition(":")
    kind, rest = (
        (kind, rest) if separator and kind in ("file", "symbol", "episode", "note") else ("", text.removeprefix("@"))
    )
    prefix = f"@{kind}:" if kind else "@"
    seen: dict[str, None] = {}
    for name in _names_like(kind, rest, names, limit):
        mention = f"{prefix}{name}" if kind or prefix == "@" else name
        if mention not in seen and len(seen) < limit:
            seen[mention] = None
            yield mention


def _names_like(kind: str, rest: str, names: Names, limit: int) -> Iterator[str]:
    low = rest.lower()
    if kind in ("", "file"):
        paths = names.files()
        yield from (path for path in paths if path.lower().startswith(low))
        yield from (path for path in paths if low and low in path.rpartition("/")[2].lower())
    if kind in ("", "note"):
        yield from (name for name in names.notes() if low in name.lower())
    if kind in ("", "symbol") and rest:
        yield from (name for name in names.symbols_like(rest, limit) if low in name.lower() and " " not in name)
    if kind == "episode":
        yield from (id_ for id_ in names.episodes(limit) if id_.startswith(rest))
