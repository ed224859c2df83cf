"""How episodes, sessions and totals stand on a terminal and in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cm_tui import model
from cm_tui.cli.output import plain
from cm_tui.counts import count
from cm_tui.model.dates import local_minute
from cm_tui.model.layout import commit_line, forgotten

if TYPE_CHECKING:
    from collections.abc import Iterator


ID_LETTERS = 16
"""As much of an id as tells episodes apart that were not recorded in the same nanosecond: an import writes many at once."""
_ONE_BY_ONE = ("patch", "steps", "plan")
"""Fields that lists do not have."""
_BARS = " ▁▂▃▄▅▆▇█"
_STEP_CHARACTERS = 200
_TOLD = 8


def row(one: model.Episode) -> dict[str, Any]:
    """Return an episode as a row of JSON."""
    found: dict[str, Any] = plain(one)
    return {name: value for name, value in found.items() if name not in _ONE_BY_ONE}


def line(one: model.Episode) -> str:
    """Return an episode as a line for people."""
    where = f"#{one.moment.ordinal} {one.sha[:10]}" if one.moment else one.sha[:10] or "no commit"
    asked = " ".join(one.prompts[0].split()) if one.prompts else "(no prompt)"
    marks = [one.outcome if one.outcome != "ok" else "", "pinned" if one.pinned else ""]
    marks += [{1: "useful", -1: "misleading"}.get(one.rating, ""), *(f"+{tag}" for tag in one.tags)]
    marked = "".join(f"  {mark}" for mark in marks if mark)
    # `cm episodes ID` prints the whole reason; without an index it is unknown.
    why = "  (not in this repository)" if one.sha and one.moment is None and one.why else ""
    who = one.agent or ("you" if one.actor == "person" else "agent")
    return f"{one.id[:ID_LETTERS]}  {local_minute(one.time)}  {where}  {who}  {asked}{marked}{why}"


def session_line(one: model.Session) -> str:
    """Return a session as a line for people."""
    title = " ".join(one.title.split()) or "(no prompt)"
    parts = [one.id or "no session", local_minute(one.ended), one.agent or "you", count(one.episodes, "episode")]
    parts.append(f"{one.failed:,} failed" if one.failed else "")
    parts += [f"below {one.parent}" if one.parent else "", title]
    return "  ".join(part for part in parts if part)


def shown(one: model.Episode) -> str:
    """Return an episode whole, as text."""
    return "\n".join(_whole(one))


def _whole(one: model.Episode) -> Iterator[str]:
    yield f"episode {one.id}  {local_minute(one.time)}"
    if one.forgotten is not None:
        yield f"{forgotten(one.forgotten)}; `cm forget --undo {one.id}` brings it back"
    who = one.agent or ("you" if one.actor == "person" else "an agent")
    yield f"{who}, session {one.session or 'unknown'}, in {one.root}"
    yield from _facts(one)
    if one.moment is not None:
        yield f"at {commit_line(one.moment)}"
    if one.head != one.sha:
        yield f"HEAD was {one.head[:10] or 'nothing'} when it stopped: the patch starts before its commits"
    texts = [*(("asked", prompt) for prompt in one.prompts), ("planned", one.plan), ("answered", one.answer)]
    for title, text in (*texts, ("verdict", one.verdict)):
        if text.strip():
            yield from ("", f"{title}:", *(f"  {part}" for part in text.splitlines()))
    if one.steps:
        yield from ("", f"steps ({one.step_count:,}):", *(f"  {_step(step)}" for step in one.steps))
    if one.files:
        yield from ("", "files:", *(f"  {path}" for path in one.files))
    if one.patch:
        yield from ("", "patch:", one.patch.rstrip("\n"))


def _facts(one: model.Episode) -> Iterator[str]:
    facts = [
        one.type if one.type != "task" else "", f"outcome {one.outcome}" if one.outcome else "",
        f"{one.tokens:,} tokens" if one.tokens else "", f"tools {', '.join(one.tools)}" if one.tools else "",
        f"tags {', '.join(one.tags)}" if one.tags else "", "pinned" if one.pinned else "",
        {1: "rated useful", -1: "rated misleading"}.get(one.rating, ""), "archived" if one.state == "archived" else "",
    ]  # fmt: skip
    if said := "; ".join(fact for fact in facts if fact):
        yield said


def _step(step: model.Step) -> str:
    text = " ".join(f"{step.tool or step.kind}: {step.text}".split())
    return f"{text[:_STEP_CHARACTERS]}{'  (failed)' if step.failed else ''}"


def notes_of(one: model.Episode) -> list[str]:
    """Return the notes and warnings of an episode."""
    notes = [one.why, one.note]
    if one.patch_cut:
        notes.append("the patch was too long: this is its beginning")
    if one.redacted:
        notes.append(f"{count(one.redacted, 'secret')} redacted in the patch")
    return [note for note in notes if note]


def stats_lines(stats: model.EpisodeStats) -> Iterator[str]:
    """Yield totals as lines for people."""
    totals = (count(stats.episodes, "episode"), count(stats.sessions, "session"), count(stats.files, "file"))
    yield "  ".join((*totals, count(stats.tokens, "token")))
    most = max(stats.per_day, default=0)
    bars = "".join(_BARS[-(-number * (len(_BARS) - 1) // most)] if most else " " for number in stats.per_day)
    yield f"last {count(len(stats.per_day), 'day')}: {bars}  at most {most:,} a day"
    named = (("outcomes", stats.outcomes), ("types", stats.types), ("agents", stats.agents), ("tools", stats.tools))
    for name, facets in (*named, ("tags", stats.tags)):
        if facets:
            yield f"{name}: {', '.join(map(_facet, facets[:_TOLD]))}"


def _facet(facet: model.Facet) -> str:
    return f"{facet.value or 'none'} {facet.count:,}"
