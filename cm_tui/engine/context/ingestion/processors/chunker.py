"""`chunker`: splits large inputs into overlapping chunks of so many tokens."""

from __future__ import annotations

from collections.abc import Iterator

from cm_tui.engine.context.definitions.shapes.ingestion import Chunker
from cm_tui.engine.context.ingestion.batch import MOST_ITEMS, Batch, Item, Means, numbered
from cm_tui.engine.platform import tokenizer
from cm_tui.errors import UsageError


def run(step: Chunker, batch: Batch, _: Means) -> None:
    """Replace items by chunks."""
    chunks: list[Item] = []
    for item in batch.items:
        for text in chunked(str(item.get("text", "")), step.size, step.overlap):
            chunks.append(numbered({**item, "text": text}, len(chunks)))
            if len(chunks) > MOST_ITEMS:
                raise UsageError(f"There are more than {MOST_ITEMS:,} chunks.", hint="Make them larger.")
    batch.items = chunks
    batch.made["chunks"] = chunks


def chunked(text: str, size: int, overlap: int) -> Iterator[str]:
    """Yield chunks of at most `size` tokens, overlapping by `overlap` tokens.

    A character of several tokens is never split: it goes to the chunk in which it ends.
    """
    tokens = tokenizer.encoded(text)
    ends = tokenizer.letter_ends(tokens)
    start = 0
    while start < len(tokens):
        end = min(start + size, len(tokens))
        while end > start + 1 and not ends[end - 1]:
            end -= 1
        yield tokenizer.decoded(tokens[start:end])
        if end >= len(tokens):
            return
        begin = max(end - overlap, start + 1)
        while begin < end and not ends[begin - 1]:
            begin += 1
        start = begin
