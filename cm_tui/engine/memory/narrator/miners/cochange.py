"""Files that are changed together.

Two files changed by a turn are a claim, and three if it changed five at most. A turn that changed more than ten did one
operation on all of them (a rename, a reformatting) and is ignored; so is one that failed or was rejected. Each file
alone is counted too: the share of turns with any of the files that changed all of them measures how much they belong
together (`support / (support + opposed)`, opposed by each turn that changed one without the others; Jaccard's measure
for two). So a file that goes with everything, such as a changelog, goes with nothing. A file and its own test or header
are expected to change together: the weight is 0.6 instead of 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations

from cm_tui.engine.memory.narrator.turn import Observation, Turn, is_accepted, rejects

_MOST, _MOST_OF_THREE = 10, 5
_LONGEST = 280
_PLAIN, _SELF_EVIDENT = 1.0, 0.6
_OF_TEST = re.compile(r"^test_|(?:_test|_spec|[.-]test|[.-]spec|Tests?|Spec)$")
_C = frozenset(("c", "cc", "cpp", "cxx", "m", "mm", "h", "hh", "hpp", "hxx"))


def mine_cochange(turn: Turn) -> Iterable[Observation]:
    """Return the files that the turn changed together."""
    if is_accepted(turn.record):
        yield from _together(turn.changes.files, opposes=False)
    if turn.before is not None and rejects(turn):
        yield from _together(turn.before.changes.files, opposes=True)


def _together(files: Sequence[str], *, opposes: bool) -> Iterator[Observation]:
    if not 1 <= len(files) <= _MOST:
        return
    files = sorted(files)
    if not opposes:
        for file in files:
            yield Observation("cochange", file, "", f"`{file}`", file, 0.0)
    for size in (2, 3) if len(files) <= _MOST_OF_THREE else (2,):
        for some in combinations(files, size):
            named = [f"`{file}`" for file in some]
            text = f"{', '.join(named[:-1])} and {named[-1]} are changed together"
            if len(text) <= _LONGEST:
                claim = "\n".join(some)
                weight = _SELF_EVIDENT if _is_self_evident(some) else _PLAIN
                yield Observation("cochange", claim, claim, text, ", ".join(some), weight, opposes=opposes)


def _is_self_evident(files: Sequence[str]) -> bool:
    """Return whether files are one module and its test, or its header."""
    parts = [*map(_parts, files)]
    stems = {stem for _, stem, _ in parts}
    return len(stems) == 1 and stems != {""} and (all(is_c for *_, is_c in parts) or len({one[0] for one in parts}) > 1)


@lru_cache(maxsize=4_096)
def _parts(file: str) -> tuple[str, str, bool]:
    """Return the name of a file without its ending, that of its module, and whether it may have a header."""
    name, _, ending = file.rpartition("/")[2].rpartition(".")
    return name, _OF_TEST.sub("", name), ending in _C
