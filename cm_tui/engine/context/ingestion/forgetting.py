"""Removing pipelines' output for erased events: values, blobs, and the ledger's data."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from cm_tui.engine.context.ingestion.destinations import value_digest
from cm_tui.engine.context.ingestion.ledger import Ledger
from cm_tui.engine.context.layers.blobs import Blobs
from cm_tui.engine.context.layers.kv import KvStore
from cm_tui.errors import CmError

_BLOB = "blob://"


def forget(root: Path, events: Collection[str]) -> tuple[str, ...]:
    """Remove the output of erased events; return values that stay because they were changed since.

    Output in the journal is erased with its events.

    Args:
        root: of the checkout.
        events: ids of erased events.

    Raises:
        StoreError: the ledger cannot be written.
    """
    ledger = Ledger(root)
    gone = ledger.forget(frozenset(events))
    if not gone:
        return ()
    kept = {into.destination for one in ledger.all() for into in one.run.written}
    blobs, kv = Blobs(root), KvStore(root)
    stays: list[str] = []
    for one in gone:
        for into in one.run.written:
            if into.destination.startswith(_BLOB) and into.destination not in kept:
                blobs.remove(into.destination.removeprefix(_BLOB))
        stays += [f"kv://{key}" for key, digest in one.values.items() if not _removed(kv, key, digest)]
    return tuple(dict.fromkeys(stays))


def _removed(kv: KvStore, key: str, digest: str) -> bool:
    """Remove a value if it is the written one; return whether nothing of it is left."""
    try:
        found = kv.get(key)
        if found is None:
            return True
        return value_digest(found.value) == digest and kv.remove(key, only=found.value)
    except CmError:
        return False
