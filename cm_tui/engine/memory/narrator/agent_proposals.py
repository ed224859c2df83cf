"""Agents' proposals: events of the journal, read back as proposals for the user to decide on.

They are only an agent's claim: no miner reads them, no policy approves them, and their confidence is below that of the
narrator's own proposals. The same text for the same scope is one proposal, however often it is proposed. An event names
the episodes that it is based on, and is erased with any of them.

Validating an agent's proposal: one plain, redacted line, for an existing scope and topic.

An event is validated again when it is read: a journal may contain anyone's backup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cm_tui.counts import count
from cm_tui.engine.memory.entries.entry_record import TITLE_CHARACTERS, checked_scope, keywords_of, storable
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.narrator import targets
from cm_tui.engine.memory.narrator.confidence import Candidate, Tally
from cm_tui.engine.memory.narrator.decisions import object_in
from cm_tui.engine.memory.narrator.tables import VISIBLE, id_of, number_of
from cm_tui.engine.memory.narrator.topic_names import topic_named
from cm_tui.engine.memory.narrator.weighing import claim_digest
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.projection.narrated import PROPOSED, STANDS_ON
from cm_tui.engine.memory.recording.gate import why_not
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import RefusedError, UsageError
from cm_tui.model import ConfidencePart, Evidence, NarratedProposal, Topic
from cm_tui.model.entry import REASON_CHARACTERS
from cm_tui.model.text import one_line, visible

MOST_WAITING = 200
"""Further proposals are rejected: no user would read them."""
WORD = 0.3
"""Confidence of an agent's claim: it has no counts, and is below the narrator's own proposals."""
_ID_LETTERS = 7
"""One more than in the narrator's ids, so that they never collide."""
_EVIDENCE = 8
_QUOTE = 200
_NO_WORDS = "an agent"
LINE_CHARACTERS = 500
"""A longer text is not a line of a note."""
MOST_EPISODES = 50
_MARKS = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])(?:\s+|$))+")
"""List marks, which are added when the line is written."""
_COMMENT = re.compile(r"<!--|-->")
_BLOCK = re.compile(r"#{1,6}(?:\s|$)|```|~~~|>|\[[^\]]*\]:")
"""Markup beyond a list item: a heading, a fence, a quotation, a link's address."""
_NEEDLESS = re.compile(r"[\s.!?,;:]+$")


@dataclass(frozen=True, slots=True)
class AgentProposal:
    """An agent's proposal, and its author."""

    text: str
    why: str = ""
    scope: str = "project"
    topic: str = ""
    """Name of the topic that it belongs to."""
    episodes: tuple[str, ...] = ()
    """Names of its evidence."""
    agent: str = ""
    session: str = ""


class AgentProposals:
    """Agents' proposals in a project.

    `topics`: returns those of the project and its user; `is_decided`: returns whether the user decided on a proposal,
    which then does not wait any more; `known`: returns proposed and decided ones: an agent's proposal in the same words
    is the same one.
    """

    def __init__(
        self,
        root: Path,
        episodes: Episodes,
        topics: Callable[[], Sequence[Topic]] = tuple,
        is_decided: Callable[[NarratedProposal], bool] = lambda _: False,
        known: Callable[[], Iterable[NarratedProposal]] = tuple,
    ) -> None:
        self._root = root
        self._episodes = episodes
        self._topics = topics
        self._is_decided = is_decided
        self._known = known

    def all(self) -> list[NarratedProposal]:
        """Return agents' proposals, decided or not, the oldest first; without digests.

        Raises StoreError if the journal cannot be read.
        """
        self._episodes.follow()
        rows = self._episodes.tables.rows(
            "SELECT time, data FROM narrator_event WHERE kind = ? AND NOT undone ORDER BY event", [PROPOSED]
        )
        said: dict[str, tuple[float, Mapping[str, Any]]] = {}
        for time, text in rows:
            data = sound(object_in(text))
            if data is not None:
                said.setdefault(_id_of(data["scope"], data["text"]), (time, data))
        seen = self._seen({id_ for _, data in said.values() for id_ in data[STANDS_ON]})
        topics = self._topics() if said else ()
        return [_proposal(id_, time, data, seen, topics) for id_, (time, data) in said.items()]

    def waiting(self) -> list[NarratedProposal]:
        """Return the undecided ones, the oldest first. Raises StoreError if the journal cannot be read."""
        return [one for one in self.all() if not self._is_decided(one)]

    def evidence(self, proposal: NarratedProposal, most: int = _EVIDENCE) -> tuple[Evidence, ...]:
        """Return the newest episodes of a proposal's evidence, with their subjects."""
        sql = (
            f"SELECT id, time, session, actor, title, prompt FROM episode WHERE {VISIBLE} "  # noqa: S608 - our own words
            "AND id IN (SELECT unnest(?::VARCHAR[])) ORDER BY time DESC, id LIMIT ?"
        )
        rows = self._episodes.tables.rows(sql, [list(proposal.evidence_ids), most])
        return tuple(
            Evidence(id_, time, session, actor, redact(" ".join((title or prompt).split())).text[:_QUOTE])
            for id_, time, session, actor, title, prompt in rows
        )

    def propose(self, wish: AgentProposal) -> NarratedProposal:
        """Propose something; a repeated proposal is the earlier one, decided or not.

        Raises UsageError if the text is empty, or longer than a line of Markdown, or too many proposals wait;
        NotFoundError if there is no such episode or topic; RefusedError: recording is off, or the topic is outside the
        folders of topics; StoreError if it cannot be written.
        """
        if reason := why_not(self._root, wish.session):
            raise RefusedError(f"Nothing was recorded: {reason}.", hint="Only the user can change that: `cm resume`.")
        self._episodes.index.follow()
        data = self._data(wish)
        key = key_of(data["text"])
        for one in (*self.all(), *self._known()):
            if key_of(one.text) == key and (one.scope == "user") == (data["scope"] == "user"):
                return one
        if (many := len(self.waiting())) >= MOST_WAITING:
            raise UsageError(
                f"{many:,} proposals of agents are already waiting for the user.",
                hint="The user must decide on some first: `cm proposals list --kind agent`.",
            )
        event = self._episodes.journal.append(PROPOSED, data)
        self._episodes.index.follow()
        return next(one for one in self.all() if one.id == _id_of(data["scope"], event.data["text"]))

    # --- parts ---

    def _data(self, wish: AgentProposal) -> dict[str, Any]:
        """Return the data of the event, without what looks like a secret."""
        scope, topic = checked_scope(wish.scope) or "project", ""
        if wish.topic.strip():
            place = topic_named(Notes(self._root), wish.topic)
            topic = place.id
            if place.scope != scope:
                raise UsageError(
                    f"The topic {topic} is in the scope {place.scope}, not in {scope}.",
                    hint="Omit the topic, or use one of that scope.",
                )
        names = list(dict.fromkeys(wish.episodes))
        if len(names) > MOST_EPISODES:
            raise UsageError(
                f"{count(len(names), 'episode')} given; at most {MOST_EPISODES} are allowed.",
                hint="Give the most relevant ones.",
            )
        text = line(wish.text)
        return {
            # The key for erasing it; its id always depends on its text.
            "proposal": _id_of(scope, text),
            "text": text,
            "why": _plain(wish.why, REASON_CHARACTERS),
            "scope": scope,
            "topic": topic,
            STANDS_ON: list(self._episodes.named_all(names)) if names else [],
            "actor": "agent",
            "agent": _plain(wish.agent),
            "session": _plain(wish.session),
        }

    def _seen(self, ids: Iterable[str]) -> dict[str, tuple[float, str]]:
        session = "CASE WHEN session = '' THEN id ELSE agent || '/' || session END"
        sql = f"SELECT id, time, {session} FROM episode WHERE {VISIBLE} AND id IN (SELECT unnest(?::VARCHAR[]))"  # noqa: S608 - our own words
        return {id_: (time, session) for id_, time, session in self._episodes.tables.rows(sql, [sorted(ids)])}


def candidate_of(proposal: NarratedProposal) -> Candidate:
    """Return an agent's proposal in a form for comparison with known facts."""
    one = proposal
    tally = Tally(one.support, one.sessions, 0, one.first, one.last, 0.0, WORD)
    terms = keywords_of("", one.text)
    claim = key_of(one.text)
    return Candidate(one.kind, "", claim, one.claims, one.text, terms, one.scope, tally, one.evidence_ids)


def _proposal(
    id_: str, time: float, data: Mapping[str, Any], seen: Mapping[str, tuple[float, str]], topics: Sequence[Topic]
) -> NarratedProposal:
    known = {name: seen[name] for name in data[STANDS_ON] if name in seen}
    times = [when for when, _ in known.values()] or [time]
    who = data["agent"] or _NO_WORDS
    part = ConfidencePart("word", WORD, f"stated by {who}; nothing was counted")
    made = NarratedProposal(
        id=id_, kind="statement", action="add", text=data["text"], why=data["why"] or f"Proposed by {who}.",
        scope=data["scope"], target="", support=len(known), sessions=len({session for _, session in known.values()}), first=min(times), last=max(times), confidence=WORD,
        parts=(part,), as_rule=True, proposed_by=who,
        evidence_ids=tuple(sorted(known, key=lambda name: (-known[name][0], name))),
        claims=(claim_digest("statement", f"{data['scope']} {PROPOSED}", key_of(data["text"])),),
    )  # fmt: skip
    target = _target(made, data["topic"], topics)
    return replace(
        made, scope=target.scope, target=target.note_id, heading=target.heading, tags=target.tags,
        topics=(target.note_id,) if any(one.id == target.note_id for one in topics) else (),
    )  # fmt: skip


def _target(one: NarratedProposal, topic: str, topics: Sequence[Topic]) -> targets.Target:
    """Return its target: the topic that the agent named, if it still exists."""
    named = next((each for each in topics if each.id == topic and not each.retired), None)
    found = targets.target_of(candidate_of(one), topics)
    about = set(map(targets.key_of, keywords_of("", one.text)))
    return found if named is None else targets.in_topic(named, about, found.heading)


def _id_of(scope: str, text: str) -> str:
    """Return the id of a text, the same whenever it is proposed; it is longer than the narrator's own."""
    return id_of(number_of("agent", scope, key_of(text)), _ID_LETTERS)


# --- one plain, redacted line ---


def line(text: str) -> str:
    """Return a text as one line of Markdown, without secrets.

    Raises UsageError if there is nothing, or more than a line.
    """
    plain = visible(text).strip()
    found = redact(plain[marks.end() :] if (marks := _MARKS.match(plain)) else plain).text
    hint = "Write one sentence about one thing."
    if not found:
        raise UsageError("Nothing to propose.", hint=hint)
    if not found.isprintable():
        raise UsageError("A proposal is one line of plain text, without control characters.", hint=hint)
    if _COMMENT.search(found):
        raise UsageError("A proposal cannot contain HTML comments.", hint="Remove `<!--` and `-->`.")
    if _BLOCK.match(found):
        raise UsageError("A proposal is one list item: no heading, code fence or quotation.", hint=hint)
    if len(found) > LINE_CHARACTERS:
        raise UsageError(
            f"A proposal has at most {LINE_CHARACTERS:,} characters; this has {len(found):,}.",
            hint="Save longer texts in a file of the project and refer to it.",
        )
    return found


def _plain(text: str, limit: int = TITLE_CHARACTERS) -> str:
    """Return a reason, or a name, in one redacted line."""
    return redact(" ".join(one_line(visible(storable(text))).split())).text[:limit]


def key_of(text: str) -> str:
    """Return the normal form of a text: its words, ignoring case and spacing."""
    return _NEEDLESS.sub("", " ".join(text.casefold().split()))


def sound(data: Any) -> dict[str, Any] | None:
    """Return an event's proposal by the current rules; None: it would be rejected."""
    if not isinstance(data, Mapping):
        return None
    said = {key: data.get(key, "") for key in ("text", "why", "scope", "topic", "agent", "session")}
    ids = data.get(STANDS_ON, [])
    if not all(isinstance(one, str) for one in said.values()) or said["scope"] not in ("project", "user"):
        return None
    try:
        text = line(said["text"])
    except UsageError:
        return None
    known = [one for one in ids if isinstance(one, str)][:MOST_EPISODES] if isinstance(ids, list) else []
    return {
        **said, "text": text, "why": _plain(said["why"], REASON_CHARACTERS), "agent": _plain(said["agent"]), "session": _plain(said["session"]),
        STANDS_ON: known,
    }  # fmt: skip
