"""Draw every mode of the application on a real repository: `python screenshots/make.py [REPOSITORY]`.

The application runs without a terminal, keys are pressed, and what is on screen becomes a PNG in this folder. A clone
of the repository is indexed in a temporary folder; nothing of the user's is touched. For what agents did, a few of its
last commits are made once more in that clone, as agents' sessions would: through the hooks, which record them. Needs
`pip install -e '.[dev]'`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import resvg_py
from textual.pilot import Pilot

from cm_tui.config import Config, TuiConfig
from cm_tui.daemon import bootstrap
from cm_tui.daemon.open_engine import open_engine
from cm_tui.engine.api.engine import Engine
from cm_tui.model import EpisodeEdit
from cm_tui.paths import state_dir
from cm_tui.tui.app.app import CmApp

HERE = Path(__file__).parent
SIZES = ((120, 40), (80, 24))
QUESTION = "where are results ranked"
ASKED = "refactor how the next release is made"
FONT = "DejaVu Sans Mono"
SESSIONS = slice(1, 24, 3)
"""Which of the commits that changed something, the newest first, are made once more as a turn of an agent's session."""
TURNS = 3
"""Turns of a session."""
AGENTS = ("claude-code", "codex")
"""Whose sessions they are, in turn."""
LESSONS = (
    "Never push to main on Fridays.",
    "Always run `just check` before you hand in.",
    "We decided to keep every file below 300 lines.",
)
"""What a person says in each of some sessions, so that the narrator has something to propose."""
TAUGHT = range(100, 104)
"""Numbers of these sessions."""
QUIET = 4
"""Rounds without work after which the application is at rest."""

# Name of the picture, and the keys that lead to it from the picture before.
SCENES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("overview", ("f1",)),
    ("search", ("f2", f"type:{QUESTION}", "enter", "down")),
    ("tuning", ("t", "down", "down", "right", "right", "right")),
    ("help", ("escape", "question_mark")),
    ("symbols", ("escape", "o")),
    ("pack", ("f2", "a", "a", "a", "P")),
    ("health", ("f9",)),
    ("history", ("f4", "b", "colon", "type:HEAD~20", "enter", "m", "home", "tab", "down")),
    ("life", ("f3", "L")),
    ("past", ("s", "f3")),
    ("episodes", ("0", "f5", "enter", "down")),
    ("story", ("enter", "v")),
    ("filter", ("f",)),
    ("replay", ("escape", "r", "down", "down", "down")),
    ("memory", ("0", "6", "down", "down")),
    ("answers", ("s", "type:how is a release made", "enter")),
    ("edit", ("escape", "escape", "right_square_bracket", "right_square_bracket", "right_square_bracket", "e")),
    ("review", ("escape", "7")),
    ("topics", ("t",)),
    ("context", ("escape", "f8", f"type:{ASKED}", "enter", "down")),
    ("why", ("v",)),
    ("latencies", ("v",)),
    ("compared", ("K", "space", "K", "s", "m", "down", "m", "x")),
)


async def rest(pilot: Pilot[int]) -> None:
    """Wait until nothing is running and everything is drawn."""
    app = pilot.app
    assert isinstance(app, CmApp)
    quiet = 0
    while quiet < QUIET:
        await app.tasks.settled()
        await pilot.pause()
        idle = not app.tasks.busy and not app.tasks.indexing and not app.project.job
        idle = idle and app.project.daemon == "connected"
        quiet = quiet + 1 if idle else 0


async def press(pilot: Pilot[int], keys: tuple[str, ...]) -> None:
    """Press keys; `type:…` types words."""
    for key in keys:
        if key.startswith("type:"):
            for character in key.removeprefix("type:"):
                await pilot.press("space" if character == " " else character)
        else:
            await pilot.press(key)
        await rest(pilot)


def git(root: Path, *words: str) -> str:
    """Run git in a folder."""
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def hook(root: Path, event: str, session: int, **said: str) -> None:
    """Tell what an agent would tell."""
    payload = json.dumps({"session_id": f"pictures-{session}", "cwd": str(root), **said})
    command = [sys.executable, "-P", "-m", "cm_tui", "hook", event, "--agent", AGENTS[session % len(AGENTS)]]
    subprocess.run(command, cwd=root, input=payload, text=True, check=True, capture_output=True)


def record_sessions(root: Path) -> None:
    """Make some of the last commits once more, each as a session that is asked for it and leaves it in the working tree."""
    branch, tip = git(root, "rev-parse", "--abbrev-ref", "HEAD"), git(root, "rev-parse", "HEAD")
    line = git(root, "rev-list", "--no-merges", "--max-count=50", tip).split()
    changing = [sha for sha in line if git(root, "diff", "--name-only", f"{sha}~1", sha)]
    with closing(open_engine(root)) as engine:
        list(engine.index())
        for number, sha in enumerate(reversed(changing[SESSIONS])):
            session = number // TURNS
            git(root, "checkout", "-q", "--detach", f"{sha}~1")
            subject = git(root, "log", "-1", "--format=%s", sha)
            hook(root, "prompt", session, prompt=f"Implement this: {subject}")
            git(root, "restore", f"--source={sha}", "--worktree", ".")
            hook(root, "stop", session, last_assistant_message="Done; the tests pass.")
            while engine.episodes().total == number:
                time.sleep(0.1)
            git(root, "reset", "-q", "--hard")
            git(root, "clean", "-qfd")
        git(root, "checkout", "-q", branch if branch != "HEAD" else tip)
        teach(root)
        write_memory(engine)
        define_context(root)
        engine.edit_episodes(["last"], EpisodeEdit(pinned=True, rating=1, add_tags=("release",)))
        list(engine.index())
        list(engine.narrate())


def teach(root: Path) -> None:
    """Say the same things in several sessions."""
    for session in TAUGHT:
        for lesson in LESSONS:
            hook(root, "prompt", session, prompt=lesson)
            hook(root, "stop", session, last_assistant_message="Understood.")


def write_memory(engine: Engine) -> None:
    """Write a few entries and notes, as people and agents do."""
    engine.remember(
        "Every release has a line in CHANGELOG.md.\nWhoever hands in writes it.", title="Changelog", category="Rule"
    )
    engine.remember("Never push on fridays", category="Rule", scope="user")
    engine.remember("The store can be thrown away and made again; the journal cannot.", category="Knowledge")
    engine.remember(
        "Tests of screens need no terminal.", category="Experience", actor="agent", agent="codex", session="pictures-1"
    )
    engine.remember("Screens are tested without a terminal.", category="Experience", actor="agent", agent="claude-code")
    engine.append_note("A release is made on Tuesdays: first the changelog, then the tag.", name="releases")
    engine.append_note(
        "Found out why the build was slow: the cache was cold.", actor="agent", agent="codex", session="pictures-1"
    )
    engine.append_note("Short sentences. British English.", name="user:style.md")


def define_context(root: Path) -> None:
    """Write a few files that say what agents are handed over."""
    for path, text in {
        "retrieval/release.yaml": (
            "name: release\nsection: state\nsteps:\n  - {type: kv_get, keys: [release]}\n"
            '  - {type: format, template: "Release codename: {{release.codename}}"}\n'
        ),
        "retrieval/recent.yaml": (
            "name: recent\nsection: history\nmaxContribution: 300\nsteps:\n"
            "  - {type: log_search, eventType: hook.prompt, limit: 5}\n"
        ),
        "rules/releases.yaml": (
            "name: releases\ncondition: {field: task.text, op: contains, value: release}\n"
            'action: {include: "markdown://releases", cap: 400}\n'
        ),
        "memory/kv.json": '{"release": {"codename": "Ibis"}}\n',
    }.items():
        file = root / ".cm" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def picture(svg: str) -> bytes:
    """A PNG of a drawing."""
    style = f"text {{ font-family: '{FONT}' !important }}"
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, font_family=FONT, monospace_family=FONT, style_sheet=style))


async def draw(root: Path, folder: Path, size: tuple[int, int], theme: str, mark: str, only: str) -> None:
    """Walk through all scenes at one size."""
    app = CmApp(lambda: open_engine(root), root, Config(tui=TuiConfig(theme=theme)))
    async with app.run_test(size=size) as pilot:
        await rest(pilot)
        for name, keys in SCENES:
            await press(pilot, keys)
            app.clear_notifications()
            await rest(pilot)
            if only not in ("", name):
                continue
            file = folder / f"{name}-{size[0]}x{size[1]}{mark}.png"
            file.write_bytes(picture(app.export_screenshot(title=f"cm · {root.name}")))
            print(file)
    app.tasks.close()


def size_of(text: str) -> tuple[int, int]:
    """`120x40` as columns and lines."""
    columns, lines = text.split("x")
    return int(columns), int(lines)


def main() -> None:
    """Read the arguments, draw at every size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", nargs="?", type=Path, default=HERE.parent)
    parser.add_argument("--name", default="", help="of the clone, as pictures show it; default: the folder's")
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--size", type=size_of, action="append", help="COLUMNSxLINES; may be given several times")
    parser.add_argument("--theme", default="cm-dark")
    parser.add_argument("--scene", default="", help="write only this one")
    parser.add_argument("--no-color", action="store_true", help="draw as with NO_COLOR set")
    arguments = parser.parse_args()
    os.environ.pop("NO_COLOR", None)
    mark = "" if arguments.theme == "cm-dark" else f"-{arguments.theme}"
    if arguments.no_color:
        os.environ["NO_COLOR"], mark = "1", f"{mark}-no-color"
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        # Paths are shown from the user's own folder, and nothing of the real one is read.
        os.environ["CM_HOME"] = os.environ["HOME"] = home
        os.environ["CM_DAEMON__USE"] = "auto"
        try:
            root = Path(home) / (arguments.name or arguments.repository.resolve().name)
            git(Path(home), "clone", "-q", str(arguments.repository.resolve()), str(root))
            record_sessions(root)
            for size in arguments.size or SIZES:
                # The index is made once; what the application remembers would change the next walk.
                shutil.rmtree(state_dir() / "projects", ignore_errors=True)
                only = arguments.scene
                asyncio.run(draw(root, arguments.out, size, arguments.theme, mark, only))
        finally:
            bootstrap.stop_daemon()


if __name__ == "__main__":
    sys.exit(main())
