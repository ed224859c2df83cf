"""Head of a definition, on one line."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from cm_tui.engine.code.parse import normalise
from cm_tui.engine.code.parse.tree_query import RawSymbol, Span
from cm_tui.engine.code.scan.languages import Language

_MODIFIERS = re.compile(r"[\w\s()@.,\[\]\"'=:-]*")
_MAX_BYTES = 4 * normalise.MAX_SIGNATURE


class Signatures:
    """Signatures of one file's definitions.

    `language`: whether annotations are a part of a definition; `comments`: all of its comments.
    """

    def __init__(self, language: Language, data: bytes, comments: Sequence[Span]) -> None:
        self._language = language
        self._data = data
        self._comment_starts = sorted(span.start for span in comments)

    def of(self, raw: RawSymbol) -> str:
        """Return the signature of a definition, with the modifiers before it on its line."""
        head = self._head(raw)
        stop = min(self._stop(raw), head + _MAX_BYTES)
        signature = normalise.fold(self._data[head:stop].decode("utf-8", "ignore"), normalise.MAX_SIGNATURE)
        if self._language.annotations_inside:
            signature = normalise.without_annotations(signature)
        return (
            signature.rstrip("{ ").removesuffix("=>").removesuffix(":").rstrip("= ;,")
            if raw.body_at
            else signature.rstrip("{;,= ")
        )

    def _head(self, raw: RawSymbol) -> int:
        line_start = self._data.rfind(b"\n", 0, raw.head) + 1
        before = self._data[line_start : raw.head].decode("utf-8", "replace")
        leads = _MODIFIERS.fullmatch(before) and "=" not in before and before.count("(") == before.count(")")
        return line_start if leads else raw.head

    def _stop(self, raw: RawSymbol) -> int:
        if raw.body_at is not None and raw.body_at > raw.head:
            return self._before_body(raw, raw.body_at)
        stop = self._data.find(b"\n", raw.head, raw.end)
        if stop >= 0 and (raw.params is None or raw.params.end_byte <= stop):
            return stop
        if raw.params is None:
            return raw.end
        return max(raw.params.end_byte, raw.end if stop < 0 else 0)

    def _before_body(self, raw: RawSymbol, body_at: int) -> int:
        """Return the end of a definition's head: its body, or a comment before that."""
        after = raw.params.end_byte if raw.params is not None else raw.name_at
        index = bisect_left(self._comment_starts, after)
        if index == len(self._comment_starts) or after >= body_at:
            return body_at
        return min(body_at, self._comment_starts[index])
