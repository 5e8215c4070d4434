"""Chat replies without a language model: the memories that answer a question, with their origin.

Statements mentioned in passing are remembered only after the person agrees. Explicit requests and corrections are
remembered at once and confirmed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import regex
from django.conf.locale import LANG_INFO
from django.utils import translation
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from language.base import ReplyRequest, Source
from language.heard import Heard
from language.reading.answering import NAME, TIME, Fit, is_over, matching_sources, up_to_date, with_name
from language.reading.asked import find_asked
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
    complains,
    is_question,
    spelt,
    wants_quiet,
)
from language.reading.refusals.discretion import asks_for_rule, asks_for_secrecy, asks_who_sees, only_asks_for_secrecy
from language.reading.refusals.offers import asks_to_keep
from language.reading.refusals.parts import keeps_a_part
from language.reading.refusals.subjects import lemmas
from language.reading.refusals.wording import says_no, says_yes
from language.reading.second_tries import refutes
from language.reading.stock import (
    ASKS_FIRST,
    CANNOT,
    DECIDED,
    ERASE_ALL,
    FORGETS,
    FOUND,
    GONE_ALONG,
    ITSELF,
    KEPT,
    KEPT_SEVERAL,
    KNOWN,
    LAST_TOLD,
    MORE,
    MORE_FACTS,
    NEAREST,
    NO_MODEL,
    NO_RULE,
    NO_SECRETS,
    NOT_ENGLISH,
    NOT_KEPT,
    NOT_READ,
    NOTED,
    NOTHING_FOUND,
    NOTHING_OF_YOURS,
    NOTHING_TO_FORGET,
    PRIVATE,
    QUESTIONS,
    READ,
    REMEMBER_ALL,
    REST_NOT_KEPT,
    SAID_ELSEWHERE,
    SECRET,
    SECRET_KEPT,
    SOME_WAITS,
    STAYS,
    SWITCHED_OFF,
    TALKED,
    TELL_ANYTHING,
    TOLD_SEVERAL,
    UPDATED,
    WAITS,
    WHAT_IS_WRONG,
    WHAT_NOW,
    WHICH_ONE,
    WHO_SEES,
    in_each_language,
    stock,
)
from language.reading.words import ENGLISH, KIN, KIN_PLURALS, PETS, listed
from language.shown import quoted

_OPENINGS: Mapping[Fit, str] = {"answers": FOUND, "nearest": NEAREST, "others": NOTHING_OF_YOURS}
_MOST_WORDS_OF_NOTHING = 3
_MOST_IN_A_SENTENCE = 3
"""More statements than this are listed by number."""
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
        done = _(DECIDED[heard.decided]) % {"statements": " ".join(heard.noted)}
        return [*parts, _joined([done, _asking(heard) if heard.new else ""])], False
    if heard.in_part and (kept := _confirmations(heard)):
        return [*parts, _joined([*kept, _(REST_NOT_KEPT)])], False
    if heard.refused:
        notes = (
            (GONE_ALONG, heard.along),
            (SOME_WAITS, heard.awaits),
            (ERASE_ALL, heard.of_all),
            (NO_RULE, heard.for_later and not heard.not_found),
            *((text, heard.elsewhere == where) for where, text in SAID_ELSEWHERE.items()),
        )
        also = [text for text, holds in notes if holds]
        nothing = _(NOTHING_TO_FORGET if heard.not_found else NOT_KEPT)
        nothing = _no_rule(heard) if heard.for_later and heard.not_found else nothing
        told = _(STAYS) % {"statements": " ".join(heard.stays)} if heard.stays else nothing
        return [*parts, _joined([told, *map(_, also), _asking(heard) if heard.new else ""])], False
    if request.closed:
        return [*parts, _without_memory(request)], False
    keeps = _confirmations(heard)
    fixed = _on_discretion(request, heard) or (_(CANNOT) if asks_for_work(request.question) else "")
    if fixed and not (keeps or heard.new):
        return [*parts, fixed], False
    if is_question(request.question) and not keeps:
        found = _found(request)
        parts += [_(NOT_ENGLISH)] if found == [_(NOTHING_FOUND)] and is_foreign(request.question) else found
        parts += ["\n\n"] if heard.new else []
    secret = _(NO_SECRETS) % {"kind": _(heard.secret)} if heard.secret and not is_question(request.question) else ""
    if keeps:
        asks = bool(heard.new)
        parts.append(_joined([*keeps, secret, *([_asking(heard)] if asks else [])]))
    elif heard.new:
        parts.append(_joined([secret, _asking(heard)]))
        asks = True
    elif secret:
        parts.append(secret)
    elif parts == opening:
        parts.append(_(NOT_ENGLISH) if is_foreign(request.question) else _acknowledged(request))
    return parts, asks


def _on_discretion(request: ReplyRequest, heard: Heard) -> str:
    """The answer to a wish for secrecy, a question who sees what is said, or a rule for later; empty to another."""
    if asks_for_rule(request.question):
        return _no_rule(heard)
    if asks_who_sees(request.question):
        return _(WHO_SEES)
    if not asks_for_secrecy(request.question) or heard.secret:
        return ""
    return _(SECRET if only_asks_for_secrecy(request.question) else SECRET_KEPT)


def _no_rule(heard: Heard) -> str:
    """What to say to a rule for later, which binds nothing. Facts about a legacy are stored without asking."""
    return " ".join(map(_, [NO_RULE, *([] if heard.about else [ASKS_FIRST]), FORGETS]))


def _joined(parts: Iterable[str]) -> str:
    """The parts of an answer that there are; each on its own line where one is a list."""
    there = [each for each in parts if each]
    return ("\n" if any("\n" in each for each in there) else " ").join(there)


def _asking(heard: Heard) -> str:
    if len(heard.new) > _MOST_IN_A_SENTENCE:
        return "\n".join([_(TOLD_SEVERAL), *_numbered(heard.new), _(REMEMBER_ALL)])
    return _("Shall I remember %(that)s?") % {"that": _as_that_clauses(heard.new)}


def _numbered(statements: Sequence[str]) -> list[str]:
    """A line for each statement, as ``language.reading.refusals`` reads them."""
    return [f"{number}) {each}" for number, each in enumerate(statements, start=1)]


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
    if complains(request.question) or refutes(request.question):
        return "\n".join(filter(None, [_(WHAT_IS_WRONG), *_last_told(request)]))
    if known := _known_of(request):
        return _(KNOWN) % {"statements": known}
    if find_asked(request.question) is not None or _keeps_only_a_part(request):
        return _(NOT_READ)
    about = _question_about_name(request)
    is_answer = says_yes(request.question) or says_no(request.question) or wants_quiet(request.question)
    if not (about or is_answer) and len(request.question.split()) <= _MOST_WORDS_OF_NOTHING:
        about = _next_profile_question(request)
    return " ".join(filter(None, [manners, about])) or _(READ)


def _known_of(request: ReplyRequest) -> str:
    """The memory that says already what a message asks to remember; empty if there is none."""
    asked = find_asked(request.question)
    words = lemmas(request.question[asked.start : asked.end]) if asked is not None else frozenset()
    known = (each.text for each in request.found if not (each.quoted or each.of_legacy))
    return next((text for text in known if words and words == lemmas(text)), "")


def _keeps_only_a_part(request: ReplyRequest) -> bool:
    """Whether an answer would keep only a part of what was just asked about, which is still open."""
    said = [str(each.get("content")) for each in request.messages if each.get("role") == "assistant"]
    return bool(said) and asks_to_keep(said[-1]) and keeps_a_part(said[-1], request.question)


def _last_told(request: ReplyRequest) -> list[str]:
    """The statements of the assistant's previous message as lines, after what introduces them."""
    said = [str(each.get("content")) for each in request.messages if each.get("role") == "assistant"]
    for fixed in (*stock(), *(_(answer) for _says, answer in MANNERS)):
        said = [each.replace(fixed, "") for each in said[-1:]]
    lines = [line.strip().removeprefix("- ") for each in said for line in each.splitlines() if line.strip()]
    return [_(LAST_TOLD), *(f"- {line}" for line in lines)] if lines else []


def _next_profile_question(request: ReplyRequest) -> str:
    """A question about the person that was not asked in this chat yet; none right after another question."""
    said = [str(each.get("content")) for each in request.messages if each.get("role") == "assistant"]
    if said and "?" in said[-1]:
        return ""
    open_ones = (QUESTIONS[name] for name in request.unknown if name in QUESTIONS)
    return next((_(question) for question in open_ones if not _was_said(question, said)), "")


def _was_said(text: str, said: Iterable[str]) -> bool:
    """Whether one of the fixed sentences was already said, in any language."""
    return any(each in one for one in said for each in in_each_language(text))


def _confirmations(heard: Heard) -> list[str]:
    """Confirmations of what is remembered without asking: requests, agreed statements and corrections."""
    kept = [_(UPDATED) % {"now": now, "before": before} for before, now in heard.changed]
    if heard.waiting:
        kept.append(_(WAITS) % {"statements": " ".join(heard.waiting)})
    if heard.noted:
        that = _as_that_clauses(heard.noted)
        several = "\n".join([_(KEPT_SEVERAL), *_numbered(heard.noted)])
        kept.append(several if len(heard.noted) > _MOST_IN_A_SENTENCE else _(KEPT) % {"that": that})
    elif heard.agreed and not (kept or heard.refused or heard.doubted):
        kept.append(_(READ))
    if heard.told:
        kept.append(_(NOTED) % {"statements": " ".join(heard.told)})
    for why in dict.fromkeys(why for _statement, why in heard.held):
        statements = " ".join(statement for statement, because in heard.held if because == why)
        kept.append(" ".join(filter(None, [_(WAITS) % {"statements": statements}, why])))
    if heard.doubted and not heard.new:  # Last, so that a yes or a no answers this, and one thing at a time.
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
    known = {word for said in (*(each.text for each in request.found), request.heard.about) for word in spelt(said)}
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
    ask += [_(WHAT_NOW)] if fit == "answers" and all(map(is_over, holding)) else []
    rest = MORE_FACTS if any(source.of_legacy for source in holding) else MORE
    after = [*ask, *([_(rest)] if request.remembered > len(holding) else [])]
    return [*_listed(_OPENINGS[fit], holding), *(f"\n\n{each}" for each in after)]


def _listed(opening: str, sources: Sequence[Source]) -> list[str]:
    return [_(opening), *(f"\n- {source.text} ({source.origin})" for source in sources)]
