"""One episode as a story: prompts, plan, steps, answer, changes and verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from textual.content import Content

from cm_tui.counts import noun
from cm_tui.model import Episode, Session, Step
from cm_tui.model.dates import local_day, local_minute
from cm_tui.tui.modes.episodes.query import is_session
from cm_tui.tui.modes.episodes.story import OUTCOMES, PINNED, RATINGS, TYPES, Part, clock, day_name, signs, weight
from cm_tui.tui.state.authors import who_is
from cm_tui.tui.state.revision import headline, name_of, short_name_of
from cm_tui.tui.widgets.patches import FilePatch, file_patches
from cm_tui.tui.widgets.text import count, flat, one_line, short_count

_DOT = Content.styled(" · ", "$faint")


def turn_head(episode: Episode) -> Content:
    """Return who, when and where; then what came of it and what people said."""
    who = who_is(episode.actor, episode.agent)
    first = [Content.styled(who, "bold $secondary"), Content(local_minute(episode.time))]
    if episode.turn:
        first.append(Content(f"turn {episode.turn:,}"))
    where = f"saw {short_name_of(episode.moment)}" if episode.moment else "no commit to show"
    first.append(Content.styled(where, "$accent" if episode.moment else "$muted"))
    mark, style, words = OUTCOMES[episode.outcome]
    second = [Content.styled(f"{mark} {words}" if episode.outcome else words, style)]
    if episode.type != "task":
        second.append(Content(TYPES[episode.type][1]))
    if episode.state != "shown":
        second.append(Content.styled(episode.state, "$warning"))
    if episode.pinned:
        second.append(Content.styled(f"{PINNED} pinned", "$accent"))
    if episode.rating:
        sign, tone, label = RATINGS[episode.rating]
        second.append(Content.styled(f"{sign} {label}", tone))
    if episode.tokens:
        second.append(Content(f"{short_count(episode.tokens)} {noun(episode.tokens, 'token')}"))
    if episode.tags:
        second.append(Content.styled(" ".join(f"#{one_line(tag)}" for tag in episode.tags), "$secondary"))
    return Content("\n").join((_line(first), _line(second)))


def session_head(session: Session | None, episodes: Sequence[Episode], key: str) -> Content:
    """Return what a session is called and how much there is of it."""
    if session is None:
        # A session that is not read yet has its id alone.
        whose = "of this session" if is_session(key) else "by hand or outside a session" if key else "of every session"
        words = f"{count(len(episodes), 'episode')}, {whose}"
        return Content.assemble((f" {one_line(key) if is_session(key) else 'Newest first'}", "bold"), f"\n {words}")
    title = flat(session.title) or one_line(session.id)
    facts = [
        Content.styled(
            f"{one_line(session.agent) or 'by hand'}{', a sub-agent' if session.parent else ''}", "bold $secondary"
        ),
        Content(_from_to(session.began, session.ended)),
        Content(count(session.episodes, "turn")),
    ]
    if session.failed:
        facts.append(Content.styled(f"{session.failed:,} failed", "$error"))
    if session.tokens:
        facts.append(Content(f"{short_count(session.tokens)} {noun(session.tokens, 'token')}"))
    if session.files:
        facts.append(Content(count(session.files, "file")))
    return Content("\n").join((Content.assemble(" ", (title, "bold")), _line(facts)))


def _from_to(began: float, ended: float) -> str:
    """Return `2026-01-31 12:38 – 14:02`; the end has its day where that is another one, and its year likewise."""
    if local_day(began) == local_day(ended):
        return f"{local_minute(began)} – {clock(ended)}"
    same_year = local_day(began)[:4] == local_day(ended)[:4]
    return f"{local_minute(began)} – {local_minute(ended)[5 if same_year else 0 :]}"


def _line(pieces: Sequence[Content]) -> Content:
    return Content.assemble(" ", _DOT.join(pieces))


_ANSWER, _VERDICT = 3, 1
"""Most lines of each."""
_FILES = 3


def session_story(
    episodes: Sequence[Episode], children: Iterable[Session] = (), *, whose: bool = False
) -> tuple[Part, ...]:
    """Return the parts of a session, or of any list of episodes.

    Args:
        episodes: in display order.
        children: sessions of agents that it started.
        whose: name agent and session of each, where they are not those of one session.
    """
    parts: list[Part] = []
    day = ""
    for number, episode in enumerate(episodes, start=1):
        if (name := day_name(episode.time)) != day:
            day = name
            parts.append(Part(day, heading=True))
        parts += _turn(number, episode, whose=whose)
    for child in children:
        words = f"{count(child.episodes, 'turn')}, {one_line(child.agent) or 'an agent'}"
        parts.append(Part(child.title or child.id, "↳", "$secondary", words, goal=f"session:{child.id}"))
    return tuple(parts)


def _turn(number: int, episode: Episode, *, whose: bool) -> Iterator[Part]:
    mark, style, _ = OUTCOMES[episode.outcome]
    who = f"{one_line(episode.agent) or 'unknown'}: " if whose else f"{episode.turn or number:,}. "
    kind = "" if episode.type == "task" else f"{TYPES[episode.type][0]} "
    facts = " ".join(part for part in (signs(episode).plain, weight(episode), clock(episode.time)) if part)
    goal = f"episode:{episode.id}"
    yield Part(f"{who}{kind}{headline(episode)}", mark, style, facts, goal=goal)
    if (answer := episode.answer.strip()) and " ".join(answer.split()) != headline(episode):
        yield Part(body=_beginning(answer, _ANSWER), form="output", goal=goal)
    if episode.files:
        names = ", ".join(one_line(path) for path in episode.files[:_FILES])
        more = len(episode.files) - _FILES
        yield Part(body=f"± {names}{f' and {more:,} more' if more > 0 else ''}", form="output", goal=goal)
    if episode.verdict.strip():
        yield Part(body=f"→ {_beginning(episode.verdict, _VERDICT)}", form="output", goal=goal)


def _beginning(text: str, most: int) -> str:
    """Return the first lines that say something."""
    lines = [line for line in text[:600].splitlines() if line.strip()]
    return "\n".join(lines[:most]) + (" …" if len(lines) > most else "")


PROSE, DIFF, RESULT = 40, 60, 6
"""Lines of a text, of a file's patch and of what a failed tool said that are shown while they are folded."""
_SAID = 4


def turn_story(episode: Episode) -> tuple[Part, ...]:
    """Return the parts of a whole episode."""
    return (
        *_prompt_parts(episode), *_plan(episode), *_steps(episode), *_answered(episode), *_changed(episode),
        *_verdict(episode), *_notes(episode),
    )  # fmt: skip


def _prompt_parts(episode: Episode) -> Iterator[Part]:
    prompts = [prompt for prompt in episode.prompts if prompt.strip()]
    if prompts:
        yield Part(_TITLES.get(episode.type, "Prompt"), word=TYPES[episode.type][1], heading=True)
        yield from (Part(body=prompt, shown=PROSE) for prompt in prompts)


_TITLES = {
    "command": "Command",
    "query": "Query",
    "tool_call": "Tool call",
    "error": "Error",
    "response": "Asked",
    "note": "Note",
}


def _plan(episode: Episode) -> Iterator[Part]:
    if episode.plan.strip():
        yield Part("Plan", heading=True)
        yield Part(body=episode.plan, shown=PROSE)


def _steps(episode: Episode) -> Iterator[Part]:
    if not episode.step_count:
        return
    listed = len(episode.steps)
    some = (
        f"{listed:,} of {count(episode.step_count, 'step')}" if listed < episode.step_count else count(listed, "step")
    )
    yield Part("What it did", word=some, heading=True)
    yield from (_step(step, episode.root) for step in episode.steps)


def _step(step: Step, root: str) -> Part:
    path = path_below(root, step.path)
    if step.kind == "tool":
        about = flat(step.text, 600) or path or step.path
        title = f"{one_line(step.tool) or 'tool'}  {about}".strip()
        body = "\n".join(part for part in (_full_input(step.text), step.result) if part.strip())
        word, style = ("failed", "$error") if step.failed else ("", "$muted")
        shown = RESULT if step.failed else 0
        return Part(title, "⚙", "$error" if step.failed else "$secondary", word, style, body, "output", shown, path)
    if step.kind == "said":
        return Part(body=step.text, shown=_SAID)
    title = step.text.strip()[:600].partition("\n")[0]
    mark, word = ("☰", "plan") if step.kind == "plan" else ("∴", "thought")
    return Part(title, mark, "$muted", word, body=step.text, form="output", shown=0)


def _full_input(text: str) -> str:
    """Return what a tool was given where its one line does not show all of it."""
    return text if "\n" in text.strip() or len(text) > 100 else ""


def _answered(episode: Episode) -> Iterator[Part]:
    if episode.answer.strip():
        yield Part("Answer", heading=True)
        yield Part(body=episode.answer, shown=PROSE)


def _changed(episode: Episode) -> Iterator[Part]:
    files = list(file_patches(episode.patch))
    known = {part.path for part in files}
    touched = [path for path in dict.fromkeys(episode.files) if path not in known]
    if not files and not touched:
        return
    lines = f" · {count(episode.patch_lines, 'line')}" if episode.patch_lines else ""
    yield Part("Files", word=f"{count(len(known) + len(touched), 'file')}{lines}", heading=True)
    yield from (_file(part, episode.root) for part in files)
    yield from (Part(path, "·", "$muted", "no patch", path=path_below(episode.root, path)) for path in touched)


def _file(part: FilePatch, root: str) -> Part:
    mark, style = ("+", "$success") if part.new else ("−", "$error") if part.gone else ("~", "$primary")
    word = f"+{part.added:,} −{part.removed:,}" if part.added or part.removed else "no lines"
    return Part(part.path, mark, style, word, style, part.text, "patch", DIFF, path_below(root, part.path))


def _verdict(episode: Episode) -> Iterator[Part]:
    if episode.verdict.strip() or episode.outcome:
        mark, style, word = OUTCOMES[episode.outcome]
        yield Part("Verdict", word=f"{mark} {word}" if episode.outcome else "", word_style=style, heading=True)
    if episode.verdict.strip():
        yield Part(body=episode.verdict, shown=PROSE)


def _notes(episode: Episode) -> Iterator[Part]:
    notes = list(notes_of(episode))
    if notes:
        yield Part("Notes", heading=True)
        yield from (Part(body=note, form="output") for note in notes)


def notes_of(episode: Episode) -> Iterator[str]:
    """Yield notes on the record: commits, cut parts, redacted secrets."""
    if episode.moment is not None:
        yield f"It saw {name_of(episode.moment)} · {one_line(episode.moment.subject)}"
    if episode.why:
        yield episode.why[:1].upper() + episode.why[1:]
    if episode.head != episode.sha and episode.head:
        yield f"HEAD was {episode.head[:8]} when it stopped; the patch includes what it committed."
    if episode.note.strip():
        yield episode.note
    if episode.patch_cut:
        yield "The patch was too long to keep; this is its beginning."
    if episode.redacted:
        yield f"{count(episode.redacted, 'secret')} redacted before anything was stored."
    if episode.actor == "import":
        yield "It was read from the agent's own transcript."


def path_below(root: str, path: str) -> str:
    """Return a path as the project has it; empty where it is none of the project's."""
    if not path or "\0" in path:
        return ""
    pure = PurePosixPath(path.replace("\\", "/"))
    if pure.is_absolute():
        if not root or not pure.is_relative_to(root):
            return ""
        pure = pure.relative_to(root)
    return "" if ".." in pure.parts or str(pure) == "." else str(pure)
