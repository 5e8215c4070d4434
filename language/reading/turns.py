"""Turns of phrase that say the same where all other words of two statements are equal.

Two such statements differ more often than not ("lives with her", "lives near her"), so the network takes even small
changes for a difference. What is listed here, or made of the same words, is the same without it (``sameness``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .alignment import Alignment
from .content import Content
from .lexicon import ALIKE
from .related import Token, related
from .words import listed

_TURNS = tuple(
    frozenset(phrase.strip().removeprefix("be ").strip() for phrase in line.split("/"))
    for line in """
    be / work as / be employed as / earn living as / be by trade
    work / be employed / earn living / have job
    have / own / keep / hold / be owner / have pair / own pair / have 2 / own 2
    have / be parent / be parent to
    hate / detest / loathe / can not stand / can not abide / can not bear
    love / like / enjoy / be fond / be keen on
    not like / dislike / do not like / not care for / do not care for
    be scared / be afraid / be frightened / have fear / fear / suffer fear
    be terrified / have phobia / be phobic
    be born in / birthplace be / place birth be / year birth be / be born / year be born be
    be born on / birthday be on / birthday be / be born / date birth be
    die / pass / pass away / lose life
    live in / home be / live / home be in / flat be / reside in / be at home in
    drive / car be
    commute / go to work / travel to work / get to work
    be pregnant / expect baby / be expecting baby / expect child
    get / get up / wake / wake up / rise / get out bed
    weigh / weight be
    be member / belong to / be in
    grow up / spend childhood / grow
    sleep badly / have trouble sleep / be bad sleeper
    retire / stop work / be retired / be pensioner / no longer work
    be unemployed / be out work / be out job / have no job
    called / named / go by name / answer to name
    start / begin / commence
    shift start / start work / shift begin / begin work
    be allergic to / have allergy to / can not tolerate
    do not eat / eat no / never eat / go without
    do not drink / drink no / never drink
    be never abroad / have never be abroad / never leave country / be abroad / leave country
    want / would like / wish
    prefer / would rather have / like better / would rather
    be studying / study / be student / be at university for
    be unable / can not / be not able
    get / receive / be given
    need / require
    visit / be to
    mum / mom / mother / mama
    dad / father / papa
    brief / concise / short
    answers / replies / responses
    short answers / brief answers / short replies / brief replies / concise answers / concise responses
    be responsible for / be in charge
    can speak / speak
    struggle / have problems
    meet / get to know
    volunteer / do voluntary work / do volunteer work
    graduate / earn degree / get degree
    suffer from / have / get / be troubled by
    come from / have from / be from
    deaf in / can not hear with / do not hear with
    fluent in / have full command / speak fluently
    wear / need
    use wheelchair / be in wheelchair
    wear / have on
    """.strip().splitlines()
)
"""Each line: phrases for one thing, verbs in their base form, without articles, owners and a "be" at the beginning."""
_ARTICLES = listed("a an the")
_LEFT_OUT = listed("a an the of 's his her their its user own")
_FREE_BESIDE = listed("any of as not no do be have to 's his her their its user own")
_DEGREES = listed("really very quite currently now so truly")
_LASTING = listed(
    """learn study train plan collect use sing look save read write work live run rent take hope celebrate miss care
        coach teach volunteer"""
)
"""What goes on for long: "is learning Spanish" says that somebody learns it; "is drinking tea" does not."""
_LIKING = listed("like love enjoy hate prefer")
_PRESENT = frozenset({"VB", "VBP", "VBZ"})
_SAME = frozenset({"same", "synonym", "derived"})


def is_reworded(pair: Alignment) -> bool:
    """Whether the two, which differ in one place, have there only another turn of phrase or other forms of words."""
    return all(
        _are_turns(*place) or _are_forms(pair, *place) or {word.low for words in place for word in words} <= _DEGREES
        for place in pair.changed_places
    )


def is_phrased_otherwise(pair: Alignment) -> bool:
    """Whether the two differ in listed turns of phrase alone, which no other difference speaks against."""
    return all(_are_turns(*place) for place in pair.changed_places)


def is_reordered(pair: Alignment) -> bool:
    """Whether the two have the same words, each with the same bearing on the same word, in another order.

    The network takes half of such pairs for a difference: "born in Izmir in 1961", "born in 1961 in Izmir".
    """
    bearings = [sorted(_bearings(each)) for each in (pair.first, pair.second)]
    return bearings[0] == bearings[1]


def _bearings(content: Content) -> Iterator[tuple[str, str, str]]:
    """Each word with what it bears on, and how: by its preposition, where it has one."""
    for word in content.parsed.words:
        head = content.parsed.head(word)
        is_preposition = any(each.dep == "pobj" for each in content.parsed.children(word))
        if word.dep == "punct" or word.low in _ARTICLES or is_preposition:
            continue
        if word.dep == "pobj":
            yield word.low, head.low, content.parsed.head(head).low
        else:
            yield word.low, word.dep, head.low


def _are_turns(one: Sequence[Token], other: Sequence[Token]) -> bool:
    phrases = {_phrase(one), _phrase(other)}
    return any(phrases <= turns for turns in _TURNS)


def _phrase(words: Sequence[Token]) -> str:
    told = (word.lemma if word.part == "verb" else word.low for word in words if word.low not in _LEFT_OUT)
    return " ".join(told).removeprefix("be ").strip()


def _are_forms(pair: Alignment, one: Sequence[Token], other: Sequence[Token]) -> bool:
    """Whether all words of one place have their counterpart in the other, in the same number and tense."""
    if pair.differs_in_polarity:
        return False
    first, second = ([word for word in words if not _is_free(word)] for words in (one, other))
    found = list(_matched(first, second))
    is_same = _is_liked if pair.first.verb in _LIKING and pair.second.verb in _LIKING else _is_same_form
    return len(found) == len(first) == len(second) and all(is_same(*both) for both in found)


def _matched(one: Sequence[Token], other: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    left = list(other)
    for word in one:
        found = max(left, key=lambda another: ALIKE.get(related(word, another), 0.0), default=None)
        if found is not None and related(word, found) in _SAME:
            left.remove(found)
            yield word, found


def _is_free(word: Token) -> bool:
    """Whether a word adds nothing: "their own" does not, "owned" does."""
    return bool({word.low, word.lemma} & _FREE_BESIDE) and not (word.lemma == "own" and word.part == "verb")


def _is_same_form(word: Token, other: Token) -> bool:
    is_one_word = related(word, other) == "same"
    if related(word, other) == "derived" and word.part == other.part == "noun":
        return False  # "a mine", "a miner"
    forms = _PRESENT | {"VBG"} if word.lemma in _LASTING else _PRESENT
    return not is_one_word or word.tag == other.tag or {word.tag, other.tag} <= forms


def _is_liked(word: Token, other: Token) -> bool:
    """The same of what somebody likes to do: "to cook" is "cooking"."""
    return _is_same_form(word, other) or {word.tag, other.tag} == {"VB", "VBG"}
