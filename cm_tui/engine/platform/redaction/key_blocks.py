"""Private keys as blocks of lines: PEM, OpenSSH, PGP, PuTTY.

Sources: https://www.rfc-editor.org/rfc/rfc7468 (PEM), https://www.rfc-editor.org/rfc/rfc9580 (PGP),
https://tartarus.org/~simon/putty-snapshots/htmldoc/AppendixC.html (PuTTY).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.pattern import Pattern, compiled

# --- lines from the middle of a private key, without its BEGIN and END lines ---

# PEM writes 64 letters a line, OpenSSH 70, MIME 76 (https://www.rfc-editor.org/rfc/rfc7468, section 2).
_LINE = re.compile(
    r"^(?P<before>[^A-Za-z0-9+/\n]{0,80}+)(?=[a-z0-9+/]*[A-Z])(?=[A-Z0-9+/]*[a-z])(?=[A-Za-z+/]*[0-9])"
    r"[A-Za-z0-9+/]{56,100}+={0,2}+(?P<after>(?:\\n)?[^\w\n]{0,8}+)$",
    re.MULTILINE,
)
KIND = "private key"


def has_key_lines(text: str) -> bool:
    """Return whether a text has lines like the middle of a key; other encoded data looks the same."""
    return _LINE.search(text) is not None


def mark_key_lines(text: str) -> str:
    """Replace each such line by `[redacted: private key]`, keeping indent, quotes and the number of lines."""
    return _LINE.sub(rf"\g<before>[redacted: {KIND}]\g<after>", text)


# --- private keys as blocks of lines ---

_NAME = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"
# Between two pieces of a key: line ends (also as JSON and programs write them), indents, quotes, marks of a diff.
_BETWEEN = r"(?:\\{1,8}[nrt]|[\s\"'`+,>|#*\\-])"
_NEW_LINE = r"(?:\n|\\{1,8}n)[ \t]{0,80}+[+>|#*-]?[ \t]{0,80}+"
_END_OF_LINE = r"(?=[ \t]*+\r?(?:\n|\Z|\\{1,8}[nr]|[\"'`]))"
_LONG = r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID):[^\n\\]*+|=?[A-Za-z0-9+/]{16,}+={0,2}+)"
# The last line may be short; it is separate.
_SHORT = rf"[ \t\r\"'+,]{{0,8}}+{_NEW_LINE}=?[A-Za-z0-9+/]{{1,15}}+={{0,2}}+{_END_OF_LINE}"
_BLOCK = (
    rf"-----BEGIN {_NAME}-----(?:(?=(?P<between>{_BETWEEN}{{0,200}}))(?P=between){_LONG}|{_SHORT})+"
    rf"(?:{_BETWEEN}{{0,200}}?-----END {_NAME}-----)?"
)
_END = rf"-----END {_NAME}-----"
_PUTTY = (
    r"PuTTY-User-Key-File-\d:[^\n]*+(?:\n[ \t]*+(?:[A-Z][A-Za-z-]*+:[^\n]*+|[A-Za-z0-9+/=]{4,}+[ \t\r]*+(?=\n|\Z)))*"
)
_EDGE = Pattern(rf"-----(?P<edge>BEGIN|END) {_NAME}-----")
_LINES = Pattern(r"(?:\r?\n|<br ?/?>)")
_LONG_AT_END = Pattern(r".{0,80}?(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{32,}+={0,2}+[\s\"'`,|]{0,8}")
_FULL_AT_END = Pattern(r".{0,60}?(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,76}+={0,2}+\s{0,4}")
_MOST_BETWEEN = 20_000
_KEY_LINE = Pattern(r"=?[A-Za-z0-9+/]{1,200}={0,2}")
_AROUND = " \t\r\n\"'`,+>|#*-"
_LONGEST_LINE = 400


def find_blocks(text: str) -> Iterator[Found]:
    """Yield private keys, complete or not."""
    if "PRIVATE KEY" in text:
        last = 0
        for found in compiled(_BLOCK).finditer(text):
            last = found.end()
            yield Found(*found.span(), "pgp private key" if "BLOCK" in found[0][:80] else "private key")
        last = 0
        for found in compiled(_END).finditer(text):
            start = _start_of_rest(text, last, found.start())
            last = found.end()
            if start < found.start():
                yield Found(start, found.end(), "private key")
        yield from _prefixed_keys(text)
    if "PuTTY-User-Key-File-" in text:
        for found in compiled(_PUTTY).finditer(text):
            yield Found(*found.span(), "putty private key")


def _start_of_rest(text: str, least: int, end: int) -> int:
    """Start of the lines of a key by its last line: a diff or a log may show only its lower part."""
    start = at = end
    while at > least:
        line = max(text.rfind("\n", least, at - 1) + 1, least)
        piece = text[line:at].strip(_AROUND) if at - line <= _LONGEST_LINE else "no line of a key"
        if piece and not _KEY_LINE.fullmatch(piece):
            break
        if len(piece) >= 16:
            start = line + text[line:at].index(piece)
        at = line
    return start


def _prefixed_keys(text: str) -> Iterator[Found]:
    """Yield keys whose lines have a prefix: numbers, times, the name of a container."""
    edges = list(_EDGE.finditer(text))
    for edge, following in zip_longest(edges, edges[1:]):
        if edge["edge"] != "BEGIN":
            continue
        limit = edge.end() + _MOST_BETWEEN if following is None else following.start()
        if following is not None and following["edge"] == "END" and limit - edge.end() <= _MOST_BETWEEN:
            lines = [line for line in _LINES.split(text[edge.end() : limit]) if line.strip()]
            long = sum(_LONG_AT_END.fullmatch(line) is not None for line in lines)
            # The first piece and the last one are next to BEGIN and END.
            if long and long * 2 + 3 >= len(lines):
                yield Found(edge.start(), following.end(), "private key")
            continue
        end = _last_line(text, edge.end(), min(limit, len(text)))
        if end > edge.end():
            yield Found(edge.start(), end, "private key")


def _last_line(text: str, start: int, limit: int) -> int:
    """End of the lines after a key's beginning that look like a key's."""
    end = start
    at = text.find("\n", start, limit) + 1
    while 0 < at < limit:
        stop = text.find("\n", at, limit)
        stop = limit if stop < 0 else stop
        if not _FULL_AT_END.fullmatch(text[at:stop]):
            break
        end, at = stop, stop + 1
    return end
