"""Learns how lasting sentences sound: `python -m tests.bench.narrator_histories.learn [--write]`.

The material is what is said in the banks for development (`bank_dev`, `bank_voices`): their facts sound lasting, their tasks, tails and
traps of the moment do not. A logistic regression over cues and vectors, by Newton's method, with a penalty on the square of each
weight; a cue keeps the sign that it is known to have. Judged by leaving out one voice after the other.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cm_tui.config.sections import EmbeddingConfig
from cm_tui.engine.memory.narrator import cues
from cm_tui.engine.memory.narrator.miners.statements import cues_with, may_correct
from cm_tui.engine.memory.narrator.own_words import sentences_in
from cm_tui.engine.search.embed.choice import prose_provider_for
from tests.bench.narrator_histories import bank as banks
from tests.bench.narrator_histories.words import Words

FILE = Path(cues.__file__).with_name("lasting.json")
_VOICES = Path(__file__).parent / "bank_voices"
_OF_THE_MOMENT = ("one_off", "task_order", "question", "quoted", "sarcasm")
_FILLED = 2
"""How often each task is filled with other names."""
_SCALE = 3.0
"""Vectors are multiplied with it, so that their weights are penalised less than those of cues."""
_PENALTY = 2.0
_SENSE_PENALTY = 6.0
_NEGATIVES = 1.0
"""How much more a sentence of the moment counts: in a history there are many more of them."""


class Example(NamedTuple):
    """A sentence of a voice.

    Attributes:
        voice: who says it.
        text: the sentence.
        corrects: it corrects the agent.
        lasts: it sounds lasting.
        kind: of the fact or trap; `task` for all else.
    """

    voice: str
    text: str
    corrects: bool
    lasts: bool
    kind: str


class Model(NamedTuple):
    """Learned numbers: bias, weights of cues in the order of the patterns, weights of the vector."""

    bias: float
    cues: Any
    sound: Any


def main() -> None:
    """Judge by leaving voices out, and write the numbers if asked to."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.narrator_histories.learn", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the numbers that all voices give")
    parser.add_argument(
        "--worst", type=int, default=0, help="print so many of the worst mistakes of each voice left out"
    )
    parser.add_argument(
        "--also", type=Path, help="ordinary sentences of real sessions, a JSON list: they sound of the moment"
    )
    given = parser.parse_args()
    examples = list(_examples())
    if given.also:
        texts = json.loads(given.also.read_text(encoding="utf-8"))
        examples += [Example("real", text, False, False, "task") for text in texts]
    columns, vectors, truth = _columns(examples)
    voices = sorted({one.voice for one in examples} - {"real"})
    for voice in voices:
        is_out = np.array([one.voice == voice for one in examples])
        model = learn(columns[~is_out], vectors[~is_out], truth[~is_out])
        scores = score(model, columns[is_out], vectors[is_out])
        _judge(voice, scores, truth[is_out])
        if given.worst:
            _worst([one for one in examples if one.voice == voice], scores, given.worst)
    whole = learn(columns, vectors, truth)
    sense = learn_sense(examples, columns, vectors, truth)
    alone = learn(columns, np.zeros((len(truth), 0)), truth)
    for name, weight in zip(_names(), whole.cues, strict=True):
        print(f"{name:<24}{weight:>7.2f}  {int(columns[:, _names().index(name)].sum())}")
    print(f"{'bias':<24}{whole.bias:>7.2f}")
    if given.write:
        _write(whole, alone, sense)


def learn(columns: Any, vectors: Any, truth: Any) -> Model:
    """Return the weights that fit sentences best."""
    signs = np.array([-1.0 if name in cues.AGAINST else 1.0 for name in _names()])
    weights = _fit(np.concatenate([columns, vectors * _SCALE], axis=1), truth, _PENALTY, signs=signs)
    count = len(signs)
    return Model(float(weights[-1]), weights[:count], weights[count:-1] * _SCALE)


def learn_sense(examples: Sequence[Example], columns: Any, vectors: Any, truth: Any) -> Any:
    """Return what vectors of the model of prose add: their weights, and a bias.

    They are fitted on top of what cues and words say, which is learned for each voice from all others: what is known by heart would
    leave nothing to add.
    """
    voices = np.array([one.voice for one in examples])
    known = np.zeros(len(truth))
    for voice in set(voices):
        is_out = voices == voice
        known[is_out] = score(
            learn(columns[~is_out], vectors[~is_out], truth[~is_out]), columns[is_out], vectors[is_out]
        )
    prose = prose_provider_for(EmbeddingConfig())
    assert prose is not None
    rows = np.asarray(prose.embed([one.text for one in examples]), float) * _SCALE
    weights = _fit(rows, truth, _SENSE_PENALTY, known=known)
    weights[:-1] *= _SCALE
    return weights


def _fit(rows: Any, truth: Any, penalty: float, *, signs: Any = (), known: Any = 0.0) -> Any:
    """Return the weights of a logistic regression, the bias last, by Newton's method with steps of 1 at most.

    Args:
        rows: an example each.
        truth: 1.0 or 0.0 of each.
        penalty: on the square of each weight; the bias has none to speak of.
        signs: of the first weights, which keep them.
        known: what the score of each is before anything is added.
    """
    rows = np.concatenate([rows, np.ones((len(truth), 1))], axis=1)
    costs = np.where(truth == 1, 1.0, _NEGATIVES)
    penalties = np.full(rows.shape[1], penalty)
    penalties[-1] = 1e-6
    weights, count = np.zeros(rows.shape[1]), len(signs)
    for _ in range(60):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights + known, -30, 30)))
        slope = rows.T @ (costs * (chance - truth)) + penalties * weights
        curve = (rows * (costs * chance * (1 - chance))[:, None]).T @ rows + np.diag(penalties)
        weights -= np.clip(np.linalg.solve(curve, slope), -1, 1)
        weights[:count] = signs * np.maximum(0.0, signs * weights[:count])
    return weights


def score(model: Model, columns: Any, vectors: Any) -> Any:
    """Return how lasting sentences sound, before it is made a share."""
    return columns @ model.cues + vectors @ model.sound + model.bias


def _judge(voice: str, scores: Any, truth: Any) -> None:
    order = np.argsort(-scores)
    found, wrong = np.cumsum(truth[order]), np.cumsum(1 - truth[order])
    recalls = [
        f"{share:.1%}: {found[wrong <= share * wrong[-1]][-1] / found[-1]:.2f}" for share in (0.005, 0.01, 0.02, 0.05)
    ]
    at = [
        f"{p}: {((scores >= np.log(p / (1 - p))) & (truth == 1)).sum() / truth.sum():.2f}/{((scores >= np.log(p / (1 - p))) & (truth == 0)).sum() / (truth == 0).sum():.3f}"
        for p in (0.3, 0.5, 0.7, 0.9)
    ]
    print(
        f"without {voice:<6} of {int(truth.sum())}+{int((1 - truth).sum())}: recall where so many others are taken: {', '.join(recalls)}; found/taken at {', '.join(at)}"
    )


def _worst(examples: Sequence[Example], scores: Any, count: int) -> None:
    for lasts in (False, True):
        rows = [row for row, one in enumerate(examples) if one.lasts == lasts]
        for row in sorted(rows, key=lambda row: scores[row] * (1 if lasts else -1))[:count]:
            one = examples[row]
            print(
                f"   {scores[row]:6.2f} {one.kind:<12} {one.text[:150]}  {cues_with(one.text, corrects=one.corrects)}"
            )


def _names() -> list[str]:
    return [name for name, _ in cues.patterns()]


def _columns(examples: Sequence[Example]) -> tuple[Any, Any, Any]:
    names = _names()
    found = [set(cues_with(one.text, corrects=one.corrects)) for one in examples]
    columns = np.array([[name in cue for name in names] for cue in found], float)
    return (
        columns,
        np.asarray(cues.vectors_of([one.text for one in examples]), float),
        np.array([one.lasts for one in examples], float),
    )


def _examples() -> Iterator[Example]:
    dev = banks.load("dev")
    yield from _of_facts("dev", dev.facts, dev.traps)
    yield from _of_tasks("dev", dev, [*dev.words["tasks"], *dev.words["tails"], *dev.words["short"]])
    for file in sorted(_VOICES.glob("*_said.json")):
        voice = file.name[0]
        data = {name: _read(voice, name) for name in ("said", "traps", "tasks")}
        facts = [banks.fact_of(one) for one in data["said"].get("facts", ())]
        traps = [banks.trap_of(one) for one in (*data["traps"].get("traps", ()), *data["said"].get("traps", ()))]
        yield from _of_facts(voice, facts, traps)
        yield from _of_tasks(
            voice, dev, [*data["tasks"].get(f"tasks_{voice}", ()), *data["tasks"].get(f"tails_{voice}", ())]
        )


def _read(voice: str, name: str) -> dict[str, Any]:
    file = _VOICES / f"{voice}_{name}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _of_facts(voice: str, facts: Sequence[banks.Fact], traps: Sequence[banks.Trap]) -> Iterator[Example]:
    said = [fact for fact in facts if fact.kind in banks.SAID]
    said += [banks.later_of(trap) for trap in traps if trap.type == "reversed"]
    for fact in said:
        for phrase in fact.say:
            sentences = sentences_in(phrase)
            corrects = fact.kind == "correction" and may_correct(sentences)
            fitting = [one for one in sentences if fact.wanted.is_met(one)] or (
                sentences if len(sentences) == 1 else []
            )
            yield from (Example(voice, one, corrects, True, fact.kind) for one in fitting)
    for trap in traps:
        if trap.type in _OF_THE_MOMENT:
            yield from (Example(voice, one, False, False, trap.type) for text in trap.say for one in sentences_in(text))
        sides = [trap.more[name] for name in ("first", "a", "b") if name in trap.more]
        yield from (
            Example(voice, one, False, True, trap.type)
            for side in sides
            for text in side["say"]
            for one in sentences_in(text)
        )


def _of_tasks(voice: str, dev: banks.Bank, tasks: Sequence[str]) -> Iterator[Example]:
    chance = random.Random(7)
    ecosystems = sorted(dev.ecosystems)
    for number, task in enumerate(tasks):
        words = Words(chance, dev.ecosystems[ecosystems[number % len(ecosystems)]], dev.words)
        for _ in range(_FILLED if "{" in task else 1):
            sentences = sentences_in(words.fill(task))
            yield from (Example(voice, one, False, False, "task") for one in sentences)
            if may_correct(sentences):
                yield Example(voice, sentences[0], True, False, "task")


def _write(whole: Model, alone: Model, sense: Any) -> None:
    names = _names()
    data = {
        "model": "code-static-256, version 2",
        "bias": round(whole.bias, 3), "cues": {name: round(float(w), 2) for name, w in zip(names, whole.cues, strict=True)},
        "alone_bias": round(alone.bias, 3), "alone": {name: round(float(w), 2) for name, w in zip(names, alone.cues, strict=True)},
        "sound": [round(float(w), 3) for w in whole.sound],
        "sense_bias": round(float(sense[-1]), 3), "sense": [round(float(w), 3) for w in sense[:-1]],
    }  # fmt: skip
    FILE.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print(f"written: {FILE}")


if __name__ == "__main__":
    main()
