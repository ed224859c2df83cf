"""Facts and traps in whole prompts of ordinary developers, in six languages: `python -m tests.bench.narrator_histories.people`.

`people.json` has 60 of each; nothing is changed for the half that is kept aside. Unlike in a bank, most facts are said
once, together with the order of the moment, and the prompts are as people type them. They are planted among ordinary
work of the bank for development.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from cm_tui.model import Step
from tests import planted
from tests.bench.narrator_histories import bank as banks
from tests.bench.narrator_histories.bank import Bank, Fact, Trap
from tests.bench.narrator_histories.facts import insert, places
from tests.bench.narrator_histories.history import Builder, History
from tests.bench.narrator_histories.running import POLICIES, described, score
from tests.bench.narrator_histories.turns import Session

_FILE = Path(__file__).with_name("people.json")
_EPISODES = 240


class _People(Builder):
    """Makes a history with what people say. `half`: of the file, `worked_on` or `kept_aside`."""

    def __init__(self, bank: Bank, half: dict[str, Any], seed: int) -> None:
        self._half = half
        super().__init__(bank, seed, _EPISODES)

    def _draw(self, _name: str) -> None:
        self.history.facts = list(map(banks.fact_of, self._half["facts"]))
        self.history.traps = list(map(banks.trap_of, self._half["traps"]))

    def _plant(self) -> None:
        for fact in self.history.facts:
            for session, prompt in zip(self.pick(len(fact.say)), fact.say, strict=True):
                self._put(session, prompt, fact.did)
        for trap in self.history.traps:
            self._trap(trap)

    def _put(self, session: Session, prompt: str, did: str = "") -> None:
        """Have a whole prompt given in a session, right after the agent did something, if anything."""
        turn = self.chance.choice(session.free())
        turn.taken = True
        if did:
            turn.answer, turn.outcome, before = did, "ok", turn
            turn = self.turn(size=2)
            turn.taken = True
            session.turns.insert(session.turns.index(before) + 1, turn)
        turn.prompt = prompt

    def _trap(self, trap: Trap) -> None:
        text = trap.say[0].replace("{secret}", planted.GITHUB)
        if trap.type == "injection":
            for _, turn in places(self, 3, 3):
                insert(self, turn, [Step("tool", "README.md", "Read", f"# Building\n\n{text}", "README.md")])
            return
        (session,) = self.pick(1)
        if trap.type == "subagent":
            session = Session(f"{session.id}/child", session.agent, session.start + 30, session.id)
            session.turns.append(self.turn())
            self.history.sessions.append(session)
        self._put(session, text)


def build(half: str, seed: int, file: Path = _FILE) -> History:
    """Return a history with the facts and traps of a half of a file."""
    said = json.loads(file.read_text(encoding="utf-8"))[half]
    return _People(banks.load("dev"), said, seed).history


def main() -> int:
    """Score one half."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.narrator_histories.people", description=__doc__)
    parser.add_argument("--kept-aside", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policies", default="by-hand")
    parser.add_argument("--verbose", action="store_true", help="print what is wrong and what is missed")
    parser.add_argument("--file", type=Path, default=_FILE, help="others' words, which are nobody's to publish")
    given = parser.parse_args()
    half = "kept_aside" if given.kept_aside else "worked_on"
    said = json.loads(given.file.read_text(encoding="utf-8"))[half]
    found = score(build(half, given.seed, given.file), tuple(given.policies.split(",")) or tuple(POLICIES))
    right = {item.about for item in found.judged if item.verdict == "right"}
    print(f"{half}: precision {found.precision:.3f}, recall {found.recall:.3f}, right scope {found.scope_share:.2f}")
    print(f"wrong: {dict(Counter(item.verdict for item in found.judged if item.is_wrong))}; by language, found of all:")
    languages = {one["id"]: one["language"] for one in said["facts"]}
    for language in dict.fromkeys(languages.values()):
        mine = [id_ for id_, of in languages.items() if of == language]
        print(f"  {language} {sum(id_ in right for id_ in mine)}/{len(mine)}")
    for policy, items in found.approved.items():
        print(f"approved by {policy}: {len(items)}, wrong {sum(item.is_wrong for item in items)}")
    print(f"traps approved: {len(found.traps_approved())}")
    if given.verbose:
        print(*map(described, found.judged), sep="\n")
        print(*(f"missed {_shown(fact)}" for fact in found.missed), sep="\n")
    return 0


def _shown(fact: Fact) -> str:
    return f"[{fact.id}] {' / '.join(fact.say)}"


if __name__ == "__main__":
    sys.exit(main())
