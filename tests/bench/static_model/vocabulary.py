"""A vocabulary for code: the present one, and the words that the pairs say most often and that it has only in pieces."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from cm_tui.errors import NotFoundError
from tests.bench.static_model.onnx_file import Table
from tests.bench.static_model.pairs import Pair

LEAST_PROJECTS = 3
"""Projects that must say a word before it becomes an entry."""
_WORD = re.compile(r"[0-9A-Za-z_]+")
_SHORTEST, _LONGEST = 3, 24


def tokenizer_at(folder: Path) -> Tokenizer:
    """Return the tokenizer of a model's folder.

    Raises:
        NotFoundError: there is none.
    """
    try:
        return Tokenizer.from_buffer((folder / "tokenizer.json").read_bytes())
    except (OSError, ValueError) as error:
        raise NotFoundError(f"{folder} has no tokenizer: {error}", hint="Name the folder of a static model.") from error


def extended(tokenizer: Tokenizer, pairs: Iterable[Pair], size: int) -> Tokenizer:
    """Return a tokenizer with up to `size` entries; those that were there keep their numbers.

    Args:
        tokenizer: WordPiece, whose normaliser splits names into words.
        pairs: what is said.
        size: entries.
    """
    said: Counter[str] = Counter()
    projects: dict[str, set[str]] = defaultdict(set)
    for name, words in _by_project(pairs):
        for word, count in words.items():
            for part in tokenizer.normalizer.normalize_str(word).split():
                said[part] += count
                if len(projects[part]) < LEAST_PROJECTS:
                    projects[part].add(name)
    data = json.loads(tokenizer.to_str())
    known = data["model"]["vocab"]
    for word, _ in sorted(said.items(), key=lambda item: (-item[1], item[0])):
        if len(known) >= size:
            break
        is_word = word.isascii() and word.isalpha() and _SHORTEST <= len(word) <= _LONGEST
        if is_word and word not in known and len(projects[word]) >= LEAST_PROJECTS:
            known[word] = len(known)
    return Tokenizer.from_str(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def _by_project(pairs: Iterable[Pair]) -> Iterable[tuple[str, Counter[str]]]:
    words: Counter[str] = Counter()
    name = ""
    for pair in pairs:
        if pair.project != name:
            yield name, words
            name, words = pair.project, Counter()
        words.update(_WORD.findall(f"{pair.question} {pair.title} {pair.text}"))
    yield name, words


def first_table(table: Table, before: Tokenizer, after: Tokenizer) -> Table:
    """Return the rows to begin with: a new word is the sum of the pieces that it was, so that no text changes."""
    new = np.zeros((after.get_vocab_size(), table.shape[1]), dtype=np.float32)
    new[: len(table)] = table
    for word, number in after.get_vocab().items():
        if number >= len(table):
            new[number] = table[before.encode(word, add_special_tokens=False).ids].sum(axis=0)
    return new
