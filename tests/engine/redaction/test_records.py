"""Every text of a record is looked through, at any depth, but for what must stay exact."""

from __future__ import annotations

from cm_tui.engine.platform.redaction.records import redact_record

SECRET = "ghp_" + "a1B2" * 9
MARK = "[redacted: github token]"


def test_texts_at_any_depth():
    record = {
        "branch": f"feature/{SECRET}",
        "arguments": ["x", {"deep": [f"-m {SECRET}"]}, ("a", SECRET)],
        SECRET: 1,
        "number": 7,
        "root": f"/home/{SECRET}",
        "nothing": None,
    }
    clean, count = redact_record(record, {"root"})
    assert clean == {
        "branch": f"feature/{MARK}",
        "arguments": ["x", {"deep": [f"-m {MARK}"]}, ["a", MARK]],
        MARK: 1,
        "number": 7,
        "root": f"/home/{SECRET}",
        "nothing": None,
    }
    assert count == 4


def test_a_record_without_secrets_is_as_it_was():
    record = {"paths": ["a.py", "b c.py"], "agent": "codex", "repeated": False, "none": {}, "empty": ""}
    assert redact_record(record) == (record, 0)
    assert redact_record({}) == ({}, 0)


def test_a_secret_that_one_text_gives_away_leaves_the_others():
    secret = "Winter" + "bird77"
    record = {"prompt": f"my password is {secret}", "title": f"log in as ada with {secret}", "word": secret + "s x"}
    clean, count = redact_record(record)
    assert clean["title"] == "log in as ada with [redacted: password]"
    assert secret not in str(clean["prompt"])
    assert clean["word"] == secret + "s x"
    assert count == 2


def test_each_text_is_seen_for_itself():
    # One is no continuation of the other, and none hides another.
    record = {"paths": ["a.py", "password: horse", SECRET[:20], SECRET[20:], "b,"]}
    clean, count = redact_record(record)
    assert clean["paths"] == ["a.py", "password: [redacted: password]", SECRET[:20], SECRET[20:], "b,"]
    assert count == 1
