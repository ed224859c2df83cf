"""Which prompts the memory is asked for: the rules as a table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.search.ranking.prompt_policy import Recent, classify

SUBSTANTIVE = """
How is tax added to the cart?
fix login bug
explain authentication
fix engine tests
refactor the payment service
Thanks, looks good. Now add logging to the payment service
yes, but the retry policy ignores network timeouts
continue with the parser: it drops trailing comments
why does checkout charge twice
where are migrations applied
add_tax
parseConfig?
HTTPServer2 crashes
fix utils.py
TypeError in main()
`total`
src/cart.ts
why Cart.total?
a == b fails
std::vector
Wie wird die Steuer berechnet?
Wo werden Migrationen ausgeführt?
Comment la taxe est-elle calculée ?
¿Dónde se calcula el impuesto?
Onde o imposto é calculado?
Dove viene calcolata l'imposta?
Где вычисляется налог на корзину?
购物车的税是怎么计算的?
修复登录页面的错误
カートの税金はどこで計算されますか
장바구니 세금은 어디에서 계산하나요
"""

SKIPPED = """
yes
Yes, continue
yes please go ahead
ok
OK, do it.
k
go on
no
No, stop!
continue
try again
thanks!
Thank you, looks good
LGTM
run the tests
ga door
ja, ga verder
commit and push
undo that
what?
why?
fix it
do that for all of them
1
2.
👍
...
/clear
/compact keep the plan
!ls -la
ja
Ja, mach weiter
bitte weitermachen
passt, danke
oui, continue
d'accord, vas-y
sí, continúa por favor
sim, continue
va bene, avanti
да, продолжай
хорошо, спасибо
tak, kontynuuj
evet, devam et
ja, ga verder
好的,继续
是的
继续吧
谢谢
はい、続けて
お願いします
네, 계속해줘
"""


@pytest.mark.parametrize("prompt", SUBSTANTIVE.strip().splitlines())
def test_the_memory_is_asked(prompt: str):
    assert classify(prompt).substantive, classify(prompt)


@pytest.mark.parametrize("prompt", [*SKIPPED.strip().splitlines(), "", "  \n "])
def test_it_is_not_asked(prompt: str):
    assert not classify(prompt).substantive, classify(prompt)


@given(st.text(max_size=300))
def test_every_prompt_gets_a_verdict_with_a_reason(prompt: str):
    verdict = classify(prompt)
    assert verdict.why
    assert classify(f"  {prompt}\n").substantive == verdict.substantive


def test_a_giant_prompt_is_judged_quickly():
    assert classify("a_" * 5_000_000).substantive
    assert not classify("-" * 5_000_000).substantive
    assert classify("word " * 1_000_000 + "other meaning").why


def test_the_same_question_of_a_session_is_answered_once_in_a_minute():
    recent = Recent()
    assert not recent.was_answered("s", "How is tax added?", 0.0)
    recent.answered("s", "How is tax added?", 0.0)
    assert recent.was_answered("s", "  how is\ntax ADDED? ", 59.0)
    assert not recent.was_answered("other", "How is tax added?", 1.0)
    assert not recent.was_answered("s", "How is tax added", 1.0)
    assert not recent.was_answered("s", "How is tax added?", 60.0)
