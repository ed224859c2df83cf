"""Whatever happens to a project: the index after it equals one made from nothing."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import RefusedError
from tests.gitrepo import Repo
from tests.indexing import canonical, configured, fresh, index
from tests.tiers import examples

NAMES = st.sampled_from(
    [
        "a.py", "b.py", "A.py", "sp ace.py", "é/日本.py", "new\nline.md", "pkg/c.py", "pkg/deep/d.go", "build/e.py",
        "dist/f.js", "notes.md", "data", "tool", "yarn.lock", "pkg", "nested", "link.py", "x.min.js", "Cargo.toml",
        "target/g.rs", "bad\udcff.py",
    ]
)  # fmt: skip
CONTENTS = st.sampled_from(
    [
        b"", b"x = 1\n", b"def f(a):\n    return g(a)\n", b"class A:\n    def m(self):\n        return f(1)\n",
        b"# Title\n\nText.\n\n## More\n\nWords.\n", b"#!/usr/bin/env python3\nimport os\nprint(os)\n", b"\0\1\2",
        b"caf\xe9 = 1\n", b"package main\n\nfunc main() {\n\tprintln(1)\n}\n", b"one line\n" * 300,
    ]
)  # fmt: skip
IGNORES = st.sampled_from(["", "*.md\n", "pkg/\n", "/build\n", "*.py\n!a.py\n", "data\ntool\n"])
CONFIGS = st.sampled_from(
    [
        {},
        {"exclude": ("pkg/",)},
        {"include": ("*.lock", "dist/")},
        {"max_file_bytes": 20},
        {"exclude": ("*.md", "!notes.md")},
    ]
)


class Project(RuleBasedStateMachine):
    """A repository, one index that follows it, and at every check one made from nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="cm-property-"))
        self.db = Database(self.folder / "store")
        self.fresh = 0
        self.stale = True
        self.config = configured()

    @initialize(git=st.booleans(), first=CONTENTS)
    def start(self, git, first):
        self.repo = Repo(self.folder / "app", init=git)
        self.is_git = git
        self.repo.write("a.py", first)

    def teardown(self):
        self.db.close()
        shutil.rmtree(self.folder)

    def place(self, name: str) -> Path:
        return self.repo.root / name

    def clear(self, name: str) -> None:
        """Remove whatever stands at a path or on the way to it."""
        path = self.place(name)
        for above in [*reversed(path.relative_to(self.repo.root).parents), path.relative_to(self.repo.root)][1:]:
            there = self.repo.root / above
            if there.is_symlink() or (there.is_file() and there != path):
                there.unlink()
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def git(self, *words: str) -> None:
        """Run git; what it refuses in this state is simply not done."""
        try:
            self.repo.git(*words)
        except Exception as error:  # noqa: BLE001 - git's refusals are part of the game
            assert "CalledProcessError" in type(error).__name__  # noqa: PT017
        self.stale = True

    @rule(name=NAMES, content=CONTENTS)
    def write(self, name, content):
        self.clear(name)
        self.repo.write(name, content)
        self.stale = True

    @rule(name=NAMES)
    def delete(self, name):
        self.clear(name)
        self.stale = True

    @rule(name=NAMES, other=NAMES)
    def rename(self, name, other):
        if self.place(name).is_file() and name != other and not other.startswith(f"{name}/"):
            self.clear(other)
            self.place(other).parent.mkdir(parents=True, exist_ok=True)
            if self.place(name).exists():
                self.place(name).rename(self.place(other))
            self.stale = True

    @rule(name=NAMES, goal=st.sampled_from(["a.py", "..", "/etc/passwd", "nowhere", "pkg"]))
    def link(self, name, goal):
        self.clear(name)
        self.place(name).parent.mkdir(parents=True, exist_ok=True)
        self.place(name).symlink_to(goal)
        self.stale = True

    @rule(name=NAMES, mode=st.sampled_from([0o644, 0o755]))
    def chmod(self, name, mode):
        if self.place(name).is_file() and not self.place(name).is_symlink():
            self.place(name).chmod(mode)
            self.stale = True

    @rule(folder=st.sampled_from(["", "pkg/"]), lines=IGNORES)
    def ignore(self, folder, lines):
        self.clear(f"{folder}.gitignore")
        self.repo.write(f"{folder}.gitignore", lines)
        self.stale = True

    @rule()
    def nest(self):
        self.clear("nested")
        Repo(self.repo.root / "nested").write("n.py", "n = 1\n")
        self.stale = True

    @precondition(lambda self: self.is_git)
    @rule()
    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "work")

    @precondition(lambda self: self.is_git)
    @rule(
        words=st.sampled_from(
            [
                ("add", "-A"), ("commit", "-q", "-m", "staged"), ("commit", "-q", "-a", "--amend", "-m", "rewritten"),
                ("checkout", "-q", "-f", "-B", "side"), ("checkout", "-q", "-f", "main"), ("checkout", "-q", "-f", "side"),
                ("checkout", "-q", "--detach"), ("reset", "-q", "--hard"), ("reset", "-q", "--hard", "HEAD~1"),
                ("reset", "-q", "--soft", "HEAD~1"), ("reset", "-q"), ("rm", "-q", "-r", "--cached", "--ignore-unmatch", "a.py", "pkg"),
                ("clean", "-q", "-fd"), ("stash", "-q"), ("stash", "pop", "-q"), ("mv", "a.py", "pkg/c.py"),
                ("checkout", "-q", "--orphan", "bare"), ("merge", "-q", "--no-edit", "side"), ("revert", "--no-edit", "HEAD"),
            ]
        )
    )  # fmt: skip
    def use_git(self, words):
        self.git(*words)

    @rule(settings=CONFIGS)
    def configure(self, settings):
        self.config = configured(**settings)
        self.stale = True

    @rule(names=st.lists(NAMES, min_size=1, max_size=3))
    def index_paths(self, names):
        if self.db.get_meta("indexed_at"):
            try:
                index(self.db, self.repo.root, self.config, paths=names)
            except RefusedError:
                # One of them lies below a link that leads outside.
                assert any(parent.is_symlink() for name in names for parent in self.place(name).parents)
            self.stale = True

    @rule(full=st.booleans())
    def index_now(self, full):
        index(self.db, self.repo.root, self.config, full=full)
        self.stale = True

    @rule()
    def check(self):
        """Index, and compare with one made from nothing."""
        if self.stale:
            index(self.db, self.repo.root, self.config)
            self.fresh += 1
            assert canonical(self.db) == fresh(self.folder / f"fresh{self.fresh}", self.repo.root, self.config)
            self.stale = False

    @invariant()
    def nothing_refers_to_nothing(self):
        for table in (
            "symbol",
            "reference",
            "import",
            "binding",
            "chunk",
            "head_file",
            "file_span",
            "worktree",
            "passage",
        ):
            sql = f"SELECT count(*) FROM {table} WHERE blob IS NOT NULL AND blob NOT IN (SELECT id FROM blob)"
            assert self.db.value(sql) == 0

    def finish(self):
        self.check()


class Finished(Project):
    """Checks at the end of every sequence too."""

    def teardown(self):
        try:
            if hasattr(self, "repo"):
                self.check()
        finally:
            super().teardown()


TestProject = Finished.TestCase
TestProject.settings = settings(
    max_examples=examples(15, few=4),
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
