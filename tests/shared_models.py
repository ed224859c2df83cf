"""Embedding models for tests: each is loaded once in a process, by whichever test needs it first.

Loading the model of prose takes a quarter of a second and that of code 40 ms, which every engine of a test would pay
anew. A loaded model keeps nothing of what it is asked, so tests cannot tell. Its files are still read and compared
with their checksums: only the same bytes or file, loaded under the same limits, are taken for the same model.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from cm_tui.engine.search.embed import bundled, prose, prose_process

LOADERS = {bundled: ("read_table", "_tokenizer"), prose: ("_session", "_tokenizer")}


def apply(patch: pytest.MonkeyPatch) -> None:
    """Have both bundled models share what they load, and each test ask for its own."""
    prose_process.shared_provider.cache_clear()
    for module, loaders in LOADERS.items():
        for name in loaders:
            patch.setattr(module, name, _once(module, getattr(module, name)))


def _once(module: ModuleType, load: Callable[[Any], Any]) -> Callable[[Any], Any]:
    loaded: dict[tuple[bytes | str, int], Any] = {}

    def loads(data: bytes | str) -> Any:
        key = data, module.MAX_TOKENS
        if key not in loaded:
            loaded[key] = load(data)
        return loaded[key]

    return loads
