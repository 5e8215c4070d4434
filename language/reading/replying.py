"""What is answered in a talk without a language model: what is remembered, with where it comes from, and no more.

What the person says in passing is asked about before it is remembered; what they ask for, and what puts something
right, is remembered at once and said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import combinations, takewhile

import regex
from django.conf import settings
from django.utils import translation
from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

from language.base import Heard, ReplyRequest, Source
from language.reading.compare import Saying, compare, read_together
from language.reading.foreign import is_foreign
from language.reading.parse import irregular
from language.reading.questions import (
    ASKS_OF_ITSELF,
    ASKS_WHAT_WAS_SAID,
    GREETS,
    HOW,
    MANNERS,
    OF_ME,
    WANTS_A_TIME,
    WHAT_I_DO,
    asked_of_talk,
    asks_for_work,
    is_question,
    spelt,
    wanted_in,
)
from language.reading.stems import NUMERALS
from language.reading.topics import topic_of, topics_of
from language.reading.words import ENGLISH, KIN, KIN_PLURALS, PETS, listed

NO_MODEL = gettext_noop("No language model is configured here, so I only tell what I remember.")
ITSELF = gettext_noop("Ask me about somebody or something that you have told me.")
NOTHING_FOUND = gettext_noop("I remember nothing about that yet.")
NOTHING_OF_YOURS = gettext_noop("I remember nothing of that about you. Of others I remember:")
READ = gettext_noop("I see, thank you.")
CANNOT = gettext_noop("I can't do that: without a language model I only tell what you have told me.")
PRIVATE = gettext_noop("This talk is private, so I keep nothing of it and recall nothing.")
SWITCHED_OFF = gettext_noop("Your memory is switched off, so I keep nothing and recall nothing.")
NO_SECRETS = gettext_noop(
    "I don't remember that: it looks like a %(kind)s, and what I remember stands in what every assistant of "
    "yours reads. It is left in this talk only, where you can withhold it."
)
TALKED = gettext_noop("You said:")
NOT_ENGLISH = gettext_noop(
    "Without a language model I understand English only. What is to be kept you can add to your memories yourself."
)
NOT_KEPT = gettext_noop("All right, I keep nothing of that.")
WHICH_ONE = gettext_noop("I have more than one answer to this. Which one holds? You can tell me to forget the other.")
FOUND = gettext_noop("This is what I remember:")
NEAREST = gettext_noop("I remember nothing that answers this. The nearest is:")
_MOST_WORDS_OF_NOTHING = 3
MOST_TOLD = 4
MOST_TOLD_OF_ALL = 8
"""Where what is asked for is anything at all: "what do you know about me?"."""
QUESTIONS = {
    "preferred_name": gettext_noop("What shall I call you? (“Call me …”)"),
    "city": gettext_noop("Where do you live? (“I live in …”)"),
    "person": gettext_noop("Who is close to you? (“My sister is called …”)"),
    "interests": gettext_noop("What do you like to do? (“I like …”)"),
}
"""What the person is asked while nothing is known of it, by field or category, with a form of answer that is read."""
STOCK = (
    NO_MODEL,
    ITSELF,
    NOTHING_FOUND,
    NOTHING_OF_YOURS,
    READ,
    CANNOT,
    PRIVATE,
    SWITCHED_OFF,
    NOT_KEPT,
    FOUND,
    NEAREST,
    TALKED,
    NOT_ENGLISH,
    WHICH_ONE,
    *QUESTIONS.values(),
)


@lru_cache
def stock() -> frozenset[str]:
    """What is said alike to everybody, in each language, and so gives nothing away of anybody."""
    return frozenset(text for each in STOCK for text in _in_each_language(each))


@lru_cache
def _in_each_language(text: str) -> frozenset[str]:
    found = {text}
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            found.add(_(text))
    return frozenset(found)


_ENDINGS_OF_SHORT = frozenset({"", "s", "es", "ed", "ing", "y", "ies"})
_ENDINGS = _ENDINGS_OF_SHORT | {"d", "e", "en", "er", "ers", "ied", "n", "r", "st", "t", "te", "ten"}
"""How forms of one word end, in English and German."""


_NO_NAMES = listed(
    "You Your The A An It There Every Each Most On In At Since Until Before After During Last Next This Once Twice"
)
_NAME = regex.compile(
    r"(?<=[\p{L},] )\p{Lu}\p{Ll}{2,}\b|^\p{Lu}\p{Ll}{2,}(?= (?:called|came|said|told|rang|wrote|visited)\b)"
)
_OF_A_PLACE = regex.compile(
    r"\b(?:in|at|near|from|(?:fl[ewy]\w*|went|go(?:ne|ing)?|mov\w+|dr[io]v\w+|travel\w*|been|back|trip|train) to|"
    r"visit\w*|left|leave|leaving) (?-i:\p{Lu}[\p{L}.]*['’]?s? )*$|\bSt\.? $",
    regex.IGNORECASE,
)
_SENTENCE_ENDS = regex.compile(r"[.!?;]\s")
_TELL_WHO = listed("called named name names nicknamed aka friend neighbour neighbor colleague boss")
_PRONOUN = regex.compile(r"(?<= )(?:she|he|her|him|his)\b", regex.IGNORECASE)
_FIGURE = regex.compile(rf"\d|\b(?:{'|'.join(NUMERALS)})\b", regex.IGNORECASE)
_TIME = regex.compile(
    rf"{_FIGURE.pattern}|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays?|daily|weekly|monthly|yearly|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter|"
    r"mornings?|noon|afternoons?|evenings?|nights?|midnight|springs?|summers?|autumns?|winters?)\b",
    regex.IGNORECASE,
)
_OF_TIMES = listed("in on at the of about around early late st nd rd th")
_NOT_ALONE = listed("favourite favorite best new old own")
"""Words that say nothing without the one that they go with: whose favourite dish is known, whose colour may not be."""
_MADE_BY = dict.fromkeys(("husband", "wife", "spouse"), "marry")
_OF_YOU = regex.compile(r"\b[Yy]ou\b|“(?:I|My)\b")


def reply(request: ReplyRequest) -> tuple[list[str], bool]:
    """The pieces of the answer, and whether it asks if something may be remembered."""
    with translation.override(request.language):
        return _replied(request)


def _replied(request: ReplyRequest) -> tuple[list[str], bool]:
    opening = [f"{_(NO_MODEL)} "] if request.is_first else []
    parts = [*opening]
    heard, asks = request.heard, False
    if heard.refused:
        return [*parts, _(NOT_KEPT)], False
    if request.closed:
        return [*parts, _without_memory(request)], False
    keeps = _kept(heard)
    if asks_for_work(request.question) and not (keeps or heard.new):
        return [*parts, _(CANNOT)], False
    if is_question(request.question) and not keeps:
        found = _found(request)
        parts += [_(NOT_ENGLISH)] if found == [_(NOTHING_FOUND)] and is_foreign(request.question) else found
        parts += ["\n\n"] if heard.new else []
    if keeps:
        parts.append(" ".join(keeps))
    elif heard.new:
        parts.append(_("Shall I remember %(that)s?") % {"that": _that(heard.new)})
        asks = True
    elif heard.secret and not is_question(request.question):
        parts.append(_(NO_SECRETS) % {"kind": _(heard.secret)})
    elif parts == opening:
        parts.append(_(NOT_ENGLISH) if is_foreign(request.question) else _acknowledged(request))
    return parts, asks


def _without_memory(request: ReplyRequest) -> str:
    """What is said where nothing is recalled or kept: manners, and why, wherever more than that is asked or told."""
    manners = next((_(answer) for says, answer in MANNERS if says.search(request.question)), "")
    if manners and not request.is_first:
        return manners
    return " ".join(filter(None, [manners, _(PRIVATE if request.closed == "private" else SWITCHED_OFF)]))


def _acknowledged(request: ReplyRequest) -> str:
    """What is said where nothing is asked and nothing new is told: manners, or a question about what is unknown.

    Who tells at length how things are just now is not asked about something else.
    """
    manners = next((_(answer) for says, answer in MANNERS if says.search(request.question)), "")
    if manners and not GREETS.search(request.question):
        return manners
    about = _asked_about(request)
    if not about and len(request.question.split()) <= _MOST_WORDS_OF_NOTHING:
        about = _asked_of_themselves(request)
    return " ".join(filter(None, [manners, about])) or _(READ)


def _asked_of_themselves(request: ReplyRequest) -> str:
    """A question about the person that this talk has not heard yet; none right after another question."""
    said = [str(each.get("content")) for each in request.messages if each.get("role") == "assistant"]
    if said and "?" in said[-1]:
        return ""
    open_ones = (QUESTIONS[name] for name in request.unknown if name in QUESTIONS)
    return next((_(question) for question in open_ones if not _was_said(question, said)), "")


def _was_said(text: str, said: Iterable[str]) -> bool:
    """Whether one of the fixed sentences was said, in whatever language."""
    return any(each in one for one in said for each in _in_each_language(text))


def _kept(heard: Heard) -> list[str]:
    """What is remembered without asking: what was asked for, agreed to or put right, and what was said with it."""
    kept = [
        _("Updated: %(now)s Until now I had: %(before)s") % {"now": now, "before": before}
        for before, now in heard.changed
    ]
    if heard.waiting:
        kept.append(_("This waits until you approve it: %(statements)s") % {"statements": " ".join(heard.waiting)})
    if noted := (*heard.noted, *(heard.new if heard.noted or heard.changed else ())):
        kept.append(_("I will remember %(that)s.") % {"that": _that(noted)})
    elif heard.agreed and not kept:
        kept.append(_(READ))
    if heard.told and (kept or not heard.new):
        kept.append(_("Noted: %(statements)s") % {"statements": " ".join(heard.told)})
    return kept


def _that(statements: Sequence[str]) -> str:
    """Statements as the rest of a sentence: "that you live in Porto and that Alec is your boss".

    They are English, so that in a sentence of another language they are quoted.
    """
    if not (get_language() or "en").startswith("en"):
        return ", ".join(_("“%(statement)s”") % {"statement": each.rstrip(".")} for each in statements)
    return " and ".join(f"that {_in_a_sentence(each)}" for each in statements)


def _in_a_sentence(statement: str) -> str:
    words = statement.rstrip(".").split(" ", 1)
    return " ".join([words[0].lower() if words[0] in _NO_NAMES else words[0], *words[1:]])


def _asked_about(request: ReplyRequest) -> str:
    """One question about somebody who is named and of whom nothing is known; empty where there is nobody."""
    known = {word for source in request.found for word in spelt(source.text)}
    said = request.question
    if _was_said(NOT_KEPT, (str(each.get("content")) for each in request.messages if each.get("role") == "assistant")):
        return ""  # It may be somebody of whom nothing is to be kept.
    names = (
        name[0]
        for name in _NAME.finditer(said)
        if not (_OF_A_PLACE.search(said, endpos=name.start()) or _is_told(said, name.start()))
    )
    plain = (name for name in names if name.lower() not in ENGLISH and not _TIME.fullmatch(name))
    new = next((name for name in plain if name.casefold() not in known), "")
    return _("Who is %(name)s?") % {"name": new} if new else ""


def _is_told(said: str, at: int) -> bool:
    """Whether the sentence says before a name who or what bears it: "my sister Ana", "a pigeon called Duchess"."""
    before = spelt(_SENTENCE_ENDS.split(said[:at])[-1])
    return any(word in _TELL_WHO or word in KIN or word in KIN_PLURALS or word in PETS for word in before)


def _found(request: ReplyRequest) -> list[str]:
    if ASKS_OF_ITSELF.search(request.question):
        return [_(ITSELF) if request.is_first else f"{_(NO_MODEL)} {_(ITSELF)}"]
    if asked_of_talk(request.question) is not None:
        return _listed(TALKED, request.found) if request.found else [_(NOTHING_FOUND)]
    fitting, opening = _fitting(_with_name(request.question, request.heard.about), request.found)
    if not fitting:
        return [_(NOTHING_FOUND)]
    holding, several = _up_to_date(fitting, request.question)
    return [*_listed(opening, holding), *([f"\n\n{_(WHICH_ONE)}"] if several else [])]


def _up_to_date(sources: Sequence[Source], question: str) -> tuple[list[Source], bool]:
    """The sources without those that a later one has taken the place of, and whether two of the rest can't both hold.

    Where it is asked when something was, two that differ in nothing but the time are such, too.
    """
    sayings = {source: Saying(source.stored) for source in sources if source.stored and source.at is not None}
    in_order = sorted(sayings, key=lambda source: source.at or datetime.min.replace(tzinfo=UTC))
    pairs = list(combinations(in_order, 2))
    read_together([(sayings[late], sayings[early]) for early, late in pairs if not (early.quoted or late.quoted)])
    over: set[Source] = set()
    several = False
    for early, late in pairs:
        read = not (early.quoted or late.quoted)
        verdict = compare(sayings[early], sayings[late]) if read else "different"
        if verdict == "replaces":
            over.add(early)
        elif verdict == "contradicts" or (WANTS_A_TIME.search(question) and _differ_in_time(early, late)):
            several = several or early not in over
    return [source for source in sources if source not in over], several


def _differ_in_time(one: Source, other: Source) -> bool:
    texts = one.stored, other.stored
    bare = [[word for word in spelt(_TIME.sub(" ", text)) if word not in _OF_TIMES] for text in texts]
    return bare[0] == bare[1] and texts[0] != texts[1] and all(map(_TIME.search, texts))


def _listed(opening: str, sources: Sequence[Source]) -> list[str]:
    return [_(opening), *(f"\n- {source.text} ({source.origin})" for source in sources)]


def _with_name(question: str, name: str) -> str:
    """A question with the name of whom the talk is about where only a pronoun stands for them."""
    given = name.split(maxsplit=1)[0] if name else ""
    return question if not given or _NAME.search(question) else _PRONOUN.sub(given, question)


def _fitting(question: str, found: Sequence[Source]) -> tuple[list[Source], str]:
    """Those that have most words in common with the question, and how they are told: whether they answer it.

    All where it names nothing: "what do you know of me?". Whoever is named in it is named in the answer. One that ranks
    first may have fewer of its words than others. Where it names no more than a topic, all that tells of that.
    """
    wanted = wanted_in(question)
    if not wanted:
        of_them = [source for source in found if not (source.of_legacy and OF_ME.search(question))]
        return _remembered(question, of_them)[:MOST_TOLD_OF_ALL], FOUND
    named = {name[0].casefold() for name in _NAME.finditer(question)} & set(wanted)
    shared = [(source, _shared(wanted, source)) for source in found]
    shared = [(source, words) for source, words in shared if words and (words & named or not named)]
    own = [(source, words) for source, words in shared if _is_own(source, question)]
    if WHAT_I_DO.search(question) and shared and not own:
        return _remembered(question, [source for source, _ in shared])[:MOST_TOLD], NOTHING_OF_YOURS
    shared = own or shared
    most = max((len(words) for _, words in shared), default=0)
    fitting = [source for place, (source, words) in enumerate(shared) if len(words) == most or not place]
    topic = topic_of(wanted) if OF_ME.search(question) and not named else ""
    if topic:
        of_topic = [source for source in found if source in fitting or topic in topics_of(source.text)]
        return _remembered(question, of_topic)[:MOST_TOLD_OF_ALL], FOUND
    sources = _remembered(question, fitting)
    about = set(wanted) - named - _NOT_ALONE or set(wanted) - named
    answers = any(words & about for source, words in shared if source in sources) or not about
    sources = sources[: MOST_TOLD if about else MOST_TOLD_OF_ALL]
    told = _TIME if WANTS_A_TIME.search(question) else _FIGURE if HOW.search(question) else None
    if told:
        sources.sort(key=lambda source: not told.search(source.text))
        answers = answers and any(told.search(source.text) for source in sources)
    return sources, FOUND if answers else NEAREST


def _remembered(question: str, found: Sequence[Source]) -> list[Source]:
    """Without what was only said once, unless that is asked for or all there is: what is remembered is up to date."""
    kept = [source for source in found if not source.quoted]
    return list(found) if not kept or ASKS_WHAT_WAS_SAID.search(question) else kept


def _shared(wanted: Iterable[str], source: Source) -> set[str]:
    """The words of a question that a source has."""
    others = _words(source.text)
    return {word for word in wanted if any(_is_one(_MADE_BY.get(word, word), other) for other in others)}


def _is_own(source: Source, question: str) -> bool:
    """Whether a source tells what the person does themselves, of what they ask if they do it: not that others do."""
    done = WHAT_I_DO.search(question)
    if done is None:
        return True
    verb = done["verb"].casefold()
    theirs = {f"{verb}s", f"{verb}es", f"{verb.removesuffix('y')}ies"}
    of_others = source.text.startswith("Your ") or not theirs.isdisjoint(spelt(source.text))
    return _OF_YOU.search(source.text) is not None and not of_others


def _words(text: str) -> list[str]:
    return list(map(irregular, spelt(text)))


def _is_one(word: str, other: str) -> bool:
    """Whether two words are forms of one, as far as their endings tell: "keys" and "key", "worked" and "working"."""
    stem = "".join(one for one, _ in takewhile(lambda both: both[0] == both[1], zip(word, other, strict=False)))
    if len(stem) < 3:
        return word == other
    endings = _ENDINGS if len(stem) > 3 else _ENDINGS_OF_SHORT
    rests = (each.removeprefix(stem) for each in (word, other))
    return all(rest in endings or rest.removeprefix(stem[-1]) in endings for rest in rests)
