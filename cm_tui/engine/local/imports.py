"""Importing agents' transcripts, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cm_tui.engine.local.memory import LocalMemory
from cm_tui.errors import RefusedError
from cm_tui.model import Cancel, ImportPlan, Progress


class LocalImports(LocalMemory):
    """Past sessions of agents, from their own transcripts."""

    def imports(
        self,
        *,
        agents: Sequence[str] = (),
        folders: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> ImportPlan:
        """Return what `import_sessions` would read, without recording anything."""
        from cm_tui.engine.importers.project import ProjectTranscripts, plan

        return plan(ProjectTranscripts(self._root, agents, folders, environment))

    def import_sessions(
        self,
        *,
        agents: Sequence[str] = (),
        folders: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[Progress]:
        """Record what agents' own transcripts tell of this project as episodes: what is new since the last time."""
        from cm_tui.engine.importers.project import ProjectTranscripts
        from cm_tui.engine.importers.run import Import

        if not self.config.agents.record:
            raise RefusedError(
                "Nothing is recorded of this project: `agents.record` is false.",
                hint="Set it to true in your settings to import sessions.",
            )
        project = ProjectTranscripts(self._root, agents, folders, environment)
        project.state.keep_environment(environment, folders)
        for step in Import(project).run(cancel or Cancel()):
            if step.imported is not None and step.imported.episodes and self._db.get_meta("indexed_at"):
                self._read_episodes(again=False)
            yield step
