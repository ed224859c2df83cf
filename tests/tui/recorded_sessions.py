"""Sessions as agents record them, written into the journal of a project."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import Step

PATCH = """diff --git a/src/store.py b/src/store.py
index 1..2 100644
--- a/src/store.py
+++ b/src/store.py
@@ -8,5 +8,6 @@ class Store:
     def load(self, name: str) -> dict:
-        \"\"\"Read a record by name.\"\"\"
+        \"\"\"Read a record by name; None where there is none.\"\"\"
+        name = name.strip("/")
         return json.loads(self._read(name))
diff --git a/src/new.py b/src/new.py
new file mode 100644
--- /dev/null
+++ b/src/new.py
@@ -0,0 +1 @@
+EVIL\x1b[31m = 1
"""
STEPS = (
    Step("thought", "It is lost on the way.\nLet me look where."),
    Step("tool", "src/store.py", "Read", "class Store:", "src/store.py"),
    Step("said", "I found it, and write the test first."),
    Step("tool", "pytest -q", "Bash", "E   assert 'a' == 'a/'\n1 failed", failed=True),
)


def record(root: Path, prompt: str = "keep the slash", *, head: str | None = None, **fields: Any) -> str:
    """Append an episode; returns its id."""
    data = {"agent": "codex", "session": "s1", "root": str(root), "prompts": (prompt,), "base": head or "", **fields}
    return Journal.of(root).append("episode", EpisodeRecord(**data).to_event_data(), head=head).id


def record_story(root: Path, head: str | None = None, *, now: float) -> list[str]:
    """Append three sessions of two days, one of a sub-agent; returns the ids of their episodes, in order."""
    day = 86_400.0
    told: list[tuple[str, dict[str, Any]]] = [
        ("why was the retry reverted", {"session": "old", "agent": "claude-code", "at": now - day, "answer": "It hid timeouts.",
            "outcome": "ok", "tokens": 900, "turn": 1}),
        ("keep the slash of a record", {"at": now - 900, "answer": "Done: the slash stays.", "plan": "1. read\n2. test first",
            "steps": STEPS, "step_count": 4, "tools": ("Read", "Bash"), "files": ("src/store.py", "src/new.py"),
            "patch": PATCH, "verdict": "212 tests pass.", "outcome": "ok", "tokens": 12_000, "turn": 1, "title": "Slashes",
            "redacted": 1}),
        ("run the tests", {"at": now - 600, "answer": "3 fail.", "outcome": "failed", "tools": ("Bash",), "turn": 2,
            "title": "Slashes", "tags": ("ci",)}),
        ("look into the remote", {"session": "sub", "parent": "s1", "at": now - 700, "outcome": "interrupted", "turn": 1}),
    ]  # fmt: skip
    return [record(root, prompt, head=head, **fields) for prompt, fields in told]


def sha_of_head(root: Path) -> str:
    """Return the commit that is checked out."""
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True)
    return found.stdout.strip()
