"""Git's program is run in one place: there a repository's settings are kept from starting anything."""

from __future__ import annotations

import ast
from pathlib import Path

import cm_tui

PACKAGE = Path(cm_tui.__file__).parent
ALLOWED = {"engine/platform/git/safe_git.py"}


def runs_git(tree: ast.AST) -> bool:
    """Whether a module that starts programs has words that begin with git."""
    nodes = list(ast.walk(tree))
    starts = any(
        isinstance(node, ast.Import) and any(name.name == "subprocess" for name in node.names) for node in nodes
    )
    return starts and any(
        isinstance(node, ast.List | ast.Tuple)
        and len(node.elts) > 1
        and isinstance(node.elts[0], ast.Constant)
        and node.elts[0].value == "git"
        for node in nodes
    )


def test_one_module_runs_git():
    found = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        if runs_git(ast.parse(file.read_text(encoding="utf-8")))
    }
    assert found == ALLOWED
