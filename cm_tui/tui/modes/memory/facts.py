"""The lines above a text: what it is, who wrote it, when and where, what it weighs."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from cm_tui.engine.api.weight import line_of, tokens
from cm_tui.model import Duplicates, Entry, Note, Proposal
from cm_tui.model.dates import age, local_day, local_minute
from cm_tui.tui.modes.memory.groups import (
    DOUBLE,
    FORGOTTEN,
    HELD,
    NEVER,
    PINNED,
    PROBLEM,
    UNAPPROVED,
    About,
    title_of,
)
from cm_tui.tui.state.authors import who_is
from cm_tui.tui.widgets.text import count, elide_end, elide_path, one_line, size

Piece = tuple[str, str]
"""Words and their style."""
KINDS = {
    "long-term": "long-term memory", "day": "log of a day", "project": "note of the project", "user": "note of yours",
    "topic": "topic", "extra": "from another folder", "instructions": "instructions for agents",
}  # fmt: skip
_SCOPES = {"user": "for all projects", "project": "for this project"}
_DOT = " · "
_MOST_NAMED = 3
"""Most names, agents and other entries listed each."""


def entry_facts(entry: Entry, width: int, about: About, doubles: Sequence[Duplicates] = ()) -> Content:
    """Return what is known of an entry, in lines that fit a width.

    Args:
        entry: what was written down.
        width: of the panel.
        about: what was asked about it besides.
        doubles: other entries that say nearly the same.
    """
    at = entry.timestamp / 1000
    wrote = [who_is(entry.actor, entry.agent), f"{local_minute(at)}, {age(time.time() - at)}"]
    wrote += [f"session {elide_end(one_line(entry.session), 20)}"] if entry.session else []
    wrote += [f"at {one_line(entry.commit[:8])}"] if entry.commit else []
    wrote += [f"changed by {who_is(entry.changed_by, entry.changed_agent)}"] if entry.changed_by else []
    wrote += [f"made from {one_line(', '.join(entry.made_from))}"] if entry.made_from else []
    weighs: list[Piece] = [(f"about {count(tokens(line_of(entry)), 'token')} when injected", "")]
    if entry.redacted:
        weighs.append((f"{count(entry.redacted, 'secret')} redacted", "$warning"))
    lines = [_state(entry), [(one, "") for one in wrote], [*weighs, *_recalls(about)]]
    for pair in doubles[:_MOST_NAMED]:
        other = pair.second if pair.first.id == entry.id else pair.first
        lines.append([(f"{DOUBLE} {pair.likeness:.0%} like {other.id} “{title_of(other)}”: x merges them", "$accent")])
    lines += _stale(about)
    lines.append([(entry.id, "$muted"), *_tags(entry.keywords)])
    return _told(title_of(entry), lines, width)


def _state(entry: Entry) -> list[Piece]:
    """Return what becomes of an entry: where it counts, and what keeps it out of answers."""
    state: list[Piece] = [(entry.category, "bold $secondary"), (_SCOPES[entry.scope], "")]
    if entry.pinned:
        state.append((f"{PINNED} pinned", "$accent"))
    if entry.held:
        state.append((f"{HELD} came with the repository: in no answer until you trust it (T)", "$warning"))
    if entry.unapproved:
        state.append((f"{UNAPPROVED} unapproved Rule: not injected until you approve it (+)", "$warning"))
    if entry.never_recall:
        state.append((f"{NEVER} never recalled", "$warning"))
    if entry.forgotten is not None:
        gone = entry.forgotten
        state.append(
            (f"{FORGOTTEN} forgotten by {who_is(gone.actor, gone.agent)}, {local_minute(gone.time)}", "$warning")
        )
    return state


def _recalls(about: About) -> list[Piece]:
    """Return how often it was in an answer, when last, and whose that was."""
    recalls = about.recalls
    if recalls is None:
        return []
    if not recalls.times or recalls.last is None:
        return [("not recalled yet", "$muted")]
    names = [f"{'you' if one.who == 'person' else one_line(one.who)} {one.times:,}" for one in recalls.by[:_MOST_NAMED]]
    more = f" +{len(recalls.by) - len(names):,}" if len(recalls.by) > len(names) else ""
    return [
        (
            f"recalled {count(recalls.times, 'time')}, last {age(time.time() - recalls.last)} ({', '.join(names)}{more})",
            "",
        )
    ]


def _stale(about: About) -> list[list[Piece]]:
    """Return which names of the code it says that are so no more."""
    flagged = about.stale.flagged if about.stale is not None else ()
    lines: list[list[Piece]] = [[(f"{PROBLEM} {one_line(one.words)}", "$warning")] for one in flagged[:_MOST_NAMED]]
    if len(flagged) > len(lines):
        lines.append([(f"and {count(len(flagged) - len(lines), 'more name')}", "$warning")])
    return lines


def note_facts(note: Note, weight: int | None, width: int, about: About) -> Content:
    """Return what is known of a note, in lines that fit a width.

    Args:
        note: the note.
        weight: tokens of its text; None: not all of it was read.
        width: of the panel.
        about: what was asked about it besides.
    """
    state: list[Piece] = [(KINDS[note.kind], "bold $secondary"), (_SCOPES[note.scope], "")]
    state.append(
        (f"of {local_day(note.time)}, score decays" if note.time is not None else "undated, score does not decay", "")
    )
    if note.came_along:
        state.append(("kept by git", "$soft"))
    if not note.writable:
        state.append(("only read by cm", "$soft"))
    much: list[Piece] = [(f"changed {local_minute(note.modified)}, {age(time.time() - note.modified)}", "")]
    much.append((f"{count(note.lines, 'line')}, {size(note.bytes)}", ""))
    if weight is not None:
        much.append((f"about {count(weight, 'token')}", ""))
    lines = [
        state,
        [*much, *_recalls(about)],
        *_stale(about),
        [(elide_path(one_line(note.file), max(8, width - 2)), "$muted")],
    ]
    if note.tags:
        lines.append(_tags(note.tags))
    if note.problem:
        lines.append([(f"{PROBLEM} {one_line(note.problem)}", "$warning")])
    return _told(title_of(note), lines, width)


def proposal_facts(proposal: Proposal, width: int) -> Content:
    """Return what an agent proposes, and why."""
    what = {"write": "would write for all projects", "change": "would change", "forget": "would forget"}[proposal.kind]
    lines: list[list[Piece]] = [
        [(f"{one_line(proposal.agent) or 'an agent'} {what} the {proposal.of} {proposal.target}", "bold $warning")],
        [(f"{local_minute(proposal.time)}, {age(time.time() - proposal.time)}", ""),
         *([(f"session {elide_end(one_line(proposal.session), 20)}", "")] if proposal.session else [])],
    ]  # fmt: skip
    if proposal.reason:
        lines.append([(f"because: {' '.join(one_line(proposal.reason).split())}", "$soft")])
    return _told(" ".join(one_line(proposal.words).split()), lines, width)


def proposal_text(proposal: Proposal) -> str:
    """Return both texts of a proposal."""
    parts = []
    for name, entry in (("As it is", proposal.before), ("As it would be", proposal.after)):
        if entry is not None:
            parts.append(f"{name}: [{entry.category}] {entry.title}\n\n{entry.content}")
    if proposal.after is None:
        parts.append("It would be forgotten.")
    return "\n\n".join(parts)


def _tags(words: Sequence[str]) -> list[Piece]:
    return [(" ".join(f"#{one_line(word)}" for word in words), "$secondary")] if words else []


def _told(title: str, lines: Sequence[Sequence[Piece]], width: int) -> Content:
    """Return a title, then lines whose pieces go on in the next line where there is no room."""
    room = max(8, width - 2)
    told = [Content.styled(f" {elide_end(title, room)}", "bold")]
    for pieces in lines:
        line, used = Content(" "), 0
        for words, style in pieces:
            if used and used + len(_DOT) + cell_len(words) > room:
                told.append(line)
                line, used = Content(" "), 0
            dot = Content.styled(_DOT, "$faint") if used else Content("")
            shown = elide_end(words, room)
            line = Content.assemble(line, dot, (shown, style or "$soft"))
            used += cell_len(shown) + (len(_DOT) if used else 0)
        if used:
            told.append(line)
    return Content("\n").join(told)
