"""The yardstick itself, on a project small enough to know the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cm_tui.errors import UsageError
from cm_tui.model import Hit
from tests.bench import quality
from tests.bench.corpora import QUERIES, Question, Target, read


def hit(path: str, start: int = 1, end: int = 10) -> Hit:
    return Hit(1, "code", path, start, end, None, None, "python", 1.0, "", start, (), 1)


def test_a_path_matches_when_one_is_the_end_of_the_other() -> None:
    target = Target("src/flask/app.py")
    assert target.found_at("app.py", 1, 1)
    assert target.found_at("x/src/flask/app.py", 1, 1)
    assert not target.found_at("wsgiapp.py", 1, 1)


def test_ndcg() -> None:
    question = Question("q", "semantic", (Target("a.py"), Target("b.py", 5, 9)))
    assert quality.ndcg(question, [hit("a.py"), hit("b.py", 9, 20)]) == 1
    assert quality.ndcg(question, [hit("b.py", 10, 20), hit("a.py")]) == pytest.approx(0.6309 / 1.6309, abs=1e-3)
    assert quality.ndcg(question, [hit("b.py", 10, 20), hit("a.py")], files=True) == 1
    assert quality.ndcg(question, [hit("c.py")] * 10 + [hit("a.py")]) == 0


def test_measures_a_folder_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "cart.py").write_text(
        'def add_item(cart, item):\n    """Put an item into the cart."""\n    cart.append(item)\n'
    )
    (code / "mail.py").write_text('def send_letter(address):\n    """Send a letter by post."""\n    post(address)\n')
    questions = tmp_path / "queries.json"
    rows = [{"query": "putting items into a cart", "category": "semantic", "relevant": ["cart.py"], "secondary": []}]
    questions.write_text(json.dumps({"corpora": [{"name": "mine", "path": str(code), "queries": rows}]}))
    assert quality.main(["--queries", str(questions), "--json", "--ablation"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["hybrid"]["mean"] == result["keyword"]["mean"] == 1
    assert result["hybrid"]["ablation"]


def test_the_packaged_questions_can_be_read() -> None:
    rows = json.loads(QUERIES.read_text(encoding="utf-8"))["corpora"]
    assert len(rows) == 9
    assert sum(len(row["queries"]) for row in rows) == 183


def test_unknown_corpus(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no corpus 'nope'"):
        list(read(QUERIES, ["nope"]))
