"""A clause read: its subject as a person, its verb, and the words before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from language.offline.clauses import LEADS, MAX_LEAD, TIME_CONJUNCTIONS, is_only_verb, skip_openers
from language.offline.discourse import Discourse
from language.offline.lexicon import verbs
from language.offline.lexicon.words import AUXILIARIES, DETERMINERS, HE, PREPOSITIONS, SHE
from language.offline.people import USER, Cast, Mention, Person
from language.offline.predicates import Predicate, read_predicate
from language.offline.tokens import Token

_MAX_NOUNS = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """What a clause speaks of: ``person``, or something of theirs when ``thing`` holds the words for it."""

    person: Person
    start: int
    end: int
    thing: tuple[Token, ...] = ()
    company: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: the words before its subject, the subject, the words from its verb on, and the verb's reading."""

    lead: tuple[Token, ...]
    subject: Subject
    body: tuple[Token, ...]
    predicate: Predicate
    start: int
    end: int


class Reader:
    """Reads clauses with the people of a conversation in mind."""

    def __init__(self, cast: Cast, discourse: Discourse) -> None:
        self.cast = cast
        self.discourse = discourse

    def read(self, tokens: Sequence[Token]) -> Clause | None:
        """Return the parts of a clause whose subject is a person who can be told, else None."""
        end = tokens[-1].end
        while tokens and not tokens[-1].is_word:
            tokens = tokens[:-1]
        start = skip_openers(tokens)
        found = self._subject_and_verb(tokens, start)
        lead: tuple[Token, ...] = ()
        if found is None and start < len(tokens) and tokens[start].low in LEADS:
            for position in self._lead_ends(tokens, start):
                found = self._subject_and_verb(tokens, position)
                if found is not None:
                    lead = tuple(tokens[start:position])
                    break
        if found is None:
            return None
        subject, predicate = found
        body = tuple(tokens[subject.end :])
        return Clause(lead, subject, body, predicate, tokens[start].start, end)

    def _lead_ends(self, tokens: Sequence[Token], start: int) -> list[int]:
        limit = min(len(tokens), start + MAX_LEAD + 1)
        if tokens[start].low not in TIME_CONJUNCTIONS:
            # Words before the subject that hold a verb would be a statement of their own.
            limit = next((place for place in range(start + 1, limit) if is_only_verb(tokens[place].low)), limit)
        commas = [position + 1 for position in range(start + 1, limit) if tokens[position].low == ","]
        if commas:
            return [position for position in commas if position < len(tokens)]
        return [
            position
            for position in range(start + 2, limit)
            if tokens[position - 1].low not in PREPOSITIONS | DETERMINERS
        ]

    def _subject_and_verb(self, tokens: Sequence[Token], start: int) -> tuple[Subject, Predicate] | None:
        subject = self.subject_at(tokens, start)
        if subject is None:
            return None
        predicate = read_predicate(tokens, subject.end)
        return None if predicate is None else (subject, predicate)

    def subject_at(self, tokens: Sequence[Token], start: int) -> Subject | None:
        """Read the subject that begins at ``start``, or return None."""
        if start >= len(tokens):
            return None
        subject = self._simple_subject(tokens, start)
        if subject is None or subject.thing or subject.end >= len(tokens) or tokens[subject.end].low != "and":
            return subject
        return self._with_company(tokens, subject)

    def _simple_subject(self, tokens: Sequence[Token], start: int) -> Subject | None:  # noqa: PLR0911
        token = tokens[start]
        if token.low == "i":
            return Subject(USER, start, start + 1)
        if token.low in {"he", "she"}:
            person = self.discourse.resolve(token.low)
            return Subject(person, start, start + 1) if person else None
        mention = self.cast.mention_at(tokens, start)
        if mention is not None:
            return self._owned(tokens, mention) if mention.owner else Subject(mention.person, start, mention.end)
        if token.low == "my":
            return self._thing(tokens, start, start + 1, USER)
        if token.low in {"his", "her"}:
            owner = self.discourse.resolve(token.low)
            if owner is None:
                return None
            return self._owned(tokens, Mention(owner, start, start + 1, owner=True))
        return None

    def _owned(self, tokens: Sequence[Token], mention: Mention) -> Subject | None:
        if mention.person.owner is None or mention.person.owner.owner is None:
            kin = self.cast.kin_of(tokens, mention.end, mention.person)
            if kin is not None:
                if kin.owner:
                    return None
                return Subject(kin.person, mention.start, kin.end)
        return self._thing(tokens, mention.start, mention.end, mention.person)

    def _thing(self, tokens: Sequence[Token], start: int, position: int, owner: Person) -> Subject | None:
        end = position
        while end < len(tokens) and end - position < _MAX_NOUNS and not _ends_noun(tokens, end, position):
            end += 1
        if end == position or end >= len(tokens) or not _ends_noun(tokens, end, position):
            return None
        return Subject(owner, start, end, thing=tuple(tokens[position:end]))

    def _with_company(self, tokens: Sequence[Token], subject: Subject) -> Subject | None:
        """Read "she and her husband"; the company is kept as words."""
        position = subject.end + 1
        if position >= len(tokens):
            return None
        owner = self.discourse.resolve(tokens[position].low) if tokens[position].low in SHE | HE else None
        mention = self.cast.mention_at(tokens, position)
        if mention is None and owner is not None and owner == subject.person:
            mention = self.cast.kin_of(tokens, position + 1, owner)
        if mention is None or mention.owner:
            return None
        company = tuple(tokens[subject.end : mention.end])
        return Subject(subject.person, subject.start, mention.end, company=company)


def _ends_noun(tokens: Sequence[Token], position: int, start: int) -> bool:
    low = tokens[position].low
    if low in AUXILIARIES:
        return True
    if position == start or low in {"like", "love", "name", "work", "home", "house", "cook", "dream", "plan", "drink"}:
        return False
    form = verbs.verb_form(low)
    return form is not None and bool(form.kinds & {"past", "s"}) and "ing" not in form.kinds
