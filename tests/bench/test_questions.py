"""Questions made of a repository's own history, comments, tests, documents and names."""

from __future__ import annotations

import json
from pathlib import Path

import pygit2
import pytest

from cm_tui.errors import NotFoundError
from cm_tui.model import Hit
from tests.bench import learner, lines, weights
from tests.bench.corpora import Corpus, Question, Target
from tests.bench.lines import read_lines
from tests.bench.questions.build import build
from tests.bench.questions.commits import question_of

CART = '''class Cart:
    """Holds what somebody wants to buy."""

    def add_item(self, item):
        """Put an item behind the others that are waiting there.

        Counts it, too.
        """
        self.items.append(item)

    def total_price(self, rebate):
        """Sum up what all of it costs after the rebate."""
        whole = sum(item.price for item in self.items)
        return whole - rebate
'''
TEST = """def test_add_item_twice_counts_both():
    cart = Cart()
    cart.add_item("a")
    assert cart


def helper():
    return 1
"""
README = """# Shop

A shop that keeps carts of many people apart from each other.

Second line of it.
More text here.
And another line.
The last one.

## Running

Start it with one word in a terminal of yours.

    shop run

It listens.
It answers.
It stops.
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    repo = pygit2.init_repository(root, initial_head="main")
    files = {"shop/cart.py": CART, "tests/test_cart.py": TEST, "README.md": README}
    commit(repo, root, files, "First version")
    for number in range(2):
        commit(repo, root, {"notes.txt": f"{number}\n"}, f"Note {number}")
    commit(
        repo,
        root,
        {"shop/cart.py": CART.replace("- rebate", "- 2 * rebate")},
        "fix(cart): take the rebate off twice (#12)",
    )
    commit(
        repo, root, {"README.md": README.replace("one word", "two words")}, "docs: say how many words start the shop"
    )
    commit(repo, root, {"shop/cart.py": CART}, "Bump version to 2.0")
    return root


def commit(repo: pygit2.Repository, root: Path, files: dict[str, str], message: str) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        repo.index.add(path)
    repo.index.write()
    person = pygit2.Signature("A", "a@example.org", 1_700_000_000, 0)
    parents = [] if repo.head_is_unborn else [repo.head.target]
    repo.create_commit("HEAD", person, person, message, repo.index.write_tree(), parents)


@pytest.fixture
def corpus(repository: Path, tmp_path: Path) -> Corpus:
    return build(repository, tmp_path / "tree")


def of(corpus: Corpus, kind: str) -> dict[str, tuple[Target, ...]]:
    return {question.text: question.targets for question in corpus.questions if question.category == kind}


def test_a_commit_asks_for_the_function_that_it_changed(corpus: Corpus) -> None:
    assert of(corpus, "commit") == {"take the rebate off twice": (Target("shop/cart.py", 11, 14),)}
    assert of(corpus, "document") == {"say how many words start the shop": (Target("README.md", 10, 18),)}
    assert (corpus.name, corpus.language) == ("shop", "python")


def test_a_comment_is_asked_and_gone_from_the_files(corpus: Corpus) -> None:
    asked = of(corpus, "comment")
    assert asked["Put an item behind the others that are waiting there"] == (Target("shop/cart.py", 4, 9),)
    text = (corpus.folder / "shop/cart.py").read_text()
    assert "behind the others" not in text
    assert "Counts it" not in text
    assert len(text.split("\n")) == len(CART.split("\n"))
    compile(text, "cart.py", "exec")


def test_a_section_is_asked_by_its_first_sentence(corpus: Corpus) -> None:
    assert of(corpus, "section")["A shop that keeps carts of many people apart from each other"] == (
        Target("README.md", 1, 9),
    )
    assert "keeps carts" not in (corpus.folder / "README.md").read_text()


def test_the_name_of_a_test_asks_for_what_it_calls(corpus: Corpus) -> None:
    assert of(corpus, "test") == {"add item twice counts both": (Target("shop/cart.py", 4, 9),)}
    text = (corpus.folder / "tests/test_cart.py").read_text()
    assert "twice" not in text
    assert "def helper" in text


def test_names_ask_for_every_definition(corpus: Corpus) -> None:
    asked = of(corpus, "name") | of(corpus, "qualified name")
    assert Target("shop/cart.py", 4, 9) in {*asked.get("add_item", ()), *asked.get("Cart.add_item", ())}
    for text in of(corpus, "half a name"):
        assert text not in {"add_item", "total_price"}


def test_the_same_seed_asks_the_same(repository: Path, tmp_path: Path) -> None:
    one, other = (build(repository, tmp_path / name, seed=5) for name in ("one", "other"))
    assert one.questions == other.questions


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("fix(net): close idle connections first (#3)", "close idle connections first"),
        ("[core] Keep the order of headers\n\nThey were sorted.\n\nSigned-off-by: A", "Keep the order of headers. They were sorted."),
        ("Merge branch 'main'", ""),
        ("Bump version to 3", ""),
        ("Fix typo in the parser of headers", ""),
        ("wip", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_what_a_message_asks(message: str, question: str) -> None:
    assert question_of(message) == question


def test_lines_and_files_are_read_from_one_ranking() -> None:
    def hit(path: str, start: int) -> Hit:
        return Hit(1, "code", path, start, start + 4, None, None, "python", 1.0, "", start, (), 1)

    hits = [hit("a.py", 1), hit("a.py", 11), hit("b.py", 1)]
    found = read_lines(Question("q", "commit", (Target("a.py", 12, 13), Target("b.py", 40, 50))), hits)
    assert (found.rank, found.file_rank) == (2, 1)
    assert found.ndcg == pytest.approx(0.6309 / 1.6309, abs=1e-3)
    assert found.file_ndcg == 1.0


def test_both_measurements_run(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lines.main([str(repository), "--json", "--most", "5"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert all(row["NDCG@10"] >= 0 for row in table.values())
    assert weights.main([str(repository), "--json", "--most", "5"]) == 0
    learned = json.loads(capsys.readouterr().out)
    assert set(learned["weights"]) == {*learner.LEARNED}
    assert min(learned["weights"].values()) >= 0
    assert 0 <= learned["languages"]["python"]["learned"] <= 1


def test_the_worth_of_each_number(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "_LEAST", 1)
    assert lines.main([str(repository), "--ablation", "--json", "--most", "5"]) == 0
    worth = json.loads(capsys.readouterr().out)["without"]
    assert worth["without exact-name"]["comment"] == 0
    assert worth["no adjustments at all"].keys() == worth["without length"].keys() >= {"commit", "comment", "name"}


def test_a_folder_without_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no git repository"):
        build(tmp_path, tmp_path / "tree")
