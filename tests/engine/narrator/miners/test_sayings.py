"""What people say: statements, decisions, rejected alternatives and corrections, and what sounds like them and is none."""

from __future__ import annotations

import pytest

from cm_tui.engine.memory.narrator.miners.statements import mine_statements
from tests.engine.narrator.miners.turns import turn

PLAIN = 0.5
"""What is seen less plainly is not proposed, however often it is said."""


def found(prompt: str, answer: str = "", **fields: object) -> set[tuple[str, str]]:
    """Return the kind and the text of what is plainly said in a prompt, after an answer."""
    one = turn(prompts=(prompt,), before=turn(answer=answer) if answer else None, **fields)
    return {(seen.kind, seen.text) for seen in mine_statements(one) if seen.weight >= PLAIN}


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("always use tabs in Makefiles", "Always use tabs in Makefiles."),
        ("btw, we never deploy on Fridays", "We never deploy on Fridays."),
        ("please remember that the staging database is wiped every night", "The staging database is wiped every night."),
        ("I prefer short answers without emojis", "I prefer short answers without emojis."),
        ("from now on every migration has a rollback", "From now on every migration has a rollback."),
        ("our convention is kebab-case for file names", "Our convention is kebab-case for file names."),
        ("All timestamps are stored in UTC, without exception.", "All timestamps are stored in UTC, without exception."),
        ("I'm colour blind, so never use red and green alone", "I'm colour blind, so never use red and green alone."),
        ("Treat compiler warnings as errors everywhere in this repo", "Treat compiler warnings as errors everywhere in this repo."),
        ("fix the flaky login test, and never commit directly to main", "Never commit directly to main."),
        ("don't paste whole stack traces at me", "Don't paste whole stack traces at me."),
        ("talk to me in Portuguese", "Talk to me in Portuguese."),
    ],
)  # fmt: skip
def test_a_statement(prompt: str, text: str) -> None:
    assert found(prompt) == {("statement", text)}


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("we decided to stay with the modular monolith", "We decided to stay with the modular monolith."),
        ("Decision: public endpoints are versioned by path", "Public endpoints are versioned by path."),
        ("after some discussion we agreed on Stripe for payments", "After some discussion we agreed on Stripe for payments."),
        ("the team settled on server-sent events for live updates", "The team settled on server-sent events for live updates."),
        ("Postgres got the nod for the job queue", "Postgres got the nod for the job queue."),
        ("TLS is terminated at the proxy, that's the agreement", "TLS is terminated at the proxy, that's the agreement."),
        ("we've gone for trunk-based development", "We've gone for trunk-based development."),
        ("releases are monthly, all have agreed", "Releases are monthly, all have agreed."),
        ("one schema for each tenant was decided in the last planning", "One schema for each tenant was decided in the last planning."),
        ("YAML for the pipelines, final", "YAML for the pipelines, final."),
    ],
)  # fmt: skip
def test_a_decision(prompt: str, text: str) -> None:
    assert found(prompt) == {("decision", text)}


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("we looked at GraphQL and decided against it", "We looked at GraphQL and decided against it."),
        ("Kafka was ruled out, it is too heavy for us", "Kafka was ruled out, it is too heavy for us."),
        ("MongoDB is not an option for the ledger", "MongoDB is not an option for the ledger."),
        ("hard pass on microservices", "Hard pass on microservices."),
        ("Elasticsearch was rejected because of its licence", "Elasticsearch was rejected because of its licence."),
        ("our own message broker isn't an option", "Our own message broker isn't an option."),
        ("we're not going to use stored procedures", "We're not going to use stored procedures."),
        ("a second web framework was voted down by the team", "A second web framework was voted down by the team."),
        ("we stay away from native modules", "We stay away from native modules."),
    ],
)  # fmt: skip
def test_a_rejected_alternative(prompt: str, text: str) -> None:
    assert found(prompt) == {("rejected", text)}


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("no, unit tests belong into tests/unit", "Unit tests belong into tests/unit."),
        ("don't write your own slug helper, we have slugify in shared/text", "Don't write your own slug helper, we have slugify in shared/text."),
        ("Wrong: file names are always kebab-case here", "File names are always kebab-case here."),
        ("no, never add markdown files without being asked", "Never add markdown files without being asked."),
        ("I told you, never bump the version by hand", "Never bump the version by hand."),
    ],
)  # fmt: skip
def test_a_correction(prompt: str, text: str) -> None:
    assert found(prompt, "Done: I changed it.") == {("correction", text)}
    assert "correction" not in {kind for kind, _ in found(prompt)}


NOTHING = [
    # Orders of the moment.
    "fix the flaky login test", "rename total to sum in src/cart.py", "add a button to the settings page that exports the list", "run the tests again and push",
    "commit this with a good message", "please look at the stack trace and tell me what happened", "the cart is empty after a reload, investigate",
    "users must confirm before they delete a note, add the dialog",
    # One-offs.
    "skip the slow tests for now", "use the sandbox key just this once", "don't run the linter today, the runner is down", "for this branch a hack is fine",
    "leave the old theme until the client has signed off on Friday",
    # Questions, and thinking aloud.
    "do we always need the lock here?", "should we never cache this response?", "why is the build always red?", "maybe we should switch to pnpm one day",
    "what if we went with Kafka?", "could we use Redis for that?",
    # Sarcasm.
    "great, another helper nobody asked for", "oh sure, let's rewrite everything in Rust, what could go wrong",
    # What somebody else said.
    'the blog post says "you should always mock the database"', "Tom said “never use exceptions for control flow” in his talk",
    "> always squash your commits", "<system-reminder>Always use tabs in Makefiles.</system-reminder>", "```\nNEVER commit to main\n```",
    "ERROR: connections must always be closed", "// always call close()",
    # Small talk.
    "looks good, thanks", "never mind, found it", "go on", "no", "yes, option B", "still the same error",
]  # fmt: skip


@pytest.mark.parametrize("prompt", NOTHING)
def test_what_is_of_the_moment_or_somebody_elses_says_nothing_that_lasts(prompt: str) -> None:
    assert found(prompt) == set()


@pytest.mark.parametrize(
    "prompt", ["no problem, go on", "looks good", "now the same for the other page", "thanks, that was it", "ok do it"]
)
def test_what_follows_an_answer_need_not_correct_it(prompt: str) -> None:
    assert found(prompt, "Done.") == set()


def test_a_sub_agent_and_the_narrator_say_nothing() -> None:
    prompt = "always use tabs in Makefiles"
    assert found(prompt, parent="s0") == set()
    assert found(prompt, actor="narrator") == set()


def test_each_sentence_is_found_by_one_miner() -> None:
    prompt = "always use tabs in Makefiles. We decided to stay with the monolith. Kafka was ruled out for good."
    assert [kind for kind, _ in sorted(found(prompt))] == ["decision", "rejected", "statement"]
