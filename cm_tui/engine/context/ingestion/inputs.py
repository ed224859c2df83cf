"""What happened, as inputs of pipelines, by their triggers.

| trigger | an event of the journal |
|---|---|
| onAction | `hook.edit`: an agent changed files; `hook.git`: a commit, checkout, merge or rewrite |
| onTaskCompleted | `episode`: a turn that ended, and neither failed nor was interrupted |
| onTaskFailure | `episode`: a turn that failed, was interrupted, or whose last tool failed |
| onConversationEnd | `hook.session-end`; without one, a session that has been quiet for half an hour |

What pipelines wrote is no input of any, and neither is a prompt without an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.event import RESTORED, Event
from cm_tui.model import Episode, Trigger

# --- data in a pipeline: items with their texts, and the processors' output ---

Item = dict[str, Any]
MOST_ITEMS = 10_000
LONGEST_TEXT = 2_000_000


@dataclass(frozen=True, slots=True)
class Input:
    """An event, or a user's input."""

    trigger: Trigger
    key: str
    """Names it: the same is not ingested twice by one pipeline."""
    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    """The events of the journal that it came from, the last one first."""


@dataclass(slots=True)
class Batch:
    """A pipeline's data; plain values only, so that it can be saved."""

    input: Item
    items: list[Item]
    made: dict[str, list[Item]] = field(default_factory=dict)
    """Chunks, records, entities and relations."""
    writes: list[tuple[str, Item]] = field(default_factory=list)
    """Output of processors: a destination and an item."""

    @classmethod
    def of(cls, given: Input) -> Batch:
        """Begin with one item: the whole input."""
        fields = {**given.fields, "trigger": given.trigger, "text": given.text}
        return cls(dict(fields), [numbered({**fields}, 0)])

    def collection(self, name: str) -> list[Item]:
        """Return the items for a route."""
        if name == "input":
            return [self.input]
        return self.items if name == "items" else self.made.get(name, [])


def numbered(item: Item, index: int) -> Item:
    """Return an item with its number and a digest of its text."""
    return {**item, "index": index, "digest": digest_of(str(item.get("text", "")))[:16]}


def digest_of(*parts: str) -> str:
    """Return the digest of the texts."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


AskModel = Callable[[str, str, int], str]
"""Calls the configured language model with an instruction, input and length limit; raises a CmError."""


@dataclass(frozen=True, slots=True)
class Means:
    """What processors may use."""

    ask_model: AskModel
    allowed: tuple[str, ...] = ()
    """Names of custom processors that the user's settings allow."""


# --- what happened, as inputs of pipelines, by their triggers ---

ACTIONS = frozenset({"hook.edit", "hook.git"})
SESSION_END = "hook.session-end"
QUIET_S = 1_800.0
"""A session without an end event counts as ended after so long."""


def of_event(event: Event) -> Input | None:
    """Return an event's input for pipelines; None: none."""
    if event.data.get(RESTORED):
        return None
    if event.kind in ACTIONS:
        return _of_action(event)
    return _of_turn(event) if event.kind == episode_record.KIND else None


def _of_action(event: Event) -> Input:
    data = event.data
    paths = [str(path) for path in data.get("paths", ())] if isinstance(data.get("paths"), list) else []
    action = "edit" if event.kind == "hook.edit" else str(data.get("hook", "git"))
    arguments = data.get("arguments")
    words = " ".join(map(str, arguments)) if isinstance(arguments, list) else ""
    fields = {**_author_fields(event), "action": action, "files": paths, "arguments": words}
    return Input("onAction", event.id, f"{action} {', '.join(paths) or words}".strip(), fields, (event.id,))


def _of_turn(event: Event) -> Input | None:
    record = EpisodeRecord.from_event(event)
    if record.type != "task" or not (record.prompts or record.answer) or record.outcome == "unanswered":
        return None
    last_tool_failed = next((step.failed for step in reversed(record.steps) if step.kind == "tool"), False)
    failed = record.outcome in ("failed", "interrupted") or last_tool_failed
    trigger: Trigger = "onTaskFailure" if failed else "onTaskCompleted"
    prompt = "\n\n".join(record.prompts)
    fields = {
        **_author_fields(event), "prompt": prompt, "answer": record.answer, "files": list(record.files),
        "tools": list(record.tools), "outcome": record.outcome or ("failed" if failed else "ok"),
        "patch": record.patch[:20_000], "title": record.title, "episodeId": event.id, "tokens": record.tokens,
    }  # fmt: skip
    return Input(trigger, event.id, f"{prompt}\n\n{record.answer}".strip()[:LONGEST_TEXT], fields, (event.id,))


def _author_fields(event: Event) -> dict[str, Any]:
    data = event.data
    return {
        "sessionId": event.text("session"), "agent": str(data.get("agent", "")), "time": event.time,
        "commit": event.head or "", "eventId": event.id,
    }  # fmt: skip


def of_session(session: str, episodes: Sequence[Episode], key: str) -> Input:
    """Return a whole session's input for pipelines.

    Args:
        session: its id.
        episodes: its turns, the oldest first.
        key: identifies this end of it.
    """
    turns = ["\n\n".join((*one.prompts, one.answer)).strip() for one in episodes]
    files = dict.fromkeys(path for one in episodes for path in one.files)
    last = episodes[-1]
    fields = {
        "sessionId": session, "agent": last.agent, "time": last.time, "turns": len(episodes), "files": list(files),
        "prompt": "\n\n".join(episodes[0].prompts), "answer": last.answer, "commit": last.head, "eventId": last.id,
    }  # fmt: skip
    return Input(
        "onConversationEnd", key, "\n\n".join(turns)[:LONGEST_TEXT], fields, tuple(one.id for one in reversed(episodes))
    )
