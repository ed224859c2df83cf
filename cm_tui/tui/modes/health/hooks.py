"""Adds cm's block to git's hooks, and takes it out again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cm_tui.tui.screens.mode_screen import ModeScreen

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine
    from cm_tui.model.freshness import GitHooks


def change_hooks(screen: ModeScreen, what: Literal["install", "uninstall"]) -> None:
    """Change git's hooks on a worker thread, and say what became of it."""

    def call(engine: Engine) -> GitHooks:
        from cm_tui.integrations import git_hooks

        return git_hooks.install(engine.root) if what == "install" else git_hooks.uninstall(engine.root)

    def done(hooks: GitHooks) -> None:
        words = "were installed" if what == "install" else "were removed"
        screen.cm.activity_log.add(f"Git hooks {words} in {hooks.folder}.", "ok")
        for note in hooks.notes:
            screen.cm.activity_log.add(note, "warning")
        screen.cm.tell(f"Git hooks {words}.", timeout=2)
        screen.project_changed()

    screen.ask("hooks", call, done)
