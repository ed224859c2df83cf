"""The index of a project: its state, and the runs that make it and keep it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from cm_tui.engine.api.needs import needs

if TYPE_CHECKING:
    from cm_tui.model import Cancel, Check, FileEntry, Freshness, IndexPlan, Page, Progress, ProjectStatus, SkippedFile


class IndexApi(Protocol):
    """What can be asked of the index as a whole, and done with it."""

    @needs("nothing")
    def status(self) -> ProjectStatus:
        """Return the project and its index at a glance."""

    @needs("nothing")
    def stale_reason(self) -> str:
        """Return why the index does not reflect this checkout's HEAD; nothing when it does.

        Raises:
            NotIndexedError: there is no index yet.
        """

    @needs("nothing")
    def freshness(self) -> Freshness:
        """Return each layer that keeps the index fresh, and what is not in the index yet.

        Raises:
            NotIndexedError: there is no index yet.
        """

    @needs("nothing")
    def plan(self, *, full: bool = False, since: str | None = None) -> IndexPlan:
        """Return what `index` would do, without doing it."""

    @needs("nothing", writes=("index",))
    def index(
        self, *, full: bool = False, since: str | None = None, paths: Sequence[str] = (), cancel: Cancel | None = None
    ) -> Iterator[Progress]:
        """Bring the index up to the working tree; `paths` alone when given. The last step carries the summary."""

    @needs("nothing", writes=("index",))
    def rebuild(self, *, cancel: Cancel | None = None) -> Iterator[Progress]:
        """Throw the index away and make it again."""

    @needs("nothing", writes=("index", "memory"))
    def reset(self, *, drop_episodes: bool = False) -> None:
        """Remove the project's index.

        Args:
            drop_episodes: also the journal, with all that agents' sessions recorded: that cannot be made again.
        """

    @needs("nothing")
    def doctor(self, *, full: bool = False) -> tuple[Check, ...]:
        """Check model, extension, grammars, compiled parts, versions, and all of the store.

        Args:
            full: compare every vector, every word of the keyword index and every file of HEAD too.
        """

    @needs("checkout")
    def files(self, folder: str = "") -> Page[FileEntry]:
        """Return the indexed files below a folder, all levels, sorted by path."""

    @needs("checkout")
    def skipped(self) -> Page[SkippedFile]:
        """Return the files that were looked at and left out of the index."""
