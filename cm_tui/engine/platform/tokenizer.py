"""How many tokens a text costs, by a real tokenizer: byte pairs of the vocabulary `cl100k_base`, which comes with the install.

Agents' models have vocabularies of their own; on code and prose this one is within some percent of theirs. Packs are
estimated from the shape of the text instead (`context/budget.py`), which loads nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from base64 import b64decode
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from cm_tui.errors import ModelError

if TYPE_CHECKING:
    from tiktoken import Encoding

NAME = "cl100k_base"
"""Of the vocabulary, as traces name it."""
_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_PATTERN = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
"""How the vocabulary cuts text into words, as tiktoken has it."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=1 << 8)
def count(text: str) -> int:
    """Return the tokens of a text. Raises ModelError if the vocabulary is damaged."""
    return len(encoded(text))


def encoded(text: str) -> list[int]:
    """Return the tokens of a text, by their numbers; what stands in it for a special token is text.

    Raises ModelError if the vocabulary is damaged.
    """
    # A lone surrogate is no text that could be encoded; it counts as the mark that replaces it.
    return _encoding().encode_ordinary(_SURROGATE.sub("\ufffd", text))


def decoded(tokens: list[int]) -> str:
    """Return the text of tokens; half a letter at either end becomes a mark."""
    return _encoding().decode(tokens)


def letter_ends(tokens: list[int]) -> list[bool]:
    """Return for each token whether a letter ends with it: one letter may take several."""
    encoding = _encoding()
    found, left = [], 0
    for token in tokens:
        for byte in encoding.decode_single_token_bytes(token):
            if left and byte & 0xC0 == 0x80:
                left -= 1
            else:
                left = 3 if byte >= 0xF0 else 2 if byte >= 0xE0 else 1 if byte >= 0xC0 else 0
        found.append(left == 0)
    return found


def cut(text: str, most: int) -> str:
    """Return the longest beginning of a text, up to the end of a letter, that costs at most so many tokens."""
    if most <= 0:
        return ""
    tokens = encoded(text)
    if len(tokens) <= most:
        return text
    return _encoding().decode(tokens[:most], errors="ignore")


@lru_cache(maxsize=1)
def _encoding() -> Encoding:
    # Late import: it and the vocabulary take 0.2 s and 55 MB; `memory.release_caches` releases them.
    import tiktoken

    raw = files("cm_tui").joinpath("data", "tokens", f"{NAME}.tiktoken.gz").read_bytes()
    try:
        plain = gzip.decompress(raw)
    except (OSError, EOFError) as error:
        raise _damaged() from error
    if hashlib.sha256(plain).hexdigest() != _SHA256:
        raise _damaged()
    ranks = {b64decode(token): int(rank) for token, rank in map(bytes.split, plain.splitlines())}
    return tiktoken.Encoding(NAME, pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={})


def _damaged() -> ModelError:
    return ModelError(f"The vocabulary {NAME} is damaged.", hint="Install cm-tui again.")
