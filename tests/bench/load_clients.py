"""Clients of `just bench load`, each a process of its own: agents over MCP, the application, shells, scripts, one that is mostly idle.

`python load_clients.py KIND SEED TREE` reads a line of JSON for each phase (`{"seconds": 20}`), asks until its time is
over, and prints its answers as one line.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.errors import CmError, NotFoundError

KINDS = ("idle", "script", "agent", "application", "shell", "script", "shell", "agent")
"""The eight clients, in the order in which they join."""
_THINK_S = {"idle": 1.0, "agent": 0.2, "application": 0.1}
"""What a client waits between an answer and its next question."""

Ask = Callable[[], "tuple[int | None, str]"]


class Answer(NamedTuple):
    """One answer, as it is handed over."""

    operation: str
    milliseconds: float
    problem: str
    generation: int | None
    """State of the index that it was given from, where it was kept for a comparison."""
    question: str
    digest: str
    """Of what was answered; the same for the same answer."""


class Questions(NamedTuple):
    """What is asked about a project, the same for every client."""

    words: Sequence[str]
    names: Sequence[str]


def main(kind: str, seed: str, tree: str) -> None:
    """Be one client until there is nothing more to read."""
    questions = Questions(**json.loads(sys.stdin.readline()))
    client = _CLIENTS[kind](Path(tree), questions, random.Random(f"{kind} {seed}"))
    print("ready", flush=True)
    for line in sys.stdin:
        until = time.monotonic() + json.loads(line)["seconds"]
        answers = []
        while time.monotonic() < until:
            answers.append(client.next())
            time.sleep(_THINK_S.get(kind, 0))
        print(json.dumps(answers), flush=True)
    client.close()


class _Client(ABC):
    """One client: chooses the next question and measures its answer."""

    def __init__(self, tree: Path, questions: Questions, chance: random.Random) -> None:
        self.tree = tree
        self._questions = questions
        self._chance = chance

    def next(self) -> Answer:
        """Ask one question."""
        operation, question, ask = self.choose(
            self._chance.choice(self._questions.words),
            self._chance.choice(self._questions.names),
            self._chance.random(),
        )
        started = time.perf_counter()
        problem, generation, digest = "", None, ""
        try:
            generation, digest = ask()
        except NotFoundError:
            digest = "nothing"
        except (CmError, OSError, ValueError) as error:
            problem = f"{type(error).__name__}: {error}"
        return Answer(operation, (time.perf_counter() - started) * 1000, problem, generation, question, digest)

    @abstractmethod
    def choose(self, words: str, name: str, chance: float) -> tuple[str, str, Ask]:
        """Return operation, question, and what asks it."""

    def close(self) -> None:  # noqa: B027 - most have nothing to leave behind
        """Leave."""


class _Script(_Client):
    """A loop over the engine that never pauses."""

    def __init__(self, tree: Path, questions: Questions, chance: random.Random) -> None:
        super().__init__(tree, questions, chance)
        self.asker = Asker(tree)

    def choose(self, words: str, name: str, chance: float) -> tuple[str, str, Ask]:
        """Search, callers or a pack."""
        if chance < 0.4:
            return "search", words, lambda: self.asker.ask("search", words)
        if chance < 0.8:
            return "callers", name, lambda: self.asker.ask("callers", name)
        return "pack", words, lambda: self.asker.ask("pack", words)

    def close(self) -> None:
        self.asker.close()


class _Application(_Script):
    """What the application asks while somebody types and looks around."""

    def choose(self, words: str, name: str, chance: float) -> tuple[str, str, Ask]:
        """Search as one types, symbols, callers."""
        if chance < 0.5:
            return "search", words, lambda: self.asker.ask("search", words)
        if chance < 0.8:
            return "symbols", name, lambda: self.asker.ask("symbols", name)
        return "callers", name, lambda: self.asker.ask("callers", name)


class Asker:
    """Asks the daemon, and makes answers comparable.

    Args:
        tree: the project.
    """

    def __init__(self, tree: Path) -> None:
        from cm_tui.daemon.open_engine import open_engine

        self.engine: Any = open_engine(tree)

    def ask(self, operation: str, question: str) -> tuple[int | None, str]:
        """Return the generation of an answer, and its digest; where it cannot be compared, the latter is empty."""
        if operation == "search":
            result = self.engine.search(question, mode="keyword")
            rows: list[tuple[Any, ...]] = sorted(
                (hit.path, hit.start_line, hit.end_line, round(hit.score, 4)) for hit in result.hits
            )
        elif operation == "callers":
            result = self.engine.callers(question)
            rows = [(edge.site, edge.line, edge.path, edge.qualname, edge.resolution) for edge in result.rows]
        elif operation == "symbols":
            result = self.engine.symbols(match=question, limit=50)
            rows = [(symbol.path, symbol.qualname, symbol.start_line) for symbol in result.rows]
        else:
            self.engine.pack(question)
            return None, ""
        return getattr(result, "generation", None), hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]

    def close(self) -> None:
        """Close the connection."""
        self.engine.close()


class _Agent(_Client):
    """An agent: one MCP session."""

    def __init__(self, tree: Path, questions: Questions, chance: random.Random) -> None:
        super().__init__(tree, questions, chance)
        command = [sys.executable, "-P", "-m", "cm_tui", "--project", str(tree), "mcp"]
        self._process = subprocess.Popen(command, cwd=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._number = 0
        about = {"name": "bench", "version": "1"}
        self._request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about})
        self._send({"method": "notifications/initialized"})

    def choose(self, words: str, name: str, chance: float) -> tuple[str, str, Ask]:
        """Search, callers, or the context for a task."""
        if chance < 0.4:
            return "search", words, lambda: self._call("codememory_retrieve", query=words)
        if chance < 0.6:
            return "callers", name, lambda: self._call("codememory_callers", symbol=name)
        return "context", words, lambda: self._call("context_assemble", question=words)

    def close(self) -> None:
        """End the session."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)

    def _call(self, tool: str, **arguments: Any) -> tuple[int | None, str]:
        result = self._request("tools/call", {"name": tool, "arguments": {**arguments, "project": str(self.tree)}})
        if result.get("isError"):
            text = str(result["content"])
            if "Nothing called" in text:
                raise NotFoundError(text)
            raise ValueError(text[:300])
        return None, ""

    def _request(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise ValueError(str(answer["error"]))
                return dict(answer["result"])
        raise ValueError("The MCP server has gone.")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()


class _Idle(_Agent):
    """An agent that wants the context of a task once a second."""

    def choose(self, words: str, name: str, chance: float) -> tuple[str, str, Ask]:
        """Ask for the context of a task."""
        del name, chance
        return "idle context", words, lambda: self._call("context_assemble", question=words)


class _Shell(_Client):
    """A loop of commands; what is measured is the whole process."""

    def choose(self, words: str, name: str, chance: float) -> tuple[str, str, Ask]:
        """Search, callers or a pack."""
        if chance < 0.4:
            return "shell search", words, lambda: self._run("search", words)
        if chance < 0.8:
            return "shell callers", name, lambda: self._run("callers", name)
        return "shell pack", words, lambda: self._run("pack", words)

    def _run(self, *words: str) -> tuple[int | None, str]:
        command = [sys.executable, "-P", "-m", "cm_tui", "--project", str(self.tree), *words, "--json"]
        done = subprocess.run(command, cwd=self.tree, capture_output=True, text=True, check=False, env=os.environ)
        if done.returncode == 3:
            raise NotFoundError(done.stderr)
        if done.returncode:
            raise ValueError(f"{words[0]} ended with {done.returncode}: {done.stderr[-300:]}")
        return None, ""


_CLIENTS: dict[str, type[_Client]] = {
    "idle": _Idle, "script": _Script, "agent": _Agent, "application": _Application, "shell": _Shell,
}  # fmt: skip

if __name__ == "__main__":
    main(*sys.argv[1:])
