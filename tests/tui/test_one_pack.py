"""One pack for a project: two applications change it at once, and no piece is lost."""

from __future__ import annotations

import json
import random
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.model import PackRequest
from cm_tui.tui.app.kept_choices import PackSync
from cm_tui.tui.state.pack_selection import PackChange, PackFile, PackSelection, merged
from cm_tui.tui.state.remembered import AppState, save_state, state_file
from tests.tui.mode_driver import connected, driving, through_daemon


def piece(name: str) -> PackRequest:
    return PackRequest(f"src/{name}.py", 1, 3, name)


def named(items) -> str:
    return "".join(item.title for item in items)


def pieces(names: str) -> tuple[PackRequest, ...]:
    return tuple(piece(name) for name in names)


def test_both_additions_are_kept_each_behind_what_stands_ahead_of_it():
    assert named(merged(pieces("ab"), pieces("abx"), pieces("aby"))) == "abxy"
    assert named(merged(pieces("ab"), pieces("axb"), pieces("yab"))) == "yaxb"


def test_a_change_of_a_piece_without_a_title_names_its_file():
    before, after = PackRequest("src/deep/in/here.py", 1, 3), PackRequest("src/deep/in/here.py", 1, 9)
    assert PackChange((before,), (after,)).words == "changed the lines of here.py in the pack"


def test_what_either_took_out_is_out():
    assert named(merged(pieces("abc"), pieces("ab"), pieces("bc"))) == "b"


def test_a_move_here_is_made_among_what_others_left():
    assert named(merged(pieces("abcd"), pieces("dabc"), pieces("abxcd"))) == "daxbc"
    assert named(merged(pieces("abcd"), pieces("abcd"), pieces("dcba"))) == "dcba"


packs = st.permutations("abcdef").flatmap(
    lambda names: st.integers(0, 6).map(lambda size: pieces("".join(names[:size])))
)


@given(packs, packs, packs)
def test_nothing_that_was_added_is_lost_and_nothing_that_was_taken_out_comes_back(before, mine, theirs):
    result = merged(before, mine, theirs)
    added = (set(mine) | set(theirs)) - set(before)
    gone = set(before) - (set(mine) & set(theirs))
    assert set(result) == (set(before) - gone) | added
    assert len(result) == len(set(result))


@given(packs, packs)
def test_where_only_one_side_did_something_its_pack_stands(before, other):
    assert merged(before, other, before) == other
    assert merged(before, before, other) == other


class Together:
    """An application's half of the pack: the same parts, on a thread of its own."""

    def __init__(self, root: Path) -> None:
        self.selection = PackSelection(self.hand_over, lambda: None)
        self.sync = PackSync(self.selection, PackFile(root), lambda call, then: then(call()), self.fail)
        self.sync.begin(())

    def hand_over(self) -> None:
        self.sync.exchange()

    @staticmethod
    def fail(error):
        raise error


def test_many_changes_of_two_applications_at_once_lose_nothing(tmp_path, cm_home):
    both = [Together(tmp_path), Together(tmp_path)]

    def change(who: int) -> None:
        chance, own = random.Random(who), []
        for number in range(30):
            selection = both[who].selection
            if own and chance.random() < 0.3:
                gone = own.pop(chance.randrange(len(own)))
                selection.change(item for item in selection.items if item != gone)
            else:
                own.append(piece(f"{'xy'[who]}{number}"))
                selection.add([own[-1]])
        left[who] = own

    left: dict[int, list[PackRequest]] = {}
    threads = [threading.Thread(target=change, args=(who,)) for who in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in both:
        one.sync.look()
    assert set(both[0].selection.items) == {*left[0], *left[1]}
    assert both[0].selection.items == both[1].selection.items


@pytest.mark.deep
@pytest.mark.process
async def test_two_applications_have_one_pack(owned):
    async with driving(owned, open_engine=through_daemon(owned), mode="P") as one:
        await connected(one)
        one.app.pack_selection.add(pieces("abc"))
        async with driving(owned, open_engine=through_daemon(owned)) as other:
            # The page that the first one remembered, or the first of all.
            await other.app.action_go("pack")
            await other.until(lambda: named(other.app.pack_selection.items) == "abc")
            # Both at once: neither knows yet what the other one does.
            one.app.pack_selection.add([piece("x")])
            other.app.pack_selection.add([piece("y")])
            await other.press("d")
            everything = {"b", "c", "x", "y"}
            for driver in (one, other):
                await driver.until(lambda app=driver.app: {i.title for i in app.pack_selection.items} == everything)
            assert one.app.pack_selection.items == other.app.pack_selection.items
            await other.until(lambda: "of 4 fit" in other.text)
            # What the other one adds is not taken back here.
            await other.press("u")
            for driver in (one, other):
                await driver.until(
                    lambda app=driver.app: {i.title for i in app.pack_selection.items} == everything | {"a"}
                )
            other.app.leave()


async def test_a_pack_that_an_earlier_version_remembered_is_taken_up(project):
    state = AppState(mode="pack")
    state.of("pack")["items"] = [{"path": "src/store.py", "start_line": 5, "end_line": 9, "title": "Store", "why": ""}]
    save_state(project, state)
    async with driving(project) as driver:
        assert named(driver.app.pack_selection.items) == "Store"
        driver.app.pack_selection.add(pieces("a"))
        await driver.settle()
        driver.app.state_writer.flush()
    assert "items" not in json.loads(state_file(project).read_text())["screens"]["pack"]
    assert named(PackFile(project).read()) == "Storea"
