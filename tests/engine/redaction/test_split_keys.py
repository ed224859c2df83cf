"""A private key whose lines stand in several texts of a record leaves none of them."""

from __future__ import annotations

import base64
import random

from cm_tui.engine.platform.redaction.records import redact_record

_BYTES = random.Random(5)
LINES = [base64.b64encode(_BYTES.randbytes(48)).decode() for _ in range(20)] + ["Ab1Cd2Ef3Gh4Ij5Kl6w=="]
BEGIN, END = (f"-----{word} RSA PRIVATE " + "KEY-----" for word in ("BEGIN", "END"))


def test_lines_of_a_key_in_later_texts_are_taken_out():
    steps = [
        {"text": "head -5 k", "result": "\n".join([BEGIN, *LINES[:4]])},
        {"text": "sed -n 6,9p k", "result": "\n".join(LINES[4:8])},
        {"text": "cat -n k", "result": "\n".join(f"    {number}\t{line}" for number, line in enumerate(LINES[8:12]))},
        {"text": "tail -9 k", "result": "\n".join([*LINES[12:], END, "done"])},
    ]
    clean, secrets = redact_record({"prompts": ["key"], "steps": steps})
    text = str(clean)
    assert not any(line in text for line in LINES)
    assert secrets > 10
    assert clean["steps"][3]["result"].endswith("done")
    assert [step["text"] for step in clean["steps"]] == [step["text"] for step in steps]


def test_what_stands_behind_a_whole_key_or_is_none_stays():
    whole = "\n".join([BEGIN, *LINES, END])
    record = {"a": whole, "b": LINES[0], "c": "1" * 40, "d": "plain words"}
    clean, _ = redact_record(record)
    assert (clean["b"], clean["c"]) == (LINES[0], "1" * 40)
    kept = {"a": BEGIN, "b": "plain words\nabc", "c": "0123456789abcdef" * 4, "root": LINES[0]}
    assert redact_record(kept, exact={"root"})[0] == kept
