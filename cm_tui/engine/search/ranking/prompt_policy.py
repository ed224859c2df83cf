"""Which prompts get context: readable rules over the words of a prompt and the names in the project's index.

1. Empty, a command of the agent (`/clear`) or of the shell (`!ls`): no.
2. Something written as code (a name with an inner boundary, a call, a file, backticks): yes, however short.
3. Only words of follow-ups and of git ("yes, continue", "ja, mach weiter", "push it and open a PR"): no, also where a
   symbol of the project is called `push`.
4. A word that names something in the index (symbol, file, module, entry): yes; in an answer ("yes", "push") with two
   words more.
5. Three words that carry meaning in a question, four in a statement, two more in an answer, one less for a task ("fix
   login tests"); fewer where no index can be asked; six characters of a script without spaces: yes; less: no.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from cm_tui.engine.search.ranking.tokens import STOP_WORDS

REPEAT_SECONDS = 60.0
"""The same question of the same session is answered once in this time."""
_LONGEST = 4_000
"""Characters that the rules look at; a prompt that long is substantive anyway."""


FindNames = Callable[[Sequence[str]], Collection[str] | None]
"""Returns the words that are names in a project's index; None: no index."""
_LEAST, _LEAST_UNCHECKED = 3, 2
"""Content words required in a question: without a known name, and without an index."""
_OF_NAME = 3
"""Words more that a name of the index counts for."""
_LONG_ARGUMENT = 80
"""Characters after a command of the agent that are judged like a prompt: the command is one of the user's own."""
_LEAST_UNSPACED = 6
"""Characters of a script without spaces that carry meaning."""


class Verdict(NamedTuple):
    """The decision whether a prompt is worth asking the memory for, and its rule."""

    substantive: bool
    why: str


# Words of follow-ups, in a dozen languages, and of git and reviews. They name nothing unless they are written as code,
# and a statement that has one of them is probably an answer: it has to say a bit more to get context.
_FOLLOW_UP = frozenset(
    """
    yes yep yeah yup no nope nah ok okay k sure right correct exactly agreed perfect great good nice fine cool
    awesome done continue proceed ahead thanks thank thx ty looks lgtm lets hmm oh ah uh um hi hello hey bye commit
    commits committed committing push pushed pushing pull pulled merge merged merging rebase squash stash amend pr
    prs branch branches main master origin upstream conflict conflicts draft review reviews reviewer github gitlab
    linear jira unstaged staged approve approved accept accepted reject ja nein klar gut genau richtig weiter mach
    mache machen weitermachen danke super passt los fertig oui non continuez vas-y vas d'accord daccord merci
    parfait suivant recommence sí si vale claro sigue continúa continua adelante gracias perfecto listo hazlo sim
    não nao prossiga obrigado obrigada perfeito ótimo vai faça sì va bene avanti grazie prego perfetto ancora fallo
    procedi да нет хорошо ладно продолжай продолжайте дальше давай спасибо отлично сделай tak nie dobrze dalej
    kontynuuj dzięki evet hayır tamam devam et teşekkürler graag nee verder ga dank je wel prima
    """.split()  # noqa: SIM905 - read by people, as words
)
# Words that carry no meaning beside those: of talk, and of requests whatever they are about.
_PLAIN = frozenset(
    """
    go goes going next again retry try keep carry resume stop wait cancel undo revert skip abort finish pls please
    bitte nochmal stopp warte пожалуйста стоп proszę lütfen on it does do this that these those them they there
    thing things stuff all both one you your u sounds look works well now then just also still so too not yet and or
    but same run rerun test tests build lint format deploy apply fix let us me i im my we what how why argh maybe
    probably really actually basically anyway anyways totally else even only already always never once ones another
    rest others other own every everything anything something nothing someone way bit lot kind sort of think thought
    guess mean means know see seems seem feel like want wanted wondering wonder need needs make makes made got give
    given take taken put say saying said tell ask asked idea question fair feature simple easy happy clean clear fun
    supposed sense forward back around together later soon today tomorrow first last time times day finally
    follow-up fyi btw imo wdyt definitely create open close mark link reply respond launch request requests stack
    stacked change changes changed update updated message description pipeline ci doch das es dies die der alle
    alles und oder noch mal dann jetzt y s'il sil te vous plait plaît encore bien très c'est cest ca ça le la les
    por favor otra vez eso isso ещё еще это door comment comments issue issues ready ship ticket tickets
    """.split()  # noqa: SIM905
)
_TASKS = frozenset({"build", "deploy", "fix", "format", "lint", "ship", "test", "tests"})
"""Workflow words that, with one word that carries meaning, name a task and its object: "fix engine tests"."""
_SMALL = frozenset(
    """
    a an the of in on at to for from with by as is are was were be been am can could should would will shall may might
    must have has had if than into about out up down off over under he she its our their his her
    ein eine einen im am zum zur mit von für auf aus bei ist sind war wie was wir ich du sie den dem des
    un une des du de dans en à au aux est sont pour avec sur que qui je tu il elle nous
    el los las una unos en es son para con que de del al lo yo tú me te se
    o os as um uma em é são com que do da dos das no na
    il lo gli una di che è sono per con
    и в на с по не что как я ты он она мы
    """.split()  # noqa: SIM905
)
_FOLLOW_UP_UNSPACED = re.compile(
    "好的|好|是的|是|对|对的|继续|可以|请|谢谢|下一步|没问题|行|嗯|了|吧|不|不要|停|完成"
    "|一下|这个|现在|需要|然后|就|把|帮|我|你|的|提交|推送|合并|分支|远程"
    "|はい|いいえ|うん|続けて|続き|お願いします|お願い|ください|ありがとう|次|大丈夫|了解|です|ます|進めて|やって"
    "|네|예|아니요|아니|응|계속해줘|계속해|계속|좋아요|좋아|감사합니다|고마워|다음|진행해줘|진행해|진행|해주세요|해줘|부탁해요?"
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_URL = re.compile(r"https?://\S+")
_COMMAND = re.compile(r"\A(?:/[A-Za-z][\w:-]*(?=\s|\Z)|!)")
_CODE = re.compile(
    r"`[^`]+`"
    r"|\b[A-Za-z]\w*_\w+|\b_+[a-z]\w*"
    r"|\b[a-z][a-z0-9]*[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*|\b[A-Z]{2,}[a-z]{2,}\w*"
    r"|\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w+)+\b(?<!e\.g)(?<!i\.e)"
    r"|\b\w+\(\)|\b\w+\((?!s\))[^)\s][^)]*\)(?=\s|\Z)"
    r"|(?:\A|\s)(?:\.{0,2}/)?[\w.-]+/(?:[\w.-]+/)*[\w-]*\.\w+"
    r"|\w::\w|->|=>|==|!=|<\w+>|\{\w*\}"
)
_WORD = re.compile(r"[^\W_]+(?:['’/-][^\W_]+)*")
_ENDING = re.compile(r"(?:n't|'(?:s|m|d|ll|re|ve))\Z")
_LISTED = _FOLLOW_UP | _PLAIN | _SMALL | STOP_WORDS


def classify(prompt: str, find_names: FindNames = lambda _: None) -> Verdict:
    """Return whether a prompt gets context.

    Args:
        prompt: as the user wrote it.
        find_names: called at most once, for a few words, when the words of the prompt alone do not decide.
    """
    text = _URL.sub("", prompt[:_LONGEST]).strip()
    if command := _COMMAND.match(text):
        text = text[command.end() :].strip()
        if command.group() == "!" or len(text) < _LONG_ARGUMENT:
            return Verdict(False, "a command")
    if any(found.group().lower() not in _LISTED for found in _CODE.finditer(text)):
        return Verdict(True, "code in it")
    words = [_ENDING.sub("", word.lower().replace("’", "'")) for word in _WORD.findall(text)]
    if not words:
        return Verdict(False, "no words" if text else "empty")
    return _by_words(text, words, find_names)


def _by_words(text: str, words: Sequence[str], find_names: FindNames) -> Verdict:
    """Return the verdict on a prompt that has nothing written as code."""
    unspaced = len(_UNSPACED.findall(_FOLLOW_UP_UNSPACED.sub("", text)))
    is_question = text.endswith(("?", "？"))
    meaning = [word for word in dict.fromkeys(words) if _has_meaning(word, is_question)]
    if not meaning and not unspaced:
        return Verdict(False, "goes on with what was said")
    is_answer = not is_question and not _FOLLOW_UP.isdisjoint(words)
    is_task = not is_question and not _TASKS.isdisjoint(words)
    least = _LEAST + (not is_question) + 2 * is_answer - is_task
    is_enough = unspaced >= _LEAST_UNSPACED or len(meaning) >= least
    names = () if is_enough else find_names([word for word in meaning if word not in _TASKS])
    if names is None:
        is_enough = len(meaning) >= _LEAST_UNCHECKED + is_answer - is_task
    elif names and len(meaning) + _OF_NAME * len(names) >= least:
        return Verdict(True, f"names {min(names, key=meaning.index)}")
    return Verdict(is_enough, "words that carry meaning" if is_enough else "too little to go by")


def _has_meaning(word: str, is_question: bool) -> bool:
    if is_question and word in _TASKS:
        return True
    is_listed = all(part in _LISTED for part in word.split("/"))
    return not (is_listed or word.isdecimal() or len(word) < 2 or _UNSPACED.search(word))


def same_question(prompt: str) -> str:
    """Return the normal form of a prompt, in which case and spacing do not matter."""
    return " ".join(prompt.split()).casefold()


class Recent:
    """Questions that were answered lately, by session."""

    def __init__(self, seconds: float = REPEAT_SECONDS) -> None:
        self._seconds = seconds
        self._answered: dict[tuple[str, str], float] = {}

    def was_answered(self, session: str, prompt: str, now: float) -> bool:
        """Return whether the same question of the session was answered within the time."""
        at = self._answered.get((session, same_question(prompt)))
        return at is not None and now - at < self._seconds

    def answered(self, session: str, prompt: str, now: float) -> None:
        """Remember a question that was answered at a moment."""
        self._answered = {key: at for key, at in self._answered.items() if now - at < self._seconds}
        self._answered[session, same_question(prompt)] = now
