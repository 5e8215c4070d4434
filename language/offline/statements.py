"""From clauses to statements in the third person, with their kind and the place of the words that say them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from language.offline.clauses import Clause
from language.offline.explicit import order_words
from language.offline.lexicon import verbs
from language.offline.lexicon.words import KIN, NATIONALITIES, NOT_NAMES, listed
from language.offline.people import USER, Cast, Person
from language.offline.rewrite import Unclear, Voice, acceptable, finished, pronouns_hold, rewritten, trimmed
from language.offline.rules import classify, named_city
from language.offline.things import Thing, read_thing
from language.offline.times import with_dates
from language.offline.tokens import Token, joined

THE_USER = "the user"

_REASONS = listed("because although though whereas which")
_TONE_WORDS = listed(
    "short shorter brief concise formal informal casual direct friendly polite blunt simple detailed emojis emoji bullet"
)
_ANSWERING = listed("reply answer write speak respond talk")
_UNNAMED = listed("he she they it that this if when his her their its there what so")


@dataclass(frozen=True, slots=True)
class Statement:
    """Something said about ``person``: its kind, the sentence in the third person, and where it was said."""

    kind: str
    content: str
    person: Person
    start: int
    end: int
    subject: str = ""
    field: str = ""


class Composer:
    """Composes statements out of clauses for one conversation."""

    def __init__(self, cast: Cast, user_name: str) -> None:
        self.cast = cast
        self.user_name = user_name.strip() or THE_USER

    def compose(self, clause: Clause, at: datetime) -> Statement | None:
        """Return the statement that a clause makes, or None when there is nothing to keep or it can't be told."""
        thing = read_thing(clause) if clause.subject.thing else self._kind(clause)
        content = self._written(clause, at) if thing else None
        if thing is None or content is None:
            return None
        return Statement(
            thing.kind,
            content,
            self._about(clause),
            clause.start,
            clause.end,
            thing.subject or _subject(clause),
            thing.field or _field(clause, thing.kind),
        )

    def as_asked(self, clause: Clause, at: datetime) -> Statement | None:
        """Return a clause whatever it is about, because the user asked for it to be remembered."""
        content = self._written(clause, at)
        if content is None:
            return None
        kind = "relationship" if clause.subject.person.role == "other" else "note"
        return Statement(kind, content, self._about(clause), clause.start, clause.end, _subject(clause))

    def verbatim(self, tokens: Sequence[Token], at: datetime) -> Statement | None:
        """Return words about no person ("the deadline is 5 May"), because the user asked for them to be remembered."""
        dated = with_dates(trimmed(tokens), at)
        if not dated or dated[0].low in _UNNAMED or not any(_is_finite(token.low) for token in dated[1:]):
            return None
        content = self._third_person("", dated, USER)
        if content is None:
            return None
        project = dated[0].low == "project" and len(dated) > 1
        subject = f"{dated[0].text} {dated[1].text}" if project else ""
        return Statement("project" if project else "note", content, USER, tokens[0].start, tokens[-1].end, subject)

    def order(self, tokens: Sequence[Token], at: datetime) -> Statement | None:
        """Return a lasting instruction ("from now on, use metric units") as something the user asked for."""
        forbids, words = order_words(trimmed(tokens))
        dated = with_dates(words, at)
        if not dated:
            return None
        place = (tokens[0].start, tokens[-1].end)
        name = _called(dated)
        if name and not forbids:
            return Statement("name", f"The user asked to be called {name}.", USER, *place, field="preferred_name")
        own = [token for token in dated if token.low != "your"]
        content = self._third_person("The user asked" + (" not to" if forbids else " to"), own, None)
        if content is None:
            return None
        lows = {token.low for token in own}
        if lows & _TONE_WORDS:
            return Statement("tone", content, USER, *place, field="tone")
        language = own[0].low in _ANSWERING and "in" in lows and own[-1].capital
        return Statement("note", content, USER, *place, field="language" if language else "")

    # -- writing ----------------------------------------------------------------------------------------------------

    def _kind(self, clause: Clause) -> Thing | None:
        if self._tells_relation(clause):
            return Thing("relationship")
        kind = "name" if _gives_name(clause) else classify(clause)
        return Thing(kind) if kind else None

    def _third_person(self, opening: str, tokens: Sequence[Token], main: Person | None) -> str | None:
        try:
            words = rewritten(tokens, Voice(THE_USER, self.cast.legacy_name), main)
        except Unclear:
            return None
        content = finished(opening, words)
        holds = pronouns_hold([token.low for token in words], USER, company=False, others=())
        return content if holds and acceptable(content) else None

    def _written(self, clause: Clause, at: datetime) -> str | None:
        subject = clause.subject
        person = subject.person
        dated = with_dates(trimmed(_without_reasons(clause.body)), at)
        lead = with_dates(clause.lead, at)
        if not dated or lead is None:
            return None
        # Facts about the legacy are read by other members too, so they name the user.
        shared = self._about(clause).role == "legacy"
        voice = Voice(self.user_name if shared else THE_USER, self.cast.legacy_name)
        others = person.role != "user"
        try:
            words = rewritten(
                dated,
                voice,
                None if subject.thing else person,
                agree=not (others or subject.thing),
                plural_allowed=others,
            )
            opening = rewritten(lead, voice, None, plural_allowed=others)
            company = rewritten(subject.company, voice, None)
        except Unclear:
            return None
        if self._tells_relation(clause):
            words = self._with_legacy_named(words)
        name = person.called(voice.user, voice.legacy)
        if subject.thing:
            name += f"'s {joined(subject.thing)}"
        if company:
            name += f" {joined(company)}"
        genders = [mention.person.gender for mention in self.cast.mentions(dated) if mention.person.gender != "?"]
        lows = [token.low for token in (*opening, *words)]
        content = finished(name, words, opening)
        return content if pronouns_hold(lows, person, bool(company), genders) and acceptable(content) else None

    def _about(self, clause: Clause) -> Person:
        """Whom a clause is about: somebody's kin count as part of what is said about the legacy."""
        person = clause.subject.person
        legacy = self.cast.legacy
        if legacy is not None and (person.owner == legacy or self._tells_relation(clause)):
            return legacy
        return person

    def _tells_relation(self, clause: Clause) -> bool:
        """Whether a clause says what somebody else is to the legacy: "my brother Tom is her son"."""
        legacy = self.cast.legacy
        subject = clause.subject
        if legacy is None or subject.thing or subject.person.role != "other" or clause.predicate.lemma != "be":
            return False
        rest = clause.predicate.rest
        if len(rest) < 2 or not any(token.low in KIN for token in rest[1:5]):
            return False
        return rest[0].low == _possessive(legacy) or (rest[0].owner and rest[0].low in self.cast.names)

    def _with_legacy_named(self, words: Sequence[Token]) -> list[Token]:
        legacy = self.cast.legacy
        named = []
        for token in words:
            own = legacy is not None and token.low == _possessive(legacy)
            named.append(Token(f"{self.cast.legacy_name}'s", "", token.start, token.end) if own else token)
        return named


def _possessive(person: Person) -> str:
    return {"f": "her", "m": "his"}.get(person.gender, "")


def _is_finite(word: str) -> bool:
    form = verbs.verb_form(word)
    return word in {"must", "can", "will"} or (form is not None and bool(form.kinds & {"s", "past", "base"}))


def _is_given(token: Token) -> bool:
    return token.capital and token.low.isalpha() and token.low not in NOT_NAMES | NATIONALITIES and token.low not in KIN


def _gives_name(clause: Clause) -> bool:
    """Read "I'm Darryl"."""
    predicate = clause.predicate
    rest = predicate.rest
    if clause.subject.person.role != "user" or predicate.lemma != "be" or predicate.tense != "present":
        return False
    if predicate.negated or not rest or not _is_given(rest[0]):
        return False
    return len(rest) == 1 or rest[1].low in {",", ".", "!", "and", "from"}


def _called(tokens: Sequence[Token]) -> str:
    """Return the name in "call me Sam"."""
    asked = [token.low for token in tokens[:2]] == ["call", "me"]
    if asked and 2 < len(tokens) < 5 and all(_is_given(token) for token in tokens[2:]):
        return joined(tokens[2:])
    return ""


def _subject(clause: Clause) -> str:
    person = clause.subject.person
    if person.role != "other":
        return ""
    words = [token for token in clause.predicate.rest if token.is_word]
    if clause.predicate.lemma == "be" and not person.given and len(words) == 1 and _is_given(words[0]):
        return words[0].text
    return person.subject


def _field(clause: Clause, kind: str) -> str:
    predicate = clause.predicate
    if clause.subject.person.role != "user" or predicate.negated or predicate.tense != "present" or predicate.perfect:
        return ""
    if kind == "name":
        return "preferred_name"
    if kind == "residence":
        where = predicate.rest[1:] if predicate.lemma == "be" else predicate.rest
        return "city" if named_city([token.low for token in where], [token.text for token in where]) else ""
    return ""


def _without_reasons(tokens: Sequence[Token]) -> list[Token]:
    for position, token in enumerate(tokens):
        if token.low in _REASONS and position:
            return list(tokens[:position])
    return list(tokens)
