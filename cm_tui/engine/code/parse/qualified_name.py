"""Names as users type them: of a symbol, an ending of its qualified name, or of its path and that."""

from __future__ import annotations

import re
from collections.abc import Sequence

BETWEEN_HEADINGS = " > "
"""Between the headings of a section's qualified name, which may have dots and slashes."""

_SEPARATOR = re.compile(r"[.:#/\\]+")
_ENDING = re.compile(r"(/__init__)?\.[^./]+$")


class QualifiedName:
    """A typed name, split both as a qualified name of code and as that of a document's section.

    `text`: such as `parse`, `Parser.parse()`, `pkg/parser.Parser` or `Install > From source`.
    """

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self._parts = _cut(self.text.removesuffix("()"))
        self._headings = self.text.split(BETWEEN_HEADINGS)

    @property
    def parts(self) -> tuple[str, ...]:
        """Its parts, as of a qualified name of code."""
        return tuple(self._parts)

    @property
    def ends(self) -> list[str]:
        """Possible names of the symbol; empty: nothing was typed."""
        return [*self._parts[-1:], *(heading for heading in self._headings[-1:] if heading)]

    def fits(self, qualname: str, kind: str) -> bool:
        """Whether it is the whole or the end of a symbol's qualified name."""
        if kind == "section":
            return _is_end(self._headings, qualname.split(BETWEEN_HEADINGS))
        return qualname == self.text or self._fits(_cut(qualname))

    def fits_in(self, path: str, qualname: str, kind: str) -> bool:
        """Whether it is the end of path and qualified name."""
        own = qualname.split(BETWEEN_HEADINGS) if kind == "section" else _cut(qualname)
        return self._fits([*_ENDING.sub("", path).split("/"), *own])

    def _fits(self, parts: Sequence[str]) -> bool:
        return bool(self._parts) and _is_end(self._parts, parts)


def _cut(name: str) -> list[str]:
    return [part for part in _SEPARATOR.split(name) if part]


def _is_end(end: Sequence[str], whole: Sequence[str]) -> bool:
    return list(whole[-len(end) :]) == list(end)
