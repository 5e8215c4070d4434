"""From clauses to statements in the third person, with their kind and the place of the words that say them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from language.offline.checks import names_town
from language.offline.clauses import skip_openers
from language.offline.explicit import order_words
from language.offline.lexicon import verbs
from language.offline.lexicon.words import KIN, NATIONALITIES, NOT_NAMES, YOU_PRONOUNS, listed
from language.offline.people import USER, Cast, Person
from language.offline.reader import Clause
from language.offline.rewrite import Unclear, Voice, acceptable, finished, pronouns_hold, rewritten, trimmed
from language.offline.rules import classify
from language.offline.things import Thing, read_thing
from language.offline.times import with_dates
from language.offline.tokens import Token, joined

THE_USER = "the user"

_REASONS = listed("because although though whereas which")
_TONE_WORDS = listed(
    "short shorter brief concise formal informal casual direct friendly polite blunt simple detailed emojis emoji"
)
_OF_KIN = listed("relationship name occupation origin birth death milestone residence")
_FAVOURITE = listed("favourite favourites favorite favorites")
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

    def favourite(self, tokens: Sequence[Token], at: datetime, of: Person | None) -> Statement | None:
        """Read "green is my favourite colour", or "her favourite" where ``of`` is whom "he" or "she" means."""
        words = trimmed(tokens[skip_openers(tokens) :])
        verb = next((place for place, token in enumerate(words[:6]) if token.low in {"is", "are", "was", "were"}), 0)
        after = verb + 3 if [token.low for token in words[verb + 1 : verb + 3]] == ["one", "of"] else verb + 1
        if not verb or after + 1 >= len(words) or words[after + 1].low not in _FAVOURITE:
            return None
        person = USER if words[after].low == "my" else of if words[after].low in {"his", "her"} else None
        lows = {token.low for token in words[:verb]}
        if person is None or person.role == "other" or lows & (_UNNAMED | YOU_PRONOUNS | {"my", "which", "one"}):
            return None
        dated = with_dates(words[after + 1 :], at)
        if dated is None:
            return None
        owner = person.called(THE_USER, self.cast.legacy_name)
        named = [*words[:after], words[after]._replace(text=f"{owner}'s", low="")]
        content = self._third_person("", [*named, *dated], None)
        return Statement("preference", content, person, words[0].start, tokens[-1].end) if content else None

    def verbatim(self, tokens: Sequence[Token], at: datetime) -> Statement | None:
        """Return words about no person ("the deadline is 5 May"), because the user asked for them to be remembered."""
        dated = with_dates(trimmed(tokens), at)
        if not dated or dated[0].low in _UNNAMED or verbs.is_base(dated[0].low) or not _has_verb(dated[1:]):
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
        if _gives_name(clause):
            return Thing("name")
        kind = "relationship" if _is_named(clause) else classify(clause)
        if kind and self.cast.legacy is not None and clause.subject.person.owner == self.cast.legacy:
            # What the legacy's kin did is kept as what they were to the legacy.
            return Thing("relationship") if kind in _OF_KIN else None
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
        past = clause.predicate.tense == "past"
        dated = with_dates(trimmed(_without_reasons(clause.body)), at, past=past)
        lead = with_dates(clause.lead, at, past=past)
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
        named = subject.thing and subject.thing[-1].low == "pronouns"
        holds = named or pronouns_hold(lows, person, bool(company), genders)
        return content if holds and acceptable(content) else None

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


def _has_verb(tokens: Sequence[Token]) -> bool:
    forms = [verbs.verb_form(token.low) for token in tokens]
    return any(form is not None and form.kinds & {"s", "past", "base"} for form in forms)


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


def _is_named(clause: Clause) -> bool:
    """Read "my boss is Alec"."""
    person = clause.subject.person
    words = [token for token in clause.predicate.rest if token.is_word]
    unnamed = (
        person.role == "other" and not person.given and not clause.subject.thing and clause.predicate.lemma == "be"
    )
    return unnamed and not clause.predicate.negated and len(words) == 1 and _is_given(words[0])


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
    return clause.predicate.rest[0].text if _is_named(clause) else person.subject


def _field(clause: Clause, kind: str) -> str:
    predicate = clause.predicate
    if clause.subject.person.role != "user" or predicate.negated or predicate.tense != "present" or predicate.perfect:
        return ""
    if kind == "name" and not clause.subject.thing:
        return "preferred_name"
    if kind == "residence":
        where = predicate.rest[1:] if predicate.lemma == "be" else predicate.rest
        return "city" if names_town([token.low for token in where], [token.text for token in where]) else ""
    return ""


def _without_reasons(tokens: Sequence[Token]) -> list[Token]:
    for position, token in enumerate(tokens):
        if position and (token.low in _REASONS or (token.low in {"so", "please"} and tokens[position - 1].low == ",")):
            return list(tokens[:position])
    return list(tokens)
