"""Whatever happened to a repository: each commit, on its mainline or off it, is what an index of that commit's checkout says."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import NotFoundError
from cm_tui.model import Cancel
from tests.engine.history.conftest import compare_any_with_fresh, compare_with_fresh, view_of
from tests.gitrepo import Repo
from tests.indexing import configured, index
from tests.tiers import examples

NAMES = st.sampled_from(
    ["a.py", "b.py", "pkg/__init__.py", "pkg/c.py", "pkg/d.py", "docs/n.md", "vendor/modules.txt", "vendor/v.go", "x.min.js",
     "data", "sp ace.py", "é/日本.py", "pkg", "yarn.lock", "bad\udcff.py"]
)  # fmt: skip
CONTENTS = st.sampled_from(
    [
        "", "x = 1\n", "def f(a):\n    return g(a)\n", "from a import f\n\n\ndef g(x):\n    return f(x)\n",
        "class A:\n    def m(self):\n        return self.n()\n\n    def n(self):\n        return f(1)\n",
        "from pkg.c import A\n\n\ndef h():\n    return A().m()\n", "# Title\n\nText.\n\n## More\n",
        "package v\n\nfunc V() {\n\tW()\n}\n", "#!/usr/bin/env python3\nimport a\na.f(1)\n", "\0\1",
    ]
)  # fmt: skip


class Line(RuleBasedStateMachine):
    """A repository that is worked on, and one store that follows it and reads its history again and again."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="cm-line-"))
        self.db = Database(self.folder / "store")
        self.checked = 0

    @initialize(content=CONTENTS)
    def start(self, content):
        self.repo = Repo(self.folder / "app")
        self.repo.write("a.py", content)
        self.repo.commit("first")

    def teardown(self):
        try:
            if hasattr(self, "repo"):
                self.check(1, 2)
                self.check_beside(7, 5)
        finally:
            self.db.close()
            shutil.rmtree(self.folder)

    def git(self, *words: str) -> None:
        """Run git; what it refuses in this state is simply not done."""
        try:
            self.repo.git(*words)
        except Exception as error:  # noqa: BLE001 - git's refusals are part of the game
            assert "CalledProcessError" in type(error).__name__  # noqa: PT017

    @property
    def is_unborn(self) -> bool:
        """Whether HEAD is a branch without a commit."""
        return not self.repo.git("rev-list", "--max-count=1", "--ignore-missing", "HEAD", "--")

    @rule(files=st.dictionaries(NAMES, CONTENTS, min_size=1, max_size=3), subject=st.sampled_from(["a", "b b", "é"]))
    def change(self, files, subject):
        for name, content in files.items():
            place = self.repo.root / name
            for above in reversed(Path(name).parents):
                if (self.repo.root / above).is_file():
                    (self.repo.root / above).unlink()
            if place.is_dir():
                shutil.rmtree(place)
            self.repo.write(name, content)
        self.repo.commit(subject)

    @rule(name=NAMES)
    def delete(self, name):
        self.git("rm", "-q", "-r", "-f", "--ignore-unmatch", name)
        self.repo.commit("delete")

    @rule(name=NAMES, other=NAMES)
    def rename(self, name, other):
        (self.repo.root / other).parent.mkdir(parents=True, exist_ok=True) if not (
            self.repo.root / other
        ).parent.is_file() else None
        self.git("mv", "-f", name, other)
        self.repo.commit("rename")

    @rule(
        words=st.sampled_from(
            [
                ("checkout", "-q", "-f", "-B", "side"), ("checkout", "-q", "-f", "main"), ("checkout", "-q", "-f", "side"),
                ("checkout", "-q", "-f", "--detach", "HEAD~1"), ("reset", "-q", "--hard", "HEAD~1"), ("reset", "-q", "--hard", "HEAD~3"),
                ("commit", "-q", "--amend", "-m", "rewritten"), ("merge", "-q", "--no-edit", "--no-ff", "side"),
                ("merge", "-q", "--no-edit", "-X", "ours", "main"), ("revert", "--no-edit", "HEAD"), ("rebase", "-q", "main"),
                ("checkout", "-q", "-f", "-B", "other", "HEAD~2"), ("merge", "--abort"), ("rebase", "--abort"),
                ("checkout", "-q", "-f", "--orphan", "root"), ("checkout", "-q", "-f", "other"),
                ("merge", "-q", "--no-edit", "--allow-unrelated-histories", "-X", "theirs", "root"),
            ]
        )
    )  # fmt: skip
    def use_git(self, words):
        self.git(*words)

    @rule(full=st.booleans())
    def index_now(self, full):
        index(self.db, self.repo.root, full=full)

    @rule(depth=st.sampled_from([None, 1, 2, 4]))
    def read(self, depth):
        if self.db.get_meta("indexed_at"):
            for _ in view_of(self.db, self.repo.root).backfill(depth=depth, since=None, cancel=Cancel()):
                pass

    @rule(ordinal=st.integers(1, 12))
    def prune(self, ordinal):
        view = view_of(self.db, self.repo.root)
        head = view.commits.head()
        if head is not None and ordinal <= head.ordinal:
            view.prune(before=f"#{ordinal}", older_than=None, everything=False, dry_run=False)

    @rule(one=st.integers(0, 100), other=st.integers(0, 100))
    def check(self, one, other):
        """Read the mainline whole, and compare some of its commits with an index of their checkout."""
        self.git("merge", "--abort")
        self.git("rebase", "--abort")
        index(self.db, self.repo.root)
        view = view_of(self.db, self.repo.root)
        for _ in view.backfill(depth=None, since=None, cancel=Cancel()):
            pass
        status = view.report.status()
        if self.is_unborn:
            # A branch that was begun and has no commit yet.
            assert (status.head, status.length, status.known, status.complete) == (None, 0, 0, False)
            assert status.text == "no history: no commits yet"
            return
        assert status.complete
        line = self.repo.git("rev-list", "--first-parent", "--reverse", "HEAD").split()
        assert [m.sha for m in view.commits.mainline("", None, 1000).rows][::-1] == line
        assert coverage.load(self.db).to_ord == len(line)
        for ordinal in {one % len(line) + 1, other % len(line) + 1, len(line)}:
            self.checked += 1
            compare_with_fresh(self.db, self.repo.root, ordinal, self.folder / f"fresh{self.checked}", configured())
        assert self.db.value("SELECT count(*) FROM file_span WHERE from_ord = 0 OR to_ord <= from_ord") == 0
        self.check_beside(one + other, 1)
        twice = (
            "SELECT count(*) FROM file_span a JOIN file_span b ON a.path = b.path AND a.rowid < b.rowid "
            "AND a.from_ord < coalesce(b.to_ord, 2147483647) AND b.from_ord < coalesce(a.to_ord, 2147483647)"
        )
        assert self.db.value(twice) == 0

    @rule(number=st.integers(0, 100))
    def ask_beside(self, number):
        """Ask about a commit off the mainline, however much of it is known and whatever is on disk."""
        if self.db.get_meta("indexed_at"):
            self.check_beside(number, 1)

    def check_beside(self, number, most):
        """Compare some commits that no first parent of HEAD is with an index of their checkout."""
        if self.is_unborn:
            return  # Distances are counted from HEAD.
        view = view_of(self.db, self.repo.root)
        view.commits.ensure()
        line = {moment.sha for moment in view.commits.mainline("", None, 1000).rows}
        beside = sorted(set(self.repo.git("rev-list", "--all", "--reflog").split()) - line)
        for at in {(number + 3 * step) % len(beside) for step in range(most)} if beside else ():
            self.checked += 1
            compare_any_with_fresh(self.db, self.repo.root, beside[at], self.folder / f"fresh{self.checked}")
            self.count_beside(view, beside[at])

    def count_beside(self, view, sha):
        """Git counts the commits between as we do."""
        place = view.revisions.resolve(sha).moment
        if place.ordinal:
            nearest = view.commits.at(place.ordinal).sha
            assert self.repo.git("merge-base", "--is-ancestor", nearest, sha) == ""
        assert place.ahead >= 1


TestLine = Line.TestCase
TestLine.settings = settings(
    max_examples=examples(12, few=2),
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)


def test_another_branch_is_asked_about_while_that_of_head_has_no_commit():
    state = Line()
    try:
        state.start(content="")
        (first,) = state.repo.git("rev-list", "--all").split()
        state.use_git(words=("checkout", "-q", "-f", "--orphan", "root"))
        state.index_now(full=False)
        assert state.is_unborn
        place = view_of(state.db, state.repo.root).revisions.resolve(first).moment
        assert (place.ordinal, place.sha, place.ahead) == (0, first, 1)
        with pytest.raises(NotFoundError, match="No commits yet"):
            view_of(state.db, state.repo.root).revisions.resolve("HEAD")
        state.delete(name="a.py")
        state.ask_beside(number=0)
    finally:
        state.teardown()
