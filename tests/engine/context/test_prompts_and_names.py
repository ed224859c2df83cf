"""Which prompts get context where the project's index can be asked for names: requests, questions, follow-ups, thanks, errors."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cm_tui.engine.search.ranking.prompt_policy import classify

NAMES = frozenset(
    [
        "go",
        "mod",
        "write",
        "install",
        "fails",
        "failing",
        "linter",
        "option",
        "testes",
        "run",
        "test",
        "push",
        "commit",
        "continue",
        "next",
        "merge",
        "review",
        "retry",
        "parser",
        "cart",
        "tax",
        "checkout",
        "migration",
        "steuer",
        "panier",
        "token",
        "commande",
        "pedido",
        "factura",
        "корзины",
        "payment",
        "config",
        "购物车",
    ]
)
"""Names in the index: common words among them, as functions are called."""


def find_names(words: Sequence[str], common: bool = False) -> list[str]:
    return [word for word in words if word in NAMES or (common and word == "proxy")]


REQUESTS = """
fix parser tests
parser: keep trailing comments
yes, but keep the cart total in cents
ok, now add logging to the payment service
rename cart
can you make checkout faster?
docker build fails on arm machines
go test hangs on the parser
git history of the cart is drawn twice
bump python to 3.14 in ci
upgrade postgres driver to v3.2 please
make the second option of the cart the default
the linter follows symlinked folders
fix write
python imports cart in the wrong order
move the migration out of the way
commit the parser without its debug output
rerun push_all
repariere den parser
Bitte die steuer runden
Corrige le calcul de la commande
arregla el pedido vacío
почини расчёт корзины
修复购物车页面的错误
カートの合計を直してください
"""
QUESTIONS = """
how does the proxy work
wie funktioniert der proxy
where is the proxy
how is tax added?
why does the parser hang?
why does the cart fail?
what calls checkout?
where is the token refreshed?
why is lint failing on the build?
how does the linter work
where is the option parsed?
Wo wird die steuer berechnet?
Où est calculé le panier ?
¿Dónde se valida la factura?
Где вычисляется налог на корзину?
购物车的税是怎么计算的?
장바구니 세금은 어디에서 계산하나요
"""
ERRORS = """
TypeError: cannot read properties of undefined (reading 'total')
FAILED tests/test_cart.py::test_total - assert 3 == 4
error[E0382]: borrow of moved value
ld: symbol(s) not found for architecture arm64
panic: runtime error: index out of range
Segmentation fault (core dumped) while loading the config
"""
FOLLOW_UPS = """
continue
go on with that
yes, do it
go, run the tests
push it and open a PR
commit, push and create a pull request
can you run the tests?
merge main and push again
review the PR comments
let's go with option 2
try it again
A. is fine
ok, let's do this one then
origin/main
push it to GitHub
we have merge conflicts
it still fails
the tests are failing again
can you write a test for that
can you write a test for that?
please write a test too
also run the linter
please also format the code
ok then use the first approach
do the second option
clean up the imports please
bitte auch den linter laufen lassen
draai de tests nog een keer
lance aussi le linter
fais la même chose ailleurs
esegui di nuovo i test
rode os testes de novo
uruchom testy jeszcze raz
testleri tekrar çalıştır
запусти тесты ещё раз
再跑一次测试
テストをもう一度実行して
테스트 다시 돌려줘
go mod tidy
npm i lodash
npx jest
pip install -e .
$ npm run build
cargo update -p serde
pytest tests/test_cart.py::test_total -x
1
ja, mach das so
mach weiter mit den tests
bitte commit und push
oui, vas-y
sí, hazlo
da, продолжай
tak, kontynuuj
ja, ga verder
好的,继续
请帮我提交一下
はい、続けてください
네, 계속해줘
"""
THANKS = """
thanks!
perfect, works well now
hmm, ok
danke, passt so
merci beaucoup
muchas gracias
спасибо
ありがとう
"""


def rows(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest.mark.parametrize("prompt", rows(REQUESTS) + rows(QUESTIONS) + rows(ERRORS))
def test_context_is_given(prompt: str):
    assert classify(prompt, find_names).substantive, classify(prompt, find_names)


@pytest.mark.parametrize("prompt", rows(FOLLOW_UPS) + rows(THANKS))
def test_nothing_is_given(prompt: str):
    assert not classify(prompt, find_names).substantive, classify(prompt, find_names)


def test_a_name_of_most_passages_counts_where_it_is_asked_about():
    assert not classify("proxy", find_names).substantive
    assert not classify("keep the proxy", find_names).substantive
    assert classify("why the proxy", find_names).why == "names proxy"


@pytest.mark.parametrize("prompt", ["rename cart", "what calls checkout?", "fix the parser"])
def test_one_name_decides(prompt: str):
    assert not classify(prompt, lambda *_: []).substantive
    assert classify(prompt, find_names).why.startswith("names ")


def test_the_index_is_asked_only_where_it_decides():
    asked: list[Sequence[str]] = []
    for prompt in ("yes, continue", "`total`", "why does the login page ignore the language of the user?"):
        classify(prompt, lambda words, _: asked.append(words) or [])  # type: ignore[func-returns-value]
    assert asked == []
    classify("run the tests of the parser", lambda words, _: asked.append(words) or [])  # type: ignore[func-returns-value]
    assert asked == [["parser"]]


def test_a_long_argument_of_a_command_is_a_prompt():
    assert not classify("/compact keep the plan", find_names).substantive
    assert classify(f"/plan {'add a discount for returning customers to the cart ' * 2}", find_names).substantive
    assert not classify(f"!grep {'discount customers returning cart ' * 3}", find_names).substantive


def test_an_address_is_no_code():
    assert not classify("merge https://example.org/shop/cart.git/pull/4", find_names).substantive
    assert classify("why does https://example.org/shop return the wrong cart?", find_names).substantive
