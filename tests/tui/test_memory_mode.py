"""Memory: entries and notes are listed, read, found, written, changed, and come back."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from cm_tui.engine.api.engine import Engine
from cm_tui.model import Entry, EntryEdit, Note
from cm_tui.tui.modes.episodes.screen import EpisodesScreen
from cm_tui.tui.modes.memory.groups import About, MemoryFilter, entry_facts, read_line
from cm_tui.tui.modes.memory.inventory import PAGE, HeadingRow, ItemRow
from cm_tui.tui.modes.memory.screen import MemoryScreen
from cm_tui.tui.modes.memory.writing import NoteEditScreen
from cm_tui.tui.modes.pack.screen import PackScreen
from cm_tui.tui.screens.question import Question
from cm_tui.tui.screens.writing import EntryDialog
from cm_tui.tui.state.filter_line import with_field
from tests.templates import Template, index
from tests.tui.mode_driver import Driver, at, driving, each, make_project
from tests.tui.recorded_sessions import record_story, sha_of_head

ROUTER = "---\ntags: [net]\n---\n# Router\n\nThe router listens on port 8123.\n\nIt is restarted by hand.\n"
EVIL = "[bold]load[/foo]\x1b[31m\x07 \u202egnp"


def fill(engine: Engine) -> None:
    topics = engine.root / ".cm" / "notes" / "topics"
    topics.mkdir(parents=True)
    (topics / "router.md").write_text(ROUTER, encoding="utf-8")
    (topics.parent / "MEMORY.md").write_text("# What matters\n\nReleases on Tuesdays.\n", encoding="utf-8")
    (topics.parent / "bad.md").write_bytes(b"# Bad\n\xff\xfe broken")
    engine.remember("All SQL has parameters.\nNobody builds it by hand.", title="SQL", category="Rule")
    engine.remember("Never push on fridays", category="Rule", scope="user")
    engine.remember(f"Who owns what {EVIL}", category="Knowledge", actor="agent", agent="codex", session="s1")
    engine.append_note("The cache is warmed at night.")
    index(engine)


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The project with entries of both scopes and notes of several kinds."""
    return Template(tmp_path_factory.mktemp("written"), make_project, fill)


@pytest.fixture
def told(written: Template, cm_home: Path) -> Path:
    """That project, as it was written."""
    return written.put_back(cm_home)


def screen_of(driver: Driver) -> MemoryScreen:
    screen = driver.app.screen_stack[0]
    assert isinstance(screen, MemoryScreen)
    return screen


def titles(driver: Driver) -> list[str]:
    """Return what is listed, headings too."""
    return [
        row.group.title if isinstance(row, HeadingRow) else getattr(row.item, "title", "?")
        for row in screen_of(driver).items.rows
        if isinstance(row, HeadingRow | ItemRow)
    ]


async def to(driver: Driver, title: str) -> Entry | Note:
    """Put the cursor on what is called so, with keys."""
    screen = screen_of(driver)
    await driver.press("home")
    while getattr(screen.item, "title", "") != title:
        before = screen.items.cursor
        await driver.press("down")
        assert screen.items.cursor > before, f"{title!r} is not listed"
    assert isinstance(screen.item, Entry | Note)
    return screen.item


def entries(root: Path, **options) -> dict[str, Entry]:
    with Engine.open(root) as engine:
        return {entry.title: entry for entry in engine.entries(**options).rows}


# --- what is listed ---


@at((80, 24), (200, 50))
async def entries_and_notes_are_listed_by_group_with_honest_counts(driver, told):
    (day,) = (told / ".cm" / "memory").glob("*.md")
    assert titles(driver) == [
        "Rules", "Never push on fridays", "SQL", "Knowledge", screen_of(driver).items.rows[4].item.title,
        "Long-term memory", "What matters", "Daily logs", day.stem, "Topics", "Router",
        "Project notes", "Bad",
    ]  # fmt: skip
    assert "3 entries · 4 notes" in driver.text
    await driver.press("left_square_bracket")
    assert driver.told == ["No group before this one"]
    await to(driver, "SQL")
    await driver.press("enter")
    text = " ".join(driver.text.split())
    assert "Nobody builds it by hand." in text
    for fact in ("Rule", "for this project", "the user", "tokens when injected", "not recalled yet"):
        assert fact in text, fact
    await driver.press("escape")
    await to(driver, "Router")
    await driver.press("enter")
    await driver.until(lambda: "The router listens on port 8123." in driver.text)
    assert "topics/router.md" in driver.text
    assert "#net" in driver.text
    await driver.press("escape")
    assert screen_of(driver).focused is screen_of(driver).items


@at((60, 20))
async def in_a_narrow_terminal_the_text_is_that_of_the_row_that_was_entered(driver, told):
    for title, words in (
        ("SQL", "Nobody builds it by hand."),
        ("What matters", "Releases on Tuesdays."),
        ("SQL", "Nobody"),
    ):
        await to(driver, title)
        await driver.press("enter")
        assert words in driver.text
        assert title in driver.text
        await driver.press("escape")


@at((80, 24))
async def a_text_is_shown_although_its_place_was_looked_up_between_a_scroll_and_its_layout(driver, told):
    await to(driver, "SQL")
    screen = screen_of(driver)
    layout = screen._compositor
    with driver.app.batch_update():
        screen.add_class("-in-text")
        driver.app.stylesheet.update(screen)
        layout.reflow_visible(screen, screen.size)
        assert screen.panel.prose in layout.full_map
        screen._refresh_layout()
    await driver.settle()
    assert "Nobody builds it by hand." in driver.text


async def the_text_of_strangers_is_never_markup(driver, told):
    await driver.press("right_square_bracket")
    assert "[bold]load[/foo]" in driver.text
    assert "codex" in driver.text
    assert not {"\x1b", "\x07", "\u202e"} & {*driver.text}


def test_a_title_that_the_text_begins_with_is_not_shown_twice():
    for content, is_shown in (("Names have no slash at the end.", False), ("Because of windows.", True)):
        entry = Entry("abcdefg", "Knowledge", "Names have no slash", content, (), "project", 1)
        assert ("Names have no slash" in entry_facts(entry, 60, About()).plain) is is_shown


async def nothing_was_written_down_yet(driver, project):
    assert "No entries or notes yet." in driver.text
    assert "Entries are rules, knowledge and experience" in driver.text
    await driver.press("e", "p", "d")
    assert any("nothing under the cursor" in words for words in driver.told)
    await driver.press("enter")
    assert driver.told == ["Read: nothing under the cursor"]
    assert "Esc leaves the filter" not in driver.text
    await driver.press("slash")
    assert "Esc leaves the filter" in driver.text, "n and w, which the list offers, are typed here"
    await driver.press("escape")
    assert "Esc leaves the filter" not in driver.text


async def the_filter_leaves_what_fits_and_says_what_it_cannot_read(driver, told):
    await driver.press("slash")
    await driver.type("kind:rule push")
    assert titles(driver) == ["Rules", "Never push on fridays"]
    assert "1 entry · 0 notes" in driver.text
    await driver.type(" state:lost")
    assert "unknown value 'lost'" in driver.text
    assert titles(driver) == ["Rules", "Never push on fridays"]
    await driver.press("escape", "escape")
    assert len(titles(driver)) == 13
    await driver.press("f")
    assert "3 entries" in driver.text
    assert "Topics" not in titles(driver)
    await driver.press("f")
    assert "Rules" not in titles(driver)
    await driver.press("f", "S", "S")
    assert titles(driver) == ["Rules", "Never push on fridays"]


def test_a_line_is_a_filter():
    assert read_line('redis "two words" kind:rule,day scope:USER') == (
        MemoryFilter("redis two words", kinds=("rule", "day"), scope="user"), "",
    )  # fmt: skip
    found, wrong = read_line("kind:nonsense state:")
    assert found == MemoryFilter()
    assert wrong.startswith("kind: unknown value 'nonsense'")
    assert with_field("a show:notes b", "show", "entries") == "a b show:entries"
    assert with_field("a show:notes b", "show", "") == "a b"


async def a_long_group_is_read_as_far_as_somebody_looks(driver, project):
    folder = project / ".cm" / "notes"
    (folder / "long.md").unlink()
    many = PAGE + 150
    for number in range(many):
        (folder / f"n{number:04}.md").write_text(f"# Note {number}\n\nText.\n", encoding="utf-8")
    await driver.anew("6")
    screen = screen_of(driver)
    assert f"{many:,} notes" in driver.text
    assert f"{PAGE:,} of {many:,}" in driver.text
    assert sum(isinstance(row, ItemRow) for row in screen.items.rows) == PAGE
    ends = screen.items.rows[PAGE].item.title
    far = next(number for number in (many - 1, 0) if f"Note {number}" != ends)
    screen.open_item("note", f"n{far:04}.md")
    await driver.settle()
    assert screen.item.title == f"Note {far}"
    assert screen.filter_input.value == ""
    await driver.anew("6")
    screen = screen_of(driver)
    assert sum(isinstance(row, ItemRow) for row in screen.items.rows) == PAGE
    await driver.press("end")
    assert screen.items.cursor == many
    assert isinstance(screen.item, Note)
    assert f"{PAGE:,} of" not in driver.text


async def a_long_note_is_read_by_pages(driver, project):
    folder = project / ".cm" / "notes"
    folder.mkdir(parents=True)
    (folder / "long.md").write_text("\n".join(f"line {number} of it" for number in range(6_000)), encoding="utf-8")
    await driver.anew("6")
    panel = screen_of(driver).panel
    assert "400 of 6,000 lines" in driver.text
    assert not panel.is_whole
    await driver.press("enter", "end", "end")
    assert "1,200 of 6,000 lines" in driver.text
    assert panel.prose.current.text == "line 799 of it"
    while not panel.is_whole:
        await driver.press("end")
    await driver.press("end")
    assert "line 5999 of it" in driver.text


async def a_note_that_is_no_text_says_so_and_stays(driver, told):
    await to(driver, "Bad")
    assert "UTF-8" in driver.text
    await driver.press("e")
    assert any("E opens its file" in words for words in driver.told)
    assert (told / ".cm/notes/bad.md").read_bytes() == b"# Bad\n\xff\xfe broken"


async def a_note_that_is_gone_meanwhile_says_so(driver, told):
    (told / ".cm/notes/topics/router.md").unlink()
    await to(driver, "Router")
    assert "Note not found" in driver.text
    screen_of(driver).reload()
    await driver.settle()
    assert "Router" not in titles(driver)


# --- what others write ---


async def what_others_write_appears_without_a_key(driver, told):
    screen = screen_of(driver)
    await to(driver, "SQL")
    with Engine.open(told) as engine:
        engine.remember("Written elsewhere", category="Rule")
    (told / ".cm/notes/topics/new.md").write_text("# Newly edited\n", encoding="utf-8")
    driver.app.project.index_news += 1
    screen.show_project()
    await driver.settle()
    assert {"Written elsewhere", "Newly edited"} <= {*titles(driver)}
    assert screen.item.title == "SQL"


@pytest.mark.deep
async def test_files_are_looked_at_again_and_again_while_the_mode_is_on_screen(told, monkeypatch):
    monkeypatch.setattr("cm_tui.tui.modes.memory.view.LOOK_AGAIN", 0.05)
    monkeypatch.setattr("cm_tui.tui.tasks.ask.LOOK_SHARE", 1)
    async with driving(told, mode="6") as driver:
        (told / ".cm/notes/topics/new.md").write_text("# Newly edited\n", encoding="utf-8")
        await driver.until(lambda: "Newly edited" in titles(driver))


# --- writing ---


async def an_entry_is_written_and_listed(driver, told):
    await driver.press("n")
    dialog = driver.app.screen
    assert isinstance(dialog, EntryDialog)
    await driver.press("ctrl+s")
    assert "Nothing to save yet." in driver.text
    await driver.type("Tests need redis")
    dialog.query_one("#entry-category").focus()
    await driver.press("right", "right", "ctrl+s")
    assert driver.app.screen is screen_of(driver)
    assert screen_of(driver).item.title == "Tests need redis"
    assert any("u undoes it" in words for words in driver.told)
    await driver.press("u")
    assert "Tests need redis" not in titles(driver)
    assert "Tests need redis" not in entries(told)


async def what_was_typed_is_thrown_away_after_a_question_alone(driver, told):
    await driver.press("n", "escape")
    assert driver.app.screen is screen_of(driver)
    await driver.press("n")
    await driver.type("half a")
    await driver.press("escape")
    assert isinstance(driver.app.screen, Question)
    await driver.press("n")
    assert driver.app.screen.query_one(TextArea).text == "half a"


async def a_change_says_only_what_changed_and_stays_in_the_dialog_when_it_fails(driver, told):
    entry = await to(driver, "SQL")
    await driver.press("e")
    area = driver.app.screen.query_one(TextArea)
    area.text = "All SQL has parameters, always."
    with Engine.open(told) as engine:
        engine.update_entry(entry.id, EntryEdit(pinned=True))
    await driver.press("ctrl+s")
    changed = entries(told)["SQL"]
    assert (changed.content, changed.pinned) == ("All SQL has parameters, always.", True)
    await driver.press("e")
    driver.app.screen.query_one(TextArea).text = "too late"
    with Engine.open(told) as engine:
        engine.forget_memory(entry.id)
    await driver.press("ctrl+s")
    assert driver.app.screen.query_one(TextArea).text == "too late"
    assert "forgotten" in driver.text


async def a_paragraph_goes_into_the_log_of_today_or_another_note(driver, told):
    await driver.press("w")
    await driver.type("found the leak")
    await driver.press("ctrl+q")
    assert driver.app.is_running
    assert "Discard your text?" in driver.text
    await driver.press("n", "ctrl+s")
    log = told / ".cm" / "memory" / f"{time.strftime('%Y-%m-%d')}.md"
    assert "found the leak" in log.read_text(encoding="utf-8")
    assert screen_of(driver).item.kind == "day"
    await to(driver, "Router")
    await driver.press("w")
    assert driver.app.screen.query_one("#note-name", Input).value == ".cm/notes/topics/router.md"
    driver.app.screen.query_one("#note-name", Input).value = "../../etc/passwd"
    await driver.type("evil")
    await driver.press("ctrl+s")
    assert driver.app.screen.query_one(TextArea).text == "evil"
    assert driver.app.screen.query_one("#writing-hint").has_class("-wrong")


async def a_note_is_changed_in_place_and_what_others_change_meanwhile_stays(driver, told):
    file = told / ".cm/notes/topics/router.md"
    await to(driver, "Router")
    await driver.press("e")
    assert isinstance(driver.app.screen, NoteEditScreen)
    area = driver.app.screen.query_one(TextArea)
    area.text = area.text.replace("8123", "9000")
    file.write_text(ROUTER.replace("by hand", "by systemd"), encoding="utf-8")
    await driver.press("ctrl+s")
    assert driver.app.screen is screen_of(driver)
    assert file.read_text(encoding="utf-8") == ROUTER.replace("8123", "9000").replace("by hand", "by systemd")
    assert "port 9000" in driver.text
    await driver.press("u")
    assert "port 8123" in driver.text


@at((80, 24))
async def both_sides_of_the_same_lines_are_shown_and_neither_is_lost(driver, told):
    file = told / ".cm/notes/topics/router.md"
    file.write_text(ROUTER, encoding="utf-8")
    await driver.anew("6")
    await to(driver, "Router")
    await driver.press("e")
    area = driver.app.screen.query_one(TextArea)
    area.text = area.text.replace("8123", "9000")
    file.write_text(ROUTER.replace("8123", "7000"), encoding="utf-8")
    await driver.press("ctrl+s")
    assert "has changed meanwhile" in driver.text
    assert "port 9000" in driver.text
    assert "port 7000" in driver.text
    await driver.press("escape")
    assert "9000" in driver.app.screen.query_one(TextArea).text
    assert "7000" in file.read_text(encoding="utf-8")
    await driver.press("ctrl+s", "b")
    assert driver.app.screen is screen_of(driver)
    text = file.read_text(encoding="utf-8")
    assert "port 9000" in text
    assert "port 7000" in text


# --- what becomes of them ---


async def pin_never_recall_move_and_forget_and_back(driver, told):
    screen = screen_of(driver)
    await to(driver, "SQL")
    await driver.press("p")
    assert entries(told)["SQL"].pinned
    assert any("Pinned the entry “SQL" in words for words in driver.told)
    await driver.press("p")
    assert any("Unpinned the entry “SQL" in words for words in driver.told)
    await driver.press("r")
    assert entries(told)["SQL"].never_recall
    assert "never recalled" in driver.text
    assert any("Excluded the entry “SQL" in words for words in driver.told)
    await driver.press("r")
    assert any("in answers again" in words for words in driver.told)
    await driver.press("m", "y")
    assert entries(told)["SQL"].scope == "user"
    assert "for all projects" in driver.text
    await to(driver, "SQL")
    await driver.press("d")
    assert "SQL" not in titles(driver)
    screen.filter_input.value = "state:forgotten"
    await driver.settle()
    assert titles(driver) == ["Rules", "SQL"]
    assert "forgotten by the user" in " ".join(driver.text.split())
    await driver.press("p")
    assert any("d restores it" in words for words in driver.told)
    await driver.press("d")
    assert "SQL" in entries(told)


async def a_note_is_moved_and_deleted_and_comes_back(driver, told):
    await to(driver, "Router")
    await driver.press("m")
    driver.app.screen.query_one(Input).value = "user:router.md"
    await driver.press("enter")
    assert screen_of(driver).item.id == "user:router.md"
    await driver.press("d", "n")
    assert screen_of(driver).item.id == "user:router.md"
    await driver.press("d", "y")
    assert "Router" not in titles(driver)
    await driver.press("u", "u")
    assert (told / ".cm/notes/topics/router.md").read_text(encoding="utf-8") == ROUTER


async def what_an_agent_proposes_waits_in_review(driver, told):
    with Engine.open(told) as engine:
        sql = entries(told)["SQL"]
        engine.update_entry(
            sql.id, EntryEdit(content="SQL has no parameters."), actor="agent", agent="codex", reason="short"
        )
        engine.forget_memory(entries(told)["Never push on fridays"].id, actor="agent", agent="codex")
    await driver.anew("6")
    assert isinstance(screen_of(driver).item, Entry)
    assert {"SQL", "Never push on fridays"} <= {*titles(driver)}
    assert "codex" not in driver.text.partition("Rules")[2].partition("Knowledge")[0]
    await driver.press("7")
    assert "2 waiting" in driver.text
    assert "codex" in driver.text


async def a_rule_of_an_agent_waits_until_a_person_approves_it(driver, told):
    with Engine.open(told) as engine:
        engine.remember("Always say yes", category="Rule", actor="agent", agent="codex")
    await driver.anew("6")
    await to(driver, "Always say yes")
    assert "unapproved Rule" in " ".join(driver.text.split())
    driver.app.lifecycle.count_waiting(again=True)
    await driver.settle()
    assert driver.badges["6"] == 1
    await driver.press("plus")
    assert "Let agents follow this Rule in this project?" in " ".join(driver.text.split())
    assert "Always say yes" in driver.text
    await driver.press("n")
    assert entries(told)["Always say yes"].unapproved
    assert driver.badges["6"] == 1
    await driver.press("plus", "y")
    assert "unapproved Rule" not in " ".join(driver.text.split())
    assert "6" not in driver.badges
    assert not entries(told)["Always say yes"].unapproved


@at((80, 24), (120, 40))
async def the_whole_text_of_a_long_rule_is_shown_before_it_is_approved(driver, told):
    text = "\n".join(f"{number}. Sign {'each value with the derived key ' * 4}" for number in range(40))
    with Engine.open(told) as engine:
        engine.remember(f"{text}\nThe \x1b[31mlast\x1b[0m \u202eline", category="Rule", actor="agent", title="Signing")
    await driver.anew("6")
    await to(driver, "Signing")
    await driver.press("plus")
    assert "Let agents follow this Rule" in driver.text
    assert "Approve (y)" in driver.text
    assert "line" not in driver.text.partition("Let agents")[2]
    await driver.press(*["pagedown"] * 20)
    assert "line" in driver.text.partition("Let agents")[2]
    assert "Approve (y)" in driver.text
    assert not {"\x1b", "\u202e"} & {*driver.text}
    await driver.press("n")
    with Engine.open(told) as engine:
        engine.forget_memory(entries(told)["Signing"].id)


async def entries_that_say_nearly_the_same_are_marked_and_merged(driver, told):
    with Engine.open(told) as engine:
        engine.remember("Tests need redis: start redis before the tests run.", category="Knowledge", title="One")
        engine.remember("Before the tests run start redis: tests need redis.", category="Knowledge", title="Two")
    await driver.anew("6")
    await driver.until(lambda: bool(screen_of(driver).items.marks.doubles))
    await to(driver, "One")
    assert "≈" in driver.text
    assert "x merges them" in " ".join(driver.text.split())
    await driver.press("x")
    assert "% alike" in driver.text
    await driver.press("escape")
    assert {"One", "Two"} <= {*titles(driver)}
    await driver.press("x", "2")
    assert "One" not in titles(driver)
    assert "Two" in titles(driver)
    await driver.press("u")
    assert {"One", "Two"} <= {*titles(driver)}


# --- questions, and the ways from and to here ---


@at((80, 24), (200, 50))
async def a_question_is_answered_in_search_by_memory_alone(driver, told):
    size = driver.app.size
    await driver.press("s")
    search = driver.app.screen
    await driver.type("which port does the router use")
    await driver.press("enter")
    assert search.hit.path == "note/.cm/notes/topics/router.md"
    assert all(hit.source in {"entry", "note", "episode"} for hit in search.session.hits)
    assert "recall" in driver.text.split("Results")[0]
    await driver.until(lambda: "Router  note" in driver.text)
    if size[0] < 100:
        await driver.press("v")
    assert "Why memory #1" in driver.text
    assert "vector" in driver.text
    if size[0] < 100:
        await driver.press("v")
    assert "port 8123" in driver.text
    await driver.press("enter", "enter")
    screen = screen_of(driver)
    assert "port 8123" in driver.text
    assert screen.item.title == "Router"
    await driver.press("escape", "o")
    assert search.session.profile.name == "code"
    assert search.query_input.value == "Router"
    await driver.press("6")


async def the_words_and_the_notes_of_the_filter_lead_to_search(driver, told):
    screen = screen_of(driver)
    screen.filter_input.value = "show:notes router"
    await driver.settle()
    await driver.press("s")
    search = driver.app.screen
    assert search.query_input.value == "router"
    assert search.session.profile.name == "notes"
    assert {hit.source for hit in search.session.hits} == {"note"}
    assert "Nobody builds it by hand." not in driver.text
    await driver.press("6")
    assert screen.filter_input.value == "show:notes router"


async def search_leads_here_and_back(driver, told):
    await driver.press("2")
    await driver.type("router listens on port")
    await driver.press("escape", "b")
    assert driver.app.screen.hit.source == "note"
    assert "Router" in driver.text
    await driver.press("enter")
    assert screen_of(driver).item.title == "Router"
    # Nothing is filtered, and all the others are listed; the same again, from another row.
    screen = screen_of(driver)
    assert screen.filter_input.value == ""
    screen.items.cursor = 1
    await driver.press("2", "enter")
    assert screen_of(driver).item.title == "Router"
    await driver.press("escape", "escape", "o")
    assert driver.app.screen.query_one("#query", Input).value == "Router"


async def entries_and_notes_go_into_the_pack(driver, told):
    await to(driver, "SQL")
    await driver.press("a")
    await to(driver, "Router")
    await driver.press("a", "P")
    assert isinstance(driver.app.screen, PackScreen)
    text = " ".join(driver.text.split())
    assert "The router listens on port 8123." in text
    assert "Nobody builds it by hand." in text
    assert "Router" in text


async def test_an_answer_of_a_past_session_leads_to_it_and_it_is_written_down(told):
    record_story(told, sha_of_head(told), now=time.time())
    async with driving(told, mode="6") as driver:
        await driver.press("s")
        await driver.type("why was the retry reverted")
        await driver.press("enter")
        assert driver.app.screen.hit.source == "episode"
        await driver.press("e")
        assert any("a memory is not a file" in words for words in driver.told)
        await driver.press("enter")
        assert isinstance(driver.app.screen, EpisodesScreen)
        await driver.anew("5")
        await driver.press("g", "enter", "w")
        assert isinstance(driver.app.screen, EntryDialog)
        assert driver.app.screen.query_one(TextArea).text
        driver.app.screen.query_one(TextArea).text = "The slash has to stay."
        await driver.press("ctrl+s", "W")
        driver.app.screen.query_one("#note-name", Input).value = "slashes"
        await driver.press("ctrl+s")
    with Engine.open(told) as engine:
        entry = next(one for one in engine.entries().rows if one.content == "The slash has to stay.")
        assert entry.made_from[0].startswith("episode/")
        assert engine.note("slashes").text


async def test_entries_and_notes_are_read_filtered_and_asked(told):
    await each(
        told,
        entries_and_notes_are_listed_by_group_with_honest_counts,
        in_a_narrow_terminal_the_text_is_that_of_the_row_that_was_entered,
        a_text_is_shown_although_its_place_was_looked_up_between_a_scroll_and_its_layout,
        the_text_of_strangers_is_never_markup,
        the_filter_leaves_what_fits_and_says_what_it_cannot_read,
        a_note_that_is_no_text_says_so_and_stays,
        a_question_is_answered_in_search_by_memory_alone,
        the_words_and_the_notes_of_the_filter_lead_to_search,
        search_leads_here_and_back,
        entries_and_notes_go_into_the_pack,
        what_was_typed_is_thrown_away_after_a_question_alone,
        what_others_write_appears_without_a_key,
        a_note_that_is_gone_meanwhile_says_so,
        what_an_agent_proposes_waits_in_review,
        mode="6",
    )


async def test_entries_and_notes_are_written_and_decided_on(told):
    await each(
        told,
        a_paragraph_goes_into_the_log_of_today_or_another_note,
        pin_never_recall_move_and_forget_and_back,
        an_entry_is_written_and_listed,
        a_note_is_moved_and_deleted_and_comes_back,
        a_note_is_changed_in_place_and_what_others_change_meanwhile_stays,
        both_sides_of_the_same_lines_are_shown_and_neither_is_lost,
        a_rule_of_an_agent_waits_until_a_person_approves_it,
        the_whole_text_of_a_long_rule_is_shown_before_it_is_approved,
        entries_that_say_nearly_the_same_are_marked_and_merged,
        a_change_says_only_what_changed_and_stays_in_the_dialog_when_it_fails,
        mode="6",
    )


async def test_a_project_of_which_nothing_or_very_long_notes_are_written_down(project):
    await each(
        project,
        nothing_was_written_down_yet,
        a_long_note_is_read_by_pages,
        a_long_group_is_read_as_far_as_somebody_looks,
        mode="6",
    )
