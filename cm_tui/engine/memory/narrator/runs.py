"""The commands that a turn ran, in normal form, with folder and result.

Dropped from a command are `cd` into the checkout (but not into one of its folders), redirections, filters of its
output, wrappers such as `timeout 60`, settings of the terminal, and the checkout in paths. Commands run outside the
checkout, or in an unknown folder, are excluded.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from cm_tui.engine.memory.narrator.lists import pairs, pattern, words
from cm_tui.engine.memory.narrator.shell import Kind, Simple, kind_of, simple_commands
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.model import Step

State = Literal["ok", "failed", "missing", "unsure", "unknown"]
"""`missing`: there is no such command; `unsure`: it ran, and a filter hid its result; `unknown`: of several commands that ran
together, one failed."""
MOST_STEPS = 400
"""Most runs of a turn; later ones are ignored."""
LONGEST = 160
"""Longest command, in characters, that a user would repeat."""
_LINE = 2_000
_CUT = 590
"""Length from which on a text may have been cut when it was recorded."""
_SHELLS = pattern("runs", "shells")
_SCRIPT = re.compile(r"\btools\.\w+\(|\bALL_TOOLS\b|^[ \t]*(?:(?:const|let|var)\s|text\()", re.MULTILINE)
"""JavaScript that Codex gives to its tool `exec`."""
_FILTERS = words("filters")
_NOISE = words("environment")
_MISSING = pattern("runs", "missing")
_WRAPPERS = {name: int(own) for name, own in pairs("wrappers").items()}
_VALUED = frozenset(("-k", "-s", "-n", "-c", "-p", "-u"))
_SYSTEM = re.compile(r"(?:/usr(?:/local)?|/opt/homebrew|/home/linuxbrew/\.linuxbrew)?/s?bin/([\w.+-]+)")
_PLAIN = re.compile(r"[\w./:@%+,=^~*?\[\]{}#!-]+")
_UNSURE_OF = re.compile(r"[$`\n\0]")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a line, without its result."""

    text: str
    """In normal form, with its folder; it may contain `[redacted: …]`."""
    words: tuple[str, ...]
    """Program and arguments; for a pipeline, of its first command."""
    env: tuple[str, ...]
    place: str
    """Folder below the checkout; empty: its root."""
    kind: Kind
    is_lasting: bool
    """Nothing in it depends on this one machine or moment."""
    is_hidden: bool
    """Filters or later commands hide whether it failed."""


class Run(NamedTuple):
    """A command that a turn ran."""

    command: Command
    state: State
    step: int
    """Which step ran it; -1: the person did."""
    line: str
    """Its original text, cut."""
    output: str


def runs_of(record: EpisodeRecord) -> tuple[Run, ...]:
    """Return the commands of a turn in order, without those that only look around."""
    found: list[Run] = []
    for prompt in record.prompts:
        if prompt.startswith("! ") or (record.type == "command" and prompt):
            line = prompt.removeprefix("! ").strip()
            found += _runs(line, record.root, -1, "", failed=record.outcome == "failed" and record.type == "command")
    for number, step in enumerate(record.steps[:MOST_STEPS]):
        if is_shell(step):
            found += _runs(step.text, record.root, number, step.result, failed=step.failed)
    return tuple(found)


def is_shell(step: Step) -> bool:
    """Return whether a step gave a line to a shell."""
    if step.kind != "tool" or len(step.tool) >= 60 or _SHELLS.fullmatch(step.tool) is None:
        return False
    return step.tool != "exec" or _SCRIPT.search(step.text) is None


def _runs(line: str, root: str, number: int, output: str, *, failed: bool) -> Iterator[Run]:
    if not line or len(line) > _LINE:
        return
    commands = commands_of(line, root)
    if not commands:
        return
    is_doubtful = failed or any(command.is_hidden for command in commands)
    is_missing = is_doubtful and _MISSING.search(output[:2_000]) is not None
    for command in commands:
        state: State = "ok"
        if failed:
            state = ("missing" if is_missing else "failed") if len(commands) == 1 else "unknown"
        elif command.is_hidden:
            state = "missing" if is_missing and len(commands) == 1 else "unsure"
        yield Run(command, state, number, line[:400], output)


@lru_cache(maxsize=8_192)
def commands_of(line: str, root: str, *, looking: bool = False) -> tuple[Command, ...]:
    """Return the commands of a line. `line`: input of a shell; `looking`: also those that only look around."""
    simples = simples_of(line)
    found: list[Command] = []
    last = len(simples) - 1
    place: str | None = ""
    outer = place
    was_inner = False
    for number, simple in enumerate(simples):
        if was_inner and not simple.is_inner:
            place = outer
        elif simple.is_inner and not was_inner:
            outer = place
        was_inner = simple.is_inner
        if simple.words[0] in ("cd", "pushd") and simple.joined != "||":
            place = _below(root, place, simple.words[1:])
            continue
        if place is None or simple.joined in ("|", "|&", "||") or (number == last and len(line) >= _CUT):
            continue
        rest = simples[number + 1 :]
        command = _command(simple, rest, root, place, looking=looking)
        if command is not None:
            found.append(command)
    return tuple(found)


def simples_of(line: str) -> tuple[Simple, ...]:
    """Return the simple commands of a line; of one for another shell (`bash -lc '…'`) that shell's."""
    simples = simple_commands(line)
    return simple_commands(simples[0].words[2]) if len(simples) == 1 and _is_shell_of(simples[0].words) else simples


def _is_shell_of(words: Sequence[str]) -> bool:
    """Return whether a command is a shell with a line."""
    return (
        len(words) == 3
        and words[1] in ("-c", "-lc", "-ic", "-lic")
        and words[0].rpartition("/")[2] in ("bash", "sh", "zsh", "dash")
    )


def _command(simple: Simple, rest: Sequence[Simple], root: str, place: str, *, looking: bool) -> Command | None:
    words, env = _unwrapped(simple.words, simple.env)
    if not words:
        return None
    words = tuple(_here(word, root, place) for word in words)
    system = _SYSTEM.fullmatch(words[0])
    words = (system[1], *words[1:]) if system is not None else words
    kind = kind_of(words)
    if kind == "looking" and not looking:
        return None
    is_hidden, more = False, []
    for other in rest:
        if other.joined in ("|", "|&"):
            is_hidden = True
            if other.words[0].rpartition("/")[2] not in _FILTERS and kind_of(other.words) != "looking":
                more.append(written(other.words))
            continue
        is_hidden = is_hidden or other.joined in (";", "||", "&")
        break
    kept = tuple(_here(one, root, place) for one in env if one.partition("=")[0] not in _NOISE)
    text = " | ".join((" ".join(filter(None, (*map(_assigned, kept), written(words)))), *more))
    # Between two commands, `cd` sets the folder: it is part of the work.
    text = f"cd {written((place,))} && {text}" if place else text
    is_lasting = not any(map(_is_of_moment, (*words, *kept))) and len(text) <= LONGEST and "`" not in text
    return Command(text, words, kept, place, kind, is_lasting, is_hidden)


def _unwrapped(words: tuple[str, ...], env: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a command without programs that only run it, and without assignments."""
    for _ in range(4):
        program = words[0].rpartition("/")[2] if words else ""
        if program not in _WRAPPERS:
            break
        own, at = _WRAPPERS[program], 1
        while at < len(words):
            word = words[at]
            if word.startswith("-") and len(word) > 1:
                at += 2 if word in _VALUED and program != "command" else 1
            elif program == "env" and _ASSIGNED.match(word):
                env = (*env, word)
                at += 1
            elif own:
                own, at = own - 1, at + 1
            else:
                break
        words = words[at:]
    return words, env


def written(words: Sequence[str]) -> str:
    """Return words as a shell would take them."""
    return " ".join(word if _PLAIN.fullmatch(word) else _quoted(word) for word in words)


def _quoted(word: str) -> str:
    return f"'{word}'" if "'" not in word else '"' + re.sub(r'([\\"])', r"\\\1", word) + '"'


def _assigned(one: str) -> str:
    name, _, value = one.partition("=")
    return f"{name}={written((value,)) if value else ''}"


def _here(word: str, root: str, place: str) -> str:
    """Return a word with the checkout's own path taken out of it."""
    if not root or root == "/" or root not in word:
        return word
    where = f"{root}/{place}" if place else root
    for base in (where, root):
        back = "../" * (place.count("/") + 1) if place and base == root else ""
        word = re.sub(rf"(?<![\w/.-]){re.escape(base)}(?:/(?=.)|(?=[/:\s'\"]|$))", back or "", word)
    return word or "."


def _below(root: str, place: str | None, words: Sequence[str]) -> str | None:
    """Return the folder below the checkout where `cd` leads; None: outside of it, or unknown."""
    given = [word for word in words if not word.startswith("-")]
    if len(given) != 1 or _UNSURE_OF.search(given[0]) or given[0].startswith("~"):
        return None
    to = given[0]
    if to.startswith("/"):
        base = root.rstrip("/")
        if not base or not (f"{to}/").startswith(f"{base}/"):
            return None
        to = to[len(base) :].lstrip("/")
    elif place is None:
        return None
    elif place:
        to = f"{place}/{to}"
    to = posixpath.normpath(to) if to else "."
    return None if to.startswith("..") else "" if to == "." else to


def _is_of_moment(word: str) -> bool:
    """Return whether a word depends on the machine or the moment: variables, other folders, generated names."""
    if _UNSURE_OF.search(word):
        return True
    value = word.partition("=")[2] if word.startswith("-") or _ASSIGNED.match(word) else word
    return (value.startswith(("/", "~", "../../")) and len(value) > 1) or _OF_MOMENT.search(word) is not None


_OF_MOMENT = pattern("runs", "of_moment", 0)
"""… and the numbers of tasks, tickets and requests."""
