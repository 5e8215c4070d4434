"""The assistant's question whether something may be kept, and what else may be an answer to it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from language.reading.questions import asks_for_work, is_question
from language.reading.sentences import own_words, split_sentences
from language.reading.words import listed

from ..parse import parse
from ..stock import confirms, settles, stock
from .content import says_something
from .judged import asks
from .naming import DENIES
from .offers import ASKING, allows_by_a_no, asks_for_objections, asks_to_keep, is_about_keeping, objects
from .parts import POINTS, agrees_to_all, keeps_a_part, numbered_lines
from .records import Turn
from .requests import acts_in, flat, says_undo
from .subjects import lemmas
from .wording import (
    LONGEST_ANSWER,
    after_opening_no,
    allows_keeping,
    is_clear_no,
    says_no,
    says_yes,
)

MOST_READ = 4_000
"""The characters of a question that are parsed, from its end."""


def may_answer(asked: str, said: str) -> bool:
    """Whether a message is short enough to be a no to what the assistant ``asked`` or announced to keep."""
    return len(said) <= LONGEST_ANSWER and asks_or_announces(asked)


def asks_or_announces(said: str) -> bool:
    """Whether the assistant asks whether to keep something, or announces it."""
    text = without_recital(said).replace("’", "'")
    if _WITHHELD in said and confirms(said) and not asks_to_keep(text):
        return False  # Its question was answered by a no, and only what it confirms is left.
    if settles(said) and not asks_to_keep(text):
        return False
    return ASKING.search(text) is not None or asks_to_keep(text) or asks(text)


def asking_sentences(said: str, *, announced: bool = True) -> list[str]:
    """The sentences of the assistant's message that ask whether to keep something, or, if wanted, announce it."""
    told = without_recital(said) if asks_or_announces(said) else ""
    found = [each.text for each in split_sentences(told) if asks_or_announces(each.text)]
    return [*numbered_lines(told), *(each for each in found if announced or each.rstrip().endswith("?"))]


def without_recital(said: str) -> str:
    """The assistant's text without our fixed sentences, and without what it lists after one of them."""
    fixed = [each for each in stock() if each in said]
    for each in fixed:
        said = said.replace(each, "")
    return "\n".join(line for line in said.splitlines() if not line.startswith("- ")) if fixed else said


def offers_else(said: str) -> bool:
    """Whether the assistant's last sentence offers to do something else than keeping: "Shall I write to her?"."""
    last = [each.text for each in split_sentences(said)][-1:]
    return any(_OFFERS.search(each) is not None and not asks_or_announces(each) for each in last)


def is_of_record(text: str) -> bool:
    """Whether words tell of keeping or saying something, and not only of doing it: not "leave that"."""
    return _RECORD.search(text) is not None


def only_announces(said: str) -> bool:
    """Whether the assistant says that it keeps something, and neither asks nor offers to: "I will remember that"."""
    announced = False
    for sentence in split_sentences(said.replace("’", "'")):
        found = ASKING.search(sentence.text)
        if found is not None and (sentence.text.rstrip().endswith("?") or not _ANNOUNCED.match(found[0])):
            return False
        announced = announced or found is not None
    return announced and not asks_to_keep(said)


def asks_last(text: str) -> bool:
    """Whether the last sentence is the question whether to keep something."""
    last = list(split_sentences(text))[-1:]
    if not last or not last[0].text.rstrip().endswith("?") or _ASKS_CONTENT.match(last[0].text):
        return False
    return ASKING.search(last[0].text.replace("’", "'")) is not None


def answers_another(question: str, said: str) -> bool:
    """Whether the no of an answer is to another question: "As a weaver? Shall I note that?" "No, he was a dyer."

    Or it keeps a part: "just the dog". Or it asks itself what is known of the person: "What is my job now?", or of
    the world: "Is it going to rain?"
    """
    if keeps_a_part(question, said) or asks_for_work(said) or _ASKS_OF_PERSON.match(said.replace("’", "'")) is not None:
        return True
    return question.count("?") > 1 and bool(after_opening_no(said)) and not (says_no(said) or is_clear_no(said))


def changes_topic(rest: str, question: str) -> bool:
    """Whether what follows a no is about something else than the question: "he was a baker" corrects it."""
    parsed = parse(rest)
    subjects = [word for word in parsed.words if word.dep in {"nsubj", "nsubjpass"}] if parsed is not None else []
    is_other = "?" in rest or (bool(subjects) and subjects[0].low not in _SAME_SUBJECT)
    return is_other and lemmas(rest).isdisjoint(lemmas(question[-MOST_READ:]))


def lets_keep(question: str, said: str) -> bool:
    """Whether an answer lets all be kept that was asked about."""
    if allows_by_a_no(question, said) or _contradicts(question, said):
        return True
    if asks_for_objections(question) and objects(said, question):
        return False
    return allows_keeping(said) or says_yes(said) or agrees_to_all(question, said)


def _contradicts(question: str, said: str) -> bool:
    """Whether an answer denies what a question supposes against keeping: "…, or is it a whim?" "It's no whim." """
    asked, told = question.replace("’", "'"), said.replace("’", "'")
    if _CONTRARY.match(told) is not None:
        return DENIES.search(asked) is not None or asks_for_objections(asked)
    last = [each.text for each in split_sentences(asked)][-1:]
    other = _ALTERNATIVE.search(last[0]) if last and DENIES.search(told) and "?" not in told else None
    if other is None or DENIES.search(other[0]) is not None or is_about_keeping(told):
        return False
    words = lemmas(other[1])
    return bool(words) and lemmas(told) == words


def leaves_open(said: str) -> bool:
    """Whether a message of the person answers no question before it: it asks, hesitates, or refuses something else."""
    own = own_words(said)
    asks_for_it = is_question(own) or bool(acts_in(flat(own))) or says_undo(own)
    return asks_for_it or lemmas(own) <= POINTS or not says_something(own)


def only_asks(turns: Sequence[Turn]) -> bool:
    """Whether in these turns the person only asks something else, and nothing is changed or kept."""
    said, told = ([each.content for each in turns if (each.role == "user") is own] for own in (True, False))
    return all(is_question(each) and not acts_in(flat(each)) for each in said) and not any(map(confirms, told))


_WITHHELD = "[withheld]"
_OFFERS = re.compile(r"\b(?:shall|should|can|could|may) I\b|\b(?:want|like) me to\b[^?]*\?\s*$", re.IGNORECASE)
_RECORD = re.compile(
    r"\b(?:remember|not(?:e|ed|es|ing)|record|memor|said|say|told|tell|mention|secret|private|confiden|between|writ"
    r"|(?:to|must|should|may) know|keep|kept|stor|sav|out of|anywhere|anybody|anyone|delet|eras|withh|heard?|yourself)",
    re.IGNORECASE,
)
_CONTRARY = re.compile(
    r"\W*(?:quite )?(?:on the contrary|the (?:very )?(?:opposite|contrary|reverse))\b", re.IGNORECASE
)
_ALTERNATIVE = re.compile(r"\bor (?:is|was|did|does|has) (?:it|that|this) ([^?.!\n]{1,80})\?\s*$", re.IGNORECASE)
"""The last of two questions, and what it says of the matter: "Shall I note it, or was it said in passing?"."""
_SAME_SUBJECT = listed("he she it they that this")
_ASKS_CONTENT = re.compile(
    r"(?:was|were|is|are|did|does|has|had)\b(?! (?:it|that|this) (?:ok|all right|fine))", re.IGNORECASE
)
"""A question that asks something else first: "was he a miller, shall I note that?"."""
_ASKS_OF_PERSON = re.compile(
    r"\W*(?:(?:and|so|but|ok|okay|oh|well|hey|wait|sorry|then|by the way|btw)\b\W*)*"
    r"(?:who|what|when|where|which|how (?:old|long|many|much|often|far|tall))(?: \w+){0,2}?"
    r"(?:'s|'m|'re| (?:is|am|are|was|were|do|does|did|has|have|had))\b(?=.*\b(?:I|me|my|mine)\b)"
    r"(?!.*\b(?:you(?! (?:still |already )?(?:know|remember)\b)|your|that|this|it|says?|tell|ask|agree|want|matter)\b)"
    r"[^.!?]*\??$",
    re.IGNORECASE,
)
"""A question about the person, which is no answer; "when did I say that?" and "why do you need my job?" may be a no."""
_ANNOUNCED = re.compile(
    r"i(?:'?ll| will|'?ve| have| remember)\b|going to|ma[dk]e|taken|noted|got it|saved", re.IGNORECASE
)
"""How a sentence begins that announces, of those that ``ASKING`` finds; the others ask or offer."""
