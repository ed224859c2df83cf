"""Text encodings of sources and commits: by a mark, an attribute or a line of the file, else UTF-8."""

from __future__ import annotations

import codecs
import re
from collections.abc import Container, Iterator
from typing import NamedTuple

_NAMES = """
    ascii utf-8 utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be
    iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-11
    iso8859-13 iso8859-14 iso8859-15 iso8859-16 tis-620
    cp437 cp737 cp775 cp850 cp852 cp855 cp857 cp858 cp860 cp861 cp862 cp863 cp864 cp865 cp866 cp869 cp874
    cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 koi8-r koi8-u koi8-t
    mac-roman mac-latin2 mac-cyrillic mac-greek mac-turkish mac-iceland
    cp932 shift_jis shift_jis_2004 shift_jisx0213 euc_jp euc_jis_2004 euc_jisx0213
    iso2022_jp iso2022_jp_1 iso2022_jp_2 iso2022_jp_2004 iso2022_jp_3 iso2022_jp_ext
    cp949 euc_kr johab iso2022_kr gb2312 gbk gb18030 hz big5 big5hkscs cp950
"""
_CODECS = frozenset(_NAMES.split())
"""Python's codecs that decode text, by the names that `codecs.lookup` returns: looking them up imports all of them.

Names come from strangers, and some codecs evaluate escapes or take very long."""
_ALIASES = {
    "sjis": "shift_jis", "x-sjis": "cp932", "windows-31j": "cp932", "ms932": "cp932", "euc-cn": "gb2312",
    "euc-tw": "big5hkscs", "ucs-2": "utf-16", "ucs-2le": "utf-16-le", "ucs-2be": "utf-16-be", "utf-16le-bom": "utf-16-le",
    "utf-16be-bom": "utf-16-be", "ucs-4": "utf-32", "macintosh": "mac-roman", "ansi": "cp1252",
}  # fmt: skip
_SUPERSETS = {
    "shift_jis": "cp932", "euc_jp": "euc_jis_2004", "gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949",
    "big5": "big5hkscs", "ascii": "cp1252",
}  # fmt: skip
"""What files of an encoding often really are; tried where the stricter one fails."""
_WIDE = ("utf-16", "utf-32")
_SEVEN_BIT = frozenset(name for name in _CODECS if name.startswith(("iso2022", "hz")))
"""Encodings whose bytes are all ASCII, so that they pass for UTF-8."""
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, a longer one before one that it begins with."""
_HEAD_BYTES = 1_024
_MODELINES = 5
"""Lines at each end of a file in which Vim looks for settings."""
_PYTHON = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_EMACS = re.compile(rb"-\*-.*?\bcoding:[ \t]*([-\w.]+).*?-\*-")
_VIM = re.compile(rb"(?:^|\s)(?:vim?|ex):.*?\b(?:fileencoding|fenc)=([-\w.]+)")
_XML = re.compile(rb"\A\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*[\"']([-\w.:]+)")
_HTML = re.compile(rb"\A\s*<[\s\S]*?<meta\b[^>]{0,200}?\bcharset\s*=\s*[\"']?\s*([-\w.:]+)", re.IGNORECASE)
_CSS = re.compile(rb"\A@charset \"([-\w.:]+)\";")
_FALLBACK = "cm-windows-1252"
UNDECLARED = "not UTF-8, and no known encoding is declared: other bytes are read as Windows-1252"
"""Reason of a file whose letters may be wrong."""


class SourceText(NamedTuple):
    """Text of a file or a commit."""

    text: str
    """Without a byte order mark. Lines end at `\\n`."""
    problem: str = ""
    """Why letters may be wrong; empty where the encoding is known."""


def codec_of(name: str) -> str:
    r"""Return Python's name of an encoding; empty: unknown, or not for text.

    Args:
        name: as spelled by git, an editor or a markup language, such as `latin-1-unix` or `Shift_JIS`.
    """
    plain = re.sub(r"-(?:unix|dos|mac)$", "", name.strip().lower())
    try:
        found = codecs.lookup(_ALIASES.get(plain, plain)).name
    except (LookupError, ValueError):
        return ""
    return found if found in _CODECS else ""


def decode(data: bytes, encoding: str = "") -> SourceText:
    r"""Decode a file: by its byte order mark, as UTF-8, by its own or a given declaration, else as Windows-1252.

    Valid UTF-8 is decoded as such despite other declarations, as git converts some files to it without changing their
    text.

    Args:
        data: the whole content. Lines may end at `\n`, `\r\n` or, in a file without any `\n`, at `\r`.
        encoding: declared elsewhere, such as in `.gitattributes`.
    """
    found = _decoded(data, encoding)
    if "\r" not in found.text:
        return found
    text = found.text.replace("\r\n", "\n")
    return SourceText(text if "\n" in text else text.replace("\r", "\n"), found.problem)


def decode_message(data: bytes, encoding: str = "") -> str:
    """Decode the text of a commit by its header `encoding`, else as UTF-8 and, byte by byte, Windows-1252."""
    text = _strict(data, codec_of(encoding)) if encoding else None
    return data.decode("utf-8", _FALLBACK) if text is None else text


def wide_text(data: bytes, encoding: str = "") -> str | None:
    """Return content with NUL bytes as text, if it is UTF-16 or UTF-32; None: binary."""
    name = _wide_codec(data, encoding)
    text = _strict(data, name) if name else None
    return None if text is None or "\0" in text else text.removeprefix("\ufeff")


def to_utf8(data: bytes, encoding: str) -> bytes | None:
    """Convert a file of the working tree to UTF-8, as git does for the attribute `working-tree-encoding`.

    Returns None when it is not in that encoding, or the encoding is unknown.
    """
    text = _strict(data, _wide_codec(data, encoding) or codec_of(encoding))
    return None if text is None else text.removeprefix("\ufeff").encode()


def _decoded(data: bytes, encoding: str) -> SourceText:
    mark, name = next((one for one in BOMS if data.startswith(one[0])), (b"", ""))
    if mark:
        text = _strict(data[len(mark) :], name)
        if text is not None:
            return SourceText(text)
        errors = _FALLBACK if name == "utf-8" else "replace"
        return SourceText(data[len(mark) :].decode(name, errors), f"some bytes are not valid {name.upper()}")
    if b"\0" in data and (text := wide_text(data, encoding)) is not None:
        return SourceText(text)
    text = _strict(data, "utf-8")
    if text is None:
        text = _as_declared(data, encoding, _CODECS)
    elif b"\x1b" in data or b"~{" in data:
        text = _as_declared(data, encoding, _SEVEN_BIT) or text
    return SourceText(data.decode("utf-8", _FALLBACK), UNDECLARED) if text is None else SourceText(text)


def _as_declared(data: bytes, encoding: str, allowed: Container[str]) -> str | None:
    """Decode by a file's declaration, then `encoding`, if it is an allowed codec."""
    for name in _declared(data, encoding):
        # A declaration that can be read as ASCII is not in one of the wide encodings.
        if name in allowed and not name.startswith(_WIDE):
            for codec in (name, _SUPERSETS.get(name, "")):
                if (text := _strict(data, codec)) is not None:
                    return text
    return None


def _declared(data: bytes, encoding: str) -> Iterator[str]:
    """Yield the codecs that a file, then `encoding`, declares."""
    lines = data.split(b"\n", _MODELINES)
    ends = [*lines[:_MODELINES], *data.rsplit(b"\n", _MODELINES)[1:]]
    head = data[:_HEAD_BYTES]
    # A longer one is not a line of text.
    found = [pattern.search(line[:_HEAD_BYTES]) for line in lines[:2] for pattern in (_PYTHON, _EMACS)]
    found += [_VIM.search(line[:_HEAD_BYTES]) for line in ends]
    found += [pattern.search(head) for pattern in (_XML, _HTML, _CSS)]
    for name in (*(match[1].decode("ascii", "replace") for match in found if match is not None), encoding):
        if codec := codec_of(name):
            yield codec


def _wide_codec(data: bytes, encoding: str) -> str:
    for mark, name in BOMS:
        if data.startswith(mark) and name.startswith(_WIDE):
            return name
    name = codec_of(encoding)
    return name if name.startswith(_WIDE) else ""


def _strict(data: bytes, codec: str) -> str | None:
    if not codec:
        return None
    try:
        return data.decode(codec)
    except (UnicodeError, LookupError):
        return None


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    bad = error.object[error.start : error.end]
    # Five bytes mean nothing there: they become the control characters of Latin-1.
    return "".join(_WINDOWS_1252[byte] for byte in bad), error.end


_WINDOWS_1252 = [_strict(bytes([byte]), "cp1252") or chr(byte) for byte in range(256)]
codecs.register_error(_FALLBACK, _as_windows_1252)
