"""`derive_query`: makes the query that later steps ask with."""

from __future__ import annotations

import re

from cm_tui.engine.context.assembly.run_state import RunState
from cm_tui.engine.context.definitions.lint import reference_of
from cm_tui.engine.context.definitions.lookup import MISSING, lookup
from cm_tui.engine.context.definitions.shapes.retrieval import DeriveQuery
from cm_tui.engine.context.definitions.template import plain
from cm_tui.engine.search.ranking.tokens import STOP_WORDS
from cm_tui.errors import CmError

_WORD = re.compile(r"[A-Za-z_][\w.:-]*[\w]|\w+")
_MOST_WORDS = 16
_SHORTEST = 3
_LONGEST = 4_000
_REPHRASE = (
    "Rewrite what a developer asks a coding agent as one short search query for code and notes. "
    "Answer with the query alone: no quotes, no explanation, at most 20 words."
)


def run(step: DeriveQuery, state: RunState) -> None:
    """Set the query: as it is, its words that matter, or as a language model puts it."""
    text = _source(step, state)
    if step.method == "keyword_extract":
        state.query = " ".join(keywords(text)) or text
    elif step.method == "llm_rephrase":
        state.query = _rephrased(text, state)
    else:
        state.query = text
    state.query = state.query[:_LONGEST]
    state.detail = " ".join(state.query.split())[:120]


def _source(step: DeriveQuery, state: RunState) -> str:
    name = reference_of(step.from_)
    if name is not None:
        return state.means.text_of(name)
    found = lookup(state.scope, step.from_)
    if found is MISSING:
        found = lookup(state.scope["task"], step.from_)
    if found is MISSING:
        state.warnings.append(f"{state.name}: there is no field {step.from_!r}; the prompt was taken.")
        return state.task.text
    return " ".join(map(str, found)) if isinstance(found, list) else plain(found)


def keywords(text: str) -> list[str]:
    """Return the content words, each once, in order.

    Names are unchanged; of other words those with three letters or more that are not stop words; at most sixteen, names
    first if there are more.
    """
    found: dict[str, bool] = {}
    for match in _WORD.finditer(text):
        word = match[0]
        is_name = bool(re.search(r"[_.:\d]|[a-z][A-Z]", word))
        if is_name or (len(word) >= _SHORTEST and word.lower() not in STOP_WORDS):
            found.setdefault(word, is_name)
    chosen = sorted(found, key=lambda word: not found[word])[:_MOST_WORDS]
    return [word for word in found if word in chosen]


def _rephrased(text: str, state: RunState) -> str:
    try:
        answer = state.shared(("rephrase", text), lambda: state.means.ask_model(_REPHRASE, text))
    except CmError as error:
        state.warnings.append(f"{state.name}: the prompt was taken as it is. {error.message}")
        state.outcome = "failed"
        return text
    said = " ".join(str(answer).split()).strip("\"'` ")
    if not said or len(said) > 400 or "<" in said:
        state.warnings.append(f"{state.name}: the model answered no query; the prompt was taken as it is.")
        return text
    return said
