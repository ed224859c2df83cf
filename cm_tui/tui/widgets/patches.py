"""A patch as git prints it, taken apart by file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_BEGIN = "diff --git "
_NOWHERE = "/dev/null"
DIFF_STYLES = {"+": "$success", "-": "$error", "@": "$secondary"}
"""By the first character of a line."""


@dataclass(frozen=True)
class FilePatch:
    """The part of one file."""

    path: str
    text: str
    """Its hunks; the lines before them where it has none, as with binary files."""
    added: int
    removed: int
    new: bool = False
    gone: bool = False


def file_patches(patch: str) -> Iterator[FilePatch]:
    """Yield the parts of a patch, without text before the first file; the last part may be cut."""
    part: list[str] = []
    for line in patch.rstrip("\n").split("\n"):
        if line.startswith(_BEGIN):
            yield from _of(part)
            part = [line]
        elif part:
            part.append(line)
    yield from _of(part)


def _of(part: list[str]) -> Iterator[FilePatch]:
    if not part:
        return
    start = next((number for number, line in enumerate(part) if line.startswith("@@")), len(part))
    head, body = part[:start], part[start:]
    old, new = (_named(head, sign) for sign in ("--- ", "+++ "))
    path = new if new not in ("", _NOWHERE) else old
    added = sum(line.startswith("+") for line in body)
    removed = sum(line.startswith("-") for line in body)
    gone, fresh = new == _NOWHERE, old == _NOWHERE
    yield FilePatch(path or _second(part[0]), "\n".join(body or head), added, removed, fresh, gone)


def _named(head: list[str], sign: str) -> str:
    """The path behind `---` or `+++`, without git's `a/` or `b/`; a tab ends names that hold a space."""
    name = next((line[len(sign) :] for line in head if line.startswith(sign)), "").rstrip("\t")
    name = name[1:-1] if name.startswith('"') and name.endswith('"') and len(name) > 1 else name
    return name if name == _NOWHERE else name[2:]


def _second(line: str) -> str:
    """The path of `diff --git a/PATH b/PATH`, for binary files, which have no other line."""
    both = line.removeprefix(_BEGIN)
    half = both[: len(both) // 2]
    return half[2:] if half.startswith("a/") else both


def patch_style(line: str) -> str:
    """Return how a line of a patch is drawn."""
    if line.startswith(("diff --git ", "--- ", "+++ ")):
        return "bold"
    if line.startswith(("index ", "new file ", "deleted file ", "similarity ", "rename ", "old mode ", "new mode ")):
        return "$muted"
    return DIFF_STYLES.get(line[:1], "")
