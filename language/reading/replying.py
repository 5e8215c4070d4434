"""Chat replies without a language model: the memories that answer a question, with their origin.

Statements mentioned in passing are remembered only after the person agrees. Explicit requests and corrections are
remembered at once and confirmed.
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
from language.reading.compare import Saying, compare, parse_pairs
from language.reading.foreign import is_foreign
from language.reading.lexicon import is_kind_of
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
"""Used for general questions: "what do you know about me?"."""
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
    """The fixed sentences in each language; they reveal nothing about anybody."""
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
"""Inflectional endings in English and German."""


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
_TIME_WORDS = listed("in on at the of about around early late st nd rd th")
_NOT_ALONE = listed("favourite favorite best new old own called named")
"""Words that are no topic without their noun: the favourite dish may be known, the favourite colour not."""
_DERIVED_FROM = dict.fromkeys(("husband", "wife", "spouse"), "marry")
_OF_YOU = regex.compile(r"\b[Yy]ou\b|“(?:I|My)\b")


def reply(request: ReplyRequest) -> tuple[list[str], bool]:
    """The parts of the answer, and whether it asks for permission to remember something."""
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
    keeps = _confirmations(heard)
    if asks_for_work(request.question) and not (keeps or heard.new):
        return [*parts, _(CANNOT)], False
    if is_question(request.question) and not keeps:
        found = _found(request)
        parts += [_(NOT_ENGLISH)] if found == [_(NOTHING_FOUND)] and is_foreign(request.question) else found
        parts += ["\n\n"] if heard.new else []
    if keeps:
        parts.append(" ".join(keeps))
    elif heard.new:
        parts.append(_("Shall I remember %(that)s?") % {"that": _as_that_clauses(heard.new)})
        asks = True
    elif heard.secret and not is_question(request.question):
        parts.append(_(NO_SECRETS) % {"kind": _(heard.secret)})
    elif parts == opening:
        parts.append(_(NOT_ENGLISH) if is_foreign(request.question) else _acknowledged(request))
    return parts, asks


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
    elif heard.agreed and not kept:
        kept.append(_(READ))
    if heard.told and (kept or not heard.new):
        kept.append(_("Noted: %(statements)s") % {"statements": " ".join(heard.told)})
    return kept


def _as_that_clauses(statements: Sequence[str]) -> str:
    """Statements as "that" clauses: "that you live in Porto and that Alec is your boss".

    Statements are English, so in a sentence of another language they are quoted.
    """
    if not (get_language() or "en").startswith("en"):
        return ", ".join(_("“%(statement)s”") % {"statement": each.rstrip(".")} for each in statements)
    return " and ".join(f"that {_in_a_sentence(each)}" for each in statements)


def _in_a_sentence(statement: str) -> str:
    words = statement.rstrip(".").split(" ", 1)
    return " ".join([words[0].lower() if words[0] in _NO_NAMES else words[0], *words[1:]])


def _question_about_name(request: ReplyRequest) -> str:
    """A question about a named person of whom nothing is known; empty if there is none."""
    known = {word for source in request.found for word in spelt(source.text)}
    said = request.question
    if _was_said(NOT_KEPT, (str(each.get("content")) for each in request.messages if each.get("role") == "assistant")):
        return ""  # The person may just have refused to have them remembered.
    names = (
        name[0]
        for name in _NAME.finditer(said)
        if not (_OF_A_PLACE.search(said, endpos=name.start()) or _is_introduced(said, name.start()))
    )
    plain = (name for name in names if name.lower() not in ENGLISH and not _TIME.fullmatch(name))
    new = next((name for name in plain if name.casefold() not in known), "")
    return _("Who is %(name)s?") % {"name": new} if new else ""


def _is_introduced(said: str, at: int) -> bool:
    """Whether the sentence already says who a name is: "my sister Ana", "a pigeon called Duchess"."""
    before = spelt(_SENTENCE_ENDS.split(said[:at])[-1])
    return any(word in _TELL_WHO or word in KIN or word in KIN_PLURALS or word in PETS for word in before)


def _found(request: ReplyRequest) -> list[str]:
    if ASKS_OF_ITSELF.search(request.question):
        return [_(ITSELF) if request.is_first else f"{_(NO_MODEL)} {_(ITSELF)}"]
    if asked_of_talk(request.question) is not None:
        return _listed(TALKED, request.found) if request.found else [_(NOTHING_FOUND)]
    fitting, opening = _matching_sources(_with_name(request.question, request.heard.about), request.found)
    if not fitting:
        return [_(NOTHING_FOUND)]
    holding, several = _up_to_date(fitting, request.question)
    return [*_listed(opening, holding), *([f"\n\n{_(WHICH_ONE)}"] if several else [])]


def _up_to_date(sources: Sequence[Source], question: str) -> tuple[list[Source], bool]:
    """Drop sources that a later one replaces, and return whether two of the rest conflict.

    For a question about a time, two sources that differ only in the time conflict too.
    """
    sayings = {source: Saying(source.stored) for source in sources if source.stored and source.at is not None}
    in_order = sorted(sayings, key=lambda source: source.at or datetime.min.replace(tzinfo=UTC))
    pairs = list(combinations(in_order, 2))
    parse_pairs([(sayings[late], sayings[early]) for early, late in pairs if not (early.quoted or late.quoted)])
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
    bare = [[word for word in spelt(_TIME.sub(" ", text)) if word not in _TIME_WORDS] for text in texts]
    return bare[0] == bare[1] and texts[0] != texts[1] and all(map(_TIME.search, texts))


def _listed(opening: str, sources: Sequence[Source]) -> list[str]:
    return [_(opening), *(f"\n- {source.text} ({source.origin})" for source in sources)]


def _with_name(question: str, name: str) -> str:
    """The question with its pronoun replaced by the name that the chat is about."""
    given = name.split(maxsplit=1)[0] if name else ""
    return question if not given or _NAME.search(question) else _PRONOUN.sub(given, question)


def _matching_sources(question: str, found: Sequence[Source]) -> tuple[list[Source], str]:
    """The sources that share most words with the question, and the opening: whether they answer it.

    A question without a topic ("what do you know of me?") gets all sources. A name in it must be in the answer. The
    first ranked source is kept with fewer shared words. For a broad topic, all its sources are returned.
    """
    wanted = wanted_in(question)
    if not wanted:
        of_them = [source for source in found if not (source.of_legacy and OF_ME.search(question))]
        return _remembered(question, of_them)[:MOST_TOLD_OF_ALL], FOUND
    named = {name[0].casefold() for name in _NAME.finditer(question)} & set(wanted)
    exact = [(source, _shared(wanted, source)) for source in found]
    told = {word for _, words in exact for word in words}
    shared = [(source, words | _kinds(wanted.keys() - told - named, source)) for source, words in exact]
    shared = [(source, words) for source, words in shared if words and (words & named or not named)]
    own = [(source, words) for source, words in shared if _is_own(source, question)]
    if WHAT_I_DO.search(question) and shared and not own:
        return _remembered(question, [source for source, _ in shared])[:MOST_TOLD], NOTHING_OF_YOURS
    shared = own or shared
    most = max((len(words) for _, words in shared), default=0)
    fitting = [
        source
        for place, (source, words) in enumerate(shared)
        if len(words) == most or (not place and words - _NOT_ALONE)
    ]
    topic = topic_of(wanted) if OF_ME.search(question) and not named else ""
    if topic:
        of_topic = [source for source in found if source in fitting or topic in topics_of(source.text)]
        return _remembered(question, of_topic)[:MOST_TOLD_OF_ALL], FOUND
    sources = _remembered(question, fitting)
    about = set(wanted) - named - _NOT_ALONE or set(wanted) - named
    answers = any(words & about for source, words in shared if source in sources) or not about
    sources = sources[: MOST_TOLD if about else MOST_TOLD_OF_ALL]
    value = _TIME if WANTS_A_TIME.search(question) else _FIGURE if HOW.search(question) else None
    if value:
        sources.sort(key=lambda source: not value.search(source.text))
        answers = answers and any(value.search(source.text) for source in sources)
    return sources, FOUND if answers else NEAREST


def _remembered(question: str, found: Sequence[Source]) -> list[Source]:
    """Prefer memories to quotations, unless the question is about what was said: memories are up to date."""
    kept = [source for source in found if not source.quoted]
    return list(found) if not kept or ASKS_WHAT_WAS_SAID.search(question) else kept


def _shared(wanted: Iterable[str], source: Source) -> set[str]:
    """The words of the question that a source contains."""
    others = _words(source.text)
    return {word for word in wanted if any(_is_same_word(_DERIVED_FROM.get(word, word), other) for other in others)}


def _kinds(wanted: Iterable[str], source: Source) -> set[str]:
    """The words of the question of which a source names a kind: the dog, where it tells of a greyhound."""
    others = _words(source.text)
    return {word for word in wanted if any(is_kind_of(other, word) for other in others)}


def _is_own(source: Source, question: str) -> bool:
    """Whether a source is about the person's own habits, where the question asks for them ("do I swim?")."""
    done = WHAT_I_DO.search(question)
    if done is None:
        return True
    verb = done["verb"].casefold()
    theirs = {f"{verb}s", f"{verb}es", f"{verb.removesuffix('y')}ies"}
    of_others = source.text.startswith("Your ") or not theirs.isdisjoint(spelt(source.text))
    return _OF_YOU.search(source.text) is not None and not of_others


def _words(text: str) -> list[str]:
    return list(map(irregular, spelt(text)))


def _is_same_word(word: str, other: str) -> bool:
    """Whether two words are inflected forms of one, judged by endings: "keys" and "key", "worked" and "working"."""
    stem = "".join(one for one, _ in takewhile(lambda both: both[0] == both[1], zip(word, other, strict=False)))
    if len(stem) < 3:
        return word == other
    endings = _ENDINGS if len(stem) > 3 else _ENDINGS_OF_SHORT
    rests = (each.removeprefix(stem) for each in (word, other))
    return all(rest in endings or rest.removeprefix(stem[-1]) in endings for rest in rests)
