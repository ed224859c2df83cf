"""Topics made, united, split, retired and brought back: one change each, which comes back to the byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.narrator import topic_text
from cm_tui.engine.memory.narrator.lifecycle import proposals
from cm_tui.engine.memory.narrator.topic_changes import apply, change, preview
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.topic_undo import undo_topic_change
from cm_tui.errors import NotFoundError, RefusedError, UsageError
from cm_tui.model import NarratedProposal, TopicAction
from cm_tui.model.author import Author
from tests.engine.narrator.test_topics_text import TEXT, lines_of
from tests.engine.narrator.topic_project import TOPICS, Project
from tests.tiers import examples

A, B, C = (f"{TOPICS}/{name}.md" for name in "abc")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def undo(project: Project, event: str) -> Any:
    told = next(one for one in project.changes() if one.id == event)
    return undo_topic_change(Notes(project.root), told)


def test_a_topic_is_made_with_title_and_tags(project: Project):
    made = change(project.root, "create", [], "HTTP Router: v2", ["router", "http, old", "#Router"])
    assert made.id == f"{TOPICS}/http-router-v2.md"
    assert (
        project.text(made.id) == '---\ntitle: "HTTP Router: v2"\ntags: [router, http old]\n---\n\n# HTTP Router: v2\n'
    )
    assert made.words == f"made the topic {made.id}"
    assert change(project.root, "create", ["user:style"], "My style").id == "user:topics/style.md"
    undo(project, made.change)
    assert not project.file(made.id).exists()


WRONG: tuple[tuple[TopicAction, list[str], str], ...] = (
    ("create", ["../../evil"], ""), ("create", ["user:topics/../../evil"], ""), ("create", [], "…"), ("create", ["/etc/passwd"], ""),
    ("create", ["a"], ""), ("create", ["x/../a"], ""), ("merge", ["a", "../../../etc/passwd"], ""), ("retire", ["/etc/passwd"], ""),
    ("retire", [".cm/notes/topics/../plain.md"], ""), ("split", ["a", "one"], "b"), ("create", ["a", "b"], ""), ("retire", [], ""),
    ("retire", ["plain"], ""), ("retire", ["nope"], ""), ("merge", ["a"], ""), ("merge", ["a", "a"], ""), ("merge", ["a", "user:topics/u.md"], ""),
    ("split", ["a"], ""), ("split", ["a", "nope"], "x"), ("restore", ["a"], ""), ("restore", ["../x"], ""), ("create", ["con"], ""),
    ("create", [".hidden/x"], ""),
)  # fmt: skip


def test_names_lead_nowhere_else_and_what_is_there_stays(project: Project):
    project.topic("a", "# A\n\n## One\n\n- a\n\n## Two\n\n- b\n")
    project.topic("b", "# B\n")
    project.note("user:topics/u.md", "# U\n")
    project.note(".cm/notes/plain.md", "# plain\n")
    before = project.all()
    for action, names, title in WRONG:
        with pytest.raises((UsageError, NotFoundError, RefusedError)):
            change(project.root, action, names, title)
    assert project.all() == before
    assert project.changes() == []


def test_links_are_not_followed(project: Project, tmp_path: Path):
    (tmp_path / "secret.md").write_text("secret\n")
    project.topic("a", "# A\n")
    project.file(B).symlink_to(tmp_path / "secret.md")
    for names in (["a", B], [B]):
        with pytest.raises((RefusedError, NotFoundError)):
            change(project.root, "merge" if len(names) > 1 else "retire", names)
    with pytest.raises(UsageError, match="already"):
        change(project.root, "create", ["b"])
    project.file(".cm/archive").symlink_to(tmp_path)
    with pytest.raises(RefusedError, match="link"):
        change(project.root, "retire", ["a"])
    assert project.text(A) == "# A\n"
    assert (tmp_path / "secret.md").read_text() == "secret\n"


def test_merged_topics_are_one_and_undo_brings_both_back_to_the_byte(project: Project):
    project.topic("a", "---\ntags: [http]\n---\r\n# A\r\n\r\n## Rules\r\n\r\n- one\r\n- both\r\n")
    project.topic("b", "---\ntags: [router]\n---\n# B\n\n## Rules\n\n- both\n- two  \n\n## Fixes\n\n- three\n\n\n")
    project.topic("c", "Loose.\n")
    before = project.all()
    done = change(project.root, "merge", ["a", "b", "c"], tags=["web"])
    assert (done.id, done.done, done.words) == (A, True, f"merged {B}, {C} into {A}")
    text = project.text(A).replace("\r\n", "\n")
    assert text == (
        "---\ntags: [http, router, web]\n---\n# A\n\n## Rules\n\n- one\n- both\n- two  \n\n## Fixes\n\n- three\n\n## c\n\nLoose.\n"
    )
    assert not project.file(B).exists()
    assert not project.file(C).exists()
    (event,) = project.changes()
    assert event.id == done.change
    assert event.data["action"] == "merge"
    assert len(event.data["files"]) == 3
    undo(project, done.change)
    assert project.all() == before


def test_sections_move_to_a_topic_of_their_own(project: Project):
    project.topic(
        "a",
        "---\ntags: [x]\n---\n# A\n\n## Router timeouts\n\n- router waits\n\n### Deep\n\n- deep\n\n## Rest\n\n- rest\n",
    )
    before = project.all()
    done = change(project.root, "split", ["a", "router timeouts"], "Timeouts")
    assert done.id == f"{TOPICS}/timeouts.md"
    assert project.text(A) == "---\ntags: [x]\n---\n# A\n\n## Rest\n\n- rest\n"
    made = project.text(done.id)
    assert made.startswith("---\ntitle: Timeouts\ntags: [")
    assert made.endswith("---\n\n# Timeouts\n\n## Router timeouts\n\n- router waits\n\n### Deep\n\n- deep\n")
    undo(project, done.change)
    assert project.all() == before
    with pytest.raises(UsageError, match="Nothing would remain"):
        change(project.root, "split", ["a", "Rest", "Router timeouts"], "x")
    with pytest.raises(NotFoundError, match="no section 'Nope'"):
        change(project.root, "split", ["a", "Rest", "Nope"], "x")


def test_what_is_retired_is_found_by_a_person_and_recalled_by_nobody(project: Project):
    project.topic("a", "---\ntags: [x]\n---\n# A\n\nThe gateway listens on 8081.\n")
    project.note("user:topics/mine.md", "# Mine\n\nPrefers tabs.\n")
    before = project.all()
    with Engine.open(project.root) as engine:
        assert engine.search_notes("gateway listens", min_score=0.0).hits
        gone = change(project.root, "retire", [A, "mine"])
        assert project.file(".cm/archive/topics/a.md").exists()
        assert project.file("user-archive:topics/mine.md").exists()
        assert not engine.search_notes("gateway listens", min_score=0.0).hits
        assert A not in [note.id for note in engine.notes().rows]
        back = change(project.root, "restore", [A, "user-archive:topics/mine.md"])
        assert back.id == A
        assert engine.search_notes("gateway listens", min_score=0.0).hits
    assert project.all() == before
    undo(project, back.change)
    undo(project, gone.change)
    assert project.all() == before


def test_cm_undo_takes_the_last_change_back(project: Project):
    project.topic("a", "# A\n\n- one\n")
    project.topic("b", "# B\n\n- two\n")
    before = project.all()
    change(project.root, "merge", ["a", "b"])
    with Engine.open(project.root) as engine:
        assert engine.undo(dry_run=True).words == f"undone: merged {B} into {A}"
        project.file(A).write_text(project.text(A).replace("- two", "- 2"))
        left = engine.undo()
        assert left.words.startswith("changed since, left unchanged")
        assert left.conflicts[0].id == A
        assert not project.file(B).exists()
        project.file(A).write_text(project.text(A).replace("- 2", "- two"))
        assert engine.undo().words == f"undone: merged {B} into {A}"
        assert project.all() == before
        with pytest.raises(NotFoundError):
            engine.undo()


def test_a_read_only_target_is_told_and_nothing_is_written(project: Project):
    project.topic("a", "# A\n")
    project.topic("b", "# B\n")
    project.file(A).chmod(0o444)
    with pytest.raises(RefusedError, match="read-only"):
        change(project.root, "merge", ["a", "b"])
    assert project.changes() == []
    assert project.text(B) == "# B\n"


def test_lines_of_strangers_that_are_mixed_with_own_ones_are_told(project: Project):
    theirs = project.topic("theirs", "# T\n\n- x\n")
    project.repo.commit("theirs")
    project.topic("a", "# A\n\n- y\n")
    assert "came with the repository" in change(project.root, "merge", ["a", theirs]).words


# --- no line is lost ---


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(one=TEXT, two=TEXT, heading=st.sampled_from(["Rules", "Fixes", "Deep", "One"]))
def test_no_line_is_lost_and_undo_is_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, one: str, two: str, heading: str
):
    project = Project(tmp_path_factory.mktemp("property"))
    project.topic("a", one)
    project.topic("b", two)
    before = project.all()
    said = lines_of(one) | lines_of(two)
    merged = change(project.root, "merge", ["a", "b"])
    now = project.text(A)
    assert all(line.lstrip("-*+ ") in now for line in said)
    split = None
    try:
        split = change(project.root, "split", ["a", heading], "New one")
    except (NotFoundError, UsageError):
        assert len(project.changes()) == 1
    else:
        both = project.text(A) + project.text(split.id)
        assert all(line.lstrip("-*+ ") in both for line in said)
    if split is not None:
        assert undo(project, split.change).conflicts == ()
        assert project.text(A) == now
    assert undo(project, merged.change).conflicts == ()
    assert project.all() == before


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(one=TEXT, two=TEXT, row=st.integers(0, 20), file=st.sampled_from([A, B]))
def test_what_is_written_later_is_there_after_undo(
    tmp_path_factory: pytest.TempPathFactory, one: str, two: str, row: int, file: str
):
    project = Project(tmp_path_factory.mktemp("property"))
    project.topic("a", one)
    project.topic("b", two)
    before = project.all()
    merged = change(project.root, "merge", ["a", "b"])
    lines = project.text(A).split("\n")
    lines.insert(min(row, len(lines)), "- written later")
    if file == A:
        project.topic("a", "\n".join(lines))
    else:
        project.topic("b", "- written later\n")
    conflicts = undo(project, merged.change).conflicts
    assert b"- written later" in b"".join(project.all().values())
    assert conflicts == () or file == B or len(set(lines)) < len(lines)
    if not conflicts:
        assert project.file(B).read_bytes() == before[str(project.file(B))]
        left = [line for line in project.text(A).split("\n") if line.strip() and line != "- written later"]
        assert left == [line for line in one.split("\n") if line.strip()]


# --- proposals ---


def proposed(project: Project, action: str) -> NarratedProposal:
    return next(one for one in proposals(project.root) if one.action == action)


def test_approving_a_merge_does_what_was_shown(project: Project):
    project.topic("a", "---\ntags: [x, y]\n---\n# A\n\n- one\n- more of it\n")
    project.topic("b", "---\ntags: [x, y]\n---\n# B\n\n- two\n")
    before = project.all()
    proposal = proposed(project, "merge")
    look = preview(project.root, proposal)
    assert (look.problem, look.digest) == ("", proposal.digest)
    assert f"--- {A}\n+++ {A}\n" in look.diff
    assert f"--- {B}\n+++ /dev/null\n" in look.diff
    assert "+- two\n" in look.diff
    done = apply(project.root, proposal, Author("agent", "policy"), {"narrated": {"id": proposal.id}}, look.digest)
    assert done.done
    (event,) = project.changes()
    assert (event.data["narrated"], event.data["actor"]) == ({"id": proposal.id}, "agent")
    undo(project, done.change)
    assert project.all() == before


def test_what_would_be_done_has_another_name_once_a_file_was_edited(project: Project):
    project.topic("a", "---\ntags: [x, y]\n---\n# A\n\n- one\n- more of it\n")
    project.topic("b", "---\ntags: [x, y]\n---\n# B\n\n- two\n")
    proposal = proposed(project, "merge")
    project.file(B).write_text(project.text(B) + "- three\n")
    assert preview(project.root, proposal).digest != proposal.digest
    with pytest.raises(UsageError, match="changed since it was shown"):
        apply(project.root, proposal, digest=proposal.digest)
    assert project.changes() == []
    project.file(B).unlink()
    look = preview(project.root, proposal)
    assert (look.diff, look.problem) == ("", f"Topic not found: '{B}'.")
    with pytest.raises(NotFoundError):
        apply(project.root, proposal)


def test_compressing_says_what_goes_in_its_diff(project: Project):
    filler = "".join(f"- fact number {number} about something long enough to count\n" for number in range(600))
    project.topic(
        "a",
        f"# A\n\n## Rules\n\n- Use the `pytest` runner. <!-- cm:narrator naaaaaa -->\n{filler}- use `pytest` runner <!-- cm:narrator nbbbbbb -->\n",
    )
    before = project.all()
    proposal = proposed(project, "compress")
    assert preview(project.root, proposal).diff.count("\n-") == 2
    done = apply(project.root, proposal)
    assert "- use `pytest` runner <!-- cm:narrator nbbbbbb --> <!-- cm:narrator naaaaaa -->\n" in project.text(A)
    assert project.text(A).count("pytest") == 1
    undo(project, done.change)
    assert project.all() == before


def test_bullets_keep_their_headings_in_a_topic_of_their_own(project: Project):
    lines = "".join(f"- The router drops header {number}. <!-- cm:narrator n{number} -->\n" for number in range(5))
    note = project.note(
        ".cm/notes/project.md",
        f"# P\n\n## Rules\n\n- Use tabs.\n{lines}\n## Decisions\n\n- Restart the router twice.\n",
    )
    before = project.all()
    proposal = proposed(project, "create")
    assert proposal.topics == (f"{TOPICS}/router.md",)
    done = apply(project.root, proposal)
    assert project.text(note) == "# P\n\n## Rules\n\n- Use tabs.\n\n## Decisions\n"
    made = project.text(done.id)
    assert made.startswith("---\ntitle: router\ntags: [router")
    assert made.endswith(f"# router\n\n## Rules\n\n{lines}\n## Decisions\n\n- Restart the router twice.\n")
    assert topic_text.parse(made).content.name == "router"
    undo(project, done.change)
    assert project.all() == before
