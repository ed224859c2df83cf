"""All questions of one repository, and the files to ask them about."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pygit2

from cm_tui.errors import NotFoundError
from tests.bench.corpora import Corpus
from tests.bench.questions import comments, commits, names, sections, test_cases
from tests.bench.questions.snapshot import snapshot, write

SEED = 20


def build(repository: Path, folder: Path, *, most: int = 40, seed: int = SEED) -> Corpus:
    """Write a repository's files as they were some hundred commits ago, and ask about them.

    Args:
        repository: a git repository; its name is that of its folder, or of the one above a folder called `repo`.
        folder: where the files go, without the comments and tests that are asked for.
        most: questions of each kind.
        seed: of what is chosen.

    Raises:
        NotFoundError: there is no repository, or it has no commit.
    """
    try:
        opened = pygit2.Repository(str(repository))
        base, later = commits.base_of(opened)
    except (pygit2.GitError, KeyError) as error:
        raise NotFoundError(f"{repository} is no git repository with commits: {error}") from error
    snap = snapshot(opened, base)
    random = Random(seed)
    questions = [
        *commits.from_commits(opened, later, snap, most),
        *commits.from_document_commits(opened, later, snap, most),
        *names.from_names(snap, random, most),
        *names.half_remembered(snap, random, most),
        *comments.from_comments(snap, random, most),
        *sections.from_sections(snap, random, most),
        *test_cases.from_tests(snap, random, most),
    ]
    write(snap, folder)
    return Corpus(_name(repository), snap.language, folder, tuple(questions))


def _name(repository: Path) -> str:
    parts = [part for part in repository.resolve().parts if part not in {"repo", ".git"}]
    return parts[-1]
