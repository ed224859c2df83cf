"""Stores here are made as in the product."""

from __future__ import annotations

import pytest

from cm_tui.engine.platform.store import connection, database


@pytest.fixture(autouse=True)
def made_by_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new store is made by all migrations, and not a copy of an empty one."""
    monkeypatch.setattr(database, "connect", connection.connect)
