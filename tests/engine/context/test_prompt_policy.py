"""Which prompts the memory is asked for: the rules as a table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.search.ranking.prompt_policy import Recent, classify

SUBSTANTIVE = """
How is tax added to the cart?
fix login bug
Thanks, looks good. Now add logging to the payment service
yes, but the retry policy ignores network timeouts
why does checkout charge twice
add_tax
parseConfig?
HTTPServer2 crashes
fix utils.py
TypeError in main()
`total`
why Cart.total?
a == b fails
std::vector
Wie wird die Steuer berechnet?
Comment la taxe est-elle calculée ?
修复登录页面的错误
カートの税金はどこで計算されますか
"""

SKIPPED = """
Yes, continue
OK, do it.
k
No, stop!
try again
Thank you, looks good
LGTM
ga door
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
Ja, mach weiter
passt, danke
d'accord, vas-y
sim, continue
да, продолжай
хорошо, спасибо
evet, devam et
是的
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
