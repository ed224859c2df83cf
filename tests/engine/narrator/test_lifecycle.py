"""What the lifecycle of topics proposes: the numbers of the mission, the same ids each time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cm_tui.engine.memory.narrator.lifecycle import MOST, claim_of, proposals, themes
from cm_tui.engine.memory.narrator.topic_changes import apply, preview
from cm_tui.engine.memory.projection.note_source import path_of
from cm_tui.engine.memory.recalls.recall_log import RecallLog
from cm_tui.model import NarratedProposal
from tests.engine.narrator.topic_project import DAY_S, TOPICS, Project
from tests.planted import GITHUB

KB = 1024


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def found(project: Project, action: str = "", now: float | None = None) -> list[NarratedProposal]:
    return [one for one in proposals(project.root, now) if not action or one.action == action]


def sections(number: int, size: int) -> str:
    """Return a note of sections of about so many bytes each."""
    parts = ("".join(f"- {one} says {row:08}\n" for row in range(size // 18)) for one in range(number))
    return "# T\n\n" + "".join(f"## Part {one}\n\n{lines}\n" for one, lines in enumerate(parts))


def test_nothing_is_proposed_of_topics_that_fare_well(project: Project):
    project.topic("a", "---\ntags: [x]\n---\n# A\n")
    project.topic("b", "---\ntags: [y]\n---\n# B\n", days=170)
    assert found(project) == []


def test_topics_are_merged_above_sixty_percent_overlap(project: Project):
    a = project.topic("a", "---\ntags: [x, y, z]\n---\n# A\n")
    b = project.topic("b", "---\ntags: [x, y, z, w]\n---\n# B, which is longer\n")
    project.topic("c", "---\ntags: [x, y, z, u, v]\n---\n# C, as long as it may be, and longer than the others\n")
    (one,) = found(project, "merge")
    assert (one.kind, one.target, one.topics, one.relation, one.state) == ("topic", b, (b, a), "new", "waiting")
    assert one.text == f"Merge the topic {a} into {b}."
    assert one.why == "3 of 4 tags are those of both (75%): they are about one subject."
    assert (one.confidence, [part.name for part in one.parts]) == (0.75, ["overlap"])
    assert one.tags == ("x", "y", "z", "w")
    assert (one.scope, one.id[0], len(one.id), one.digest != "") == ("topic", "n", 7, True)


def test_ids_are_the_same_each_time_and_claims_name_what_was_rejected(project: Project):
    for name in "ab":
        project.topic(name, "---\ntags: [x]\n---\n# T\n", days=200)
    one, two = found(project), found(project)
    assert one == two
    assert len({each.id for each in one}) == len(one)
    assert all(len(each.claims) == 1 for each in one)
    project.topic("a", "---\ntags: [x]\n---\n# T\n\nMore.\n")
    assert found(project, "merge")[0].id == one[0].id
    assert claim_of("a", "b") != claim_of("ab")


def test_a_topic_is_in_one_merge_at_once_and_not_retired_beside(project: Project):
    for name in "abcd":
        project.topic(name, "---\ntags: [x]\n---\n# T\n", days=300)
    assert [one.action for one in found(project)] == ["merge", "merge"]
    many = Project(project.root.parent / "many")
    for number in range(60):
        many.topic(f"t{number}", f"---\ntags: [x{number // 2}]\n---\n# T\n")
    assert len(found(many)) == MOST


def test_unused_topics_are_retired_after_180_days(project: Project):
    id_ = project.topic("old", "---\ntags: [x]\n---\n# Old\n", days=190)
    project.topic("new", "---\ntags: [y]\n---\n# New\n", days=100)
    (one,) = found(project)
    assert (one.action, one.kind, one.target, one.topics) == ("retire", "topic", id_, (id_,))
    assert one.text == f"Retire the topic {id_}: it is kept, and no longer recalled."
    assert one.why.startswith("Unused for 190 days: changed last on ")
    assert one.why.endswith(", never recalled here.")
    look = preview(project.root, one)
    assert "+++ .cm/archive/topics/old.md" in look.diff
    log = RecallLog.of(project.root)
    log.note([path_of(id_)], "person")
    assert found(project) == []
    (again,) = [each for each in found(project, now=time.time() + 185 * DAY_S) if each.target == id_]
    assert "recalled last on" in again.why
    apply(project.root, again)
    assert project.text(".cm/archive/topics/old.md").endswith("# Old\n")


def test_a_note_near_its_cap_is_compressed_where_two_lines_say_the_same(project: Project):
    text = sections(4, 8 * KB - 200)
    id_ = project.topic("big", text)
    assert 0.9 * 32 * KB < project.file(id_).stat().st_size <= 32 * KB
    assert found(project) == []
    project.topic("big", text + "## Same\n\n- Use the `ruff` linter.\n- use `ruff` linter\n")
    (one,) = found(project)
    assert (one.kind, one.action, one.target, one.topics) == ("size", "compress", id_, (id_,))
    assert one.why.startswith("It has 32 of 32 KB; 1 line repeated later ones (")
    project.topic("small", "# S\n\n- Use the `ruff` linter.\n- use `ruff` linter\n")
    assert len(found(project)) == 1


@pytest.mark.parametrize(
    ("id_", "cap", "scope"), [(f"{TOPICS}/big.md", 32, "topic"), (".cm/notes/project.md", 128, "project"), ("user:preferences.md", 64, "user")]
)  # fmt: skip
def test_a_note_above_its_cap_is_split(project: Project, id_: str, cap: int, scope: str):
    number = cap // 4
    project.note(id_, sections(number + 1, 4 * KB))
    (one,) = found(project, "split")
    assert (one.target, one.scope, one.kind) == (id_, scope, "size")
    # At most half of it, and no more than a topic may have.
    parts = [f"Part {part}" for part in range(number + 1)][-min((number + 1) // 2, 6) :]
    assert one.heading.split("\n") == parts
    assert one.text == f"Split {id_}: “{parts[0]}”, “{parts[1]}”, “{parts[2]}”, … go to a topic of its own."
    before = project.all()
    done = apply(project.root, one)
    assert done.id == f"{'user:topics' if scope == 'user' else TOPICS}/{parts[0].lower().replace(' ', '-')}.md"
    assert f"- {number} says 0" in project.text(done.id)
    assert f"- {number} says 0" not in project.text(id_)
    assert project.file(done.id).stat().st_size < 0.9 * 32 * KB
    assert len(before) + 1 == len(project.all())


def test_a_note_of_one_section_cannot_be_split_by_itself(project: Project):
    project.topic("big", sections(1, 40 * KB))
    assert found(project) == []


def test_what_compressing_does_not_bring_below_the_cap_is_split(project: Project):
    same = "## Same\n\n- Use the `ruff` linter.\n- use `ruff` linter\n"
    project.topic("big", sections(9, 4 * KB) + same)
    assert [one.action for one in found(project)] == ["split"]
    project.topic("big", sections(1, 40 * KB) + same.replace("## Same\n", ""))
    assert [one.action for one in found(project)] == ["compress"]


def test_five_lines_that_share_a_theme_make_a_topic(project: Project):
    lines = [f"- The scheduler fires job {name}." for name in ("alpha", "beta", "gamma", "delta")]
    lines.append("- The scheduler is started by `main`.")
    head = "# P\n\n## Rules\n\n- Use tabs everywhere.\n"
    project.note(".cm/notes/project.md", head + "\n".join(lines[:4]) + "\n")
    assert found(project) == []
    note = project.note(".cm/notes/project.md", head + "\n".join(lines) + "\n")
    (one,) = found(project)
    assert (one.kind, one.action, one.target, one.topics) == ("topic", "create", note, (f"{TOPICS}/scheduler.md",))
    assert one.tags[0] == "scheduler"
    assert one.why == "5 lines share the theme “scheduler”, which no topic has."
    assert one.old.split("\n") == [line[2:] for line in lines]
    apply(project.root, one)
    assert project.text(note) == head
    # From now on that topic matches.
    assert found(project) == []


@pytest.mark.parametrize(
    ("heading", "form"),
    [
        ("Commands", "It is built with `gradlew {}`"),
        ("Fixes", 'When `{}` fails with "out of memory", run `make`'),
        ("Changes together", "`src/shop/{}.py` and `{}.md` are changed together"),
        ("Decisions", "We decided against {}."),
        ("Rules", "Please never use {} again."),
    ],
)
def test_neither_a_tool_nor_words_of_every_rule_are_a_theme(project: Project, heading: str, form: str):
    names = ("axes", "bolts", "cones", "discs", "edges", "forks")
    lines = "".join(f"- {form.replace('{}', name)}\n" for name in names)
    project.note(".cm/notes/project.md", f"# P\n\n## {heading}\n\n{lines}")
    assert found(project) == []


def test_what_came_along_is_not_split_nor_moved_and_said_where_it_is_retired(project: Project):
    project.note(".cm/notes/project.md", "# P\n\n" + "".join(f"- The scheduler fires job {n}.\n" for n in range(6)))
    project.topic("big", sections(8, 6 * KB))
    project.topic("a", "---\ntags: [x]\n---\n# A\n", days=400)
    project.repo.commit("notes")
    project.topic("mine", "---\ntags: [x]\n---\n# Mine\n")
    (one,) = found(project)
    assert one.action == "retire"
    assert "a stranger may have written it" in one.why
    theirs = project.topic("b", "---\ntags: [x]\n---\n# B\n")
    project.repo.git("add", theirs)
    (merge,) = found(project, "merge")
    assert set(merge.topics) == {theirs, f"{TOPICS}/a.md"}
    assert "a stranger may have written it" in merge.why


def test_secrets_are_in_no_proposal(project: Project):
    project.note(
        ".cm/notes/project.md", "# P\n\n" + "".join(f"- The gateway key {n} is {GITHUB[:-1]}{n}.\n" for n in range(6))
    )
    project.topic("big", f"# T\n\n## One\n\n- a\n\n## Key {GITHUB}\n\n" + "- line\n" * 6_000)
    assert "ghp_" not in repr(found(project))


# --- themes ---


def test_a_theme_is_a_word_that_five_facts_share():
    said = [
        "Timeouts of the gateway are 5 s.",
        "The gateway retries twice.",
        "Call the `gateway` with a token.",
        "Gateways log to stderr.",
    ]
    assert themes(said) == []
    (one,) = themes([*said, "Restart the gateway by hand.", "Something else."])
    assert (one.word, len(one.lines)) == ("gateway", 5)


def test_words_of_instructions_and_words_of_all_are_no_theme():
    assert themes([f"Always use the {word}." for word in ("axe", "bolt", "cone", "disc", "edge")]) == []
    every = [
        f"The shop {one} {two}." for one in ("buys", "sells", "makes", "takes") for two in ("axes", "bolts", "cones")
    ]
    assert "shop" not in [one.word for one in themes(every)]


def test_a_fact_counts_for_one_theme_the_largest_first():
    said = [f"Gateway cache {number} holds." for number in range(5)] + [
        f"Gateway {word} waits." for word in ("ant", "bee", "cow")
    ]
    said += [f"Cache {word} clears." for word in ("dog", "eel", "fox", "gnu", "hen")] + [
        f"Thing{number} differs{number}." for number in range(9)
    ]
    found = themes(said)
    assert [(one.word, len(one.lines)) for one in found] == [("cache", 10)]
    assert themes(said[::-1])[0].word == "cache"
