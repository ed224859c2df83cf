"""Writers of `cm bench writers`, each a process of its own: two editors, an agent and the application.

`python writer_clients.py KIND SEED ROOT LOG SECONDS HOLD` changes notes and entries until its time is over, and writes a line of
JSON for each change that was acknowledged: `{"wrote": [marks], "removed": [marks], "file": path, "at": seconds}`.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import time
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cm_tui.engine.api.engine import Engine
from cm_tui.errors import CmError
from cm_tui.model import EntryEdit

KINDS = ("editor", "renaming", "agent", "application")
"""An editor that saves in place, one that saves beside and renames, an agent, the application."""
NOTES = (".cm/notes/shared.md", ".cm/notes/topics/router.md")
"""The first is people's, to the second agents append too."""
ENTRIES = ".cm/memory.json"
MARK = re.compile(r"quokka-[a-z]+-\d+x")
"""What one write is known by: found once, it is there."""
_IDS = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass
class Change:
    """What one save writes and takes away."""

    wrote: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    file: str = ENTRIES
    at: float = 0.0
    """When it was saved, seconds since the epoch."""


class Writer(ABC):
    """One writer.

    Args:
        kind: what it is.
        root: of the project.
        hold_s: how long it has a text open, at most.
        chance: what it does next.
    """

    def __init__(self, kind: str, root: Path, hold_s: float, chance: random.Random) -> None:
        self.kind, self.root, self.hold_s, self.chance = kind, root, hold_s, chance
        self._marks = 0

    @abstractmethod
    def write(self) -> list[Change]:
        """Open something, change it and save it, perhaps several times; return what was acknowledged."""

    def mark(self) -> str:
        """Return a mark that nobody has written yet."""
        self._marks += 1
        return f"quokka-{self.kind}-{self._marks}x"

    def hold(self) -> None:
        """Think about it."""
        time.sleep(self.chance.uniform(0.1, 1.0) * self.hold_s)

    def changed(self, text: str, change: Change) -> str:
        """Return a note after a person changed it somewhere."""
        lines = text.split("\n")
        marked = [row for row, line in enumerate(lines) if MARK.search(line)]
        kind = self.chance.choice(("end", "between", "change", "remove")) if marked else "end"
        row = self.chance.choice(marked) if marked else 0
        if kind in ("change", "remove"):
            change.removed += MARK.findall(lines[row])
        if kind == "remove":
            del lines[row]
            return "\n".join(lines)
        change.wrote.append(self.mark())
        line = f"- The router of {self.kind} has {change.wrote[-1]}."
        if kind == "change":
            lines[row] = line
        else:
            lines.insert(len(lines) - 1 if kind == "end" else row, line)
        return "\n".join(lines)


class Editor(Writer):
    """Another program, which knows nothing of cm: it reads a file, and saves all of it some time later.

    Half of the time it goes on with what it has and saves again, as one that reads nothing anew.
    """

    def write(self) -> list[Change]:
        """Change a note or the file of entries."""
        file = self.root / self.chance.choice((*NOTES, ENTRIES))
        text = file.read_text("utf-8")
        done: list[Change] = []
        for _ in range(self.chance.choice((1, 2))):
            self.hold()
            change = Change()
            try:
                text = self._entries(text, change) if file.suffix == ".json" else self.changed(text, change)
            except ValueError:
                # Read while the other one was saving.
                return done
            self._save(file, text)
            change.file, change.at = file.relative_to(self.root).as_posix(), time.time()
            done.append(change)
        return done

    def _save(self, file: Path, text: str) -> None:
        if self.kind == "editor":
            file.write_text(text, "utf-8")
            return
        beside = file.with_name(f".{file.name}.{os.getpid()}.swp")
        beside.write_text(text, "utf-8")
        beside.replace(file)

    def _entries(self, text: str, change: Change) -> str:
        content: Any = json.loads(text)
        items: list[Any] = content["entries"]
        kind = self.chance.choice(("add", "change", "remove")) if items else "add"
        if kind == "add":
            change.wrote.append(self.mark())
            id_ = "".join(self.chance.choices(_IDS, k=7))
            items.append({"id": id_, "category": "Knowledge", "title": id_, "content": f"It has {change.wrote[0]}."})
            return json.dumps(content, indent=2) + "\n"
        item = self.chance.choice(items)
        change.removed += MARK.findall(json.dumps(item))
        if kind == "remove":
            items.remove(item)
        else:
            change.wrote.append(self.mark())
            item["content"] = f"It has {change.wrote[0]}."
        return json.dumps(content, indent=2) + "\n"


class _Client(Writer):
    """A writer through the daemon."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        from cm_tui.daemon.open_engine import open_engine

        self.engine: Engine = open_engine(self.root)


class Agent(_Client):
    """An agent: it appends to a topic, and remembers."""

    def write(self) -> list[Change]:
        """Append, or remember."""
        self.hold()
        change = Change(wrote=[self.mark()])
        text = f"The agent saw {change.wrote[0]} in the log of the router."
        if self.chance.random() < 0.5:
            self.engine.append_note(text, name=NOTES[1], actor="agent", agent="bench")
        else:
            self.engine.remember(text, actor="agent", agent="bench")
        return [change]


class Application(_Client):
    """The application: a person edits a note or an entry in it; where both changed the same lines, both are kept."""

    def write(self) -> list[Change]:
        """Edit a note, or an entry."""
        return [self._note()] if self.chance.random() < 0.7 else self._entry()

    def _note(self) -> Change:
        name = self.chance.choice(NOTES)
        base = self.engine.note(name).text
        self.hold()
        change = Change()
        text = self.changed(base, change)
        answer = self.engine.write_note(name, text, base=base)
        if answer.conflict is not None:
            self.engine.write_note(name, text, base=base, decision="both")
            # Kept beside what somebody else made of the same line.
            change.removed.clear()
        return change

    def _entry(self) -> list[Change]:
        entries = self.engine.entries(scope="project").rows
        self.hold()
        mark = self.mark()
        if not entries or self.chance.random() < 0.5:
            self.engine.remember(f"A person saw {mark} in the router.")
            return [Change(wrote=[mark])]
        entry = self.chance.choice(entries)
        now = self.engine.entry(entry.id)
        self.engine.update_entry(entry.id, EntryEdit(content=f"A person says {mark}."))
        return [Change(wrote=[mark], removed=MARK.findall(now.content + now.title))]


_WRITERS: dict[str, type[Writer]] = {
    "editor": Editor,
    "renaming": Editor,
    "agent": Agent,
    "application": Application,
}


def main(kind: str, seed: str, root: str, log: str, seconds: str, hold: str) -> None:
    """Be one writer until the time is over."""
    writer = _WRITERS[kind](kind, Path(root), float(hold), random.Random(f"{kind} {seed}"))
    until = time.monotonic() + float(seconds)
    with Path(log).open("w", encoding="utf-8") as file:
        while time.monotonic() < until:
            try:
                done = writer.write()
            except CmError as error:
                # Refused, and said so: nothing was acknowledged.
                file.write(json.dumps({"refused": error.message}) + "\n")
                continue
            file.writelines(json.dumps(asdict(change)) + "\n" for change in done)


if __name__ == "__main__":
    main(*sys.argv[1:])
