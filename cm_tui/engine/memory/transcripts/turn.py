"""A session's turn in a transcript: built record by record, within limits, from untrusted data."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, NamedTuple

from cm_tui.engine.memory.transcripts.patches import Patch
from cm_tui.engine.platform.redaction.redact import BEYOND
from cm_tui.model import Outcome, StepKind

PROMPT_CHARACTERS = 8_000
"""Most characters of a prompt."""
ANSWER_CHARACTERS = 8_000
"""Most characters of an answer."""
STEP_CHARACTERS: Mapping[StepKind, int] = {"said": 2_000, "thought": 600, "plan": 4_000, "tool": 600}
"""Most characters of a step."""
RESULT_CHARACTERS = 400
"""Most characters of a tool's output."""
ERROR_CHARACTERS = 600
"""Most characters of the end of a failed tool's output, in addition: it contains the error."""
SUMMARY_CHARACTERS = 200
"""Most characters of the end of the output of a test run or build that passed: it contains the counts."""
_PROMPTS = 10
_PROMPTS_NAMED = 100
"""Number of further prompts that distinguish turns without an answer."""
_FIRST_STEPS = 20
_LAST_STEPS = 40
_FILES = 200
_PATH = 1_000
_NAME = 100
_TOOLS = 200
_OPEN = 500
"""Uses of tools whose results are waited for."""
_ID = 200
_OPTIONS = r"(?: [-+][^\s;&|]+(?: [^-+\s;&|][^\s;&|]*)??){0,6}"
_CHECK = re.compile(
    r"(?:^|[;&|(\n/]\s*|\b(?:run|exec|npx|bunx|uvx|time|sudo|python[\d.]* -m|poetry|bundle exec) |-l?c ['\"]?|\w=\S* )"
    r"(?:pytest|tox|nox|unittest|jest|vitest|mocha|rspec|phpunit|ctest|bazel test|"
    rf"(?:npm|pnpm|yarn|bun){_OPTIONS}(?: run)? (?:test|lint|check|build)|"
    rf"(?:cargo|go|dotnet|mvn|mvnw|gradle|gradlew|sbt|swift|mix|zig build|deno){_OPTIONS} :?(?:[\w-]+:)*"
    r"(?:test|build|check|vet|clippy|verify|package|install|compile)|make|just|rake|ninja|mypy|ruff|tsc|eslint)(?![\w./-])"
)
"""A test run, a build or a linter where a command begins."""
_HIDES_STATUS = re.compile(r"\||;(?!\s*$)")
"""A pipe or a later command: the exit status is not that of the check."""
_FAILED_CHECK = re.compile(
    r"\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|\b(?:Failures|Errors): [1-9]|\bFAILED\b|^--- FAIL|^FAIL\b|BUILD FAILURE"
    r"|^error(?:\[E\d+\]| TS\d+)?:|Traceback \(most recent call last\)",
    re.MULTILINE,
)
_PASSED_CHECK = re.compile(
    r"\b[1-9]\d* (?:passed|passing)\b|BUILD SUCCESS|test result: ok|^ok\s|^OK\b|^PASS\b|All checks passed", re.MULTILINE
)


def _result_of_check(line: str, output: str, *, failed: bool) -> Outcome | None:
    """Return the outcome of a test run or build; None: neither its exit status nor its output shows it."""
    if failed or not _HIDES_STATUS.search(line):
        return "failed" if failed else "ok"
    if _FAILED_CHECK.search(output):
        return "failed"
    return "ok" if _PASSED_CHECK.search(output) else None


class Piece(NamedTuple):
    """A text with some characters beyond the limit, so that a secret at the cut is complete."""

    text: str
    limit: int
    is_end: bool = False
    """Its end is kept, not its beginning."""


NOTHING = Piece("", 0)
"""No text."""


def piece(text: str, limit: int) -> Piece:
    """Return as much of a text as is needed to keep so many characters of it."""
    return Piece(text[: limit + BEYOND], limit)


def ending(text: str, limit: int) -> Piece:
    """Return as much of the end of a text as is needed to keep so many characters of it."""
    return Piece(text[-(limit + BEYOND) :], limit, is_end=True)


class Edit(NamedTuple):
    """What a tool writes."""

    path: str
    """The file that it names; empty: none."""
    others: tuple[str, ...]
    """Files that its patch names."""
    patch: str

    @property
    def paths(self) -> tuple[str, ...]:
        """Return all files."""
        return (self.path, *self.others)


@dataclass
class TurnStep:
    """A step, before it is cut and redacted."""

    kind: StepKind
    text: Piece
    tool: str = ""
    result: Piece = NOTHING
    error: Piece = NOTHING
    """End of the result of what failed, and of a test run or build, where it is not in the result."""
    path: str = ""
    failed: bool = False
    edit: Edit | None = None
    """Until its result is known."""


@dataclass
class Turn:
    """A prompt, the steps, and the answer."""

    key: str
    """Names the turn in its session, also where its records are repeated in another file."""
    folder: str = ""
    """The agent's working folder, according to it."""
    earlier_key: str = ""
    """What earlier versions named it by; empty: the same."""
    asked_key: str = ""
    """What named it before it was answered; empty: the same as `key`."""
    is_asked: bool = False
    """One of its prompts is for the agent, not a command that the agent's program runs itself."""
    replaces: list[str] = field(default_factory=list)
    """Names, without an answer, of prompts that had waited in a queue before it began."""
    unkept_prompts: int = 0
    """Number of prompts beyond the limit."""
    held: SessionFacts | None = None
    """The session that it was held in, where a transcript repeats it from another one; None: the transcript's own."""
    began: float | None = None
    ended: float | None = None
    prompts: list[Piece] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)
    """Its last text since the last tool."""
    tools: dict[str, None] = field(default_factory=dict)
    plan: str = ""
    verdict: str = ""
    outcome: Outcome = ""
    patch: Patch = field(default_factory=Patch)
    is_over: bool = False
    """The agent reported the end, or was interrupted."""
    is_damaged: bool = False
    """A part of it could not be read."""
    step_count: int = 0
    _is_answered: bool = False
    _stopped: tuple[Outcome, str] | None = None
    """Outcome and verdict before it was stopped."""
    _unsaid: int = 0
    """Texts omitted from the answer."""
    _first: list[TurnStep] = field(default_factory=list)
    _last: deque[TurnStep] = field(default_factory=lambda: deque(maxlen=_LAST_STEPS))
    _open: dict[str, TurnStep] = field(default_factory=dict)
    _tokens: dict[str, int] = field(default_factory=dict)
    _files: dict[str, None] = field(default_factory=dict)

    @property
    def files(self) -> list[str]:
        """Return the files that it wrote, as the agent names them; those of edits without a result may be written."""
        pending = (path for step in self._open.values() if step.edit for path in step.edit.paths)
        return list(dict.fromkeys((*self._files, *(path[:_PATH] for path in pending if path))))[:_FILES]

    @property
    def steps(self) -> list[TurnStep]:
        """Return the first and the last steps."""
        return [*self._first, *self._last]

    @property
    def tokens(self) -> int:
        """Return the tokens used, without cached ones."""
        return sum(self._tokens.values())

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was done: a command of the agent's program, or an unanswered prompt."""
        return not (self.has_work or self.is_damaged or self._is_answered)

    @property
    def has_work(self) -> bool:
        """Return whether the agent did something, or ended."""
        return bool(self.step_count or self.answer or self.outcome)

    @property
    def is_complete(self) -> bool:
        """Return whether the agent's text came last: the rest may be of another turn."""
        return self.is_over or bool(self.answer)

    def at(self, time: float | None) -> None:
        """Record the time of one of its records; after a clock change, the latest time counts."""
        if time is not None:
            self.began = time if self.began is None else self.began
            self.ended = time if self.ended is None else max(self.ended, time)

    def ask(self, text: str, *, for_agent: bool = True) -> None:
        """Add a prompt. `for_agent`: False for a command that the agent's program runs itself."""
        if not text.strip():
            return
        self.is_asked = self.is_asked or for_agent
        if len(self.prompts) < _PROMPTS:
            self.prompts.append(piece(text, PROMPT_CHARACTERS))
        else:
            self.unkept_prompts += 1

    @property
    def unanswered_keys(self) -> list[str]:
        """Return its keys as a turn without an answer, after each of its prompts: more may follow before the answer."""
        digest, keys = sha256(), list[str]()
        for text in (*(prompt.text for prompt in self.prompts), *[""] * min(self.unkept_prompts, _PROMPTS_NAMED)):
            digest.update(f"{text}\0".encode("utf-8", "replace"))
            keys.append(f"{self.asked_key or self.key} unanswered {digest.hexdigest()[:32]}")
        return keys

    def precede(self, other: Turn) -> None:
        """Add the prompts of an unanswered turn before it; it takes that turn's key and start."""
        prompts = [*other.prompts, *self.prompts]
        self.key, self.prompts = other.key, prompts[:_PROMPTS]
        self.is_asked = self.is_asked or other.is_asked
        self.unkept_prompts += other.unkept_prompts + len(prompts) - len(self.prompts)
        self.began = self.began if other.began is None else other.began

    def answered_by(self, words: str) -> None:
        """Extend its key by the first answer, as the same prompt may occur twice at one time."""
        if not self._is_answered:
            self._is_answered = True
            self.asked_key = self.key
            self.key = f"{self.key} {sha256(words.encode()).hexdigest()[:32]}"

    def say(self, text: str) -> None:
        """Add an agent's text; it is the answer unless an action follows."""
        if text.strip():
            self.answer.append(text[: ANSWER_CHARACTERS + BEYOND])
        if len(self.answer) > _FIRST_STEPS + _LAST_STEPS:
            # As of steps, the first ones and the last ones count.
            del self.answer[_FIRST_STEPS]
            self._unsaid += 1

    def think(self, text: str) -> None:
        """Add a thought."""
        if text.strip():
            self._add("thought", text)

    def intend(self, text: str) -> None:
        """Add a plan; the last one counts."""
        if text.strip():
            self.plan = text[: STEP_CHARACTERS["plan"] + BEYOND]

    def use(self, call: str, tool: str, given: str, path: str = "", edit: Edit | None = None) -> None:
        """Add a tool call.

        `call`: its id, as used by its result; `given`: input as text; `path`: the related file; `edit`: what it writes.
        """
        self._settle_answer()
        name = tool[:_NAME]
        if len(self.tools) < _TOOLS:
            self.tools[name] = None
        step = self._add("tool", given)
        step.tool, step.path, step.edit = name, path[:_PATH], edit
        self._open[call[:_ID]] = step
        if len(self._open) > _OPEN:
            self._written(self._open.pop(next(iter(self._open))))

    def get(self, call: str, text: str, *, failed: bool, diff: Callable[[str], str] = lambda _: "") -> None:
        """Add a tool's output; an edit counts unless it failed.

        `diff`: returns the edit of a file as the program itself reports it; empty: as the tool was given it.
        """
        step = self._open.pop(call[:_ID], None)
        if step is not None:
            edit = self._written(step, failed=failed)
            if edit is not None:
                self.patch.add((edit.path and diff(edit.path)) or edit.patch)
            step.result, step.failed = piece(text, RESULT_CHARACTERS), failed
            is_check = _CHECK.search(step.text.text[:2_000]) is not None
            last = ERROR_CHARACTERS if failed else SUMMARY_CHARACTERS if is_check else 0
            if len(text) <= RESULT_CHARACTERS + last:
                step.result = piece(text, len(text))
            elif last:
                step.error = ending(text, last)
            if is_check:
                outcome = _result_of_check(step.text.text[:2_000], text[-10_000:], failed=failed)
                if outcome is not None:
                    line = " ".join(step.text.text.split())[:200]
                    self.verdict = f"`{line}` {'passed' if outcome == 'ok' else 'failed'}"
                    self.outcome = outcome

    def _written(self, step: TurnStep, *, failed: bool = False) -> Edit | None:
        """Note the files of an edit; return it unless it failed."""
        edit, step.edit = None if failed else step.edit, None
        for path in edit.paths if edit else ():
            self.write(path)
        return edit

    def write(self, path: str) -> None:
        """Note that a file was written."""
        if path and len(self._files) < _FILES:
            self._files[path[:_PATH]] = None

    def spend(self, message: str, tokens: int) -> None:
        """Record the tokens of a message; agents repeat them with each part of the message."""
        self._tokens[message[:_ID] or str(len(self._tokens))] = tokens

    def stop(self, outcome: Outcome, verdict: str) -> None:
        """Note that it ended before it was done."""
        self._stopped = (self.outcome, self.verdict)
        self.outcome, self.verdict, self.is_over = outcome, verdict, True

    def continue_turn(self) -> None:
        """Record that the agent continues: an earlier error was not the end of the turn."""
        if self._stopped is not None and self.outcome == "failed":
            self.outcome, self.verdict = self._stopped
        self._stopped = None

    def damage(self) -> None:
        """Note that a part of it could not be read."""
        self.is_damaged = True
        self.verdict = self.verdict or "a part of the turn could not be read"

    def waits_for(self, call: str) -> bool:
        """Return whether the result of a tool's use is waited for."""
        return call[:_ID] in self._open

    def waits_for_part(self, text: str) -> bool:
        """Return whether a damaged text names a tool call without a result so far."""
        return any(call and call in text for call in self._open)

    def _settle_answer(self) -> None:
        """Turn the texts so far into steps: an action followed."""
        for text in self.answer:
            self._add("said", text)
        self.step_count += self._unsaid
        self.answer, self._unsaid = [], 0

    def _add(self, kind: StepKind, text: str) -> TurnStep:
        self.step_count += 1
        step = TurnStep(kind, piece(text, STEP_CHARACTERS[kind]))
        if len(self._first) < _FIRST_STEPS:
            self._first.append(step)
        else:
            self._last.append(step)
        return step


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """Facts about a session, from the first records of a transcript."""

    agent: str
    session: str
    folder: str = ""
    """Where it was begun: it belongs to the project there."""
    parent: str = ""
    """The session that started it."""
    continues: str = ""
    """The session that it continues."""
    title: str = ""
    began: float | None = None
    commit: str = ""
    """A commit that its repository had."""
    remote: str = ""
    """An address that its repository had."""
    first_commit: str = ""
    """The commit that its repository begins with."""

    def having(self, **changes: Any) -> SessionFacts:
        """Return the facts with some of them changed."""
        return replace(self, **changes)
