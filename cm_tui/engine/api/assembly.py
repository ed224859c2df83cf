"""Assembly: what is handed over to an agent for a prompt, by definitions and rules that are files of the project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from cm_tui.engine.api.needs import needs

if TYPE_CHECKING:
    from cm_tui.model import (
        Assembly,
        AssemblyDiff,
        AssemblyHead,
        DefinitionKind,
        Definitions,
        MemoryValue,
        Page,
    )


class AssemblyApi(Protocol):
    """Which memory reaches an agent and when, said in files, and kept with its trace."""

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
    ) -> Assembly:
        """Assemble what would be handed over for a prompt.

        Args:
            prompt: what is asked; may mention `@file`, `@symbol`, `@episode` and `@note`.
            budget: tokens; None: that of the settings.
            session: of the agent, for its working memory and history.
            agent: its name.
            files: paths that are worked on.
            without: ids of sources and `rule://NAME` that are left out this time.
            keep: keep a snapshot.

        Raises:
            UsageError: the budget is none, or the prompt is too long.
            StoreError: the store cannot be read.
        """

    @needs("files", writes=("log",))
    def run_definition(
        self, name: str, *, values: Mapping[str, str] | None = None, budget: int | None = None, session: str = ""
    ) -> Assembly:
        """Run one retrieval definition by itself, also one that is not enabled.

        Args:
            name: of the definition.
            values: what its templates and parameters may name; `text` is the prompt.
            budget: tokens; None: that of the settings.
            session: of the agent.

        Raises:
            NotFoundError: there is no such definition.
            UsageError: its file has an error, or a value is none that it takes.
            RefusedError: it waits for a person's trust.
        """

    @needs("nothing")
    def assemblies(self, *, match: str = "", session: str = "", limit: int = 100) -> Page[AssemblyHead]:
        """Return snapshots, the newest first.

        Args:
            match: words of the prompt.
            session: only those of this session.
            limit: how many at most.
        """

    @needs("nothing")
    def assembly(self, name: str) -> Assembly:
        """Return a snapshot.

        Args:
            name: its id, a beginning that no other has, or `last`, `last~1` and so on.

        Raises:
            NotFoundError: there is none, or it was let go of.
        """

    @needs("nothing")
    def compare_assemblies(self, first: str, second: str) -> AssemblyDiff:
        """Return what differs between two snapshots.

        Args:
            first: the earlier one, as for `assembly`.
            second: the later one.

        Raises:
            NotFoundError: one is not there.
        """

    @needs("nothing", writes=("definitions",))
    def context_definitions(self) -> Definitions:
        """Return the retrieval definitions, rules and pipelines of the project with what is wrong with them.

        Copies the JSON Schemas to `.cm/schemas` where there are definitions and the schemas are not those of this version.
        """

    @needs("nothing", writes=("definitions",))
    def new_definition(self, kind: DefinitionKind, name: str) -> str:
        """Write a commented definition for a person to change; returns its path, relative to the root.

        Args:
            kind: of definition.
            name: of it and of its file: letters, digits, `-` and `_`.

        Raises:
            UsageError: the name is none.
            RefusedError: there is such a file.
            StoreError: it cannot be written.
        """

    @needs("nothing")
    def complete_mention(self, text: str, *, limit: int = 20) -> tuple[str, ...]:
        """Return mentions that begin like a text.

        Args:
            text: from the `@` on, such as `@src/ma`.
            limit: how many at most.
        """

    @needs("nothing")
    def read_memory(self, reference: str, *, session: str = "") -> MemoryValue:
        """Return what one memory reference leads to.

        Args:
            reference: such as `kv://release`, `markdown://architecture-notes`, `graph://callers?name=main`.
            session: of the agent, for its working memory and history.

        Raises:
            UsageError: it is no reference, or a parameter is wrong.
            NotFoundError: there is nothing.
            CmError: the layer cannot be read.
        """

    @needs("nothing", writes=("memory",))
    def write_memory(self, reference: str, value: str, *, ttl: float | None = None, session: str = "") -> MemoryValue:
        """Write one value of a layer that keeps values: `kv://`, `json://` and `working://`.

        Args:
            reference: whose value.
            value: JSON, else taken as text; an empty one removes it.
            ttl: seconds that it lives; None: for ever. Of `kv://` and `working://` alone.
            session: whose working memory.

        Raises:
            UsageError: the layer takes no values, or the value does not fit the schema.
            StoreError: it cannot be written.
        """
