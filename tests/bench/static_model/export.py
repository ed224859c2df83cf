"""A trained model as a folder: ONNX file, tokenizer, the small files that fastembed asks for, checksums."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tokenizers import Tokenizer

from cm_tui.engine.search.embed.bundled import MAX_TOKENS, NAME
from tests.bench.static_model.onnx_file import Table
from tests.bench.static_model.onnx_file import write as onnx_bytes

_SPECIAL = {"unk_token": "[UNK]", "pad_token": "[PAD]"}
_TOKENIZER = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": MAX_TOKENS, **_SPECIAL}


def write(folder: Path, table: Table, tokenizer: Tokenizer) -> None:
    """Write a model's files; the card is written by hand.

    Args:
        folder: made if it is not there.
        table: a row for each entry of the vocabulary.
        tokenizer: the vocabulary.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = {"pad_token_id": 0, "hidden_size": table.shape[1], "vocab_size": len(table)}
    files = {
        "model.onnx": onnx_bytes(table, NAME),
        "tokenizer.json": tokenizer.to_str().encode(),
        "config.json": json.dumps(config).encode(),
        "special_tokens_map.json": json.dumps(_SPECIAL).encode(),
        "tokenizer_config.json": json.dumps(_TOKENIZER).encode(),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()]
    (folder / "checksums").write_text("".join(lines), encoding="ascii")
