"""Lines that are approved: placed in whatever the note is by then, and taken out again without a word of anybody else's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.narrator import note_lines
from cm_tui.engine.memory.notes.marked_lines import Written, digest_of, marked, undo_line
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.places import Found
from cm_tui.errors import RefusedError
from cm_tui.model import NarratedDecision
from tests.engine.narrator.decided import NOTE, approved, decided, note_of, one_of, states
from tests.engine.narrator.test_topics_text import TEXT
from tests.tiers import examples

PLACE = Found(NOTE, "project", "project", Path("/nowhere"), NOTE, True)
LINE = "Boil it. <!-- cm:narrator nabcdef -->"
NOTES = {
    "nothing": "",
    "title": "# Project\n",
    "no end": "# Project\n\nText.",
    "heading": "# Project\n\n## Rules\n\n## Next\n\n- x\n",
    "bullets": "# Project\n\nBy hand.\n\n## Rules\n\n- Be kind.\n\n## Commands\n",
    "paragraph": "## rules\n\n- a\n  goes on\n\nText.\n\n\n## B\n",
    "front matter": "---\ntags: [a, b]\n---\n\n# T\n\ntext\n",
    "deep": "# A\n\n### Rules ###\n\n* star\n",
    "fence": "# P\n\n```\n## Rules\n```\n",
    "windows": "# Project\r\n\r\n## Rules\r\n\r\n- Be kind.\r\n",
    "mark": "\ufeff# Project\n\n## Rules\n- tight\n",
    "underlined": "Project\n=======\n\nRules\n-----\n\n1. one\n",
}


@pytest.fixture
def engine(with_proposals: Engine) -> Engine:
    return with_proposals


def write(engine: Engine, text: str) -> Path:
    file = engine.root / NOTE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


UNEVEN = {
    "none": None, "blanks": "# Project\n\nwords\n\n\n", "no end": "# Project\n\nwords", "open fence": "# P\n\n```\ncode\n",
    "empty": "", "own heading": "# Project\n\n## Rules\n", "own heading inside": "# P\n\n## Rules\n\n## Next\n\n- x\n",
    "spaces": "# P\n\nwords  \n   \n", "windows": "# Project\r\n\r\nwords", "bullets": "# P\n\n## Rules\n\n- mine",
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("name", UNEVEN)
def test_a_note_is_as_it_was_once_all_lines_are_taken_out_in_any_order(engine: Engine, name: str):
    before, file = UNEVEN[name], write(engine, UNEVEN[name] or "")
    if before is None:
        file.unlink()
    ids = [one_of(engine, words).id for words in ("quokka", "sign")]
    for order in (ids, ids[::-1]):
        for one in ids:
            approved(engine, one)
        for one in order:
            assert engine.undo_narrated(one).done
        assert (file.read_bytes().decode() if file.exists() else None) == before
    for one in ids:
        approved(engine, one)
    for _ in ids:
        engine.undo()
    assert (file.read_bytes().decode() if file.exists() else None) == before


def test_a_heading_that_others_left_goes_with_the_last_line_wherever_it_stands(engine: Engine):
    file = write(engine, "# Project\n")
    first, second = (one_of(engine, words).id for words in ("quokka", "sign"))
    for one in (first, second):
        approved(engine, one)
    file.write_text(f"{file.read_text()}\n## By hand\n\n- x\n")
    for one in (first, second):
        engine.undo_narrated(one)
    assert file.read_text() == "# Project\n\n## By hand\n\n- x\n"
    approved(engine, first)
    file.write_text(file.read_text().replace("## Rules", "## Mine"))
    engine.undo_narrated(first)
    approved(engine, second)
    engine.undo_narrated(second)
    assert "## Rules" not in file.read_text()


@pytest.mark.few(3)
@pytest.mark.parametrize("name", NOTES)
def test_placed_and_taken_out_to_the_byte(engine: Engine, name: str):
    before = NOTES[name]
    if before:
        write(engine, before)
    one = engine.narrated_proposal(one_of(engine, "quokka").id)
    approved(engine, f"{one.id}@{one.digest}")
    after = note_of(engine)
    line = f"- {one.text} <!-- cm:narrator {one.id} -->"
    assert after.count(line) == 1
    assert after.replace("\r\n", "\n").split(line)[0].rstrip().splitlines()[-1].strip("# ") != "Next"
    kept = [each for each in before.splitlines() if each.strip()]
    assert [each for each in after.splitlines() if each.strip() and each in kept][: len(kept)] == kept
    assert after.count("\r\n") == (after.count("\n") if "\r\n" in before else 0)
    added = [each[1:] for each in one.diff.splitlines() if each.startswith("+") and not each.startswith("+++")]
    assert line in added
    assert len([each for each in one.diff.splitlines() if each.startswith("-") and not each.startswith("---")]) <= 1
    engine.undo_narrated(one.id)
    assert note_of(engine) in (before, f"{before}\n"), "but for an end of line"


@given(text=TEXT)
@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nobodys_lines_are_lost_by_placing(text: str):
    made = note_lines.added(text, PLACE, "Rules", LINE)
    lines = made.text.split("\n")
    assert lines.count(f"- {LINE}") == 1
    assert lines[made.row - 1] == f"- {LINE}"
    found = marked(made.text, "nabcdef")
    assert (found.said, found.goes_on) == ("Boil it.", False)
    rest = [line for line in lines if line.strip() and line != f"- {LINE}"]
    before = [line for line in text.split("\n") if line.strip()]
    assert [line for line in rest if line in set(before)][: len(before)] == before
    assert len(rest) <= len(before) + 3


def test_what_a_person_edits_meanwhile_changes_the_digest_and_is_not_overwritten(engine: Engine):
    file = write(engine, "# Project\n\n## Rules\n\n- Be kind.\n")
    one = engine.narrated_proposal(one_of(engine, "quokka").id)
    assert one_of(engine, "quokka").digest == one.digest
    file.write_text("# Project\n\n## Rules\n\n- Be kind.\n- Be brief.\n")
    done = decided(engine, f"{one.id}@{one.digest}")
    assert (done.done, "changed since" in done.problem) == (False, True)
    assert "narrator" not in file.read_text()
    again = engine.narrated_proposal(one.id)
    assert again.digest != one.digest
    assert " - Be brief.\n+- always boil" in again.diff
    approved(engine, f"{one.id}@{again.digest}")
    assert "- Be brief.\n- always boil the quokka <!--" in file.read_text()


def test_what_stands_there_already_is_not_written_twice(engine: Engine):
    file = write(engine, "# Project\n\n## Rules\n\n- always boil  the quokka\n")
    one = engine.narrated_proposal(one_of(engine, "quokka").id)
    assert (one.diff, one.problem, one.relation) == ("", "", "redundant")
    before = file.read_bytes()
    done = approved(engine, one.id)
    assert "already" in done.words
    assert engine.undo_narrated(one.id).done
    assert file.read_bytes() == before


def test_lines_between_and_around_it_stay_when_it_is_taken_back(engine: Engine):
    one, other = one_of(engine, "quokka"), one_of(engine, "sign")
    engine.decide_narrated([one.id, other.id], NarratedDecision("approve"))
    file = engine.root / NOTE
    lines = file.read_text().splitlines()
    mine = [*lines[:4], "- By hand.", *reversed(lines[4:]), "", "## Mine", "", "Words.", ""]
    file.write_text("\n".join(mine))
    assert engine.undo_narrated(one.id).done
    assert file.read_text().splitlines() == [line for line in mine if one.id not in line][:-1]
    assert file.read_text().count(other.id) == 1


def test_a_line_that_was_moved_is_found_by_its_mark(engine: Engine):
    one = one_of(engine, "quokka")
    approved(engine, one.id)
    line = note_of(engine).splitlines()[-1]
    other = engine.root / ".cm/notes/cooking.md"
    other.write_text(f"# Cooking\n\n1. first\n2. {line[2:]}\n")
    write(engine, "# Project\n\n## Rules\n\n- Mine.\n")
    undone = engine.undo_narrated(one.id)
    assert "cooking.md" in undone.words
    assert other.read_text() == "# Cooking\n\n1. first\n"
    assert note_of(engine) == "# Project\n\n## Rules\n\n- Mine.\n"


def test_a_line_that_was_deleted_is_gone(engine: Engine):
    one = one_of(engine, "quokka")
    approved(engine, one.id)
    write(engine, "# Project\n")
    undone = engine.undo_narrated(one.id)
    assert undone.done
    assert "no longer in any note" in undone.words
    assert note_of(engine) == "# Project\n"
    approved(engine, one.id)
    (engine.root / NOTE).unlink()
    assert engine.undo_narrated(one.id).done


@pytest.mark.parametrize("change", ["words", "below"])
def test_a_line_that_a_person_changed_is_shown_and_stays(engine: Engine, change: str):
    one = one_of(engine, "quokka")
    approved(engine, one.id)
    file = engine.root / NOTE
    text = file.read_text()
    changed = text.replace("boil", "gently boil") if change == "words" else f"{text}  in a large pot\n"
    file.write_text(changed)
    undone = engine.undo_narrated(one.id)
    assert (undone.done, undone.proposal.state) == (False, "approved")
    assert "“always boil the quokka” was written" in undone.problem or change == "below"
    assert ("gently boil" if change == "words" else "in a large pot") in undone.problem
    assert file.read_text() == changed
    general = engine.undo()
    assert [conflict.id for conflict in general.conflicts] == [NOTE]
    assert "boil the quokka" in general.conflicts[0].yours
    assert file.read_text() == changed
    assert states(engine)["always boil the quokka"] == "approved"
    assert engine.undo(theirs_too=True).ids == (one.id,)
    assert not note_of(engine)
    assert states(engine)["always boil the quokka"] == "waiting"


def test_targets_that_may_not_be_written(engine: Engine, tmp_path: Path):
    file = write(engine, "# Project\n")
    one = one_of(engine, "quokka")

    def check(*words: str) -> None:
        listed = one_of(engine, "quokka")
        shown = engine.narrated_proposal(one.id)
        done = decided(engine, one.id)
        assert not done.done
        for said in (listed.problem, shown.problem, done.problem):
            assert all(word in said for word in words), said
        assert states(engine)["always boil the quokka"] == "waiting"

    file.chmod(0o444)
    check("read-only", NOTE)
    file.chmod(0o644)
    file.write_bytes(b"# Project \xff\n")
    check("UTF-8")
    file.unlink()
    (tmp_path / "other.md").write_text("secret\n")
    file.symlink_to(tmp_path / "other.md")
    check("link")
    assert (tmp_path / "other.md").read_text() == "secret\n"
    file.unlink()
    file.mkdir()
    check(NOTE)
    file.rmdir()
    write(engine, "# Project\n")
    assert decided(engine, one.id, "reject").done, "nothing is written of what is rejected"


def test_a_line_of_a_note_that_was_made_read_only_is_not_taken_out(engine: Engine):
    one = one_of(engine, "quokka")
    approved(engine, one.id)
    file, before = engine.root / NOTE, note_of(engine)
    file.chmod(0o444)
    with pytest.raises(RefusedError, match="read-only"):
        engine.undo_narrated(one.id)
    with pytest.raises(RefusedError, match="read-only"):
        engine.undo()
    assert note_of(engine) == before
    assert states(engine)["always boil the quokka"] == "approved"
    file.chmod(0o644)
    assert engine.undo_narrated(one.id).done
    assert not note_of(engine)


@pytest.mark.parametrize("there", ["Something else.", "always boil the quokka"])
def test_a_mark_that_somebody_else_wrote_is_no_approved_line(engine: Engine, there: str):
    one = one_of(engine, "quokka")
    before = f"# Project\n\n## Rules\n\n- {there} <!-- cm:narrator {one.id} -->\n"
    write(engine, before)
    shown = engine.narrated_proposal(one.id)
    approved(engine, f"{one.id}@{shown.digest}")
    line = f"- {one.text} <!-- cm:narrator {one.id} -->"
    assert note_of(engine) == (before if there == one.text else f"{before}{line}\n")
    assert line in note_of(engine)
    engine.undo_narrated(one.id)
    assert note_of(engine) == before, "nobody approved what stood there"


def test_a_mark_that_was_copied_is_told_apart_by_what_it_says(engine: Engine):
    said = "Boil it."
    text = f"# P\n\n- Other. {LINE[9:]}\n- {LINE}\n- Third. {LINE[9:]}\n"
    write(engine, text)
    written = Written("nabcdef", NOTE, digest_of(said))
    back = undo_line(Notes(engine.root), written)
    assert back.conflicts == ()
    assert note_of(engine) == text.replace(f"- {LINE}\n", "")
