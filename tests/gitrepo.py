"""A real git repository to work on in tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

_ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


class Repo:
    """Runs git in a folder and writes files there."""

    def __init__(self, root: Path, *, init: bool = True) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        if init:
            # Without the examples of hooks, which every copy would copy.
            self.git("init", "-q", "-b", "main", "--template=")
            for name in ("hooks", "info"):
                (root / ".git" / name).mkdir(exist_ok=True)

    def git(self, *words: str, at: float | None = None, stdin: str = "") -> str:
        """Run git; what it commits is of now, or of `at`, seconds since the epoch."""
        dates = {} if at is None else dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{int(at)} +0000")
        done = subprocess.run(
            # Looking for something to tidy up takes most of the time of a commit.
            ["git", "-c", "protocol.file.allow=always", "-c", "maintenance.auto=false", *words],
            cwd=self.root,
            env={**_ENVIRONMENT, **dates},
            input=stdin.encode(),
            check=True,
            capture_output=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, path: str, content: str | bytes = "") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def commit(self, message: str = "change", *, at: float | None = None) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, at=at)
        return self.head()

    def commits(self, changes: Iterable[tuple[str, Mapping[str, str | None]]]) -> list[str]:
        """Commit often, by one process of git: each message with its files, of which one without text goes.

        What is not committed yet is lost.
        """
        branch, before = self.git("branch", "--show-current"), []
        said = parent = ""
        if self.git("for-each-ref", "--count=1"):
            parent, before = f"from {self.head()}\n", [f"^{self.head()}"]
        for message, files in changes:
            said += f"commit refs/heads/{branch}\ncommitter A <a@example.org> now\ndata <<.\n{message}\n.\n{parent}"
            for path, text in files.items():
                size = len((text or "").encode())
                said += f"D {path}\n" if text is None else f"M 100644 inline {path}\ndata {size}\n{text}\n"
            parent = ""
        self.git("fast-import", "--quiet", "--date-format=now", stdin=said)
        self.git("reset", "-q", "--hard")
        return self.git("rev-list", "--reverse", "HEAD", *before).split()

    def head(self) -> str:
        """Return HEAD's commit, read from its file where git keeps it in one: that takes no process."""
        try:
            text = (self.root / ".git/HEAD").read_text().strip()
            if text.startswith("ref: "):
                text = (self.root / ".git" / text.removeprefix("ref: ")).read_text().strip()
        except OSError:
            text = ""
        return text if len(text) in (40, 64) else self.git("rev-parse", "HEAD")
