"""Cues: their weights, their patterns on what is hostile, and that none is passed over unseen."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.memory.narrator import cues
from cm_tui.engine.memory.narrator.cues import (
    AGAINST,
    STRONG,
    WEAK,
    cues_of,
    explicit_cues,
    form_of,
    is_faint,
    is_foreign,
    languages,
    lasting,
    patterns,
    plainness,
    sound_of,
)
from cm_tui.engine.memory.narrator.own_words import sentences_in
from tests.bench import narrator_histories

NAMES = [name for name, *_ in patterns()]
_BANKS = Path(narrator_histories.__file__).parent
_BOUND_S = 0.5
"""What backtracks takes minutes; all others some thousandths of a second."""


def parts() -> dict[str, str]:
    text = files("cm_tui.engine.memory.narrator").joinpath("cues.toml").read_text(encoding="utf-8")
    found: dict[str, str] = tomllib.loads(text)["parts"]
    return found


def test_each_cue_has_a_name_of_its_own_and_weights_with_the_sign_that_it_is_known_to_have() -> None:
    learned = lasting()
    assert len(set(NAMES)) == len(NAMES)
    assert set(AGAINST) < set(NAMES)
    weights = learned.cues
    assert set(weights) == set(NAMES)
    assert [name for name in NAMES if (weights[name] > 0 if name in AGAINST else weights[name] < 0)] == []
    # Those that say so outright count.
    assert all(weights[name] > 0 for name in STRONG)


def test_strong_and_weak_cues_exist_and_speak_for_a_sentence() -> None:
    assert set(NAMES) >= STRONG | WEAK
    assert not STRONG & WEAK
    assert not (STRONG | WEAK) & set(AGAINST)


_INTRO = re.findall(r"[a-z][a-z ]+", parts()["INTRO"])
_REPEATED = (
    *_INTRO, "no", "p.s.", "ps.", "p.s", "hmm", "the", "the a-b", "a", "a_b", "aB", "A-1", "a/b", "we", "i", "considered", "is a", "ever not", "treat a",
    "leave a", "said", '"', "“", "«a", "'", "`", "?", "?a", ":", "=", "->", ".", "…", "-", ", and", "x", "always", "never", "don't", "is", "list", "1", "é",
)  # fmt: skip


def hostile() -> Iterator[str]:
    yield from (" " * 400, "\t" * 400, "a " * 200, " a" * 200, '"' * 400, "“" * 400, "x" * 400)
    for one in _REPEATED:
        for between in ("", " ", ", ", "."):
            for end in ("", "z", "?", " must"):
                yield ((one + between) * 400)[: 400 - len(end)] + end


_PLAIN = [one for _, one, is_cased in patterns() if not is_cased] + [
    one for found in languages() for one in (*dict(found.cues).values(), *found[1:])
]


def test_patterns_for_text_in_lower_case_have_no_capital_which_would_fit_nothing() -> None:
    assert [one.pattern for one in _PLAIN if re.search(r"(?<!\\)[A-ZÄÖÜÀÉÈÊÇ]", one.pattern)] == []
    assert {"always", "our"} <= set(cues_of("OUR rule: ALWAYS squash"))
    assert explicit_cues("IMMER Tabs verwenden") == explicit_cues("immer Tabs verwenden") == ("always",)


@pytest.mark.parametrize(
    "pattern",
    [one for _, one, _ in patterns()]
    + [one for found in languages() for one in (*dict(found.cues).values(), *found[1:])],
)
@pytest.mark.deep
def test_no_pattern_takes_long_whatever_a_sentence_holds(pattern: re.Pattern[str]) -> None:
    worst = (0.0, "")
    for sentence in hostile():
        began = time.process_time()
        pattern.search(sentence)
        worst = max(worst, (time.process_time() - began, sentence[:40]))
    assert worst[0] < _BOUND_S, worst


@given(st.text(max_size=400))
def test_any_text_has_cues_of_which_each_has_a_weight(text: str) -> None:
    found = cues_of(text)
    assert set(found) <= set(NAMES)
    assert 0 < plainness(found, sound_of(text)) < 1
    assert 0 < plainness(found, 3.0) < 1


@pytest.mark.parametrize(
    ("sentence", "cue"),
    [
        ("never mind", "never"),
        ("I never got that mail", "never"),
        ("remember me on the login page", "memo"),
        ("ok, whatever you like", "asks"),
        ("is out of memory", "turned down"),
        ("PARSE lines", "names code"),
        ("make sure it is linted", "order"),
        ("nobody wants that", "one-off"),
    ],
)
def test_a_sentence_has_not_the_cue(sentence: str, cue: str) -> None:
    assert cue not in cues_of(sentence)


def test_a_sentence_without_an_explicit_cue_has_to_sound_more_lasting() -> None:
    assert plainness((), 0.0) < plainness(("we do",), 0.0) < plainness(("always",), 0.0)
    assert plainness(("always",), 0.0) > plainness(("always", "question"), 0.0)
    assert plainness((), -1_000.0) < 1e-9
    assert plainness((), 1_000.0) > 1 - 1e-9


def phrasings() -> list[str]:
    """Return all texts of the banks for development."""

    def texts(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            for one in value.values() if isinstance(value, dict) else value:
                yield from texts(one)

    found: dict[str, None] = {}
    for folder in ("bank_dev", "bank_voices"):
        for file in sorted((_BANKS / folder).glob("*.json")):
            for text in texts(json.loads(file.read_text(encoding="utf-8"))):
                found |= dict.fromkeys(sentences_in(text))
    return list(found)


def test_the_cues_of_other_languages_have_names_of_cues_and_no_sentence_in_english_has_one() -> None:
    assert {name for one in languages() for name, _ in one.cues} <= set(NAMES)
    assert [one for one in phrasings() if explicit_cues(one, True)] == []


def test_hardly_a_sentence_in_english_counts_as_one_in_another_language() -> None:
    said = phrasings()
    assert sum(map(is_foreign, said)) <= len(said) // 1_000
    assert not is_foreign("we compute in SI units")
    assert is_foreign("Nee, niet npm, hier is alles yarn")


def test_no_sentence_with_a_strong_cue_is_passed_over() -> None:
    said = phrasings()
    assert len(said) > 5_000
    assert [one for one in said if is_faint(one, -9.0) and STRONG.intersection(cues_of(one))] == []
    assert sum(is_faint(one, -9.0) for one in said) > 1_000


def test_what_sounds_lasting_is_never_faint() -> None:
    assert is_faint("rename the file", -0.1)
    assert not is_faint("rename the file", 0.0)
    assert not is_faint("use `a` instead of `b` in modules", -9.0)
    assert not is_faint("always rename the file", -9.0)


def test_sentences_of_one_form_share_its_parts_whatever_they_are_about() -> None:
    one, other, order = map(
        form_of, ("Branches are never reused.", "buckets are never archived.", "archive the buckets")
    )
    assert {"MANY are never", "are never DONE", "^ MANY are never DONE", "never"} <= one & other
    assert "buckets" in other - one
    assert not any(part.startswith("MANY are") for part in order)


@pytest.mark.parametrize("text", ["", "…", "`", "é" * 400, "a " * 20_000, "1" * 20_000, "A" * 20_000, "aB" * 20_000])
def test_the_form_of_any_text_is_short_and_found_quickly(text: str) -> None:
    began = time.process_time()
    assert len(form_of(text)) < 1_000
    assert time.process_time() - began < _BOUND_S


def test_a_rule_sounds_more_lasting_than_an_order() -> None:
    rule, order = map(sound_of, ("all timestamps are stored in UTC", "rename the button on the login page"))
    assert rule > 0 > order


def test_how_a_sentence_sounds_does_not_depend_on_the_order_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    said = phrasings()[:300]
    orders = [sorted(form_of(one)) for one in said]
    found = []
    for step in (1, -1):
        monkeypatch.setattr(cues, "form_of", lambda text, step=step: orders[said.index(text)][::step])
        found.append([sound_of(one) for one in said])
    assert found[0] == found[1]
