"""Chat replies without a language model: the memories that answer a question, with their origin.

Statements mentioned in passing are remembered only after the person agrees. Explicit requests and corrections are
remembered at once and confirmed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import regex
from django.conf import settings
from django.conf.locale import LANG_INFO
from django.utils import translation
from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

from language.base import ReplyRequest, Source
from language.gates import KINDS
from language.heard import Heard
from language.reading.answering import NAME, TIME, Fit, matching_sources, up_to_date, with_name
from language.reading.foreign import is_foreign
from language.reading.lexicon import is_word
from language.reading.parse import parse
from language.reading.questions import (
    ASKS_OF_ITSELF,
    GREETS,
    MANNERS,
    WANTS_TO_BE_ASKED,
    asked_of_talk,
    asks_for_work,
    is_question,
    spelt,
)
from language.reading.words import ENGLISH, KIN, KIN_PLURALS, PETS, listed
from language.shown import quoted

NO_MODEL = gettext_noop("No language model is configured here, so I only tell what I remember.")
ITSELF = gettext_noop("Ask me about somebody or something that you have told me.")
TELL_ANYTHING = gettext_noop("Tell me whatever you want me to know another time.")
NOTHING_FOUND = gettext_noop("I remember nothing about that yet.")
NOTHING_OF_YOURS = gettext_noop("I remember nothing of that about you. Of others I remember:")
READ = gettext_noop("I see, thank you.")
CANNOT = gettext_noop("I can't do that: without a language model I only tell what you have told me.")
PRIVATE = gettext_noop("This talk is private, so I keep nothing of it and recall nothing.")
SWITCHED_OFF = gettext_noop("Your memory is switched off, so I keep nothing and recall nothing.")
NO_SECRETS = gettext_noop(
    "I remember no %(kind)s: what I remember stands in what every assistant of yours reads. It is left in this talk "
    "only, where you can withhold it."
)
TALKED = gettext_noop("You said:")
NOT_ENGLISH = gettext_noop(
    "Without a language model I understand English only. What is to be kept you can add to your memories yourself."
)
NOT_KEPT = gettext_noop("All right, I keep nothing of that.")
GONE_ALONG = gettext_noop(
    "What else I had learned from the same sentence went with it. Under Put away you can bring it back."
)
REST_NOT_KEPT = gettext_noop("The rest I don't keep.")
DECIDED = {
    "holds": gettext_noop("Good, I keep that: %(statements)s"),
    "away": gettext_noop("I have put that away: %(statements)s"),
    "undone": gettext_noop("Undone. Now I have again: %(statements)s"),
    "nothing": gettext_noop(
        "In this talk I find no change to undo. All changes are listed under Timeline, where each can be undone."
    ),
}
SOME_WAITS = gettext_noop("Some of it is for you to decide, and waits under Review.")
NOTHING_TO_FORGET = gettext_noop(
    "I found nothing like that to forget. Say it in the words that you used, or look for it in your memories and "
    "conversations and choose “Don’t keep” there."
)
ERASE_ALL = gettext_noop("All that is remembered about you can be erased at once, under Your data.")
WHICH_ONE = gettext_noop("I have more than one answer to this. Which one holds? You can tell me to forget the other.")
FOUND = gettext_noop("This is what I remember:")
NEAREST = gettext_noop("I remember nothing that answers this. The nearest is:")
MORE = gettext_noop("That is not all: the rest is under Memories, or ask me about something of it.")
MORE_FACTS = gettext_noop("That is not all: the rest is under Facts, or ask me about something of it.")
_OPENINGS: Mapping[Fit, str] = {"answers": FOUND, "nearest": NEAREST, "others": NOTHING_OF_YOURS}
_MOST_WORDS_OF_NOTHING = 3
QUESTIONS = {
    "preferred_name": gettext_noop("What shall I call you? (“Call me …”)"),
    "city": gettext_noop("Where do you live? (“I live in …”)"),
    "person": gettext_noop("Who is close to you? (“My sister is called …”)"),
    "interests": gettext_noop("What do you like to do? (“I like …”)"),
}
"""Questions to the person about unknown fields or categories, with an example of an answer that can be read."""
STOCK = (
    NO_MODEL,
    ITSELF,
    TELL_ANYTHING,
    NOTHING_FOUND,
    NOTHING_OF_YOURS,
    READ,
    CANNOT,
    PRIVATE,
    SWITCHED_OFF,
    NOT_KEPT,
    GONE_ALONG,
    REST_NOT_KEPT,
    DECIDED["nothing"],
    SOME_WAITS,
    NOTHING_TO_FORGET,
    ERASE_ALL,
    FOUND,
    NEAREST,
    TALKED,
    NOT_ENGLISH,
    WHICH_ONE,
    MORE,
    MORE_FACTS,
    *QUESTIONS.values(),
)


@lru_cache
def stock() -> frozenset[str]:
    """The fixed sentences in each language; they reveal nothing about anybody."""
    fixed = frozenset(text for each in STOCK for text in _in_each_language(each))
    return fixed.union(*(_in_each_language(NO_SECRETS, kind) for kind in KINDS))


@lru_cache
def _in_each_language(text: str, kind: str = "") -> frozenset[str]:
    found = {text % {"kind": kind} if kind else text}
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            found.add(_(text) % {"kind": _(kind)} if kind else _(text))
    return frozenset(found)


_NO_NAMES = listed(
    "You Your The A An It There Every Each Most On In At Since Until Before After During Last Next This Once Twice"
)
_OF_A_PLACE = regex.compile(
    r"\b(?:in|at|near|from|(?:fl[ewy]\w*|went|go(?:ne|ing)?|mov\w+|dr[io]v\w+|travel\w*|been|back|trip|train) to|"
    r"visit\w*|left|leave|leaving) (?-i:\p{Lu}[\p{L}.]*['’]?s? )*$|\bSt\.? $",
    regex.IGNORECASE,
)
_LANGUAGES = {info["name"].casefold() for info in LANG_INFO.values() if "name" in info}
"""The languages that Django knows, which are nobody's names."""
_SENTENCE_ENDS = regex.compile(r"[.!?;]\s")
_TELL_WHO = listed("called named name names nicknamed aka friend neighbour neighbor colleague boss")


def reply(request: ReplyRequest) -> tuple[list[str], bool]:
    """The parts of the answer, and whether it asks for permission to remember something."""
    with translation.override(request.language):
        return _replied(request)


def _replied(request: ReplyRequest) -> tuple[list[str], bool]:
    opening = [f"{_(NO_MODEL)} "] if request.is_first else []
    parts = [*opening]
    heard, asks = request.heard, False
    if heard.decided:
        return [*parts, _(DECIDED[heard.decided]) % {"statements": " ".join(heard.noted)}], False
    if heard.in_part and (kept := _confirmations(heard)):
        return [*parts, " ".join([*kept, _(REST_NOT_KEPT)])], False
    if heard.refused:
        notes = ((GONE_ALONG, heard.along), (SOME_WAITS, heard.awaits), (ERASE_ALL, heard.of_all))
        also = [text for text, holds in notes if holds]
        told = [NOTHING_TO_FORGET if heard.not_found else NOT_KEPT, *also]
        open_ones = [_asking(heard)] if heard.new else []
        return [*parts, " ".join([*map(_, told), *open_ones])], False
    if request.closed:
        return [*parts, _without_memory(request)], False
    keeps = _confirmations(heard)
    if asks_for_work(request.question) and not (keeps or heard.new):
        return [*parts, _(CANNOT)], False
    if is_question(request.question) and not keeps:
        found = _found(request)
        parts += [_(NOT_ENGLISH)] if found == [_(NOTHING_FOUND)] and is_foreign(request.question) else found
        parts += ["\n\n"] if heard.new else []
    secret = _(NO_SECRETS) % {"kind": _(heard.secret)} if heard.secret and not is_question(request.question) else ""
    if keeps:
        parts.append(" ".join(filter(None, [*keeps, secret])))
    elif heard.new:
        parts.append(" ".join(filter(None, [secret, _asking(heard)])))
        asks = True
    elif secret:
        parts.append(secret)
    elif parts == opening:
        parts.append(_(NOT_ENGLISH) if is_foreign(request.question) else _acknowledged(request))
    return parts, asks


def _asking(heard: Heard) -> str:
    return _("Shall I remember %(that)s?") % {"that": _as_that_clauses(heard.new)}


def _without_memory(request: ReplyRequest) -> str:
    """The reply where memory is off: a greeting or thanks, and the reason."""
    manners = next((_(answer) for says, answer in MANNERS if says.search(request.question)), "")
    if manners and not request.is_first:
        return manners
    return " ".join(filter(None, [manners, _(PRIVATE if request.closed == "private" else SWITCHED_OFF)]))


def _acknowledged(request: ReplyRequest) -> str:
    """The reply to a message without a question or new statement: a greeting or thanks, or a question to the person.

    After a long message about the moment, no unrelated question is asked.
    """
    manners = next((_(answer) for says, answer in MANNERS if says.search(request.question)), "")
    if manners and not GREETS.search(request.question):
        return manners
    about = _question_about_name(request)
    if not about and len(request.question.split()) <= _MOST_WORDS_OF_NOTHING:
        about = _next_profile_question(request)
    return " ".join(filter(None, [manners, about])) or _(READ)


def _next_profile_question(request: ReplyRequest) -> str:
    """A question about the person that was not asked in this chat yet; none right after another question."""
    said = [str(each.get("content")) for each in request.messages if each.get("role") == "assistant"]
    if said and "?" in said[-1]:
        return ""
    open_ones = (QUESTIONS[name] for name in request.unknown if name in QUESTIONS)
    return next((_(question) for question in open_ones if not _was_said(question, said)), "")


def _was_said(text: str, said: Iterable[str]) -> bool:
    """Whether one of the fixed sentences was already said, in any language."""
    return any(each in one for one in said for each in _in_each_language(text))


def _confirmations(heard: Heard) -> list[str]:
    """Confirmations of what is remembered without asking: requests, agreed statements and corrections."""
    kept = [
        _("Updated: %(now)s Until now I had: %(before)s") % {"now": now, "before": before}
        for before, now in heard.changed
    ]
    if heard.waiting:
        kept.append(_("This waits until you approve it: %(statements)s") % {"statements": " ".join(heard.waiting)})
    if noted := (*heard.noted, *(heard.new if heard.noted or heard.changed else ())):
        kept.append(_("I will remember %(that)s.") % {"that": _as_that_clauses(noted)})
    elif heard.agreed and not (kept or heard.refused or heard.doubted):
        kept.append(_(READ))
    if heard.told and (kept or not heard.new):
        kept.append(_("Noted: %(statements)s") % {"statements": " ".join(heard.told)})
    if heard.doubted and (kept or not heard.new):  # Last, so that a yes or a no answers this, and one thing at a time.
        kept.append(_("This waits for your answer: %(was)s Does it still hold?") % {"was": " ".join(heard.doubted)})
    return kept


def _as_that_clauses(statements: Sequence[str]) -> str:
    """Statements as "that" clauses: "that you live in Porto and that Alec is your boss".

    Statements are English, so in a sentence of another language they are quoted.
    """
    if not (get_language() or "en").startswith("en"):
        return ", ".join(quoted(each.rstrip(".")) for each in statements)
    return " and ".join(f"that {_in_a_sentence(each)}" for each in statements)


def _in_a_sentence(statement: str) -> str:
    first, *rest = statement.rstrip(".").split(" ", 1)
    is_name = first not in _NO_NAMES and not _begins_with_plural(statement)
    return " ".join([first if is_name else first.lower(), *rest])


def _begins_with_plural(statement: str) -> bool:
    parsed = parse(statement)
    if parsed is None or len(parsed.words) < 2:
        return False
    first, after = parsed.words[:2]
    return first.tag == "NNS" and after.tag != "VBZ" and is_word(first.lemma)


def _question_about_name(request: ReplyRequest) -> str:
    """A question about a named person of whom nothing is known; empty if there is none."""
    known = {word for source in request.found for word in spelt(source.text)}
    said = request.question
    if _was_said(NOT_KEPT, (str(each.get("content")) for each in request.messages if each.get("role") == "assistant")):
        return ""  # The person may just have refused to have them remembered.
    names = (
        name[0]
        for name in NAME.finditer(said)
        if not (_OF_A_PLACE.search(said, endpos=name.start()) or _is_introduced(said, name.start()))
    )
    plain = (name for name in names if name.lower() not in ENGLISH and not TIME.fullmatch(name))
    new = next((name for name in plain if name.casefold() not in known | _LANGUAGES), "")
    return _("Who is %(name)s?") % {"name": new} if new else ""


def _is_introduced(said: str, at: int) -> bool:
    """Whether the sentence already says who a name is: "my sister Ana", "a pigeon called Duchess"."""
    before = spelt(_SENTENCE_ENDS.split(said[:at])[-1])
    return any(word in _TELL_WHO or word in KIN or word in KIN_PLURALS or word in PETS for word in before)


def _found(request: ReplyRequest) -> list[str]:
    if ASKS_OF_ITSELF.search(request.question):
        return [_(ITSELF) if request.is_first else f"{_(NO_MODEL)} {_(ITSELF)}"]
    if WANTS_TO_BE_ASKED.search(request.question):
        return [_next_profile_question(request) or _(TELL_ANYTHING)]
    if asked_of_talk(request.question) is not None:
        return _listed(TALKED, request.found) if request.found else [_(NOTHING_FOUND)]
    fitting, fit = matching_sources(with_name(request.question, request.heard.about), request.found)
    if not fitting:
        return [_(NOTHING_FOUND)]
    holding, several = up_to_date(fitting, request.question)
    ask = [_(WHICH_ONE)] if several and fit == "answers" else []
    rest = MORE_FACTS if any(source.of_legacy for source in holding) else MORE
    after = [*ask, *([_(rest)] if request.remembered > len(holding) else [])]
    return [*_listed(_OPENINGS[fit], holding), *(f"\n\n{each}" for each in after)]


def _listed(opening: str, sources: Sequence[Source]) -> list[str]:
    return [_(opening), *(f"\n- {source.text} ({source.origin})" for source in sources)]
