"""Learns how lasting sentences sound: `python -m tests.bench.narrator_histories.learn [--write]`.

The material is what is said in the banks for development (`bank_dev`, `bank_voices`): their facts sound lasting, their
tasks, tails and traps of the moment do not, nor do given sentences of real sessions and commit messages: neither is in
the repository. A logistic regression over cues and forms, with a penalty on the square of each weight, fitted a second
time with the parts of forms that had the largest weights; a cue with another sign than it is known to have gets no
weight. Judged by leaving out one voice after the other, and either half of the real sentences; the bias is set so that
six in a thousand of these would be proposed. With `--added`, cues without a weight get one, and no other number changes.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
from collections import Counter
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
"""Vectors and forms are multiplied with it, so that their weights are penalised less than those of cues."""
_FORM_SCALE = 5.0
_PENALTY = 2.0
_SENSE_PENALTY = 6.0
_MOST_PARTS = 3_000
_LEAST_SEEN = 4
"""Sentences that a part of a form is in, to have a weight."""
_STEPS, _KEPT, _SMALL = 80, 12, 1e-5
_REAL = "real"
_COMMITS = "commits"
_RULES = "rules"
_SUBJECTS, _RECENT, _SHORTEST, _MOST = 120, 3_000, 12, 160
"""Commit messages taken of a repository, among how many, and their lengths in characters."""
_TIMES = 2
"""How often a sentence of real sessions counts: there are many more of them than of synthetic ones."""
_TAKEN, _PLAIN = 0.006, 0.76
"""Share of ordinary real sentences that may sound so lasting: what is said in one session is proposed from there on."""


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
    """Learned numbers: bias, weights of cues in the order of the patterns, weights of the parts of forms."""

    bias: float
    cues: Any
    form: dict[str, float]


class Forms:
    """Known parts of the forms of sentences, as a sparse matrix with a row each; those of a sentence share its length of 1."""

    def __init__(self, forms: Sequence[set[str]], known: dict[str, int]) -> None:
        rows = [[known[part] for part in form if part in known] for form in forms]
        counts = np.array([len(row) for row in rows])
        self._row, self._column = (
            np.repeat(np.arange(len(rows)), counts),
            np.array([one for row in rows for one in row], int),
        )
        self._value = np.repeat(_FORM_SCALE / np.sqrt(np.maximum(1, counts)), counts)
        self.rows, self.columns = len(rows), len(known)

    def times(self, weights: Any) -> Any:
        """Return the matrix times a column."""
        return np.bincount(self._row, self._value * weights[self._column], self.rows)

    def back(self, values: Any) -> Any:
        """Return a row times the matrix."""
        return np.bincount(self._column, self._value * values[self._row], self.columns)


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
    parser.add_argument(
        "--commits", type=Path, nargs="*", default=[], help="repositories whose commit messages sound of the moment"
    )
    parser.add_argument(
        "--rules", type=Path, help="rules of instruction files, a JSON list of [project, rule]: they sound lasting"
    )
    parser.add_argument(
        "--added", action="store_true", help="only fit the cues that have no weight, on top of all numbers"
    )
    given = parser.parse_args()
    examples = list(_examples())
    if given.rules:
        stated = json.loads(given.rules.read_text(encoding="utf-8"))
        halves = {project: place % 2 for place, project in enumerate(sorted({project for project, _ in stated}))}
        examples += [Example(f"{_RULES} {halves[project]}", rule, False, True, "rule") for project, rule in stated]
    if given.also:
        texts = json.loads(given.also.read_text(encoding="utf-8"))
        real = [
            Example(f"{_REAL} {place * 2 // len(texts)}", text, False, False, "task")
            for place, text in enumerate(texts)
        ]
        examples += real
    for repository in given.commits:
        examples += [Example(_COMMITS, one, False, False, "task") for one in _subjects(repository)]
    columns, forms, truth = _columns(examples)
    is_real = np.array([one.voice.startswith(_REAL) for one in examples])
    costs = np.where(is_real, _TIMES, 1.0)
    if given.added:
        _write_added(examples, columns, forms, truth, costs)
        return
    voices = sorted({one.voice for one in examples})
    scores = np.zeros(len(truth))
    for voice in voices:
        is_out = np.array([one.voice == voice for one in examples])
        model = learn(columns[~is_out], _chosen(forms, ~is_out), truth[~is_out], costs[~is_out])
        scores[is_out] = score(model, columns[is_out], _chosen(forms, is_out))
        _judge(voice, scores[is_out], truth[is_out])
        if given.worst:
            _worst([one for one in examples if one.voice == voice], scores[is_out], given.worst)
    whole = learn(columns, forms, truth, costs)
    print(f"{len(whole.form)} parts of forms have a weight")
    sense, scores = learn_sense(examples, scores, truth, costs)
    if is_real.any():
        whole = whole._replace(
            bias=whole.bias + np.log(_PLAIN / (1 - _PLAIN)) - np.quantile(scores[is_real], 1 - _TAKEN)
        )
    for name, weight in zip(_names(), whole.cues, strict=True):
        print(f"{name:<24}{weight:>7.2f}  {int(columns[:, _names().index(name)].sum())}")
    print(f"{'bias':<24}{whole.bias:>7.2f}")
    if given.write:
        _write(whole, sense)


def _subjects(repository: Path) -> list[str]:
    """Return some subjects of the last commits of a repository."""
    command = ["git", "-C", str(repository), "log", "--no-merges", "--format=%s", f"-{_RECENT}"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = sorted({one for line in lines for one in sentences_in(line) if _SHORTEST < len(one) < _MOST})
    return random.Random(5).sample(found, min(_SUBJECTS, len(found)))


def learn(columns: Any, forms: Sequence[set[str]], truth: Any, costs: Any) -> Model:
    """Return the weights that fit sentences best; the costs say how much each counts."""
    signs = np.array([-1.0 if name in cues.AGAINST else 1.0 for name in _names()])
    counted = Counter(part for form in forms for part in form)
    parts = sorted(part for part, count in counted.items() if count >= _LEAST_SEEN)
    is_used = np.ones(len(signs), bool)
    while True:
        matrix = Forms(forms, {part: place for place, part in enumerate(parts)})
        weights = _fit(columns * is_used, truth, costs, _PENALTY, forms=matrix)
        form = weights[len(signs) : -1] * _FORM_SCALE
        is_wrong = (weights[: len(signs)] * signs < 0) & is_used
        if not is_wrong.any() and len(parts) <= _MOST_PARTS:
            return Model(
                float(weights[-1]), weights[: len(signs)] * is_used, dict(zip(parts, form.tolist(), strict=True))
            )
        is_used &= ~is_wrong
        largest = sorted(np.argsort(-np.abs(form), kind="stable")[:_MOST_PARTS].tolist())
        parts = [parts[place] for place in largest]


def _chosen(forms: Sequence[set[str]], which: Any) -> list[set[str]]:
    return [form for form, is_chosen in zip(forms, which, strict=True) if is_chosen]


def learn_sense(examples: Sequence[Example], known: Any, truth: Any, costs: Any) -> tuple[Any, Any]:
    """Return what vectors of the model of prose add, their weights and a bias, and how lasting sentences sound with them.

    They are fitted on top of what cues and forms say, which is learned for each voice from all others: what is known by heart would
    leave nothing to add.
    """
    prose = prose_provider_for(EmbeddingConfig())
    assert prose is not None
    rows = np.asarray(prose.embed([one.text for one in examples]), float) * _SCALE
    weights = _fit(rows, truth, costs, _SENSE_PENALTY, known=known)
    scores = known + rows @ weights[:-1] + weights[-1]
    weights[:-1] *= _SCALE
    return weights, scores


def _fit(rows: Any, truth: Any, costs: Any, penalty: float, *, forms: Forms | None = None, known: Any = 0.0) -> Any:
    """Return the weights of a logistic regression, the bias last, by the method of Broyden and others with limited memory (L-BFGS).

    Args:
        rows: an example each.
        truth: 1.0 or 0.0 of each.
        costs: how much each counts.
        penalty: on the square of each weight; the bias has none to speak of.
        forms: of the examples; their weights follow.
        known: what the score of each is before anything is added.
    """
    forms = forms or Forms([set()] * len(truth), {})
    first = rows.shape[1]
    penalties = np.append(np.full(first + forms.columns, penalty), 1e-6)

    def loss(weights: Any) -> tuple[float, Any]:
        scores = rows @ weights[:first] + forms.times(weights[first:-1]) + weights[-1] + known
        off = costs * (1 / (1 + np.exp(-np.clip(scores, -30, 30))) - truth)
        slope = np.concatenate([rows.T @ off, forms.back(off), [off.sum()]]) + penalties * weights
        return float(
            (costs * (np.logaddexp(0, scores) - truth * scores)).sum() + (penalties * weights**2).sum() / 2
        ), slope

    weights = np.zeros(len(penalties))
    value, slope = loss(weights)
    seen: list[tuple[Any, Any]] = []
    for _ in range(_STEPS):
        way = _way(seen, slope)
        size = 1.0
        while (moved := loss(weights - size * way))[0] > value - 1e-4 * size * (slope @ way) and size > 1e-6:
            size /= 2
        step, change = -size * way, moved[1] - slope
        weights, gain, (value, slope) = weights + step, value - moved[0], moved
        if step @ change > 1e-12:
            seen = [*seen[1 - _KEPT :], (step, change)]
        if gain < _SMALL * abs(value):
            break
    return weights


def _way(seen: Sequence[tuple[Any, Any]], slope: Any) -> Any:
    """Return the slope, straightened by what earlier steps changed in it."""
    way, shares = slope.copy(), []
    for step, change in reversed(seen):
        shares.append((step @ way) / (step @ change))
        way -= shares[-1] * change
    way *= (seen[-1][0] @ seen[-1][1]) / (seen[-1][1] @ seen[-1][1]) if seen else 1 / max(1.0, np.abs(slope).sum())
    for (step, change), share in zip(seen, reversed(shares), strict=True):
        way += (share - (change @ way) / (step @ change)) * step
    return way


def score(model: Model, columns: Any, forms: Sequence[set[str]]) -> Any:
    """Return how lasting sentences sound, before it is made a share."""
    known = [[model.form[part] for part in form if part in model.form] for form in forms]
    sounds = [sum(weights) / max(1, len(weights)) ** 0.5 for weights in known]
    strong, weak = (columns[:, [name in names for name in _names()]].any(axis=1) for names in (cues.STRONG, cues.WEAK))
    penalties = np.where(strong, 0.0, np.where(weak, cues.HINTED, cues.IMPLICIT))
    return columns @ model.cues + np.array(sounds) + model.bias - penalties


def _judge(voice: str, scores: Any, truth: Any) -> None:
    order = np.argsort(-scores)
    found, wrong = np.cumsum(truth[order]), np.cumsum(1 - truth[order])
    some, others = max(1.0, float(found[-1])), max(1.0, float(wrong[-1]))
    recalls = [
        f"{share:.1%}: {found[wrong <= share * others].max(initial=0) / some:.2f}"
        for share in (0.005, 0.01, 0.02, 0.05)
    ]
    taken = [(p, scores >= np.log(p / (1 - p))) for p in (0.4, 0.6, 0.8, 0.9)]
    at = [f"{p}: {truth[which].sum() / some:.2f}/{(1 - truth[which]).sum() / others:.3f}" for p, which in taken]
    print(
        f"without {voice:<6} of {int(found[-1])}+{int(others)}: recall where so many others are taken: {', '.join(recalls)}; found/taken at {', '.join(at)}",
        flush=True,
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
    return [name for name, *_ in cues.patterns()]


def _columns(examples: Sequence[Example]) -> tuple[Any, list[set[str]], Any]:
    names = _names()
    found = [set(cues_with(one.text, corrects=one.corrects)) for one in examples]
    columns = np.array([[name in cue for name in names] for cue in found], float)
    return columns, [cues.form_of(one.text) for one in examples], np.array([one.lasts for one in examples], float)


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


def _write_added(examples: Sequence[Example], columns: Any, forms: Sequence[set[str]], truth: Any, costs: Any) -> None:
    """Fit and write the weights of cues that have none, on top of what all others give."""
    data, names = json.loads(FILE.read_text(encoding="utf-8")), _names()
    known = Model(data["bias"], np.array([data["cues"].get(name, 0.0) for name in names]), data["form"])
    prose = prose_provider_for(EmbeddingConfig())
    assert prose is not None
    sense = np.asarray(prose.embed([one.text for one in examples]), float) @ np.array(data["sense"])
    added = [place for place, name in enumerate(names) if name not in data["cues"]]
    scores = score(known, columns, forms) + sense + data["sense_bias"]
    weights = _fit(columns[:, added], truth, costs, _PENALTY, known=scores)
    fitted = {names[place]: float(weight) for place, weight in zip(added, weights, strict=False)}
    print(fitted)
    cue_weights = np.array([data["cues"].get(name, fitted.get(name)) for name in names])
    _write(Model(data["bias"], cue_weights, data["form"]), np.array([*data["sense"], data["sense_bias"]]))


def _write(whole: Model, sense: Any) -> None:
    data = {
        "bias": round(whole.bias, 3), "cues": {name: round(float(w), 2) for name, w in zip(_names(), whole.cues, strict=True)},
        "form": {part: round(w, 2) for part, w in whole.form.items() if round(w, 2)},
        "sense_bias": round(float(sense[-1]), 3), "sense": [round(float(w), 3) for w in sense[:-1]],
    }  # fmt: skip
    lines = ",\n".join(f'"{name}": {json.dumps(value, ensure_ascii=False)}' for name, value in data.items())
    FILE.write_text(f"{{{lines}}}\n", encoding="utf-8")
    print(f"written: {FILE}")


if __name__ == "__main__":
    main()
