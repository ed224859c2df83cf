"""What sounds lasting in a turn: cut off from orders, corrected, made tidy, and told apart by kind and scope."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.memory.narrator.cues import is_foreign
from cm_tui.engine.memory.narrator.miners import statements
from cm_tui.engine.memory.narrator.miners.statements import (
    Statement,
    kind_of,
    may_correct,
    observation,
    scope_of,
    statements_in,
    tidy,
    weigh_sentences,
)
from cm_tui.engine.memory.narrator.own_words import sentences_in
from cm_tui.engine.memory.narrator.turn import takes_back
from cm_tui.engine.memory.narrator.wording import polarity
from tests.bench import narrator_histories
from tests.engine.narrator.miners.turns import turn

_SENTENCES = Path(narrator_histories.__file__).parent / "sentences.json"


def texts(*sentences: str, corrects: bool = False) -> list[str]:
    return [one.text for one in weigh_sentences(sentences, corrects)]


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("fix the bug, and never commit to main", "Never commit to main."),
        ("fix the bug and always run the linter", "Always run the linter."),
        ("add a test; we never merge without tests", "We never merge without tests."),
        ("could you fix it, and from now on we always use tabs", "From now on we always use tabs."),
        ("fix the header and add a test and we always use tabs", "We always use tabs."),
        ("why is it red? and never commit to main", "Never commit to main."),
    ],
)
def test_what_lasts_is_cut_off_an_order(sentence: str, text: str) -> None:
    (one,) = weigh_sentences((sentence,), corrects=False)
    assert one.text == text
    assert one.quote in sentence
    assert one.quote != sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "we always use tabs and never use spaces",
        "we always lint and always test",
        "never rebase and push",
        "always use black and white icons",
        "we looked at GraphQL and decided against it",
        "Kafka was evaluated, and turned down again",
    ],
)
def test_two_halves_of_one_rule_stay_together(sentence: str) -> None:
    (one,) = weigh_sentences((sentence,), corrects=False)
    assert one.quote == sentence


@pytest.mark.parametrize(
    ("sentence", "is_whole"),
    [
        ("we dropped it last year on purpose", False),
        ("we've rejected them for good", False),
        ("for 3 drop utc, we decided that in dev", False),
        ("for 3 weeks we decided to freeze main", True),
        ("uploads go to S3, we decided that last week", True),
        ("we rejected Kafka for good", True),
        ("On 3.11 we always use tomllib", True),
        ("for 32-bit targets we never use atomics", True),
        ("we need them in UTC at every boundary", True),
        ("on 2, keep the old names", False),
        ("That's not true, I know there is one", False),
        ("I didnt ask you to put that in code at all", False),
        ("I only wanted you to create a task, not to work on it", False),
        ("I didn't ask for a readme, never add one", True),
        ("I never want emojis in answers", True),
        ("We leak the address otherwise.", False),
        ("they are cached otherwise", False),
        ("We close them, otherwise it leaks", True),
        ("No code was provided.", False),
        ("No tests were run", False),
        ("No code was provided by vendors, so we never rely on theirs", True),
    ],
)
def test_what_is_only_understood_with_what_was_before_is_no_fact(sentence: str, is_whole: bool) -> None:
    said = Statement(sentence, sentence, ("decision",), 0.9)
    assert (observation(turn(prompts=(sentence,)), "decision", said) is not None) == is_whole


@pytest.mark.parametrize(
    "sentence", ["rename it and push", "fix the build", "why is it red?", "looks good, thanks", "", "and", "; and ;"]
)
def test_an_order_says_nothing_that_lasts(sentence: str) -> None:
    assert weigh_sentences((sentence,), corrects=False) == ()


@pytest.mark.parametrize(
    "rule",
    [
        "Use `~/lib` for all imports of the application.",
        "Use `pnpm`, not `npm`.",
        "Use `tokio::fs` instead of `std::fs` in async code.",
        "Prefer named constants over magic numbers.",
        "Wrap API calls in `withRetry()`.",
        "No default exports in components.",
        "Keep route handlers thin.",
    ],
)
def test_rules_in_the_style_of_instruction_files_last(rule: str) -> None:
    assert [one.quote for one in weigh_sentences((rule,), corrects=False)] == [rule]


@pytest.mark.parametrize(
    "order",
    [
        "Use the fetch helper here.",
        "Use `retry()` for this call.",
        "Keep the old column for now.",
        "Add a `nights` field to `bookings`.",
        "use the same modal",
        "Use a dropdown for the results.",
        "Put it into `src/types/`.",
        "no restriction needed",
        "Keep both buttons.",
    ],
)
def test_orders_in_the_same_style_do_not(order: str) -> None:
    assert weigh_sentences((order,), corrects=False) == ()


def test_what_others_say_counts_unless_the_user_asks_about_it() -> None:
    (one,) = weigh_sentences(("Legal says we must never log addresses.", "Fix the footer."), corrects=False)
    assert one.quote.startswith("Legal")
    assert (
        weigh_sentences(("Ada says we should always use threads.", "I doubt it, is she right?"), corrects=False) == ()
    )


def test_only_what_follows_an_answer_corrects_it() -> None:
    prompt = ("no, tests belong into tests/unit",)
    first, answered = turn(prompts=prompt), turn(prompts=prompt, before=turn(answer="I put them beside the source."))
    silent = turn(prompts=prompt, before=turn(answer=""))
    assert [kind_of(one) for one in statements_in(answered)] == ["correction"]
    for one in (first, silent):
        assert all("corrects" not in found.cues for found in statements_in(one))


def test_only_the_first_sentence_that_says_anything_corrects() -> None:
    def corrects(*sentences: str) -> list[bool]:
        return ["corrects" in one.cues for one in weigh_sentences(sentences, corrects=True)]

    assert corrects("no, we always put tests into tests/unit", "we always use tabs for makefiles") == [True, False]
    assert corrects("No!", "tests always belong into tests/unit") == [True]
    assert corrects("we always deploy from main", "no, wait")[0] is True
    assert corrects("the icons are fine", "we always use tabs for makefiles") == [False]


@pytest.mark.parametrize(
    "sentence",
    [
        "no, use uv", "Nope, wrong file", "wrong: use tabs", "stop doing that", "don't touch it", "don’t touch it", "not there", "undo that please", "revert that",
        "I told you to use tabs", "I said tabs", "you forgot the test", "that's not how we do it", "that was wrong", "use uv instead", "we have a helper for that",
        "ugh, no", "oh come on, not again", "slugify exists already", "tests belong in tests/unit", "why did you do that", "as I said, tabs", "put it back", "Tabs! Not spaces",
    ],
)  # fmt: skip
def test_a_prompt_that_begins_like_this_may_correct(sentence: str) -> None:
    assert may_correct((sentence,))


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Nein, Bilder gehören nicht ins Repo, die liegen im Bucket.", "Nein, Bilder gehören nicht ins Repo, die liegen im Bucket."),
        ("Falsch, wir nehmen hier pnpm statt npm", "Falsch, wir nehmen hier pnpm statt npm."),
        ("Non, on ne teste jamais contre SQLite, on a un vrai Postgres", "Non, on ne teste jamais contre SQLite, on a un vrai Postgres."),
        ("Pas comme ça : les modèles ne vont pas dans le contrôleur", "Pas comme ça : les modèles ne vont pas dans le contrôleur."),
        ("No, los precios se guardan en céntimos, aquí todo es entero", "Los precios se guardan en céntimos, aquí todo es entero."),
        ("Así no, no usamos los hooks de husky en este repo", "Así no, no usamos los hooks de husky en este repo."),
        ("No, le date le convertiamo solo nel client", "Le date le convertiamo solo nel client."),
        ("Non così, i test vanno nella cartella spec da noi", "Non così, i test vanno nella cartella spec da noi."),
        ("Nee, we bouwen dat altijd met vite", "Nee, we bouwen dat altijd met vite."),
        ("Fout, sleutels mogen niet in de code", "Fout, sleutels mogen niet in de code."),
        ("Não, aqui os preços são em centavos e não em reais", "Não, aqui os preços são em centavos e não em reais."),
        ("Assim não, a gente guarda as chaves no cofre, todas as chaves", "Assim não, a gente guarda as chaves no cofre, todas as chaves."),
    ],
)  # fmt: skip
def test_a_correction_in_another_language_that_sounds_lasting_is_one(sentence: str, text: str) -> None:
    (one,) = weigh_sentences(sentences_in(sentence), corrects=True)
    assert (one.text, one.weight, kind_of(one)) == (text, statements.EXPLICIT, "correction")


@pytest.mark.parametrize(
    "sentence",
    [
        "Nein, der Knopf soll nach links und nicht nach rechts", "Non, le bouton est trop petit pour le texte", "No, ponlo en rojo y con el borde de antes",
        "No, il titolo è troppo grande per la pagina", "Nee, de knop is nog niet goed zo", "Não, a cor do botão tem que ser mais escura",
    ],
)  # fmt: skip
def test_a_correction_of_one_thing_has_to_be_repeated(sentence: str) -> None:
    assert [one.weight for one in weigh_sentences((sentence,), corrects=True)] == [statements.REPEATED]
    assert weigh_sentences((sentence,), corrects=False) == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "Nein, heute nicht, wir machen das morgen", "Non, on verra ça demain, pour l'instant on ne fait rien", "No, por ahora no usamos todas las claves",
        "Nee, we laten het vandaag zo", "Non cambiare niente, voglio solo capire", "Não mexa em mais nada por enquanto", "N'oublie pas la virgule à la ligne 12",
        "Warum gehören die Bilder nicht ins Repo?",
    ],
)  # fmt: skip
def test_a_correction_of_the_moment_is_none(sentence: str) -> None:
    assert weigh_sentences((sentence,), corrects=True) == ()


def edit(path: str, old: str, new: str) -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@\n # a comment\n-{old}\n+{new}\n"


def test_what_the_agent_takes_back_shows_a_correction_in_any_language() -> None:
    """The edit after a short denial removes what the one before it added; the words are of a language without patterns."""
    first = turn(
        answer="Klart.", files=("a.py",), patch=edit("a.py", "total = 1", "total = float(price)"), actor="import"
    )

    def weights(prompt: str, old: str, path: str = "a.py") -> list[float]:
        patch = edit(path, old, "total = Decimal(price)")
        found = statements_in(turn(prompts=(prompt,), files=(path,), patch=patch, before=first, actor="import"))
        return [one.weight for one in found if kind_of(one) == "correction"]

    said = "beloppen ska vara decimaltal, inte float"
    assert weights(said, "total = float(price)") == [statements.REPEATED]
    # Nothing is taken back, the file is another, nothing is denied, or it is a question, or a long text.
    assert weights(said, "count = 2") == []
    assert weights(said, "total = float(price)", "b.py") == []
    assert weights("beloppen ska vara decimaltal", "total = float(price)") == []
    assert weights("beloppen ska vara decimaltal, inte float?", "total = float(price)") == []
    assert weights(said + ", en gång till" * 20, "total = float(price)") == []


def test_lines_that_are_no_longer_uncommitted_are_taken_back_unless_there_was_a_commit() -> None:
    def taken_back(before: str, after: str) -> bool:
        return takes_back(turn(patch=after, actor="agent", before=turn(patch=before, actor="agent")))

    kept = edit("a.py", "first line", "second line")
    added = kept + "+third line\n"
    assert taken_back(added, kept)
    assert not taken_back(kept, added)
    # After a commit the patch has other lines altogether.
    assert not taken_back(added, edit("a.py", "other line", "new line"))
    assert taken_back(added, edit("a.py", "third line", "new line"))
    assert not taken_back(added, "")


@pytest.mark.parametrize(
    "sentence",
    [
        "Always run the tests with `RACE=1` — the plain build is slow and crashes", "IMPORTANT: never use `any` — define interfaces in src/types",
        "never commit the lock file because the build breaks and fails then",
    ],
)  # fmt: skip
def test_trouble_in_the_reason_for_a_rule_does_not_count_against_it(sentence: str) -> None:
    (one,) = weigh_sentences((sentence,), corrects=False)
    assert one.weight == statements.OUTRIGHT


def test_what_users_do_themselves_counts_once_it_is_repeated() -> None:
    assert [one.weight for one in weigh_sentences(("i'll run the dev server myself",), False)] == [statements.REPEATED]
    assert weigh_sentences(("i'll run it myself",), False) == weigh_sentences(("i'll run the tests",), False) == ()


def test_who_said_you_say_reports_nothing() -> None:
    assert texts("Before you say you're done: `make verify` has to pass in CI.") != []
    assert texts("Tom said 'before a release `make verify` has to pass in CI.'") == []


@pytest.mark.parametrize(
    "sentence",
    ["no hurry", "no problem", "no thanks", "nothing else", "fix the build", "notice the header", "now the same for users", "what's left?", "ok", ""],
)  # fmt: skip
def test_a_prompt_that_begins_like_that_does_not(sentence: str) -> None:
    assert not may_correct((sentence,))


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("please remember to always use tabs", "Always use tabs."),
        ("note that note that tabs are used", "Tabs are used."),
        ("fyi: the QA box is hydra", "The QA box is hydra."),
        ("just so you know, tabs are used here", "Tabs are used here."),
        ("heads up, the build is slow", "The build is slow."),
        ("keep in mind that CI is slow", "CI is slow."),
        ("Decision: we keep the monolith", "We keep the monolith."),
        ("decided: monolith", "Monolith."),
        ("rule: tabs only", "Tabs only."),
        ("important: never push to main!!", "Never push to main!!"),
        ("no no no, use tabs", "Use tabs."),
        ("No! You must not migrate prod", "You must not migrate prod."),
        ("again a new helper... use slugify", "Use slugify."),
        ("I told you, tabs are used", "Tabs are used."),
        ("not there. tests go to tests/unit", "Tests go to tests/unit."),
        ("that's wrong, use tabs", "Use tabs."),
        ("wrong, we use tabs, ok?", "We use tabs."),
        ("use tabs, please", "Use tabs."),
        ("use tabs, thanks.", "Use tabs."),
        ("use tabs, got it?", "Use tabs."),
        ("use tabs, remember that", "Use tabs."),
        ("what is  this\n line?", "What is this line?"),
        ("`pytest -q` runs the tests", "`pytest -q` runs the tests."),
        ("`make lint`", "`make lint`"),
        ("don't commit to main", "Don't commit to main."),
        ("we’re on Node 22", "We’re on Node 22."),
        ("tabs, never spaces", "Tabs, never spaces."),
        ("iOS builds run on the mac", "iOS builds run on the mac."),
        ("snake_case names, always", "snake_case names, always."),
        ("README.md is generated", "README.md is generated."),
        ("we use tabs (only in Makefiles)", "We use tabs (only in Makefiles)"),
        ("- tabs – always –", "Tabs – always."),
        ("stopwatch is the module", "Stopwatch is the module."),
        ("nothing works without it", "Nothing works without it."),
        ("rule of thumb is tabs", "Rule of thumb is tabs."),
        ("remember", ""),
        (" ,;: ", ""),
        ("", ""),
    ],
)
def test_a_sentence_is_written_down_tidily(sentence: str, text: str) -> None:
    assert tidy(sentence) == text
    assert tidy(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "I prefer short answers", "Answer in German", "Your answers should be short", "My editor is vim", "Never guess, ask", "Show me the diff before you commit",
        "No emojis", "Be concise", "Ask me before you push", "I'm colour blind", "For me, tabs", "Talk to me in French", "I am on Linux", "I don't like mocks",
        "Stay terse", "I always work in fish",
    ],
)  # fmt: skip
def test_what_is_about_the_person_goes_with_them(text: str) -> None:
    assert scope_of(text) == "user"


@pytest.mark.parametrize(
    "text",
    [
        "We prefer tabs", "I prefer tabs in our code", "No emojis in the project", "Customers prefer emojis", "The team likes tabs", "Tests run with pytest",
        "I am a Mac user, CI is Linux", "Show me staging first", "Never push to main", "Ask us before you deploy", "The answer is cached",
    ],
)  # fmt: skip
def test_what_is_about_the_project_stays_there(text: str) -> None:
    assert scope_of(text) == "project"


@pytest.mark.parametrize(
    "text",
    ["Backed out of GraphQL for billing.", "Passed on GraphQL for billing.", "Is generated by the gateway.", "Won't use GraphQL for billing.",
     "Must run the linter.", "Decided against GraphQL for billing."],
)  # fmt: skip
def test_half_a_sentence_whose_other_half_is_not_here_says_nothing(text: str) -> None:
    assert observation(turn(), "rejected", Statement(text, text, (), 0.9)) is None


@pytest.mark.parametrize(
    ("kind", "text", "counts"),
    [
        ("decision", "Stripe it is.", False),
        ("decision", "We go with Stripe.", True),
        ("rejected", "No GraphQL.", True),
        ("rejected", "We rejected it.", False),
        ("decision", "We decided that.", False),
        ("statement", "We use Stripe.", False),
        ("statement", "We use Stripe for payments.", True),
        ("correction", "Use uv.", False),
        ("correction", "Use uv, not pip.", True),
        ("statement", "Never.", False),
        ("decision", "We decided.", False),
    ],
)  # fmt: skip
def test_what_says_too_little_by_itself_is_no_observation(kind: str, text: str, counts: bool) -> None:
    assert (observation(turn(), kind, Statement(text, text, (), 0.9)) is not None) == counts  # type: ignore[arg-type]


def test_an_observation_has_what_was_said_and_by_whom() -> None:
    one = Statement("btw never push to main", "Never push to main.", ("never",), 0.7)
    found = observation(turn(prompts=("[Ann] btw never push to main",)), "statement", one)
    assert found is not None
    assert (found.text, found.quote, found.weight, found.speaker) == (one.text, one.quote, 0.7, "Ann")
    assert (found.terms, found.claim, found.scope, found.subject) == (("push", "main"), "not push main", "project", "")
    other = observation(turn(), "statement", Statement("x", "Always push to main.", (), 0.7))
    assert other is not None
    assert (other.terms, other.claim, other.speaker) == (found.terms, "push main", "")


@given(st.text(max_size=400), st.booleans())
def test_any_sentence_is_weighed(sentence: str, corrects: bool) -> None:
    for one in weigh_sentences((sentence, "No!"), corrects):
        assert statements.LEAST <= one.weight <= 1
        assert one.text
        assert "\n" not in one.text
        observation(turn(prompts=(sentence,)), kind_of(one), one)


PLAIN = 0.76
"""What is said in one session is proposed from there on (`tests/bench/narrator_histories/learn.py`)."""


@pytest.mark.parametrize(("half", "least"), [("worked_on", 15), ("kept_aside", 11)])
def test_sentences_of_developers_in_six_languages_are_told_apart(half: str, least: int) -> None:
    """Half of them last; the others are questions, doubts, orders, trouble, logs, and what others said."""
    rows = json.loads(_SENTENCES.read_text(encoding="utf-8"))[half]

    def is_plain(text: str) -> bool:
        return any(one.weight >= PLAIN for one in weigh_sentences(sentences_in(text), corrects=True))

    assert sum(is_plain(row["text"]) for row in rows if row["lasts"]) >= least
    assert [row["text"] for row in rows if not row["lasts"] and is_plain(row["text"])] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Immer Tabs verwenden", "Nie Tabs verwenden"),
        ("Utilise toujours moment.js", "N'utilise jamais moment.js"),
        ("Siempre usa tabs", "Nunca uses tabs"),
        ("Toccare i file in generated", "Non toccare i file in generated"),
        ("We gebruiken tabs", "We gebruiken geen tabs"),
    ],
)
def test_a_denial_in_another_language_is_another_claim(one: str, other: str) -> None:
    assert (polarity(one), polarity(other)) == (1, -1)


@pytest.mark.parametrize(
    "sentence",
    [
        "Immer noch der gleiche Fehler", "Der Export bricht immer ab", "Verwenden wir hier immer UTC?", "Wir sollten vielleicht immer UTC nehmen",
        "On utilise toujours UTC, peut-être", "Chez nous le build plante toujours", "Siempre usa el mismo puerto y falla", "Recuerda arreglarlo hoy",
        "Tom dice che non usiamo mai i trigger", "We gebruiken altijd UTC, zegt Tom",
        "Der Request wurde vom Server abgelehnt.", "Le paiement est rejeté par la banque.", "La petición fue rechazada.", "Il token viene rifiutato.",
        "Het verzoek wordt afgewezen.", "Sollen wir immer UTC nehmen", "Si on passait à Redis, on utilise toujours un préfixe",
        "Mach die Spalten immer so breit wie das Fenster", "Ajoute une case pour toujours rester connecté", "Haz un panel que siempre quede arriba",
        "Schau mal, warum wir immer UTC nehmen", "Dis-moi, si on utilise toujours Redis", "Ya ves, si siempre usamos UTC falla",
        "No toques nada más por hoy", "Recuerda lo que hiciste con el filtro", "Merk dir, was du eben gemacht hast", "Souviens-toi de ce que tu as fait",
        "Ricorda come funzionava il filtro", "Onthoud wat je net deed",
        "if we never cached it, would it be slower",
        "if we had kept Redis we would always key by tenant", "suppose we always used UTC",
    ],
)  # fmt: skip
def test_what_is_asked_doubted_reported_or_supposed_is_no_statement_in_any_language(sentence: str) -> None:
    assert [one for one in weigh_sentences((sentence,), corrects=False) if one.weight >= PLAIN] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Pour les migrations, utilise toujours alembic", "En los tests: nunca uses la red", "Los precios van sin IVA, siempre",
        "Commits bitte immer auf Englisch schreiben", "Mach immer zuerst einen Plan",
    ],
)  # fmt: skip
def test_what_lasts_is_told_by_explicit_words_wherever_they_stand(sentence: str) -> None:
    assert [one.weight >= PLAIN for one in weigh_sentences((sentence,), corrects=False)] == [True]


def test_words_of_grammar_in_another_language_are_no_terms_of_a_statement() -> None:
    text = "Siempre guarda las imágenes en S3 con URL firmada."
    said = observation(turn(prompts=(text,)), "statement", Statement(text, text, ("always",), 0.95))
    assert said is not None
    assert not {"las", "siempr", "con"} & set(said.terms)
    assert {"s3", "url"} <= set(said.terms)


@pytest.mark.parametrize(
    "said", ["在这个文件中我们出现了很多 ts 类型的错误,帮我修复", "Исправь ошибку в файле cart.ts, она есть всегда."]
)
def test_a_sentence_in_another_script_is_not_weighed_as_english(said: str) -> None:
    assert weigh_sentences((said,), corrects=False) == ()
    assert is_foreign(said)
    assert not is_foreign("Sizes are in µm, and π is rounded")


def test_a_preference_in_another_language_is_the_persons() -> None:
    assert [
        scope_of(one) for one in ("Preferisco risposte brevi.", "Antworte immer auf Deutsch.", "Aquí usamos pnpm.")
    ] == ["user", "user", "project"]
