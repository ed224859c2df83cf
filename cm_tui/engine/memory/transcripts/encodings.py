"""The encoding of a transcript, and its lines as bytes: UTF-8, and UTF-16 or UTF-32 from some shells' redirection."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    # Without a byte order mark: how a first record begins.
    ('{"'.encode("utf-32-le"), "utf-32-le"),
    ('{"'.encode("utf-32-be"), "utf-32-be"),
    ('{"'.encode("utf-16-le"), "utf-16-le"),
    ('{"'.encode("utf-16-be"), "utf-16-be"),
)


class Encoding(NamedTuple):
    """How a file of text is encoded."""

    codec: str

    @property
    def newline(self) -> bytes:
        """Return the end of a line."""
        return "\n".encode(self.codec)

    def ends_line(self, data: bytes | bytearray) -> bool:
        """Return whether bytes that begin at a character end with the end of a line."""
        newline = self.newline
        return data.endswith(newline) and len(data) % len(newline) == 0

    def readline(self, stream: BinaryIO, limit: int) -> bytes:
        """Return the next line with its end, at most about so many bytes of it.

        Raises OSError if it cannot be read.
        """
        data = stream.readline(limit)
        newline = self.newline
        width = len(newline)
        if width == 1:
            return data
        line = bytearray(data)
        while data and not self.ends_line(line):
            if len(line) % width:
                # The end of a line in little endian, or a character that holds the byte 10.
                data = stream.read(width - len(line) % width)
            elif len(line) >= limit:
                break
            else:
                data = stream.readline(limit - len(line))
            line += data
        return bytes(line)

    def decode(self, data: bytes) -> str:
        """Decode bytes; invalid ones become U+FFFD."""
        return data.decode(self.codec, "replace")

    def decode_exactly(self, data: bytes) -> tuple[str, str]:
        """Return bytes as a text that encodes to the same bytes, and the error handler for that."""
        handler = "surrogateescape" if self.codec == "utf-8" else "surrogatepass"
        width = len(self.newline)
        try:
            return data[: len(data) // width * width].decode(self.codec, handler), handler
        except UnicodeDecodeError:
            return self.decode(data), "replace"

    def as_utf8(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield pieces of a text in UTF-8."""
        if self.codec == "utf-8":
            yield from pieces
            return
        decoder = codecs.getincrementaldecoder(self.codec)("replace")
        for piece in pieces:
            yield decoder.decode(piece).encode("utf-8", "replace")


UTF_8 = Encoding("utf-8")


def encoding_of(stream: BinaryIO) -> Encoding:
    """Return the encoding of an open file by its first bytes; its position is unchanged.

    Raises OSError if it cannot be read.
    """
    at = stream.tell()
    stream.seek(0)
    first = stream.read(8)
    stream.seek(at)
    return Encoding(next((codec for mark, codec in _MARKS if first.startswith(mark)), "utf-8"))
