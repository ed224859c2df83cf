"""`cm context`: assembled, explained, kept, compared; files checked and begun; memory read and written by reference."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.cli.conftest import Shop, ShopTemplate, opened_once

RELEASE = """name: release
enabled: true
maxContribution: 400
steps:
  - {type: kv_get, keys: [release]}
  - {type: format, template: "Release codename: {{release.codename}}", maxTokens: 200}
"""
ARCHITECTURE = json.dumps(
    {
        "rules": [
            {
                "name": "architecture",
                "condition": {"field": "task.text", "op": "contains", "value": "refactor"},
                "action": {"include": "markdown://architecture-notes"},
            }
        ]
    }
)
SENDS = """name: rephrased
steps:
  - {type: derive_query, method: llm_rephrase}
  - {type: vector_search, index: code}
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> ShopTemplate:
    return ShopTemplate(tmp_path_factory.mktemp("defined"), define)


@pytest.fixture
def defined(kept: ShopTemplate, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A project with the two files of the guide, and what they hand over."""
    with opened_once(kept.put_back(monkeypatch)) as shop:
        yield shop


def define(shop: Shop) -> None:
    write(shop, ".cm/retrieval/release.yaml", RELEASE)
    write(shop, ".cm/rules/architecture.json", ARCHITECTURE)
    write(shop, ".cm/memory/architecture-notes.md", "# Architecture notes\n\nMoney is kept in cents.\n")
    assert shop.cm("context", "put", "kv://release", '{"codename": "Basilisk"}').code == 0
    assert shop.cm("index").code == 0


def write(shop: Shop, path: str, text: str) -> None:
    file = shop.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def source(record: dict, name: str) -> dict:
    return next(one for one in record["sources"] if one["id"] == name)


def test_explained_on_stderr_with_sections_rules_and_steps(defined: Shop):
    write(defined, ".cm/retrieval/empty.yaml", "name: empty\nsteps:\n  - {type: kv_get, keys: [nothing]}\n")
    done = defined.cm("context", "assemble", "refactor how tax is added", "--explain", "--no-keep")
    assert done.code == 0, done.err
    told = done.err.splitlines()
    assert "knowledge" in told
    assert "not handed over" in told
    assert any("definition://empty" in line and "empty: " in line for line in told)
    assert any("architecture: include" in line and "markdown://architecture-notes" in line for line in told)
    assert any("kv_get" in line and "━" in line and "ms" in line for line in told)
    assert "snapshot" not in told[-1]
    assert defined.cm("context", "list", "--json").json["total"] == 0


def test_what_is_switched_off_and_a_small_budget_show_in_the_trace(defined: Shop):
    words = ("context", "assemble", "refactor the tax", "--json", "--no-keep")
    record = defined.cm(*words, "--without", "definition://release", "--without", "rule://architecture").json
    assert source(record, "definition://release")["cut"] == "off"
    assert "Basilisk" not in record["text"]
    assert "in cents" not in record["text"] or all("architecture-notes" not in one["id"] for one in record["sources"])
    small = defined.cm(*words, "--budget", "40").json
    assert small["tokens"] <= 40
    assert any(one["cut"] == "budget" and one["why_cut"] for one in small["sources"])


def test_snapshots_are_listed_shown_and_compared(defined: Shop):
    first = defined.cm("context", "assemble", "refactor the cart", "--session", "s1", "--json").json
    assert defined.cm("context", "put", "kv://release", '{"codename": "Chimera"}').code == 0
    second = defined.cm("context", "assemble", "refactor the cart", "--json").json
    listed = defined.cm("context", "list", "--json").json
    assert [row["id"] for row in listed["rows"]] == [second["id"], first["id"]]
    assert defined.cm("context", "list", "--session", "s1", "--json").json["total"] == 1
    assert defined.cm("context", "list", "--match", "nothing like it", "--json").json["total"] == 0
    assert first["id"] in defined.cm("context", "list").out
    shown = defined.cm("context", "show", first["id"][:8], "--explain")
    assert "Basilisk" in shown.out
    assert "definition://release" in shown.err
    assert defined.cm("context", "show", "last~1", "--json").json["text"] == first["text"]
    done = defined.cm("context", "diff", first["id"], "last")
    assert done.code == 0, done.err
    assert "~ definition://release" in done.out
    assert "+Release codename: Chimera" in done.out
    changes = defined.cm("context", "diff", first["id"], "last", "--json").json["changes"]
    assert {one["what"] for one in changes if one["id"] == "definition://release"} == {"changed"}
    assert "nothing differs" in defined.cm("context", "diff", "last", "last").err


def test_one_definition_runs_by_itself_with_values(defined: Shop):
    write(
        defined,
        ".cm/retrieval/greeting.yaml",
        "name: greeting\nenabled: false\nparams: {who: nobody}\nsteps:\n  - {type: kv_get, keys: [release]}\n"
        "  - {type: format, template: 'Hello {{who}}'}\n",
    )
    done = defined.cm("context", "run", "greeting", "who=Ada")
    assert done.code == 0, done.err
    assert "Hello Ada" in done.out
    packed = defined.cm("context", "run", "pack", "text=how is tax added", "--budget", "600", "--json").json
    assert packed["definition"] == "pack"
    assert "def add_tax" in packed["text"]
    assert packed["tokens"] <= 600


def test_lint_says_where_and_what_was_meant(defined: Shop):
    clean = defined.cm("context", "lint")
    assert (clean.code, clean.out) == (0, "")
    assert "2 files, nothing wrong" in clean.err
    write(defined, ".cm/retrieval/broken.yaml", "name: broken\nsteps:\n  - {type: kv_gt, keys: [a]}\n")
    done = defined.cm("context", "lint")
    assert done.code == 1
    assert done.out.startswith(".cm/retrieval/broken.yaml:3:")
    assert ": error: " in done.out
    assert "kv_get" in done.out
    record = defined.cm("context", "lint", ".cm/retrieval", "--json")
    assert record.code == 1
    row = record.json["rows"][0]
    assert (row["file"], row["line"], row["severity"]) == (".cm/retrieval/broken.yaml", 3, "error")
    assert (record.json["errors"], record.json["total"]) == (1, 1)
    assert defined.cm("context", "lint", ".cm/rules").code == 0
    assert defined.cm("context", "lint", ".cm/retrieval/broken.yaml", cwd=defined.root).code == 1
    assert "Basilisk" in defined.cm("context", "assemble", "tax").out, "the others count all the same"


def test_a_warning_alone_is_said_and_ends_well(defined: Shop):
    write(
        defined, ".cm/rules/odd.yaml", "rules:\n  - name: odd\n    condition: {field: task.txt, op: exists}\n"
        "    action: {exclude: 'kv://nothing'}\n",
    )  # fmt: skip
    done = defined.cm("context", "lint")
    assert done.code == 0, done.out
    assert ": warning: " in done.out
    assert "1 warning in 3 files" in done.err


def test_a_new_file_is_commented_and_right(defined: Shop):
    for kind in ("retrieval", "rule", "ingestion"):
        done = defined.cm("context", "new", kind, "fresh", "--json")
        assert done.code == 0, done.err
        assert (defined.root / done.json["path"]).read_text().count("#") > 2
        assert defined.cm("context", "new", kind, "fresh").code == 4
    assert ": error: " not in defined.cm("context", "lint").out


def test_definitions_are_listed_with_what_they_ask_for(defined: Shop):
    write(defined, ".cm/retrieval/rephrased.yaml", SENDS)
    rows = {row["id"]: row for row in defined.cm("context", "definitions", "--json").json["rows"]}
    assert rows["definition://release"]["state"] == "counts"
    assert rows["definition://pack"]["shipped"]
    assert rows["definition://rephrased"]["state"] == "held"
    done = defined.cm("context", "definitions")
    assert "definition://rephrased  .cm/retrieval/rephrased.yaml:1  (held)" in done.out
    assert "wants to send prompts" in done.out
    refused = defined.cm("context", "run", "rephrased", "text=tax")
    assert refused.code == 4
    assert "cm trust" in refused.err
    whole = defined.cm("context", "assemble", "tax", "--json").json
    assert source(whole, "definition://rephrased")["cut"] == "held"
    assert "Basilisk" in whole["text"]


def test_values_are_written_read_and_removed(defined: Shop):
    done = defined.cm("context", "put", "kv://port", "8123", "--ttl", "600")
    assert done.code == 0, done.err
    assert "until " in done.err
    got = defined.cm("context", "get", "kv://port", "--json").json
    assert (got["id"], got["value"]) == ("kv://port", "8123")
    assert got["expires"] is not None
    assert "8123" in defined.cm("context", "get", "kv://port").out
    assert "Money is kept" in defined.cm("context", "get", "markdown://architecture-notes").out
    assert defined.cm("context", "put", "kv://port", "").code == 0
    assert defined.cm("context", "get", "kv://port").code == 3


WRONG = (
    (("assemble", " "), 2), (("assemble", "tax", "--file", "../../etc/passwd"), None), (("show", "a\x1b[31mb"), None),
    (("diff", "last", "nope"), 3), (("run", "relase"), 3), (("run", "release", "a=1", "a=2"), 2), (("lint", "/etc/passwd"), 2),
    (("new", "rule", "../up"), 2), (("get", "kx://a"), 2), (("get", "file://../../../etc/passwd"), None),
    (("put", "kv://a", "1", "--ttl", "0"), 2), (("nope",), 2),
)  # fmt: skip


def test_whatever_is_typed_gets_a_sentence(defined: Shop):
    assert defined.cm("context", "assemble", "tax").code == 0
    for words, code in WRONG:
        done = defined.cm("context", *words)
        said = (words, done.err + done.out)
        assert done.code == code if code is not None else done.code in (2, 3, 4), said
        assert "\x1b" not in done.err + done.out, said
        assert 0 < len(done.err) < 3_000, said
        assert "root:" not in done.out, said


def test_foreign_text_moves_no_cursor(defined: Shop):
    write(
        defined,
        ".cm/retrieval/hostile.yaml",
        "name: hostile\nsteps:\n  - {type: kv_get, keys: [release]}\n"
        '  - {type: format, template: "\\e[31mred\\e[0m \\u202e"}\n',
    )
    done = defined.cm("context", "assemble", "tax \x1b[2J", "--explain")
    assert done.code == 0, done.err
    assert "red" in done.out
    listed = defined.cm("context", "list")
    for text in (done.out, done.err, listed.out, defined.cm("context", "show", "last").out):
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_without_an_index_what_needs_none_is_handed_over(new_shop: Shop):
    write(new_shop, ".cm/retrieval/release.yaml", RELEASE)
    assert new_shop.cm("context", "put", "kv://release", '{"codename": "Basilisk"}').code == 0
    done = new_shop.cm("context", "assemble", "how is tax added")
    assert done.code == 0, done.err
    assert "Basilisk" in done.out
    assert "cm index" in done.err
