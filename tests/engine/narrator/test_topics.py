"""The map of topics: what there is, how it fares, and what is suggested."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cm_tui.engine.memory.narrator.topic_changes import change
from cm_tui.engine.memory.narrator.topics import PROJECT_BYTES, TOPIC_BYTES, USER_BYTES, map_of
from cm_tui.engine.memory.projection.note_source import path_of
from cm_tui.engine.memory.recalls.recall_log import RecallLog
from cm_tui.model import Topic
from tests.engine.narrator.topic_project import DAY_S, Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def one(project: Project, id_: str, *, retired: bool = False, now: float | None = None) -> Topic:
    found = map_of(project.root, retired=retired, now=now)
    return next(topic for topic in (*found.topics, *found.notes) if topic.id == id_)


def test_size_cap_tags_and_freshness(project: Project):
    http = project.topic("http", "---\ntitle: HTTP\ntags: [router, Auth]\n---\n\n# H\n\n- a\n", days=3)
    mine = project.note("user:topics/style.md", "# Style\n\n- short names\n", days=1)
    found = map_of(project.root)
    assert [topic.id for topic in found.topics] == [mine, http]
    topic = found.topics[1]
    assert (topic.title, topic.tags, topic.tags_derived) == ("HTTP", ("router", "Auth"), False)
    assert (topic.bytes, topic.lines, topic.cap_bytes) == (len(project.text(http)), 8, 32 * 1024)
    assert topic.modified == pytest.approx(time.time() - 3 * DAY_S, abs=60)
    assert (topic.scope, found.topics[0].scope) == ("project", "user")
    assert topic.used is None
    assert not topic.came_along
    assert topic.advice == ()


def test_tags_that_nobody_named_are_from_headings_and_words_and_it_is_said(project: Project):
    id_ = project.topic("router", "# Router\n\n## Timeouts\n\n- The router waits for the gateway. Timeouts differ.\n")
    topic = one(project, id_)
    assert topic.tags_derived
    assert {"router", "timeouts"} <= set(topic.tags)
    assert any("derived from headings and words" in words for words in topic.advice)


def test_derived_tags_are_of_a_bounded_part_of_a_note(project: Project):
    id_ = project.topic("router", "# Router\n\n" + "- gateway waits\n" * 10_000 + "- omega\n" * 60_000)
    assert {"gateway", "waits"} <= set(one(project, id_).tags)
    assert "omega" not in one(project, id_).tags


def test_marks_of_the_narrator_are_no_tags(project: Project):
    marked = (
        "# Router\n\n- The router waits. <!-- cm:narrator nabcdef -->\n- It retries. <!-- cm:narrator nfedcba -->\n"
    )
    id_ = project.topic("router", marked)
    assert not {"narrator", "nabcdef", "nfedcba", "cm"} & set(one(project, id_).tags)
    assert "router" in one(project, id_).tags


def test_overlap_is_most_first_and_merging_is_advised_above_sixty_percent(project: Project):
    a = project.topic("a", "---\ntags: [x, y, z, w]\n---\n")
    b = project.topic("b", "---\ntags: [x, y, z, W]\n---\n")
    c = project.topic("c", "---\ntags: [x, y, z, v, u]\n---\n")
    d = project.topic("d", "---\ntags: [x, y, z]\n---\n")
    topic = one(project, a)
    assert [(other.id, round(other.share, 2)) for other in topic.overlaps] == [(b, 1.0), (d, 0.75), (c, 0.5)]
    assert [words for words in topic.advice if words.startswith("merge")] == [
        f"merge with {b}: 100% of their tags are the same", f"merge with {d}: 75% of their tags are the same",
    ]  # fmt: skip
    # 3 of 5 are 60 %, and not more.
    assert not any(words.startswith("merge") for words in one(project, c).advice)


def test_scopes_are_not_merged(project: Project):
    a = project.topic("a", "---\ntags: [x]\n---\n")
    project.note("user:topics/a.md", "---\ntags: [x]\n---\n")
    assert one(project, a).overlaps == ()


@pytest.mark.parametrize(
    ("id_", "cap"),
    [(".cm/notes/topics/t.md", TOPIC_BYTES), ("user:topics/t.md", TOPIC_BYTES), ("user:preferences.md", USER_BYTES),
     (".cm/notes/project.md", PROJECT_BYTES), ("MEMORY.md", PROJECT_BYTES)],
)  # fmt: skip
def test_sizes_above_their_caps(project: Project, id_: str, cap: int):
    def with_bytes(size: int) -> Topic | None:
        project.note(id_, "---\ntags: [x]\n---\n".ljust(size, "x"))
        found = map_of(project.root)
        return next((topic for topic in (*found.topics, *found.notes) if topic.id == id_), None)

    low = with_bytes(int(cap * 0.9))
    assert low is None or low.advice == ()
    near, full, above = with_bytes(int(cap * 0.9) + 1), with_bytes(cap), with_bytes(cap + 1)
    assert near
    assert full
    assert above
    assert near.cap_bytes == cap
    assert near.advice[0].startswith("compress: ")
    assert full.advice == (f"compress: {cap // 1024} of {cap // 1024} KB",)
    assert above.advice == (f"split: {cap // 1024 + 1} of {cap // 1024} KB",)


def test_what_is_recalled_is_not_unused(project: Project):
    id_ = project.topic("old", "---\ntags: [x]\n---\n", days=190)
    assert one(project, id_).advice == ("retire: unused for 190 days",)
    log = RecallLog.of(project.root)
    log.note([path_of(id_)], "person")
    topic = one(project, id_)
    assert topic.used == pytest.approx(time.time(), abs=60)
    assert topic.advice == ()
    now = time.time()
    project.topic("old", "---\ntags: [x]\n---\n")
    assert one(project, id_, now=now + 180.5 * DAY_S).advice == ()
    assert one(project, id_, now=now + 181.5 * DAY_S).advice == ("retire: unused for 181 days",)


def test_a_topic_of_the_user_is_used_wherever_it_was_recalled(project: Project):
    id_ = project.note("user:topics/style.md", "---\ntags: [x]\n---\n", days=300)
    log = RecallLog.named("another-project")
    log.note([path_of(id_)], "codex")
    assert one(project, id_).advice == ()


def test_retired_topics_are_shown_when_asked_for(project: Project):
    id_ = project.topic("http", "---\ntags: [x]\n---\n")
    project.topic("other", "---\ntags: [x]\n---\n")
    change(project.root, "retire", [id_])
    assert [topic.id for topic in map_of(project.root).topics] == [".cm/notes/topics/other.md"]
    gone = map_of(project.root, retired=True).topics[-1]
    assert (gone.id, gone.retired, gone.tags, gone.advice) == (".cm/archive/topics/http.md", True, ("x",), ())
    assert one(project, ".cm/notes/topics/other.md", retired=True).overlaps == ()


def test_what_git_keeps_came_along_and_is_not_advised_to_be_mixed(project: Project):
    theirs = project.topic("theirs", "---\ntags: [x]\n---\n")
    project.repo.commit("their topic")
    mine = project.topic("mine", "---\ntags: [x]\n---\n")
    assert one(project, theirs).came_along
    assert not one(project, mine).came_along
    assert "it came with the repository: a stranger may have written it" in one(project, theirs).advice
    assert not any(words.startswith("merge") for words in (*one(project, mine).advice, *one(project, theirs).advice))


def test_without_git_nobody_knows_where_notes_are_from(tmp_path: Path):
    file = tmp_path / ".cm/notes/topics/a.md"
    file.parent.mkdir(parents=True)
    file.write_text("# A\n")
    assert map_of(tmp_path).topics[0].came_along


def test_what_cannot_be_read_is_said(project: Project):
    project.topic("bad", "x\n")
    project.file(".cm/notes/topics/bad.md").write_bytes(b"\0\0")
    assert "it is not text" in one(project, ".cm/notes/topics/bad.md").advice
