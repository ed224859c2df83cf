"""How facts are planted: said in prompts, or shown in what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.model import Step
from tests.bench.narrator_histories.bank import Fact
from tests.bench.narrator_histories.turns import Session, Turn

if TYPE_CHECKING:
    from tests.bench.narrator_histories.history import Builder

_DECORATIONS = (("{run}", 55), ("cd {root} && {run}", 15), ("{run} 2>&1 | tail -20", 15))


def say(builder: Builder, fact: Fact) -> None:
    """Have something said one to four times, each in other words and in another session."""
    times = builder.chance.choices((1, 2, 3, 4), (25, 35, 25, 15))[0]
    phrases = builder.chance.sample(fact.say, times)
    for session, phrase in zip(builder.pick(times), phrases, strict=True):
        if fact.kind == "correction":
            correct(builder, session, fact, phrase)
        else:
            builder.put(session, phrase)


def correct(builder: Builder, session: Session, fact: Fact, phrase: str) -> None:
    """Have the agent do something wrong, and the person say so in the next turn."""
    chance, words = builder.chance, builder.words
    before = chance.choice(session.free())
    before.answer = f"{fact.did} {before.answer}" if chance.random() < 0.5 else fact.did
    before.taken = True
    after = builder.turn(size=2)
    after.prompt = phrase if chance.random() < 0.6 else f"{words.sentence(phrase)} {words.sentence(words.tail())}"
    after.answer, after.outcome, after.taken = f"You are right. {words.answer()}", "ok", True
    session.turns.insert(session.turns.index(before) + 1, after)


def show(builder: Builder, facts: list[Fact]) -> None:
    """Have facts shown four to ten times in at least three sessions."""
    for fact in facts:
        if fact.kind == "command":
            _command(builder, fact)
        elif fact.kind == "workflow":
            _workflow(builder, fact)
        elif fact.kind == "fix":
            _fix(builder, fact)
        elif fact.kind == "cochange":
            _together(builder, fact)
    _conventions(builder, [fact for fact in facts if fact.kind == "convention"])


def places(builder: Builder, least: int, most: int) -> list[tuple[Session, Turn]]:
    """Return turns to show something in: so many, in at least three sessions."""
    chance = builder.chance
    count = chance.randrange(least, most + 1)
    sessions = chance.sample(
        [s for s in builder.history.sessions if s.turns and not s.parent], max(3, count - chance.randrange(0, 3))
    )
    chosen = [*sessions, *chance.choices(sessions, k=max(0, count - len(sessions)))]
    return [(session, chance.choice(session.turns)) for session in chosen]


def insert(builder: Builder, turn: Turn, steps: list[Step], *, apart: float = 0.0) -> None:
    """Put steps into a turn in their order, some with ordinary ones between."""
    at = builder.chance.randrange(0, len(turn.steps) + 1)
    for step in steps:
        if builder.chance.random() < apart:
            turn.steps.insert(at, builder.step())
            at += 1
        turn.steps.insert(at, step)
        at += 1


def run_step(builder: Builder, run: str, *, result: str = "", failed: bool = False) -> Step:
    """Return a step that runs a command, bare or as agents dress it."""
    form = builder.chance.choices([form for form, _ in _DECORATIONS], [weight for _, weight in _DECORATIONS])[0]
    return Step("tool", form.replace("{run}", run), "Bash", result or builder.words.fill("ok {number}"), failed=failed)


def _command(builder: Builder, fact: Fact) -> None:
    chance, run = builder.chance, fact.more["run"]
    shown = places(builder, 4, 10)
    for number, (_, turn) in enumerate(shown):
        # The first three are bare: what is shown only with other arguments each time is no one command.
        args = fact.more.get("args") or []
        given = f"{run} {chance.choice(args)}" if args and number > 2 and chance.random() < 0.4 else run
        insert(builder, turn, [run_step(builder, given)])
    if fact.more.get("role") in {"test", "lint", "types", "e2e"}:
        for _, turn in places(builder, 3, 3)[: chance.randrange(0, 3)]:
            insert(
                builder,
                turn,
                [run_step(builder, run, result=builder.words.fill("FAILED {w1}_{w2}: expected {number}"), failed=True)],
            )


def _workflow(builder: Builder, fact: Fact) -> None:
    for _, turn in places(builder, 4, 8):
        insert(builder, turn, [run_step(builder, run) for run in fact.more["runs"]], apart=0.25)


def _fix(builder: Builder, fact: Fact) -> None:
    words = builder.words
    for _, turn in places(builder, 4, 6):
        steps = [
            run_step(builder, fact.more["run"], result=f"{words.fill('{w1} {w2}')}\n{fact.more['error']}", failed=True),
            run_step(builder, fact.more["fix"]),
            run_step(builder, fact.more["run"]),
        ]
        insert(builder, turn, steps, apart=0.3)
        turn.outcome = "ok"


def _together(builder: Builder, fact: Fact) -> None:
    for file in fact.more["files"]:
        builder.history.files.setdefault(file, "# made for the project\n")
    for _, turn in places(builder, 5, 9):
        for file in fact.more["files"]:
            builder.change(turn, file)
        turn.outcome = "ok"
    if builder.chance.random() < 0.4:
        builder.change(places(builder, 3, 3)[0][1], builder.chance.choice(fact.more["files"]))


def _conventions(builder: Builder, facts: list[Fact]) -> None:
    chance, words = builder.chance, builder.words
    for fact in facts:
        for _, turn in places(builder, 6, 10):
            turn.outcome = "ok"
            if "commit" in fact.more:
                message = words.fill(fact.more["commit"])
                insert(
                    builder,
                    turn,
                    [
                        Step(
                            "tool", f'git add -A && git commit -m "{message}"', "Bash", words.fill("[main {number}] ok")
                        )
                    ],
                )
                continue
            same = [other for other in facts if other.more.get("path") == fact.more["path"]]
            lines = [line for other in same for line in other.more["lines"]]
            body = [words.edit() for _ in range(chance.randrange(4, 12))]
            builder.change(turn, words.fill(fact.more["path"]), [*lines, "", *body])
