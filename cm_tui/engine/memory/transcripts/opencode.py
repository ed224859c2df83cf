"""OpenCode's sessions: a database in newer versions, a file for each record in older ones."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any, NamedTuple

from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.lines import as_count, as_id, as_kind, as_list, as_number, as_record, as_text
from cm_tui.engine.memory.transcripts.opencode_store import Message, Store, all_stores, store_of
from cm_tui.engine.memory.transcripts.parents import ParentsFirst
from cm_tui.engine.memory.transcripts.patches import from_diff
from cm_tui.engine.memory.transcripts.tools import use_tool
from cm_tui.engine.memory.transcripts.transcript import Item, Read, Resume, Skipped, Transcript, parse_time, texts_of
from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn

_WRITERS = frozenset({"edit", "write", "multiedit", "patch", "apply_patch"})
_PARTS = frozenset({"text", "reasoning", "tool", "file", "step-start", "step-finish", "snapshot", "patch", "agent", "retry",
                    "compaction", "subtask"})  # fmt: skip


class OpenCode(Format):
    """The sessions of OpenCode."""

    agent = "opencode"

    def transcripts(self) -> Iterator[Transcript]:
        """Yield all of them; one in both forms is yielded twice."""
        self.unread.clear()
        for store in all_stores(self._environment):
            for session in store.sessions():
                name = f"{store.file}#{session.id}"
                yield Transcript(self.agent, name, store.file, session.size, session.changed, session.id)
            self.left_out += store.left_out
            if store.problem:
                self.unread[store.file] = store.problem

    def has_store(self) -> bool:
        """Return whether it has a database or a folder of sessions; neither is opened."""
        return next(all_stores(self._environment), None) is not None

    def facts(self, transcript: Transcript) -> SessionFacts | None:
        """Return whose it is, as the session's record has it."""
        info = self._store(transcript).session(transcript.session)
        folder = as_text(info.get("directory"))
        if not folder:
            return None
        project = as_text(info.get("projectID"))
        return SessionFacts(
            self.agent,
            as_id(transcript.session),
            folder,
            parent=as_id(info.get("parentID")),
            title=as_text(info.get("title")),
            began=parse_time(as_record(info.get("time")).get("created")),
            first_commit=project if len(project) == 40 else "",
        )

    def read(self, transcript: Transcript, facts: SessionFacts, resume: Resume) -> Iterator[Item]:
        """Yield its turns; records are rewritten as they grow, so all of them are read each time."""
        resume.offset = resume.turns = 0
        store = self._store(transcript)
        revert = as_text(as_record(store.session(transcript.session).get("revert")).get("messageID"))
        yield from _Reading(facts, resume, revert).items(store.messages(transcript.session))

    @staticmethod
    def _store(transcript: Transcript) -> Store:
        return store_of(transcript.file)


class _Open(NamedTuple):
    turn: Turn
    start: int
    """Number of its first message."""


class _Reading:
    """Reads turns from the messages of one session.

    `facts`: about the session. `resume`: receives the number of messages. `revert`: id of the first message that the
    user undid; empty: none.
    """

    def __init__(self, facts: SessionFacts, resume: Resume, revert: str) -> None:
        self._facts = facts
        self._revert = revert
        self._resume = resume
        self._turn: _Open | None = None
        self._before: _Open | None = None
        """The turn before, whose last messages may come after the next prompt."""
        self._order = ParentsFirst[tuple[Message, int]]()
        self._by_id: dict[str, Turn | None] = {}
        """Turns by their messages of the user."""
        self._is_broken = False
        """Whether a message since the last one of a turn is unreadable."""

    def items(self, messages: Iterator[Message | Skipped]) -> Iterator[Item]:
        """Yield turns, and skipped records."""
        number = 0
        for message in messages:
            self._resume.check()
            if isinstance(message, Skipped):
                self._damage()
                yield message
                continue
            for due in self._order.add((message, number), message.id, as_text(message.info.get("parentID"))):
                yield from self._take(*due)
            number += 1
        for due in self._order.rest():
            yield from self._take(*due)
        yield from self._close(number)
        if self._turn is not None:
            yield Read(self._turn.turn, self._turn.start, number, is_last=True)
        self._resume.offset = number

    def _damage(self) -> None:
        """Note that a message could not be read."""
        self._is_broken = True
        if self._turn is not None and not self._turn.turn.is_over:
            self._turn.turn.damage()

    def _take(self, message: Message, number: int) -> Iterator[Item]:
        for part in message.parts:
            if (kind := as_text(part.get("type"))) not in _PARTS:
                kind = f"part {as_kind(kind, 'without a type')}"
                yield Skipped(kind, number, record=part, time=_began(message))
        for _ in range(message.broken):
            yield Skipped("part that is no record", number, is_broken=True)
        role = message.info.get("role")
        if role == "user":
            yield from self._ask(message, number)
        elif role == "assistant":
            yield from self._answer(message, number)
        else:
            self._damage()
            kind = f"message {as_kind(role, 'without a role')}"
            yield Skipped(kind, number, record=message.info, time=_began(message))

    def _ask(self, message: Message, number: int) -> Iterator[Item]:
        typed = [part for part in message.parts if part.get("type") == "text" and part.get("synthetic") is not True]
        text = texts_of([part for part in typed if part.get("ignored") is not True])
        tasks = [as_text(part.get("prompt")) for part in message.parts if part.get("type") == "subtask"]
        text = "\n".join(filter(None, (text, *tasks)))
        found = self._turn
        if text.strip() or message.broken:
            if found is None or message.id or not found.turn.is_empty or message.broken:
                found = yield from self._begin(message, number)
            found.turn.at(_began(message))
            # Ids are in order of time.
            found.turn.ask(text, for_agent=not self._revert or message.id < self._revert)
            self._is_broken = False
        self._by_id[message.id] = found.turn if found else None

    def _begin(self, message: Message, number: int) -> Generator[Item, None, _Open]:
        """Begin a turn; yield the one before the last one, which is complete now."""
        yield from self._close(number)
        folder = as_text(as_record(message.info.get("path")).get("cwd")) or self._facts.folder
        key = message.id or f"{self._facts.session} {number}"
        self._before, self._turn = self._turn, _Open(Turn(key, folder), number)
        return self._turn

    def _close(self, number: int) -> Iterator[Item]:
        """Yield the turn before the last one; if unanswered, its prompts join the last one."""
        before, last = self._before, self._turn
        if before is None or last is None:
            return
        if before.turn.is_empty and before.turn.prompts:
            last.turn.precede(before.turn)
            self._turn = last._replace(start=before.start)
        else:
            yield Read(before.turn, before.start, number)

    def _turn_of(self, message: Message, number: int) -> Generator[Item, None, Turn]:
        """Return the turn of an agent's message: that of its parent, else the current one."""
        parent, found = as_text(message.info.get("parentID")), self._turn
        turn = self._by_id.get(parent)
        for one in (self._turn, self._before):
            if one is not None and one.turn is turn:
                return one.turn
        is_missing = parent and parent not in self._by_id
        if found is None or turn is not None or ((self._is_broken or is_missing) and found.turn.is_complete):
            found = yield from self._begin(message, number)
        if is_missing:
            # All answers to one prompt name it, also where a copy of the session has other ids.
            self._by_id[parent] = found.turn
        return found.turn

    def _answer(self, message: Message, number: int) -> Iterator[Item]:
        info = message.info
        turn = yield from self._turn_of(message, number)
        self._is_broken = False
        if message.broken:
            turn.damage()
        turn.continue_turn()
        time = as_record(info.get("time"))
        turn.at(parse_time(time.get("created")))
        for part in message.parts:
            self._part(turn, part)
        turn.at(parse_time(time.get("completed")))
        tokens = as_record(info.get("tokens"))
        fresh = sum(as_count(tokens.get(name)) for name in ("input", "output", "reasoning"))
        turn.spend(message.id, fresh + as_count(as_record(tokens.get("cache")).get("write")))
        error = as_record(info.get("error"))
        if error:
            self._fail(turn, error)
        else:
            turn.is_over = time.get("completed") is not None and as_text(info.get("finish")) not in {
                "tool-calls",
                "tool_use",
            }

    def _fail(self, turn: Turn, error: Mapping[str, Any]) -> None:
        name = as_text(error.get("name"))
        if name == "MessageAbortedError":
            turn.stop("interrupted", "interrupted by the person")
        else:
            turn.stop("failed", f"{name}: {as_text(as_record(error.get('data')).get('message'))[:300]}")

    def _part(self, turn: Turn, part: Mapping[str, Any]) -> None:
        kind = as_text(part.get("type"))
        if kind == "text" and part.get("synthetic") is not True:
            turn.say(as_text(part.get("text")))
        elif kind == "reasoning":
            turn.think(as_text(part.get("text")))
        elif kind == "tool":
            self._tool(turn, part)
        elif kind == "patch":
            for file in as_list(part.get("files")):
                turn.write(as_text(file))

    def _tool(self, turn: Turn, part: Mapping[str, Any]) -> None:
        tool, state = as_text(part.get("tool")), as_record(part.get("state"))
        call, details = as_text(part.get("callID") or part.get("id")), as_record(state.get("metadata"))
        use_tool(turn, call, tool, as_record(state.get("input")), writes=tool in _WRITERS)
        status = as_text(state.get("status"))
        if status in {"completed", "error"}:
            failed = status == "error" or as_number(details.get("exit")) not in {None, 0}
            text, diff = as_text(state.get("output") or state.get("error")), as_text(details.get("diff"))
            turn.get(call, text, failed=failed, diff=lambda path: from_diff(path, diff))


def _began(message: Message) -> float | None:
    return parse_time(as_record(message.info.get("time")).get("created"))
