"""One episode as a story: what was asked, the plan, what was done, what was answered, what changed, the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from cm_tui.model import Episode, Step
from cm_tui.tui.modes.episodes.marks import OUTCOMES, TYPES
from cm_tui.tui.modes.episodes.story import Part
from cm_tui.tui.state.revision import name_of
from cm_tui.tui.widgets.patches import FilePatch, file_patches
from cm_tui.tui.widgets.text import count, one_line

PROSE, DIFF, RESULT = 40, 60, 6
"""Lines of a text, of a file's patch and of what a failed tool said that are shown while they are folded."""
_SAID = 4


def turn_story(episode: Episode) -> tuple[Part, ...]:
    """Return the parts of a whole episode."""
    return (
        *_asked(episode), *_plan(episode), *_steps(episode), *_answered(episode), *_changed(episode),
        *_verdict(episode), *_notes(episode),
    )  # fmt: skip


def _asked(episode: Episode) -> Iterator[Part]:
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
    kept = len(episode.steps)
    some = f"{kept:,} of {count(episode.step_count, 'step')}" if kept < episode.step_count else count(kept, "step")
    yield Part("What it did", word=some, heading=True)
    yield from (_step(step, episode.root) for step in episode.steps)


def _step(step: Step, root: str) -> Part:
    path = path_below(root, step.path)
    if step.kind == "tool":
        about = " ".join(one_line(step.text[:600]).split()) or path or step.path
        title = f"{one_line(step.tool) or 'tool'}  {about}".strip()
        body = "\n".join(part for part in (_whole(step.text), step.result) if part.strip())
        word, style = ("failed", "$error") if step.failed else ("", "$muted")
        shown = RESULT if step.failed else 0
        return Part(title, "⚙", "$error" if step.failed else "$secondary", word, style, body, "output", shown, path)
    if step.kind == "said":
        return Part(body=step.text, shown=_SAID)
    title = step.text.strip()[:600].partition("\n")[0]
    mark, word = ("☰", "plan") if step.kind == "plan" else ("∴", "thought")
    return Part(title, mark, "$muted", word, body=step.text, form="output", shown=0)


def _whole(text: str) -> str:
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
    yield Part("Files", word=f"{count(len(files) + len(touched), 'file')}{lines}", heading=True)
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
        yield f"HEAD was {episode.head[:8]} when it stopped: the patch holds what it committed too."
    if episode.note.strip():
        yield episode.note
    if episode.patch_cut:
        yield "The patch was too long to keep: this is its beginning."
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
