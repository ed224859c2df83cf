"""Macros of C and C++ that a grammar misreads without an error: blanked before parsing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cm_tui.engine.code.parse.c_structure import Range, blank

_BARE_MACRO = re.compile(rb"^[ \t]*[A-Z0-9_]*(?:BEGIN|END|OPEN|CLOSE|NAMESPACE)[A-Z0-9_]*[ \t]*\r?$", re.MULTILINE)
"""Line that is only a macro such as `LIB_NAMESPACE_BEGIN`: taken for a type, it would hide the definition after it."""
_EXPORTED = re.compile(
    rb"(?:class|struct|union|enum(?:[ \t]+(?:class|struct))?)[ \t]+([A-Z_][A-Z0-9_]+(?:\([^()\n]*\))?)\s+[A-Za-z_]\w*"
    rb"(?=\s*(?:final\s*)?(?:\{|:[^:;{}()=][^;{}()=]*\{))"
)
"""`class EXPORT Name {`: read as a function of that name, without an error."""
_ATTRIBUTE = re.compile(
    rb"\)\s*(?:(?:const|noexcept|override|final|&&?)\s*)*\b([A-Z_][A-Z0-9]*_[A-Z0-9_]+(?:\([^(){};\n]*\))?)(?=\s*\{)"
)
"""`int f() ATTRIBUTE {`: likewise."""
_STATEMENT = re.compile(rb"\b(?:if|for|while|switch|catch)\b")
_DEFINE = re.compile(rb"#[ \t]*define\b(?:\\\r?\n|[^\n])*")

_LINE_OF_MACRO = re.compile(rb"(?:(?!\\\r?\n)[^\n])+")
"""Line up to the sign after which the macro continues."""


def without_plain_macros(data: bytes) -> bytes:
    """Return C or C++ text without macros that a grammar misreads silently; positions are unchanged."""
    data = _BARE_MACRO.sub(lambda line: b" " * len(line[0]), data)
    ranges = [Range(*found.span(1)) for found in _EXPORTED.finditer(data)]
    for found in _ATTRIBUTE.finditer(data):
        line = data[data.rfind(b"\n", 0, found.start()) + 1 : found.start()][-200:]
        if _STATEMENT.search(line) is None:
            ranges.append(Range(*found.span(1)))
    if b"\\\n" in data or b"\\\r\n" in data:
        ranges += _comments_in_macros(data)
    return blank(data, ranges)


def _comments_in_macros(data: bytes) -> Iterator[Range]:
    """Yield comments between the lines of a macro: for the grammar it would end there."""
    for define in _DEFINE.finditer(data):
        text = define[0]
        last = max(text.rfind(b"\\\n"), text.rfind(b"\\\r\n"))
        at = text.find(b"/*", 0, max(0, last))
        while at >= 0:
            end = text.find(b"*/", at + 2)
            if end < 0:
                break
            for line in _LINE_OF_MACRO.finditer(text, at, end + 2):
                yield Range(define.start() + line.start(), define.start() + line.end())
            at = text.find(b"/*", end + 2, last)
