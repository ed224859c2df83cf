"""The past of one store, as the door shows it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from cm_tui.config import Config
from cm_tui.engine.history.moments import Moments
from cm_tui.engine.git.repository import Repository
from cm_tui.engine.store.database import Database
from cm_tui.model import Page

T = TypeVar("T")


class Past:
    """Answers about moments of the line.

    Args:
        db: the store.
        repository: the checkout.
        config: what is indexed, and how far back.
    """

    def __init__(self, db: Database, repository: Repository, config: Config) -> None:
        self._db = db
        self._repository = repository
        self._config = config
        self.moments = Moments(db, repository)
