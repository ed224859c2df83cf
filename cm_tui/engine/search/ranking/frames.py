"""Places that traces and logs name, in the forms in which languages print them."""

from __future__ import annotations

import re
from typing import NamedTuple

_MOST_FRAMES = 60
_MOST_LINE = 500
"""Characters of a line that are looked at."""
_APART = 12
"""Lines between two frames from which on they are of two traces."""


class Frame(NamedTuple):
    """A place that a trace or a log names."""

    path: str
    line: int
    """0: unknown."""
    function: str
    """Unqualified; empty: unknown."""


class Found(NamedTuple):
    """A frame, its place, and the order of its trace."""

    number: int
    """Of the line."""
    frame: Frame
    innermost_last: bool


_PATH = r"(?:[A-Za-z]:)?[^\s\"'<>|:*?()\[\],;=]*[^\s\"'<>|:*?()\[\],;=/\\.]\.[A-Za-z][A-Za-z0-9+]{0,5}"
_INNERMOST_LAST = tuple(
    map(
        re.compile,
        (
            r"\s*File \"(?P<path>[^\"]+)\", line (?P<line>\d+)(?:, in (?P<function>[\w<>.$]+))?",  # Python
            rf"\s*(?P<path>{_PATH}):(?P<line>\d+):? in (?P<function>[\w<>]+)",  # pytest
            rf"\s*(?P<path>{_PATH}) in (?P<function>[\w<>]+)\(.*\)(?P<line>)\s*$",  # IPython
        ),
    )
)
_INNERMOST_FIRST = tuple(
    map(
        re.compile,
        (
            # Ruby; JavaScript; C#; Java and its kin; PHP; gdb and sanitizers
            (
                rf"\s*(?:from )?(?P<path>{_PATH}):(?P<line>\d+):(?:\d+:)? ?in [`'](?:block (?:\(\d+ levels\) )?in )?"
                r"(?:.*[#.])?(?P<function>[\w?!]+)['`]"
            ),
            (
                r"\s*at (?:async )?(?:new )?(?:(?P<function>[\w$.<>\[\] ]+?) (?:\[as \w+\] )?\()?(?:file://)?"
                rf"(?P<path>{_PATH}):(?P<line>\d+)(?::\d+)?\)?\s*$"
            ),
            rf"\s*at (?P<function>[\w.`<>\[\],+]+)\(.*?\)(?: in (?P<path>{_PATH}):line (?P<line>\d+))",
            r"\s*at (?P<function>[\w.$/<>@]+)\((?P<path>[\w$]+\.\w+):(?P<line>\d+)\)",
            rf"\s*#\d+ (?P<path>{_PATH})\((?P<line>\d+)\): (?P<function>[\w\\:>-]+)",
            rf"\s*#\d+\s+(?:0x[0-9a-f]+ )?(?:in )?(?P<function>[\w:~<>]+).*?(?: at | )(?P<path>{_PATH}):(?P<line>\d+)",
        ),
    )
)
_BELOW = re.compile(rf"\s*(?:at )?(?P<path>{_PATH}):(?P<line>\d+)(?::\d+)?(?: \+0x[0-9a-f]+)?\s*$")
"""Rust and Go have the place on a separate line below the function."""
_ABOVE = re.compile(r"\s*(?:\d+:\s+)?(?P<function>\S*?[\w>])(?:\([^()]*\))?\s*$")
_ALONE = re.compile(rf"\s*(?:--> |E? *)?(?P<path>{_PATH}):(?P<line>\d+)(?::\d+)?:\s+\S")
"""What compilers, linters and pytest print of one place."""
_QUALIFIERS = re.compile(r"[.:>\\/#$ ]+")
_NAME = re.compile(r"[^\W\d]\w*[?!]?")


def frame_in(number: int, line: str, above: str) -> Found | None:
    """Return the place in a line.

    Args:
        number: of the line.
        line: its text.
        above: the line above it.
    """
    line = line[:_MOST_LINE]
    for pattern in _INNERMOST_LAST:
        if found := pattern.match(line):
            return Found(number, _frame(found, found["function"] or ""), innermost_last=True)
    for pattern in _INNERMOST_FIRST:
        if found := pattern.match(line):
            return Found(number, _frame(found, found["function"] or _named_in(above)), innermost_last=False)
    if found := _BELOW.match(line):
        return Found(number, _frame(found, _named_in(above)), innermost_last=False)
    if found := _ALONE.match(line):
        return Found(number, _frame(found, ""), innermost_last=False)
    return None


def _named_in(above: str) -> str:
    """The function named in a line, which precedes its place."""
    named = _ABOVE.match(above[:_MOST_LINE])
    return named["function"] if named else ""


def _frame(found: re.Match[str], function: str) -> Frame:
    last = _QUALIFIERS.split(function.removesuffix("<>").rstrip("()"))[-1]
    name = last if _NAME.fullmatch(last) else ""
    return Frame(found["path"].replace("\\", "/"), int(found["line"] or 0), name)


def ordered(found: list[Found]) -> tuple[Frame, ...]:
    """Return frames, the innermost of each trace first; the last trace comes first, as it names the error."""
    traces: list[list[Found]] = []
    for one in found:
        last = traces[-1][-1] if traces else None
        if last and one.number - last.number <= _APART and one.innermost_last == last.innermost_last:
            traces[-1].append(one)
        else:
            traces.append([one])
    frames: dict[Frame, None] = {}
    for trace in reversed(traces):
        for one in reversed(trace) if trace[0].innermost_last else trace:
            frames.setdefault(one.frame)
    return tuple(frames)[:_MOST_FRAMES]
