"""The measurement of packs: what is inside a selection, and the plain list beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cm_tui.engine.context.packs.budget import tokens
from cm_tui.model import Hit
from tests.bench import pack_corpora, packs
from tests.bench.corpora import Question, Target
from tests.gitrepo import Repo

QUESTION = Question("how", "commit", (Target("a.py", 11, 20), Target("b.py", 1, 4)))


def hit(path: str, start: int, end: int) -> Hit:
    return Hit(1, "code", path, start, end, "f", "function", "python", 1.0, "", start, (), 1)


@pytest.mark.parametrize(
    ("shown", "half", "file", "share"),
    [
        ([], False, False, 0.0),
        ([("a.py", 1, 10)], False, True, 0.0),
        ([("a.py", 1, 14)], False, True, 4 / 14),
        ([("a.py", 1, 12), ("a.py", 18, 30)], True, True, 5 / 14),
        ([("b.py", 1, 2)], True, True, 2 / 14),
        ([("c.py", 1, 99)], False, False, 0.0),
    ],
)
def test_half_of_one_answer_its_file_and_the_share_of_all(shown, half, file, share) -> None:
    found = packs.read_lines(QUESTION, [packs.Shown(*place) for place in shown], 100)
    assert (found.half, found.file, found.share) == (half, file, pytest.approx(share))


def test_the_plain_list_is_cut_by_lines_at_the_budget() -> None:
    text = "\n".join(f"value_{n} = compute({n})" for n in range(30))
    hits = [hit("a.py", 1, 30), hit("b.py", 1, 30)]
    whole, cost = packs.plain_list("how", hits[:1], 10_000, lambda _: text)
    assert whole == [packs.Shown("a.py", 1, 30)]
    shown, spent = packs.plain_list("how", hits, int(cost) + 100, lambda _: text)
    assert shown[0] == whole[0]
    assert shown[1].path == "b.py"
    assert 1 <= shown[1].end_line < 30
    assert cost < spent <= int(cost) + 100
    assert packs.plain_list("how", hits, tokens("how"), lambda _: text)[0] == []


def test_it_runs_on_a_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = Repo(tmp_path / "shop")
    body = "".join(
        f'def {name}(cart):\n    """{said}."""\n    first = cart.items\n    return first + cart.{name}_of(first)\n\n\n'
        for name, said in [
            ("add_item", "Put one more thing behind the others that wait"),
            ("total_price", "Sum up what everything inside of it costs today"),
            ("send_order", "Hand the whole thing over to the people who ship"),
        ]
    )
    repo.write("cart.py", body)
    repo.commit()
    assert packs.main([str(repo.root), "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    everything = table[packs.ALL]
    assert everything["pack"]["4000"]["half"] == 1
    assert everything["list"]["500"]["file"] == 1
    assert all(everything["pack"][str(budget)]["tokens"] <= budget for budget in packs.BUDGETS)
    assert packs.main([str(repo.root)]) == 0
    assert packs.ALL in capsys.readouterr().out


@pytest.mark.parametrize(
    ("shown", "files", "lines", "any_of_them"),
    [
        ([], 0.0, 0.0, False),
        ([("src/a.py", 1, 10)], 0.5, 0.0, True),
        ([("src/a.py", 12, 13)], 0.5, 0.5, True),
        ([("xa.py", 12, 13)], 0.0, 0.0, False),
        ([("a.py", 1, 99), ("b.py", 4, 4)], 1.0, 1.0, True),
    ],
)
def test_answers_are_found_by_the_end_of_their_path_and_any_line(shown, files, lines, any_of_them) -> None:
    found = pack_corpora.inside(QUESTION, [packs.Shown(*place) for place in shown], 100)
    assert (found.files, found.lines, found.any) == (files, lines, any_of_them)


def test_answers_without_lines_have_no_share_of_lines() -> None:
    whole = Question("how", "symbol", (Target("a.py"),))
    assert pack_corpora.inside(whole, [packs.Shown("a.py", 1, 2)], 100).lines is None


def test_questions_of_a_corpus_are_judged_by_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "cart.py").write_text('def total_price(cart):\n    """Sum it up."""\n    return sum(cart)\n')
    (tmp_path / "shop" / "ship.py").write_text('def send_order(cart):\n    """Hand it over."""\n    return cart\n')
    corpus = {
        "name": "shop", "language": "python", "path": str(tmp_path / "shop"),
        "queries": [
            {"query": "total_price", "category": "symbol", "relevant": ["cart.py"]},
            {"query": "who hands it over", "category": "semantic",
             "relevant": [{"path": "ship.py", "start_line": 1, "end_line": 3}]},
        ],
    }  # fmt: skip
    queries = tmp_path / "queries.json"
    queries.write_text(json.dumps({"corpora": [corpus]}))
    assert packs.main(["--corpora", "--queries", str(queries), "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert table["shop"]["questions"] == table["mean"]["questions"] == 2
    assert table["mean"]["pack"]["4000"]["files"] == table["mean"]["list"]["4000"]["any"] == 1
    assert table["shop"]["pack"]["4000"]["lines"] == 1
    assert all(table["shop"]["pack"][str(budget)]["tokens"] <= budget for budget in packs.BUDGETS)
    assert packs.main(["--corpora", "--queries", str(queries)]) == 0
    assert "mean" in capsys.readouterr().out
