"""The code, now or at an earlier revision; and packs of it and of entries for a chat, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from cm_tui import model
from cm_tui.engine.api.engine_base import of_one_generation
from cm_tui.engine.api.needs import in_process, needs
from cm_tui.engine.api.search import SearchMethods
from cm_tui.engine.context.definitions.definition_files import has_files
from cm_tui.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from cm_tui.engine.code.graph.graph import Graph
    from cm_tui.engine.context.packs.injection import InjectionTable
    from cm_tui.engine.context.packs.reminders import Past

_UNIQUE = """
SELECT name FROM (SELECT split_part(path, '/', -1) AS name FROM now_file)
WHERE name IN (SELECT unnest(?::VARCHAR[])) GROUP BY name HAVING count(*) = 1
"""
_NOTE_LINES = """
SELECT p.path, p.text FROM passage p JOIN note n ON p.path = 'note/' || n.id
WHERE p.source = ? AND n.kind <> 'instructions'
    AND len(list_filter(?::VARCHAR[], lambda word: contains(p.text, word))) > 0 ORDER BY p.path, p.start_line
"""
_REMINDER_S = 0.1
"""How long a reminder waits for what was just recorded: a tool call waits for it."""
_TURNS = 60
"""Newest turns of all sessions that reminders are taken from."""
SHIPPED_PACK = "code", True
"""Profile of the shipped definition `pack`, and whether neighbours are included."""

T = TypeVar("T")


class ContextMethods(SearchMethods):
    """Definitions and uses of symbols, where `at` names an earlier revision as for `resolve`; and context for a chat."""

    _table: tuple[str, InjectionTable] | None = None
    _known_past: tuple[Sequence[object], Sequence[Past]] = ((), ())

    @needs("files")
    @of_one_generation
    def symbols(
        self, *, file: str | None = None, kind: str | None = None, match: str | None = None, limit: int = 1000
    ) -> model.Page[model.Symbol]:
        """Return symbols in order of path and line; `match` is fuzzy and orders by fit."""
        inside = self._inside(file) if file else None
        return self._graph.symbols(file=inside, kind=kind, match=match, limit=limit)

    @needs("files")
    @of_one_generation
    def definitions(self, name: str, *, at: str | None = None) -> model.Page[model.Symbol]:
        """Return the definitions of a name or qualified name (any suffix of it, at a separator)."""
        return self._query(at, lambda graph: graph.definitions(name))

    @needs("files")
    @of_one_generation
    def callers(
        self, name: str | model.SymbolKey, *, depth: int = 1, at: str | None = None, unresolved: bool = False
    ) -> model.Page[model.Edge]:
        """Return the call sites of a symbol, and of their own symbols when depth > 1 (at most 3).

        The page counts further sites of that name that are unresolved; `unresolved` lists those instead.
        """
        return self._query(at, lambda graph: graph.callers(name, depth=depth, unresolved=unresolved))

    @needs("files")
    @of_one_generation
    def callees(self, name: str | model.SymbolKey, *, depth: int = 1, at: str | None = None) -> model.Page[model.Edge]:
        """Return what a symbol calls."""
        return self._query(at, lambda graph: graph.callees(name, depth=depth))

    @needs("files")
    @of_one_generation
    def dependencies(self, path: str, *, at: str | None = None) -> model.Page[model.ImportEdge]:
        """Return what a file imports."""
        return self._query(at, lambda graph: graph.dependencies(self._inside(path)))

    @needs("files")
    @of_one_generation
    def importers(self, target: str, *, at: str | None = None) -> model.Page[model.ImportEdge]:
        """Return who imports a module or a file."""
        return self._query(at, lambda graph: graph.importers(target))

    @needs("files")
    def assembly_members(self, type_name: str) -> model.Page[model.Symbol]:
        """Return a .NET type of a referenced assembly, and its members that can be used from outside.

        `type_name`: its name, or an ending of its qualified name. Raises NotFoundError if no assembly has it.
        """
        from cm_tui.engine.code.graph.assemblies import PROJECT_FILE, referenced_assemblies
        from cm_tui.engine.code.graph.assembly_members import members_of

        sql = "SELECT path FROM now_file WHERE regexp_matches(path, ?) ORDER BY path"
        files = self._of_one_generation(lambda: [str(row[0]) for row in self._db.rows(sql, [PROJECT_FILE])])
        assemblies = referenced_assemblies(self._root, files)
        if not assemblies:
            missing = "The referenced assemblies were not found." if files else "The project has no .NET project files."
            raise NotFoundError(missing, hint="`dotnet restore` downloads packages." if files else "")
        return members_of(type_name, assemblies)

    @needs("head", shared=False)
    @of_one_generation
    def source(
        self, path: str, start_line: int = 1, end_line: int | None = None, *, at: str | None = None
    ) -> model.Source:
        """Return lines of a file."""
        if at is not None:
            return self._history.source(at, self._inside(path), start_line, end_line)
        return self._file_view().source(self._inside(path), start_line, end_line)

    @in_process
    def prepare_session(self) -> None:
        """Begin what takes long before an agent's questions: the model of prose, the tables and all edges of calls."""
        self._vectors.begin_prose()
        self._graph.prepare()

    def _query(self, at: str | None, question: Callable[[Graph], model.Page[T]]) -> model.Page[T]:
        return question(self._graph) if at is None else self._history.ask(at, question)

    # --- context for a chat, chosen by the engine or the user ---

    @needs("files")
    def pack(self, question: str, *, budget: int = 4000, neighbours: bool = True) -> model.Pack:
        """Choose what answers a question, within a budget of tokens."""
        # Before choosing the generation of the response: otherwise new findings could not be read from it.
        self._read_what_was_recorded("code")
        profile, with_neighbours = self._pack_step()
        wanted = neighbours and with_neighbours
        return self._of_one_generation(lambda: self.pack_within(question, budget, neighbours=wanted, profile=profile))

    def _pack_step(self) -> tuple[str, bool]:
        """Return how the definition `pack` chooses, the shipped one or the project's own: profile, and whether neighbours."""
        if not has_files(self._root, "retrieval"):
            # What reads definitions is slow to import, and the first prompt waits.
            return SHIPPED_PACK
        from cm_tui.engine.context.definitions.shapes import CodePack

        found = self._library.definition("pack")
        steps = found.value.steps if found is not None else ()
        step = next((step for step in steps if isinstance(step, CodePack)), CodePack(type="code_pack"))
        return step.profile, step.neighbours

    @in_process
    def pack_within(self, question: str, budget: int, *, neighbours: bool, profile: str) -> model.Pack:
        """Return a pack of code from the generation that the thread reads."""
        from cm_tui.engine.context.packs.from_query import auto_pack, hits_for

        files = self._file_view()
        return auto_pack(
            question,
            model.bounded(budget),
            neighbours,
            search=lambda asked: self._search(asked, profile, "hybrid", hits_for(budget)),
            source=files.source,
            symbol_at=files.symbol_at,
            callers=self._used_by,
            callees=self._uses,
            prepare=files.prepare,
        )

    @needs("files")
    def pack_items(self, items: Sequence[model.PackRequest], *, budget: int = 4000, question: str = "") -> model.Pack:
        """Make a pack of the user's choice, in that order."""
        self._read_what_was_recorded("code")
        return self._pack_items(items, budget, question)

    @of_one_generation
    def _pack_items(self, items: Sequence[model.PackRequest], budget: int, question: str) -> model.Pack:
        from cm_tui.engine.context.packs.pack import manual_pack

        files = self._file_view()

        def source(path: str, start_line: int, end_line: int | None) -> model.Source:
            # The requested path may not be in the index.
            try:
                return files.source(self._inside(path), start_line, end_line)
            except NotFoundError as error:
                raise NotFoundError(self._why_not_given(path) or error.message, hint=error.hint) from error

        return manual_pack(items, model.bounded(budget), question, source=source, symbol_at=files.symbol_at)

    def _why_not_given(self, path: str) -> str:
        """Return why no pack has a memory, by its path; empty: it is none, or the index is behind."""
        kind, name = model.kind_and_id(path)
        if kind not in (model.ENTRIES, model.EPISODES) or not name:
            return ""
        try:
            one = self._entries().named(name) if kind == model.ENTRIES else self._episodes.one(name)
        except (NotFoundError, UsageError):
            return f"The {kind} is forgotten, or was deleted."
        if one.forgotten is not None:
            return f"The {kind} is forgotten."
        if isinstance(one, model.Entry) and (one.never_recall or one.held):
            return f"The entry is {'never recalled' if one.never_recall else 'held until it is trusted'}."
        return ""

    @needs("files")
    @of_one_generation
    def neighbours(self, items: Sequence[model.PackRequest]) -> tuple[model.PackRequest, ...]:
        """Return callers, callees and used types of the chosen items, nearest first."""
        from cm_tui.engine.context.packs.neighbours import neighbours_of

        files = self._file_view()
        files.prepare([item.path for item in items])
        found = neighbours_of(
            items, symbol_at=files.symbol_at, callers=self._used_by, callees=self._uses, prepare=files.prepare
        )
        return tuple(found)

    def _uses(self, key: model.SymbolKey) -> model.Page[model.Edge]:
        """Callees of a symbol, types it names, and its bases."""
        return self._graph.callees(key, kinds=("call", "decorate", "type", "inherit"), text=False)

    def _used_by(self, key: model.SymbolKey) -> model.Page[model.Edge]:
        """Return who calls a symbol."""
        return self._graph.callers(key, text=False)

    @needs("nothing")
    def inject(
        self, *, budget: int = 2000, scope: str = "", category: str = "", prompt: str = "", files: Sequence[str] = ()
    ) -> model.Injection:
        """Return entries as text for a prompt, the most valuable within a budget of tokens.

        Entries that wait for trust or approval, or are never recalled, are counted but not included. `scope`: only
        `user` or `project`; empty: both. `category`: only this category; empty: all. `prompt`: entries related to it
        come first. `files`: paths that the session works on: entries that name them come first. Raises UsageError if
        there is no such scope or category; StoreError if a file cannot be read.
        """
        from cm_tui.engine.context.packs.injection import EntryRequest
        from cm_tui.engine.memory.entries.entry_record import checked_category, checked_scope

        inside = tuple(self._inside(path) for path in files)
        only = checked_category(category) if category else ""
        wanted = EntryRequest(model.bounded(budget), checked_scope(scope) or "", only, prompt, inside)
        return self._injection_table().inject(wanted, self._recall_log.totals())

    @needs("nothing")
    def reminders(
        self, *, paths: Sequence[str] = (), command: str = "", session: str = ""
    ) -> tuple[model.Reminder, ...]:
        """Return what is known about editing files, or about running a command; mostly nothing.

        `paths`: files below the project's root. `command`: a line for a shell. `session`: of the agent that asks: its
        own turns are no news to it. Raises RefusedError if a path is outside the project; StoreError if a file cannot be
        read.
        """
        from cm_tui.engine.context.packs.reminders import Action, reminders

        inside = [self._inside(path) for path in paths]
        names = [path.rpartition("/")[2] for path in inside]
        unique = [str(name) for (name,) in self._db.rows(_UNIQUE, [names])] if names else ()
        action = Action(command, str(self._root), inside, unique, session)
        if not action.paths and not action.commands:
            return ()
        self._read_journal(_REMINDER_S)
        lines = self._note_lines(sorted(action.words))
        return reminders(action, self._injection_table().entries, lines, self._past())

    def _note_lines(self, words: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the lines of notes with one of some words, each behind its note's path."""
        for path, text in self._db.rows(_NOTE_LINES, [model.NOTES, words]):
            for line in text.split("\n"):
                if any(word in line for word in words):
                    yield path, line.strip().removeprefix("- ")

    def _past(self) -> Sequence[Past]:
        """Return what reminders need of the newest turns; read again when these are others."""
        from cm_tui.engine.context.packs.reminders import past_of

        self._episodes.follow()
        state = self._episodes.tables.state()
        if self._known_past[0] != state:
            self._known_past = (state, past_of(self._episodes.newest_of("", _TURNS)))
        return self._known_past[1]

    def _injection_table(self) -> InjectionTable:
        from cm_tui.engine.context.packs.injection import InjectionTable

        entries = self._entries()
        # Stamped before reading, so that a concurrent change is read next time.
        stamp = entries.stamp()
        if self._table is None or self._table[0] != stamp:
            found = entries.all()
            self._table = (stamp, InjectionTable(found.entries, found.notes))
        return self._table[1]
