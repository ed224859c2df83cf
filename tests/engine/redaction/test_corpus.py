"""No planted secret survives, in whatever surroundings; what is left says so, line by line."""

from __future__ import annotations

import itertools
import re

import pytest

from cm_tui.engine.platform.redaction.find import find
from cm_tui.engine.platform.redaction.redact import redact
from tests.engine.redaction.corpus import AROUND, TOKENS, Maker, Planted, corpus

CORPUS = corpus()
PLACES = sorted({planted.place for planted in CORPUS})


def test_the_corpus_is_large_and_of_many_kinds():
    assert len(CORPUS) >= 250
    assert len({planted.kind for planted in CORPUS}) >= 60


@pytest.mark.parametrize("place", PLACES)
def test_no_planted_secret_survives(place: str):
    missed = [planted for planted in CORPUS if planted.place == place and planted.survivors(redact(planted.text).text)]
    assert missed == []


@pytest.mark.few(2)
@pytest.mark.parametrize("sign", ["+", "-", " ", "> "])
def test_nor_one_in_a_diff_or_a_quotation(sign: str):
    missed = []
    for planted in CORPUS:
        if "diff" in planted.place:
            continue
        lines = [sign + line for line in planted.text.split("\n")]
        head = ["@@ -1,3 +1,9 @@", "+# settings", "+# of the shop"]
        clean = redact("\n".join([*head, *lines])).text
        if planted.survivors("\n".join(line.removeprefix(sign) for line in clean.split("\n"))):
            missed.append((planted.kind, planted.place))
    assert missed == []


@pytest.mark.parametrize("seed", [11, 12])
def test_nor_one_of_another_seed(seed: int):
    missed = [planted for planted in corpus(seed) if planted.survivors(redact(planted.text).text)]
    assert missed == []


# Kinds whose own form is unmistakable: behind a letter or digit they are no other word.
GLUED = (
    "aws access key", "google api key", "google client secret", "supabase key", "planetscale token", "databricks token",
    "tailscale key", "vault token", "digitalocean token", "github token", "github fine-grained token", "gitlab token",
    "npm token", "rubygems key", "docker token", "sonar token", "postman key", "anthropic key", "openai key",
    "openai legacy key", "openrouter key", "perplexity key", "groq key", "replicate token", "xai key", "nvidia key",
    "langsmith key", "slack bot token", "slack user token", "sendgrid key", "brevo key", "linear key", "airtable token",
    "figma token", "hubspot token", "stripe key", "stripe webhook secret", "square secret", "shopify token",
    "sentry token", "age key", "json web token",
)  # fmt: skip


@pytest.mark.parametrize("kind", GLUED)
def test_a_token_glued_to_a_word_is_found(kind: str):
    make = Maker(3)
    # A token without what its form is recognised by, such as a digit, is rare.
    for secret in (TOKENS[kind](make) for _ in range(4)):
        for before in ("end", "x9", "X", "my_", "tokenIs"):
            planted = Planted(kind, "glued", secret, f"{before}{secret} end")
            assert planted.survivors(redact(planted.text).text) == [], planted.text


@pytest.mark.parametrize("kind", [kind for kind in TOKENS if not kind.endswith("webhook")])
def test_a_token_in_a_name_of_a_file_or_symbol_is_found(kind: str):
    make = Maker(5)
    for name in ("f-{}.py", "x_{}", "d3-{}/a.py", "src/{}/a.py", "a/b_{}.txt", "rel-1.2-{}"):
        secret = TOKENS[kind](make)
        planted = Planted(kind, "name", secret, name.format(secret))
        assert planted.survivors(redact(planted.text).text) == [], planted.text


def test_a_name_with_the_prefix_of_a_token_in_a_word_stays():
    name = "charts/Skewness_and_52-Week_Highs_in_China__5b57c38a852ac75122ef8bdcd3c4cf78.png"
    assert redact(name).text == name


@pytest.mark.parametrize("kind", ["aws access key", "npm token", "github token"])
def test_a_word_glued_to_a_token_hides_nothing(kind: str):
    secret = TOKENS[kind](Maker(3))
    assert secret not in redact(f"use {secret}end now").text


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_at_the_end_of_a_sentence_is_found(kind: str):
    secret = TOKENS[kind](Maker(3))
    for end in (".", '."', "...", ". Then"):
        assert secret not in redact(f"Deploy with {secret}{end}").text


def test_what_was_redacted_stays_so_and_keeps_its_lines():
    for planted in CORPUS:
        clean = redact(planted.text)
        assert clean.secrets
        assert redact(clean.text) == (clean.text, 0), planted
        assert clean.text.count("\n") == planted.text.count("\n"), planted
        assert re.search(r"\[redacted: [a-z0-9][a-z0-9 .]*\]", clean.text), planted


def test_all_of_them_in_one_text():
    text = "\n\n".join(planted.text for planted in CORPUS)
    clean = redact(text)
    assert redact(clean.text) == (clean.text, 0)
    assert clean.text.count("\n") == text.count("\n")


def test_a_place_that_is_found_holds_the_secret_and_little_else():
    for planted in CORPUS:
        spans = list(find(planted.text))
        assert all(0 <= one.start < one.end <= len(planted.text) for one in spans)
        assert all(one.end <= other.start for one, other in itertools.pairwise(spans))
        if (
            planted.kind in TOKENS
            and planted.place in AROUND
            and not planted.kind.endswith(("webhook", "braintree token"))
        ):
            assert sum(one.end - one.start for one in spans) <= len(planted.secret) + 3, planted


def test_kinds_are_named_as_they_are():
    def shown(kind: str) -> set[str]:
        texts = [planted.text for planted in CORPUS if planted.kind == kind]
        return {one.kind for text in texts for one in find(text)}

    for kind in (
        "slack webhook",
        "github token",
        "vault token",
        "age key",
        "telegram bot token",
        "google access token",
    ):
        assert kind in shown(kind)


def test_lines_of_a_key_are_replaced_one_by_one():
    name = "RSA PRIVATE " + "KEY"
    body = "\n".join("+" + "MIIEowIBAAKCAQEAabcdef0123456789" * 2 for _ in range(3))
    clean = redact(f"@@ -0,0 +1,5 @@\n+-----BEGIN {name}-----\n{body}\n+-----END {name}-----\n x = 1\n")
    mark = "[redacted: private key]"
    assert clean.text == f"@@ -0,0 +1,5 @@\n+{mark}\n" + f"+{mark}\n" * 3 + f"+{mark}\n x = 1\n"
    assert clean.secrets == 1


def test_survivors_are_noticed():
    planted = Planted("x", "y", "abcdefghijklmnop", "")
    assert planted.survivors("... abcdefghijkl ...")
    assert planted.survivors("cdefghijklmn")
    assert not planted.survivors("abcdefghijk bcd")
    assert Planted("x", "y", "abc", "").survivors("xabcx")
