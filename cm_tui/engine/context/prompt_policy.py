"""When the memory is asked for a prompt: rules that anyone can read, as functions of the text alone.

1. Nothing, a command of the agent (`/clear`) or of the shell (`!ls`): no.
2. Something shaped like code (a name with an inner boundary, a call, a path, backticks): yes, however short.
3. Only words that go on with what was said ("yes, continue", "ja, mach weiter", "好的,继续"): no.
4. At least two words that carry meaning, one and a task ("fix engine tests"), or six characters of a script without
   spaces: yes; less: no.
"""

from __future__ import annotations

import re
from typing import NamedTuple

REPEAT_SECONDS = 60.0
"""The same question of the same session is answered once in this time."""
_LONGEST = 4_000
"""Characters that the rules look at; a prompt that long is substantive anyway."""


class Verdict(NamedTuple):
    """The decision whether a prompt is worth asking the memory for, and its rule."""

    substantive: bool
    why: str


# What people say to go on, in the languages where it is cheap to know; workflow words that name no part of the code.
_GOING_ON = frozenset(
    """
    yes yep yeah yup no nope ok okay k sure right correct exactly agreed perfect great good nice fine cool awesome done
    continue proceed go goes going on ahead next more again retry try keep carry resume stop wait cancel undo revert skip
    abort finish do does it this that these those them they there thing things stuff all both one please pls thanks
    thank thx ty you your u sounds looks look lgtm works well now then just also still so too not yet and or but same
    commit push pull merge rebase run rerun test tests build lint format deploy ship apply approve approved accept accepted
    reject fix ready let lets let's us me i i'm im my we what how why hmm oh ah hi hello hey bye
    ja nein doch klar gut genau richtig weiter mach mache machen bitte danke super passt nochmal stopp warte los fertig
    das es dies die der alle alles so und oder noch mal dann jetzt
    oui non continue continuez vas-y vas y d'accord daccord merci s'il sil te vous plait plaît parfait suivant encore
    recommence bien très c'est cest ca ça le la les
    sí si no vale claro sigue continúa continua adelante gracias por favor perfecto bien otra vez hazlo listo eso
    sim não nao continue prossiga obrigado obrigada isso perfeito ótimo vai faça
    sì va bene avanti grazie prego perfetto ancora fallo procedi
    да нет хорошо ладно продолжай продолжайте дальше давай спасибо пожалуйста отлично ещё еще стоп сделай это
    tak nie dobrze dalej kontynuuj dzięki proszę
    evet hayır tamam devam et teşekkürler lütfen
    ja graag nee verder ga door dank je wel prima
    """.split()  # noqa: SIM905 - read by people, as words
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
_GOING_ON_UNSPACED = re.compile(
    "好的|好|是的|是|对|对的|继续|可以|请|谢谢|下一步|没问题|行|嗯|了|吧|不|不要|停|完成"
    "|はい|いいえ|うん|続けて|続き|お願いします|お願い|ください|ありがとう|次|大丈夫|了解|です|ます|進めて|やって"
    "|네|예|아니요|아니|응|계속해줘|계속해|계속|좋아요|좋아|감사합니다|고마워|다음|진행해줘|진행해|진행|해주세요|해줘|부탁해요?"
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_COMMAND = re.compile(r"\A(?:/[A-Za-z][\w:-]*(?=\s|\Z)|!)")
_CODE = re.compile(
    r"`[^`]+`"
    r"|\b[A-Za-z]\w*_\w+|\b_+[a-z]\w*"
    r"|\b[a-z][a-z0-9]*[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*|\b[A-Z]{2,}[a-z]+\w*"
    r"|\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w+)+\b(?<!e\.g)(?<!i\.e)"
    r"|\b\w+\(\)|\b\w+\([^)\s][^)]*\)(?=\s|\Z)"
    r"|(?:\A|\s)(?:\.{0,2}/)?[\w.-]+/[\w./-]+"
    r"|\w::\w|->|=>|==|!=|<\w+>|\{\w*\}"
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def classify(prompt: str) -> Verdict:
    """Return whether to ask the memory for a prompt."""
    text = prompt.strip()[:_LONGEST]
    if not text:
        return Verdict(False, "empty")
    if _COMMAND.match(text):
        return Verdict(False, "a command")
    if _CODE.search(text):
        return Verdict(True, "code in it")
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    if not words:
        return Verdict(False, "no words")
    unspaced = len(_UNSPACED.findall(_GOING_ON_UNSPACED.sub("", text)))
    meaning = {word for word in words if word not in _GOING_ON and word not in _SMALL and not _UNSPACED.search(word)}
    meaning = {word for word in meaning if not word.isdecimal() and len(word) > 1}
    if len(meaning) >= 2 or unspaced >= 6 or (meaning and _TASKS.intersection(words)):
        return Verdict(True, "words that carry meaning")
    return Verdict(False, "too little to go by" if meaning or unspaced else "goes on with what was said")


def same_question(prompt: str) -> str:
    """Return what two prompts share that ask the same: their words, whatever the case and the spacing."""
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
