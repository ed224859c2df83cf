"""Purpose of commands: looking around, work that is the same in every project, or this project's own.

The tables of tools are independent of projects: looking around teaches nothing however often it is done, and universal
work (creating a folder, pushing a branch, adding a package) is not a project's habit, though it may fix an error.

Shell lines, split into the simple commands that they run.

A line may be anything: truncated, with unclosed quotes, a whole script. Only what is certain is taken. A program of
its own (loops, conditions, functions) is not a command to repeat, and yields none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from cm_tui.engine.memory.narrator.lists import pairs, pattern, words

Kind = Literal["looking", "general", "inline", "own"]
"""`inline`: a program given with the command, never run twice; `own`: all other commands."""
_LOOKING = words("looking")
_GENERAL = words("general")
_OWN_OF_GENERAL = {"git": ("submodule", "lfs", "subtree", "crypt")}
_GIT_LOOKS = words("git_looks")
_LOOKS = {name: tuple(subs.split()) for name, subs in pairs("looks").items()}
_COMPOSE = words("compose_looks")
_ADDING = {name: tuple(subs.split()) for name, subs in pairs("adding").items()}
_PLAIN_INSTALLS = words("plain_installs")
"""Installing what a project lists, by the tool that comes with the language: no project's habit."""
_CODE = {name: tuple(subs.split()) for name, subs in pairs("inline").items()}
_RUNNERS = {name: tuple(subs.split()) for name, subs in pairs("runners").items()}
_VALUED = words("runner_values")
_BIN = pattern("shell", "bin", 0)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*(?:\.exe)?|py")
_TELLING = words("about_itself")
_LOOKING_SUBS = frozenset(("describe", "info", "list", "ls", "show", "status", "view"))
"""Sub-commands of any program, also of the project's own, that only look around."""


@lru_cache(maxsize=8_192)
def core_of(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without its launcher: `uv run`, `npx`, `.venv/bin/`, `python -m`."""
    for _ in range(4):
        before = words
        words = _unwrapped(words)
        if words == before:
            break
    return words


def _unwrapped(words: tuple[str, ...]) -> tuple[str, ...]:
    program = words[0] if words else ""
    if "/" in program:
        found = _BIN.search(program)
        if found is not None:
            return (found[1], *words[1:])
        return (program[2:], *words[1:]) if program.startswith("./") and program.count("/") == 1 else words
    if _PYTHON.fullmatch(program):
        return words[2:] if len(words) > 2 and words[1] == "-m" else ("python", *words[1:])
    subs = _RUNNERS.get(program)
    return words if subs is None else _inner_command(words, subs)


def _inner_command(words: tuple[str, ...], subs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that a runner runs, or the command itself."""
    at = 1
    if subs != ("*",):
        if len(words) < 2 or words[1] not in subs:
            return words
        at = 2
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        at += 2 if words[at] in _VALUED else 1
    at += at < len(words) and words[at] == "--"
    return words[at:] or words


@lru_cache(maxsize=8_192)
def kind_of(words: tuple[str, ...]) -> Kind:
    """Return the purpose of a command."""
    core = core_of(words)
    program, rest = (core[0].rpartition("/")[2], core[1:]) if core else ("", ())
    sub = next((word for word in rest if not word.startswith(("-", "+"))), "")
    if program == "uv" and rest[:1] == ("pip",):
        return kind_of(rest)
    if _is_looking(program, rest, sub):
        return "looking"
    if _is_inline(program, rest):
        return "inline"
    if program in ("git", "docker", "podman", "docker-compose"):
        return _of_git(rest, sub) if program == "git" else _of_docker(program, rest, sub)
    is_plain = " ".join((program, *rest)) in _PLAIN_INSTALLS
    return "general" if is_plain or _is_general(program, rest, sub) else "own"


def _is_inline(program: str, rest: tuple[str, ...]) -> bool:
    marks = _CODE.get(program)
    return (marks is not None and (marks[-1] == "*" or any(word in marks for word in rest[:6]))) or (
        program == "python" and not rest
    )


def _is_general(program: str, rest: tuple[str, ...], sub: str) -> bool:
    if program in ("pip", "pip3"):
        return not _FROM_FILES.intersection(rest)
    if sub not in _ADDING.get(program, ()):
        return program in _GENERAL
    behind = rest[rest.index(sub) + 1 :]
    return sub in ("remove", "add") or any(not word.startswith("-") and word not in (".", "./...") for word in behind)


_FROM_FILES = frozenset(("-r", "-e", "--editable", "--requirement", "-c"))


def _is_looking(program: str, rest: tuple[str, ...], sub: str) -> bool:
    if program in _LOOKING or not program or rest in (("-v",), ("-m",), ("-i",)):
        return True
    if rest and (_TELLING.intersection(rest[:2]) or rest[-1] in ("--version", "--help", "-h")):
        return True
    looks = _LOOKS.get(program, ())
    plain = [word for word in rest if not word.startswith(("-", "+"))]
    if _LOOKING_SUBS.intersection(plain[:2]) or plain[1:2] == ["get"]:
        return True
    return sub in looks or (bool(rest) and rest[0] in looks)


def _of_git(rest: Sequence[str], sub: str) -> Kind:
    if rest and rest[0] in ("-C", "-c") and len(rest) > 2:
        return _of_git(rest[2:], next((word for word in rest[2:] if not word.startswith("-")), ""))
    if sub in _OWN_OF_GENERAL["git"]:
        return "own"
    return "looking" if sub in _GIT_LOOKS or not sub else "general"


def _of_docker(program: str, rest: Sequence[str], sub: str) -> Kind:
    if program == "docker-compose" or sub == "compose":
        inner = rest if program == "docker-compose" else rest[list(rest).index("compose") + 1 :]
        if _COMPOSE.intersection(inner[:6]):
            return "looking"
        return "general" if any(word in ("exec", "run", "rm", "kill") for word in inner[:4]) else "own"
    return "general" if sub in _ADDING["docker"] else "own"


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
