"""Text that others wrote, made harmless for wherever it is shown: a name or a subject may hold any character."""

from __future__ import annotations

import re

_HIDDEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_JOINING = "\u200c\u200d\ufe00-\ufe0f"
"""Joiners and variation selectors, which emoji and some scripts are written with; any number can carry a message."""
CONTROLS = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_HIDDEN}]")
"""What moves the cursor, ends a line, colours, turns the direction of writing or hides; not line feeds and tabs."""
INVISIBLE = re.compile(f"[{_HIDDEN}{_JOINING}]")
"""Invisible characters that a model still reads: format characters, variation selectors, blanks by definition."""


def one_line(text: str) -> str:
    """Text without line breaks, tabs and control characters."""
    return text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)


_LONG_NAME = re.compile(r"(\S{160})\S{41,}?(\S{80})(?!\S)")
_MESSAGE = 4000


def cut_names(text: str) -> str:
    """Return a message in which names of hundreds of letters are cut in the middle; it is itself cut at 4,000 characters."""
    text = _LONG_NAME.sub(r"\1…\2", text)
    return text if len(text) <= _MESSAGE else f"{text[: _MESSAGE - 1]}…"


def harmless(text: str) -> str:
    """Text of many lines: line feeds and tabs stay, and control and hidden characters are visible as a dot."""
    return CONTROLS.sub("·", text.replace("\r\n", "\n"))


_APPROVED = re.compile(r"[\[\uff3b]\s*rule\s*[\]\uff3d]|(?<=#)[ \t]*approved rules\b", re.IGNORECASE)


def unapproved(text: str) -> str:
    """Text in which nothing looks approved: only Rules that a person approved have that mark, and that heading."""
    return _APPROVED.sub(lambda found: " (Approved rules)" if found[0][-1] in "sS" else "(Rule)", text)


def visible(text: str) -> str:
    """Return a text without characters that only a model would read."""
    return text if text.isascii() else INVISIBLE.sub("", text)


def fenced_source(text: str, language: str = "") -> str:
    """Return source in a Markdown fence that nothing in it can close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


_FENCE = re.compile(r" {0,3}(`{3,}(?!.*`)|~{3,})(.*)")


def fence_after(fence: str, line: str) -> str:
    """Return the mark of fenced code in Markdown that is open behind a line; empty: none. `fence`: the one before it."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    is_end = fence and mark[1].startswith(fence) and not mark[2].strip()
    return "" if is_end else fence or mark[1]
