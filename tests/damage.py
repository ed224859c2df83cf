"""Ways to damage a store, as disks, crashes and people do: each with the name that `cm doctor` has for it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import duckdb

from cm_tui.engine.api.engine import Engine
from tests import templates

BLOCK = 262_144
HEADERS = 12_288
LOG_HEADER = 8
LOG_PREFIX = 16


@dataclass(frozen=True)
class Place:
    """An indexed project whose data may be damaged."""

    root: Path
    home: Path

    @property
    def store(self) -> Path:
        return next((self.home / "data" / "projects").glob("*"))

    @property
    def file(self) -> Path:
        return self.store / "store.duckdb"

    @property
    def log(self) -> Path:
        return self.store / "store.duckdb.wal"


Damage = Callable[[Place], None]


def cut(share: float) -> Damage:
    """Truncate the store to a share of it."""

    def damage(place: Place) -> None:
        os.truncate(place.file, int(place.file.stat().st_size * share))

    return damage


def zero_block(number: int) -> Damage:
    def damage(place: Place) -> None:
        overwrite(place.file, HEADERS + number * BLOCK, bytes(BLOCK))

    return damage


def flip(at: int) -> Damage:
    def damage(place: Place) -> None:
        byte = place.file.read_bytes()[at]
        overwrite(place.file, at, bytes([byte ^ 4]))

    return damage


def overwrite(file: Path, at: int, content: bytes) -> None:
    with file.open("r+b") as stream:
        stream.seek(at)
        stream.write(content)


def sql(*statements: str) -> Damage:
    def damage(place: Place) -> None:
        with duckdb.connect(str(place.file)) as db:
            for statement in statements:
                db.execute(statement)

    return damage


def folder_in_place_of_the_store(place: Place) -> None:
    place.file.unlink()
    place.file.mkdir()
    (place.file / "something").write_text("")


def half_the_vectors(place: Place) -> None:
    file = place.store / "vectors.bin"
    os.truncate(file, file.stat().st_size // 2)


def flipped_vectors(place: Place) -> None:
    file = place.store / "vectors.bin"
    overwrite(file, file.stat().st_size - 100, b"\xff\x00\xff")


def with_log(then: Callable[[Path], None]) -> Damage:
    """Index a change, keep the files as they are before the log is moved into the store, and harm that log."""

    def damage(place: Place) -> None:
        (place.root / "shop" / "late.py").write_text("def came_late():\n    return 'late'\n")
        killed = place.home.with_name("killed")
        with mock.patch.dict(os.environ, CM_HOME=str(place.home)), Engine.open(place.root) as engine:
            for _ in engine.index():
                pass
            shutil.copytree(place.home, killed)
        shutil.rmtree(place.home)
        killed.rename(place.home)
        assert place.log.stat().st_size > 100
        then(place.log)

    return damage


def garbage_in_head(text: str) -> Damage:
    def damage(place: Place) -> None:
        (place.root / ".git" / "HEAD").write_text(text)

    return damage


def flip_in_log(log: Path) -> None:
    """Change what the entry in the middle of a log holds; its checksum tells."""
    at, length = _entry_in_the_middle(log)
    overwrite(log, at + LOG_PREFIX + length // 2, b"\xa5\x5a")


def flip_length_in_log(log: Path) -> None:
    """Give the entry in the middle of a log a length beyond the end, as the last entry of a killed process has."""
    at, _ = _entry_in_the_middle(log)
    overwrite(log, at + 4, b"\xa5\x5a")


def _entry_in_the_middle(log: Path) -> tuple[int, int]:
    """Return where the entry begins and the length of its content.

    DuckDB writes a header, then entries: length and checksum of 8 bytes each, and the content.
    """
    content = log.read_bytes()
    at = LOG_HEADER
    while True:
        length = int.from_bytes(content[at : at + 8], "little")
        following = at + LOG_PREFIX + length
        if following > len(content) // 2:
            assert following <= len(content), (at, length, len(content))
            return at, length
        at = following


OF_THE_STORE: dict[str, tuple[Damage, str]] = {
    "cut to nothing": (cut(0), "store-truncated"),
    "cut within its headers": (cut(0.0005), "store-truncated"),
    "cut to 80 %": (cut(0.8), "store-truncated"),
    "cut to 95 %": (cut(0.95), "store-truncated"),
    "a header overwritten": (flip(4200), "store-overwritten"),
    "no database": (lambda place: place.file.write_bytes(b"no database at all" * 3000) and None, "store-foreign"),
    "a folder": (folder_in_place_of_the_store, "store-foreign"),
    "a block zeroed": (zero_block(5), "store-zeroed"),
    "a byte flipped": (flip(HEADERS + 7 * BLOCK + 5000), "store-overwritten"),
    "a log flipped": (with_log(flip_in_log), "store-log-damaged"),
    "a schema that is no number": (sql("UPDATE meta SET value = 'three' WHERE key = 'schema'"), "schema-unreadable"),
    "no schema": (sql("DELETE FROM meta WHERE key = 'schema'"), "schema-unreadable"),
    "no table of facts": (sql("DROP TABLE meta"), "schema-unreadable"),
    "an older schema than its tables": (sql("UPDATE meta SET value = '1' WHERE key = 'schema'"), "schema-older"),
    "a newer schema": (sql("UPDATE meta SET value = '99' WHERE key = 'schema'"), "schema-newer"),
    "a table lost": (sql("DROP TABLE passage"), "schema-incomplete"),
    "a column lost": (sql("ALTER TABLE symbol DROP COLUMN signature"), "schema-incomplete"),
    "a fact that is no number": (
        sql("UPDATE meta SET value = 'x' WHERE key = 'passage_generation'"), "fact-unreadable",
    ),
    "rows lost": (sql("DELETE FROM passage WHERE id % 2 = 0"), "rows-contradictory"),
    "files lost": (sql("DELETE FROM head_file WHERE path LIKE '%cart%'"), "rows-differ-from-git"),
}  # fmt: skip
"""Damage that `cm rebuild` mends."""

BY_INDEXING: dict[str, tuple[Damage, str]] = {
    "a log missing": (with_log(lambda log: log.unlink()), "store-log-missing"),
    "a log cut": (with_log(lambda log: os.truncate(log, log.stat().st_size // 3)), "store-log-missing"),
    "a length in the log flipped": (with_log(flip_length_in_log), "store-log-missing"),
    "half a vector file": (half_the_vectors, "vectors-damaged"),
    "vectors flipped": (flipped_vectors, "vectors-damaged"),
}
"""Damage that `cm index` mends."""


def restore(to: Place, kept: Path) -> None:
    """Put a project and its data back to how they were kept."""
    for folder, name in ((to.root, "root"), (to.home, "home")):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(kept / name, folder, symlinks=True)
    templates.link(to.root, to.home)


def keep(place: Place, kept: Path) -> None:
    shutil.copytree(place.root, kept / "root", symlinks=True)
    shutil.copytree(place.home, kept / "home", symlinks=True)
