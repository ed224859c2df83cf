"""Context assembly for a prompt, and the files of definitions, rules and pipelines that it works by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.engine_base import of_one_generation
from cm_tui.engine.api.layers import LayerMethods
from cm_tui.engine.api.needs import needs
from cm_tui.engine.platform.lazy import shared_property
from cm_tui.errors import CmError, NotFoundError, RefusedError, StoreError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from cm_tui.engine.context.assembly.mentions import Names
    from cm_tui.engine.context.assembly.rules import RuleSet
    from cm_tui.engine.context.assembly.steps import Task
    from cm_tui.engine.context.definitions.library import Library
    from cm_tui.engine.context.ingestion.ingestion import Ingestion


LONGEST_PROMPT = 100_000
"""Characters."""
_NAMES = 5_000


class AssemblyMethods(LayerMethods):
    """Assembles memory for an agent by definition files, and keeps the trace."""

    _rules_of: tuple[Library, RuleSet] | None = None

    @needs("files", writes=("log",))
    def assemble(
        self,
        prompt: str,
        *,
        budget: int | None = None,
        session: str = "",
        agent: str = "",
        files: Sequence[str] = (),
        without: Sequence[str] = (),
        keep: bool = True,
    ) -> model.Assembly:
        """Assemble the context for a prompt.

        Args:
            prompt: the user's prompt; may mention `@file`, `@symbol`, `@episode` and `@note`.
            budget: tokens; None: that of the settings.
            session: the agent's session, for its working memory and history.
            agent: its name.
            files: paths that the session works on.
            without: ids of sources and `rule://NAME` to exclude this time.
            keep: keep a snapshot.

        Raises:
            UsageError: the budget is invalid, or the prompt is too long.
            StoreError: the store cannot be read.
        """
        self._read_what_was_recorded(model.CODE)
        task = self._task(prompt, budget, session, agent, files)
        made = self._assemble(task, frozenset(without), "")
        return self._with_snapshot(made) if keep else made

    @needs("files", writes=("log",))
    def run_definition(
        self, name: str, *, values: Mapping[str, str] | None = None, budget: int | None = None, session: str = ""
    ) -> model.Assembly:
        """Run one retrieval definition alone, enabled or not.

        `values`: values for its templates and parameters; `text` is the prompt. `budget`: tokens; None: that of the
        settings. Raises NotFoundError if there is no such definition; UsageError if its file has an error, or a value
        is invalid; RefusedError if it is not trusted yet.
        """
        given = dict(values or {})
        self._check_definition(name, given)
        self._read_what_was_recorded(model.CODE)
        task = replace(self._task(given.get("text", ""), budget, session, "", ()), values=given)
        made = self._assemble(task, frozenset(), name)
        failed = next((one for one in made.sources if one.cut == "failed"), None)
        if failed is not None:
            raise CmError(f"The definition {name} failed: {failed.why_cut}")
        return self._with_snapshot(made)

    @of_one_generation
    def _assemble(self, task: Task, without: frozenset[str], only: str) -> model.Assembly:
        from cm_tui.engine.context.assembly.assemble import assemble

        library = self._library
        made = assemble(task, library, self._rule_set(library), self._mention_names, self._memory_reader, without, only)
        return replace(made, head=self._repository.head().sha)

    @needs("nothing")
    def assemblies(self, *, match: str = "", session: str = "", limit: int = 100) -> model.Page[model.AssemblyHead]:
        """Return snapshots, the newest first.

        `match`: words of the prompt; `session`: only those of this session; `limit`: how many at most.
        """
        from cm_tui.counts import count

        found = list(self._snapshots.heads(match, session))
        damaged = self._snapshots.damaged()
        note = (
            f"{count(damaged, 'snapshot')} cannot be read and {'is' if damaged == 1 else 'are'} skipped."
            if damaged
            else ""
        )
        return model.Page(tuple(islice(found, model.bounded(limit))), len(found), note)

    @needs("nothing")
    def assembly(self, name: str) -> model.Assembly:
        """Return a snapshot.

        `name`: its id, a unique prefix of it, or `last`, `last~1` and so on. Raises NotFoundError if no such snapshot,
        or it was dropped.
        """
        return self._snapshots.named(name)

    @needs("nothing")
    def compare_assemblies(self, first: str, second: str) -> model.AssemblyDiff:
        """Return the difference between two snapshots.

        `first`: the earlier one, as for `assembly`; `second`: the later one. Raises NotFoundError: no such snapshot.
        """
        from cm_tui.engine.context.assembly.snapshots import compared

        return compared(self._snapshots.named(first), self._snapshots.named(second))

    @needs("nothing")
    def complete_mention(self, text: str, *, limit: int = 20) -> tuple[str, ...]:
        """Return mentions that begin like a text.

        `text`: from the `@` on, such as `@src/ma`; `limit`: how many at most.
        """
        from cm_tui.engine.context.assembly.mentions import completed

        return tuple(completed(text[:200], self._mention_names, model.bounded(limit)))

    # --- parts ---

    def _with_snapshot(self, made: model.Assembly) -> model.Assembly:
        """Keep a snapshot, unless recording is off; a failed write is a note."""
        if why := self._why_not_recorded(made.session):
            return replace(made, notes=(*made.notes, f"No snapshot was saved: {why}"))
        try:
            return self._snapshots.keep(made)
        except StoreError as error:
            return replace(made, notes=(*made.notes, f"No snapshot was saved. {error.message}"))

    def _task(self, prompt: str, budget: int | None, session: str, agent: str, files: Sequence[str]) -> Task:
        from cm_tui.engine.context.assembly.steps import Task

        wanted = self.config.context.budget if budget is None else budget
        if not 1 <= wanted <= 1_000_000:
            raise UsageError(f"A budget of {wanted:,} tokens is not valid.", hint="Use 1 to 1,000,000.")
        if len(prompt) > LONGEST_PROMPT:
            raise UsageError(
                f"The prompt has {len(prompt):,} characters.", hint=f"At most {LONGEST_PROMPT:,} are allowed."
            )
        inside = tuple(self._inside(path) for path in files)
        branch = self._repository.head().branch or ""
        return Task(prompt, session, agent, inside, branch, wanted)

    def _check_definition(self, name: str, given: Mapping[str, str]) -> None:
        known = ["text", *self._library.runnable("retrieval", name).value.params]
        for key in given:
            if key not in known:
                raise UsageError(
                    f"The definition {name} has no parameter {key[:40]!r}.", hint=f"Use {', '.join(known)}."
                )

    def _rule_set(self, library: Library) -> RuleSet:
        """Return the rules, compiled once until a file changes."""
        from cm_tui.engine.context.assembly.rules import RuleSet

        kept = self._rules_of
        if kept is None or kept[0] is not library:
            kept = self._rules_of = (library, RuleSet(library.rules))
        return kept[1]

    @shared_property
    def _mention_names(self) -> Names:
        from cm_tui.engine.context.assembly.mentions import Names

        return Names(
            is_file=lambda path: bool(self._db.value("SELECT 1 FROM now_file WHERE path = ?", [path])),
            has_symbol=self._has_symbol,
            has_episode=self._has_episode,
            note_named=self._note_named,
            files=lambda: [str(row[0]) for row in self._db.rows("SELECT path FROM now_file ORDER BY path")],
            symbols_like=self._symbols_like,
            notes=lambda: [id_ for id_, _ in self.note_names()],
            episodes=lambda limit: [one.id for one in self.episodes(limit=limit).rows],
        )

    def _symbols_like(self, text: str, limit: int) -> list[str]:
        from difflib import get_close_matches

        found = [one.qualname for one in self.symbols(match=text, limit=limit).rows]
        if found:
            return found
        names = {one.name: one.qualname for one in self.symbols(limit=_NAMES).rows}
        return [names[name] for name in get_close_matches(text.rpartition(".")[2], list(names), limit)]

    def _has_symbol(self, name: str) -> bool:
        try:
            return "/" not in name and bool(self.definitions(name).rows)
        except CmError:
            return False

    def _has_episode(self, name: str) -> bool:
        try:
            return self.episode(name).forgotten is None
        except CmError:
            return False

    def _note_named(self, name: str) -> str:
        try:
            return self._notes().named(name).id
        except (NotFoundError, UsageError, RefusedError):
            return ""


# --- definition files: retrieval definitions, rules, and pipelines, which are also run by hand ---


class DefinitionMethods(LayerMethods):
    """Retrieval definitions, rules and pipelines of the project, and what pipelines wrote."""

    @needs("nothing", writes=("definitions",))
    def context_definitions(self) -> model.Definitions:
        """Return retrieval definitions, rules and pipelines of the project, with their problems.

        Copies the JSON Schemas to `.cm/schemas` if there are definitions and the schemas are of another version.
        """
        from cm_tui.engine.context.definitions.library import list_definitions

        self._copy_schemas()
        return list_definitions(self._library)

    @needs("nothing", writes=("definitions",))
    def new_definition(self, kind: model.DefinitionKind, name: str) -> str:
        """Write a commented definition for the user to change; return its path, relative to the root.

        `name`: of it and of its file: letters, digits, `-` and `_`. Raises UsageError if the name is invalid;
        RefusedError if the file exists; StoreError if it cannot be written.
        """
        from cm_tui.engine.context.definitions.writing import write_new

        path = write_new(self._root, kind, name)
        self._copy_schemas()
        return path

    @needs("nothing", writes=("memory",))
    def ingest(self, pipeline: str, text: str, *, values: Mapping[str, str] | None = None) -> model.IngestRun:
        """Run a pipeline over a text now; known input is not written again.

        `values`: values for its templates. Raises NotFoundError if there is no such pipeline; UsageError if its file
        has an error; RefusedError if it is not trusted yet.
        """
        return self._ingestion.by_hand(self._library, pipeline, text, dict(values or {}))

    @needs("nothing", writes=("memory",))
    def ingest_pending(self) -> tuple[model.IngestRun, ...]:
        """Run the pipelines over the events since their last run; the daemon does so by itself."""
        return self._ingestion.pending(self._library)

    @needs("nothing")
    def ingest_runs(
        self, *, pipeline: str = "", outcome: model.IngestOutcome | None = None, limit: int = 100
    ) -> model.Page[model.IngestRun]:
        """Return runs, the newest first.

        `pipeline`: only runs of this pipeline; `outcome`: only runs with this outcome; `limit`: the most to return.
        """
        runs = [
            one.run
            for one in self._ingestion.ledger.all()
            if not one.is_open and pipeline in ("", one.run.pipeline) and outcome in (None, one.run.outcome)
        ]
        return model.Page(tuple(islice(runs, model.bounded(limit))), len(runs))

    @needs("nothing", writes=("memory",))
    def ingest_again(self, run: str) -> model.IngestRun:
        """Repeat a failed run from the failed step, with the saved input.

        `run`: its id, or a unique prefix of it. Raises NotFoundError if there is no such run; RefusedError if it did
        not fail, or its pipeline waits for trust.
        """
        return self._ingestion.again(self._library, run)

    @shared_property
    def _ingestion(self) -> Ingestion:
        from cm_tui.engine.context.ingestion.ingestion import Ingestion
        from cm_tui.engine.context.ingestion.inputs import Means

        means = Means(self._ask_model, self.config.context.processors)
        return Ingestion(self._root, means, self.episodes_of, self._why_not_recorded)

    def _copy_schemas(self) -> None:
        """Update the schemas next to definitions; skipped in a read-only project."""
        from cm_tui.engine.context.definitions.writing import copy_schemas_to

        try:
            copy_schemas_to(self._root)
        except (RefusedError, StoreError) as error:
            import logging

            logging.getLogger(__name__).info("%s", error.message)


def has_definitions(root: Path) -> bool:
    """Return whether a project has its own retrieval definitions or rules, valid or not."""
    from cm_tui.engine.context.definitions.definition_files import has_files

    if not has_files(root, "retrieval", "rule"):
        # Each prompt asks; the rest is slow to import.
        return False
    from cm_tui.engine.context.definitions.library import SHIPPED, load

    library = load(root)
    files = [*(one.file for one in library.retrieval), *(one.file for one in library.rules)]
    if any(not file.startswith(SHIPPED) for file in files):
        return True
    return any("/ingestion/" not in problem.file for problem in library.problems)
