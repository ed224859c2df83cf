"""The imports: past sessions of agents, from their own transcripts."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.memory import MemoryMethods
from cm_tui.engine.api.needs import in_process, needs
from cm_tui.errors import RefusedError

if TYPE_CHECKING:
    from cm_tui.config import Config


class ImportMethods(MemoryMethods):
    """This project's sessions in agents' own transcripts."""

    @needs("nothing")
    def imports(
        self,
        *,
        agents: Sequence[str] = (),
        folders: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> model.ImportPlan:
        """Return what `import_sessions` would add, without recording anything.

        `agents`: only their transcripts; empty: all agents. `folders`: former places of the project, if not known
        otherwise. `environment`: the agents' own variables, which locate their transcripts; None: those of this
        process. Raises UsageError if there is no importer for an agent; StoreError if the journal cannot be read.
        """
        from cm_tui.engine.memory.importers.plan import plan
        from cm_tui.engine.memory.importers.project import ProjectTranscripts
        from cm_tui.engine.memory.importers.rescue import unsaved

        found = plan(ProjectTranscripts(self._root, agents, folders, environment))
        return replace(found, expiring=unsaved(os.environ if environment is None else environment))

    @needs("nothing", writes=("memory",))
    def import_sessions(
        self,
        *,
        agents: Sequence[str] = (),
        folders: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        cancel: model.Cancel | None = None,
    ) -> Iterator[model.Progress]:
        """Record new sessions in agents' own transcripts of this project as episodes.

        The last step has the result as `imported`. Arguments are those of `imports`. Raises UsageError if there is no
        importer for an agent; RefusedError: recording is off for this project; StoreError if the journal cannot be
        written, or another import is running.
        """
        steps = import_into(
            self._root, self.config, agents=agents, folders=folders, environment=environment, cancel=cancel
        )
        for step in steps:
            if step.imported is not None and step.imported.episodes:
                self.read_recorded()
            yield step

    @in_process
    def read_recorded(self) -> None:
        """Make recorded episodes searchable."""
        self._read_episodes(again=False)

    @in_process
    def remembers(self) -> bool:
        """Return whether anything that people or agents left behind is searchable."""
        return self._db.value("SELECT 1 FROM passage WHERE source <> ? LIMIT 1", [model.CODE]) is not None

    @in_process
    def has_unread_names(self) -> bool:
        """Return whether there are recorded episodes, or other memories, whose names were not read yet."""
        return self._mentions_are_due()

    @in_process
    def embed_recorded(self, *, cancel: model.Cancel | None = None) -> Generator[model.Progress, None, None]:
        """Read the names in recorded episodes, and embed those without vectors, the newest first."""
        for is_done in self._mentions_in_pieces(cancel or model.Cancel()):
            if not is_done:
                yield model.Progress("names", 0, 1, searchable=True)
        for done, total in self._vectors.fill_prose(cancel):
            yield model.Progress("vectors", done, total, searchable=True)


def import_into(
    root: Path,
    config: Config,
    *,
    agents: Sequence[str] = (),
    folders: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    cancel: model.Cancel | None = None,
) -> Iterator[model.Progress]:
    """Import into the journal of the project at a root without its store, so that store requests are not blocked.

    `agents`: as for `import_sessions`; `folders`: as for `import_sessions`; `environment`: as for `import_sessions`;
    `cancel`: set to stop the import. Raises RefusedError: recording is off for this project; CmError as
    `import_sessions`.
    """
    from cm_tui.engine.memory.importers.project import ProjectTranscripts
    from cm_tui.engine.memory.importers.run import Import

    if not config.agents.record:
        raise RefusedError(
            "Recording is off for this project: `agents.record` is false.",
            hint="Set it to true in your settings to import sessions.",
        )
    project = ProjectTranscripts(root, agents, folders, environment)
    project.state.keep_environment(environment, folders)
    yield from Import(project).run(cancel or model.Cancel())
