"""Shell lines, split into the simple commands that they run.

A line may be anything: truncated, with unclosed quotes, a whole script. Only what is certain is taken. A program of
its own (loops, conditions, functions) is not a command to repeat, and yields none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

MOST_CHARACTERS = 2_000
"""Characters of a line: a longer one is a script."""
_MOST_COMMANDS = 20
_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\f\v]+|\\\n)
    | (?P<comment>\#[^\n]*)
    | (?P<copy>\d*[<>]&[\d-]+)
    | (?P<redirect>\d*(?:&>>?|<<<|<>|>&|<&|>>|>\||>|<))
    | (?P<operator>&&|\|\||\|&|;;|[;|&\n()])
    | (?P<word>(?:
          [^\s\\'"`$;&|<>()]+ | \\. | '[^']*' | "(?:[^"\\]|\\.)*" | `[^`]*` | \$\((?:[^()]|\([^()]*\))*\) | \$'(?:[^'\\]|\\.)*'
        | \$\{[^}]*\} | \$(?!['({])
      )+)
    | (?P<stray>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1")
_MESSAGE = re.compile(r"\$\(\s*cat\s*$")
_QUOTED = re.compile(r"\$?'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)
_ESCAPED = re.compile(r"\\([\"\\$`])")
_PLAIN = re.compile(r"[\w./:@%+,=*?~\[\]^!#{}-]*")
_SCRIPT = frozenset((
    "for", "while", "until", "if", "case", "select", "function", "then", "else", "elif", "fi", "do", "done", "esac", "{", "}",
    "[[", "((",
))  # fmt: skip
_JOINING = frozenset(("&&", "||", "|", "|&", "&"))
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")


class Simple(NamedTuple):
    """One simple command of a line.

    Attributes:
        words: program and arguments, without quotes, redirections and assignments.
        env: assignments before it.
        joined: separator from the one before: empty, `&&`, `||`, `;`, `|` or `&`.
        is_inner: it runs in a subshell, between parentheses.
    """

    words: tuple[str, ...]
    env: tuple[str, ...] = ()
    joined: str = ""
    is_inner: bool = False


@lru_cache(maxsize=4_096)
def simple_commands(line: str) -> tuple[Simple, ...]:
    """Return the simple commands of a line in order; empty for a script, or if unreadable.

    `line`: input of a shell, which may have several lines.
    """
    if len(line) > MOST_CHARACTERS or "\0" in line:
        return ()
    text = _without_heredocs(line) if "<<" in line else line
    found = tuple(_commands(text))
    if len(found) > _MOST_COMMANDS or any(one.words and one.words[0] in _SCRIPT for one in found):
        return ()
    return found


def _commands(text: str) -> Iterator[Simple]:
    words: list[str] = []
    env: list[str] = []
    joined, depth, is_target = "", 0, False
    for match in _TOKEN.finditer(text):
        kind, piece = match.lastgroup, match[0]
        if kind == "word":
            if is_target:
                is_target = False
            elif not words and _ASSIGNED.match(piece):
                env.append(unquoted(piece))
            else:
                words.append(unquoted(piece))
        elif kind == "redirect":
            is_target = True
        elif kind == "operator":
            if words:
                yield Simple(tuple(words), tuple(env), joined, depth > 0)
                joined = ""
            words, env, is_target = [], [], False
            depth += (piece == "(") - (piece == ")")
            joined = piece if piece in _JOINING else joined if piece in "()" else ";"
        elif kind == "stray":
            # An unclosed quote: the rest is unknown.
            return
    if words:
        yield Simple(tuple(words), tuple(env), joined, depth > 0)


def unquoted(token: str) -> str:
    """Return a word without its quotes."""
    if _PLAIN.fullmatch(token):
        return token
    return _QUOTED.sub(_inside, token)


def _inside(match: re.Match[str]) -> str:
    single, double, escaped = match.groups()
    if single is not None:
        return single
    return escaped if double is None else _ESCAPED.sub(r"\1", double)


def _without_heredocs(text: str) -> str:
    """Remove here-documents; of one that is an argument, the first line stays."""
    for _ in range(_MOST_COMMANDS):
        found = _HEREDOC.search(text)
        if found is None:
            return text
        body = text.find("\n", found.end())
        if body < 0:
            return text[: found.start()]
        end = re.compile(rf"^[ \t]*{found[2]}[ \t]*$", re.MULTILINE).search(text, body)
        inner = text[body + 1 : end.start() if end else None]
        before, after = text[: found.start()], text[end.end() :] if end else ""
        message = _MESSAGE.search(before)
        if message is not None:
            close = after.find(")")
            head = re.sub(r"[\"'`$\\]", "", next((line for line in inner.split("\n") if line.strip()), "")).strip()
            text = before[: message.start()] + head + (after[close + 1 :] if close >= 0 else '"')
        else:
            text = before + text[found.end() : body] + "\n" + after
    return ""
