"""The packages and their imports, read from the code and drawn into ARCHITECTURE.md.

`python -m tests.architecture.rooms` draws the picture again; a test fails when it is out of date.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "ARCHITECTURE.md"
PACKAGE = "cm_tui"
OPENED = "engine"
"""The package whose folders count as rooms of their own."""
LEFT_OUT = frozenset({"__main__"})
"""It may import everything, and would hide the rest of the picture."""

Rooms = dict[str, set[str]]


def room_of(module: str) -> str:
    """Name the room of a module: a folder or file of the package, or of the engine."""
    parts = module.split(".")[1:]
    return ".".join(parts[:2]) if parts[:1] == [OPENED] else ".".join(parts[:1])


def rooms() -> Rooms:
    """Every room with the rooms that it imports from, at any time: at the top, late, or for types alone."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    found: Rooms = {}
    for module in graph.modules:
        room = room_of(module)
        if room in {"", OPENED} or room in LEFT_OUT:
            continue
        others = {room_of(other) for other in graph.find_modules_directly_imported_by(module)}
        found.setdefault(room, set()).update(others - {room, "", OPENED} - LEFT_OUT)
    return found


def floors(found: Rooms) -> dict[str, int]:
    """The floor of each room: one above the highest that it imports from.

    Raises:
        ValueError: rooms import each other in a circle.
    """
    level: dict[str, int] = {}

    def visit(room: str, above: tuple[str, ...]) -> int:
        if room in above:
            raise ValueError(f"a circle of rooms: {' -> '.join((*above[above.index(room) :], room))}")
        if room not in level:
            level[room] = 1 + max((visit(other, (*above, room)) for other in sorted(found[room])), default=0)
        return level[room]

    for room in sorted(found):
        visit(room, ())
    return level


def reduced(found: Rooms) -> Rooms:
    """Without arrows that a way over other rooms says already."""

    @cache
    def reach(room: str) -> set[str]:
        return found[room].union(*(reach(other) for other in found[room]))

    return {
        room: {one for one in others if not any(one in reach(two) for two in others - {one})}
        for room, others in found.items()
    }


def picture() -> str:
    """The rooms as a Mermaid graph, highest floor first."""
    found = rooms()
    level, arrows_of = floors(found), reduced(found)
    order = sorted(found, key=lambda room: (-level[room], room))
    lines = ["```mermaid", "graph TD"]
    for room in order:
        arrows = " & ".join(_id(other) for other in sorted(arrows_of[room]))
        lines.append(f'  {_id(room)}["{room}"]' + (f" --> {arrows}" if arrows else ""))
    return "\n".join([*lines, "```"])


def _id(room: str) -> str:
    return room.replace(".", "_")


def drawn(page: str) -> str:
    """A page with the picture between its marks made anew."""
    return re.sub(r"(?s)(<!-- rooms -->\n).*?(<!-- /rooms -->)", lambda mark: f"{mark[1]}{picture()}\n{mark[2]}", page)


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name}: {len(rooms())} rooms\n")
