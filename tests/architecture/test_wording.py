"""Plain English: phrases that are never right in strings, docstrings, comments and guides."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOTS = (
    "cm_tui/agent_hooks", "cm_tui/cli", "cm_tui/config", "cm_tui/daemon", "cm_tui/docs", "cm_tui/engine", "cm_tui/integrations",
    "cm_tui/mcp", "cm_tui/model", "cm_tui/tui", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "styles",
)  # fmt: skip
"""Folders and files that are checked."""
PHRASES = (
    "anew", "whoever", "lest", "heed", "hinders", "has to be said", "is told", "are told", "told of", "taken back", "left out",
    "there is none", "what is none", "came along", "mend it", "mends it", "nobody", "somebody", "let go of", "of now",
)  # fmt: skip
DATA = {
    "cm_tui/engine/memory/narrator/model/prompts/merge.md": "a prompt, whose digest is a part of the key of stored responses",
    "cm_tui/engine/memory/narrator/cues.toml": "patterns that recognise what users write",
    "cm_tui/engine/memory/narrator/lasting.json": "learned weights, by the names of cues",
    "cm_tui/engine/memory/narrator/lists.toml": "stop words, and words that users write",
    "cm_tui/engine/memory/narrator/patterns.toml": "patterns that recognise what users and tools write",
}
"""Files whose strings are data, with the reason; their docstrings and comments are checked."""
TEXT = frozenset({".md", ".sql", ".scm", ".toml", ".json", ".yaml", ".yml", ".txt", ".tcss"})
NEVER = re.compile(rf"\b(?:{'|'.join(map(re.escape, PHRASES))})\b".replace(r"\ ", r"\s+"), re.IGNORECASE)


def files(root: Path) -> Iterator[str]:
    for file in sorted(root.rglob("*")) if root.is_dir() else [root]:
        if file.suffix in TEXT | {".py"}:
            yield file.relative_to(ROOT).as_posix()


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments with their lines; consecutive lines are one comment.

    Those of a source where none can have a phrase are not looked for: finding them takes longer than all else here.
    """
    hashed = [line[line.index("#") :].lstrip("# ") for line in source.splitlines() if "#" in line]
    # Behind a second one there may be a comment that goes on with the line before.
    if not any("#" in line for line in hashed) and not NEVER.search(" ".join(hashed)):
        return
    begin, end, words = 0, 0, []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if words and token.start[0] != end + 1:
            yield begin, " ".join(words)
            words = []
        begin, end = (begin if words else token.start[0]), token.start[0]
        words.append(token.string.lstrip("# "))
    if words:
        yield begin, " ".join(words)


def strings(source: str, *, is_data: bool) -> Iterator[tuple[int, str]]:
    """Yield string literals with their lines; the values of an f-string are replaced by `…`."""
    tree = ast.parse(source)
    docs = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    parts = {id(part) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for part in one.values}
    for one in ast.walk(tree):
        if isinstance(one, ast.JoinedStr) and not is_data:
            yield one.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in one.values)
        elif isinstance(one, ast.Constant) and id(one) not in parts and (id(one) in docs or not is_data):
            yield one.lineno, str(one.value)


def texts(path: str) -> Iterator[tuple[int, str]]:
    content = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".py"):
        yield from strings(content, is_data=path in DATA)
        yield from comments(content)
    elif path not in DATA:
        yield 1, content


@pytest.mark.parametrize("root", ROOTS)
def test_only_plain_english_is_written(root: str):
    wrong = [
        f"{path}:{line + text.count(chr(10), 0, found.start())}: {' '.join(found[0].split())}"
        for path in files(ROOT / root)
        for line, text in texts(path)
        for found in NEVER.finditer(text)
    ]
    assert not wrong, "\n".join(["Use plain English:", *wrong])


def test_each_exception_is_needed():
    for path in DATA:
        assert NEVER.search((ROOT / path).read_text(encoding="utf-8")), path


@pytest.mark.parametrize(
    "source",
    [
        '"""It is told."""',
        "x = 1  # of\n",
        'f"{1} left out"',
        '"nobody" f"{x}"',
        "# what is\n# none\n",
        '"""Left\nout."""',
    ],
)
def test_where_phrases_are_found(source: str):
    found = [*strings(source, is_data=False), *comments(source)]
    assert any(NEVER.search(text) for _, text in found) == ("# of\n" not in source)
