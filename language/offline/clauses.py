"""A sentence taken apart: its clauses, and of each the subject, the verb and what follows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from language.offline.lexicon import verbs
from language.offline.lexicon.words import (
    ADVERBS,
    AUXILIARIES,
    DAYS,
    DETERMINERS,
    HE,
    MODALS,
    NOT_NAMES,
    OPENERS,
    PREPOSITIONS,
    SHE,
    SUBJECT_PRONOUNS,
    listed,
)
from language.offline.people import USER, Cast, Discourse, Mention, Person
from language.offline.tokens import Token

_HARD = listed("; — – : ( ) [ ] / |")
_CONJUNCTIONS = listed("and but so or yet plus because although though whereas while which")
_CUT = listed("because although though whereas which")
_TIME_CONJUNCTIONS = listed("when while after before until till once whenever since as")
_QUESTION_WORDS = listed("what how which where who why when whose whom")
_LEADS = PREPOSITIONS | DAYS | _TIME_CONJUNCTIONS | listed("every each back one last growing years all most some a")
_MAX_LEAD = 14
_MAX_NOUNS = 5
_BE = listed("am is are was were be been being")
# Said before a statement without changing it.
_PREFACES: tuple[tuple[str, ...], ...] = tuple(
    tuple(preface.split())
    for preface in (
        "by the way", "of course", "to be honest", "as you know", "fun fact", "for the record", "in fact",
        "i remember that", "i remember how", "i remember", "i know that", "i know", "i will never forget that",
        "i will never forget how", "the thing is", "the truth is", "i have to say", "i must say", "i should mention",
        "i should say", "i can tell you that", "i can tell you", "let me tell you", "i mean", "for me", "for example",
        "you know", "you see", "just so you know", "one thing i remember is that", "what i remember is that",
        "what i remember most is that", "what i remember most is how", "as a matter of fact", "thank you", "i love that",
        "i loved that", "i loved how", "i love how",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subject:
    """What a clause speaks of: ``person``, or something of theirs when ``thing`` holds the words for it."""

    person: Person
    start: int
    end: int
    thing: tuple[Token, ...] = ()
    company: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class Predicate:
    """A clause's verb: ``lemma`` with its auxiliaries and adverbs, and ``rest``, the words after it.

    ``tense`` is "past", "present" or "would" (what used to happen or might).
    """

    lemma: str
    tense: str
    negated: bool
    perfect: bool
    auxiliaries: tuple[str, ...]
    adverbs: frozenset[str]
    verb: int
    rest: tuple[Token, ...]

    @property
    def after(self) -> str:
        """The words after the verb in lower case, signs as words of their own."""
        return " ".join(token.low for token in self.rest)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: the words before its subject, the subject, the words from its verb on, and the verb's reading."""

    lead: tuple[Token, ...]
    subject: Subject
    body: tuple[Token, ...]
    predicate: Predicate
    start: int
    end: int


def split_clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    """Cut a sentence where a new statement begins; reasons and asides after "because" and "which" are left out."""
    clauses: list[list[Token]] = []
    current: list[Token] = []
    dropped = False
    position = 0
    while position < len(tokens):
        token = tokens[position]
        step = _boundary(tokens, position, current)
        if step:
            if not dropped and any(word.is_word for word in current):
                clauses.append(current)
            current = []
            dropped = token.low in _CUT or (position + 1 < len(tokens) and tokens[position + 1].low in _CUT)
            position += step
            continue
        current.append(token)
        position += 1
    if not dropped and any(word.is_word for word in current):
        clauses.append(current)
    return _with_leads(clauses)


def _boundary(tokens: Sequence[Token], position: int, current: Sequence[Token]) -> int:
    """Return how many tokens make up a boundary at ``position``; 0 when there is none."""
    token = tokens[position]
    if token.low in _HARD or (token.low == "-" and token.spaced):
        return 1
    if token.low in _CUT and current:
        return 1
    if token.low != "," and token.low not in _CONJUNCTIONS:
        return 0
    after = position + 1
    if token.low == "," and after < len(tokens) and tokens[after].low in _CONJUNCTIONS:
        after += 1
    while after < len(tokens) and (tokens[after].low in OPENERS or tokens[after].low == ","):
        after += 1
    if after >= len(tokens):
        return 0
    if token.low == "," and _asks(tokens, after):
        return after - position
    if token.low == "," and verbs.is_gerund(tokens[after].low) and after == position + 1:
        return 1 if _has_verb(current) and tokens[after].low not in {"including", "being"} else 0
    if not _opens_clause(tokens, after):
        return 0
    if token.low in {"and", "or"} and not _has_verb(current):
        return 0
    return after - position


def _asks(tokens: Sequence[Token], position: int) -> bool:
    low = tokens[position].low
    following = tokens[position + 1].low if position + 1 < len(tokens) else ""
    if low in {"can", "could", "would", "will", "do", "did", "does", "is", "are", "was", "should", "have", "has"}:
        return following in SUBJECT_PRONOUNS | {"there", "not", "this", "that", "my", "the"}
    return low in _QUESTION_WORDS - {"when", "which"} or (low == "any" and following in {"tips", "ideas", "advice"})


def _has_verb(tokens: Sequence[Token]) -> bool:
    return any(_finite(token.low) for token in tokens)


def _finite(word: str) -> bool:
    if word in AUXILIARIES:
        return True
    form = verbs.verb_form(word)
    return form is not None and bool(form.kinds & {"base", "s", "past"})


def _opens_clause(tokens: Sequence[Token], position: int) -> bool:
    """Whether a subject and its verb begin at ``position``."""
    token = tokens[position]
    if token.low in SUBJECT_PRONOUNS | {"that", "this", "there", "everyone", "nobody", "people", "someone"}:
        return _verb_follows(tokens, position + 1)
    if token.low in {"my", "our", "his", "her", "their", "the", "your"}:
        return any(_finite(word.low) and word.low not in {"like", "love", "name", "work", "home", "house", "cook"}
                   and index > 1 for index, word in enumerate(tokens[position : position + 5]))  # fmt: skip
    if token.capital and token.low not in NOT_NAMES:
        ahead = position + 1
        while ahead < len(tokens) and tokens[ahead].capital:
            ahead += 1
        return _verb_follows(tokens, ahead)
    return False


def _verb_follows(tokens: Sequence[Token], position: int) -> bool:
    while position < len(tokens) and tokens[position].low in ADVERBS:
        position += 1
    return position < len(tokens) and (_finite(tokens[position].low) or verbs.is_past(tokens[position].low))


def _with_leads(clauses: list[list[Token]]) -> list[list[Token]]:
    """Join "When I was little" to the clause that it stands before."""
    joined_clauses: list[list[Token]] = []
    pending: list[Token] = []
    for clause in clauses:
        opens = clause[0].low in _LEADS | {"every"} and clause[0].low not in {"a", "all", "some", "most", "one", "like"}
        if opens and not pending and clause is not clauses[-1] and len(clause) <= _MAX_LEAD:
            pending = clause
            continue
        if pending:
            comma = Token(",", ",", pending[-1].end, pending[-1].end, spaced=False)
            clause = [*pending, comma, *clause]  # noqa: PLW2901
            pending = []
        joined_clauses.append(clause)
    return joined_clauses


class Reader:
    """Reads clauses with the people of a conversation in mind."""

    def __init__(self, cast: Cast, discourse: Discourse) -> None:
        self.cast = cast
        self.discourse = discourse

    def read(self, tokens: Sequence[Token]) -> Clause | None:
        """Return the parts of a clause whose subject is a person who can be told, else None."""
        start = skip_openers(tokens)
        found = self._subject_and_verb(tokens, start)
        lead: tuple[Token, ...] = ()
        if found is None and start < len(tokens) and tokens[start].low in _LEADS:
            for position in self._lead_ends(tokens, start):
                found = self._subject_and_verb(tokens, position)
                if found is not None:
                    lead = tuple(tokens[start:position])
                    break
        if found is None:
            return None
        subject, predicate = found
        body = tuple(tokens[subject.end :])
        return Clause(lead, subject, body, predicate, tokens[start].start, tokens[-1].end)

    def _lead_ends(self, tokens: Sequence[Token], start: int) -> list[int]:
        limit = min(len(tokens), start + _MAX_LEAD + 1)
        commas = [position + 1 for position in range(start + 1, limit) if tokens[position].low == ","]
        if commas or tokens[start].low in _TIME_CONJUNCTIONS:
            return [position for position in commas if position < len(tokens)]
        return list(range(start + 2, limit))

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

    def _simple_subject(self, tokens: Sequence[Token], start: int) -> Subject | None:
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


def skip_openers(tokens: Sequence[Token]) -> int:
    """Return where a clause begins to say something, after "well," and "by the way,"."""
    position = 0
    moved = True
    while moved and position < len(tokens):
        moved = False
        token = tokens[position]
        vocative = (
            token.capital
            and position
            and position + 1 < len(tokens)
            and tokens[position + 1].low in {",", "!", "."}
            and tokens[position - 1].low in OPENERS | {","}
        )
        if token.low in OPENERS or not token.is_word or vocative:
            position += 1
            moved = True
            continue
        for preface in _PREFACES:
            if tuple(word.low for word in tokens[position : position + len(preface)]) == preface:
                after = position + len(preface)
                if after < len(tokens) and (tokens[after].low == "," or _opens_clause(tokens, after)):
                    position = after
                    moved = True
                break
    return position


def read_predicate(tokens: Sequence[Token], start: int) -> Predicate | None:
    """Read the verb that begins at ``start``, with its auxiliaries and adverbs; None if there is no verb."""
    auxiliaries: list[str] = []
    adverbs: set[str] = set()
    negated = False
    position = start
    last_auxiliary = -1
    while position < len(tokens):
        low = tokens[position].low
        following = tokens[position + 1].low if position + 1 < len(tokens) else ""
        if low == "not":
            negated = True
        elif low == "used" and following == "to":
            auxiliaries.append("used to")
            position += 1
        elif low in AUXILIARIES:
            auxiliaries.append(low)
            last_auxiliary = position
        elif low in ADVERBS and not _adverb_is_rest(tokens, position, auxiliaries):
            adverbs.add(low)
        else:
            break
        position += 1
    verb, lemma = _main_verb(tokens, position, auxiliaries, last_auxiliary)
    if not lemma:
        return None
    negated = negated or "never" in adverbs
    first = auxiliaries[0] if auxiliaries else tokens[verb].low
    perfect = (
        len(auxiliaries) > 0
        and auxiliaries[0] in {"has", "have", "had"}
        and (verb != last_auxiliary or len(auxiliaries) > 1)
    )
    return Predicate(
        lemma,
        _tense(first, auxiliaries),
        negated,
        perfect,
        tuple(auxiliaries),
        frozenset(adverbs),
        verb,
        tuple(tokens[verb + 1 if verb != last_auxiliary else max(verb + 1, position) :]),
    )


def _adverb_is_rest(tokens: Sequence[Token], position: int, auxiliaries: Sequence[str]) -> bool:
    """Whether an adverb after "was" opens what follows ("was very kind") rather than stands before a verb."""
    if not auxiliaries or auxiliaries[-1] not in _BE | {"has", "have", "had"}:
        return False
    return tokens[position].low in {"so", "very", "pretty", "quite", "all", "both", "almost", "nearly", "only", "first"}


def _main_verb(
    tokens: Sequence[Token], position: int, auxiliaries: Sequence[str], last_auxiliary: int
) -> tuple[int, str]:
    low = tokens[position].low if position < len(tokens) else ""
    form = verbs.verb_form(low)
    last = auxiliaries[-1] if auxiliaries else ""
    if last in _BE:
        return last_auxiliary, "be"
    if last in {"have", "has", "had"}:
        participle = form is not None and bool(form.kinds & {"part", "past"}) and (
            "base" not in form.kinds or low in {"run", "come", "become", "read", "put"}
        )  # fmt: skip
        return (position, form.lemma) if participle and form else (last_auxiliary, "have")
    if last in {"do", "does", "did"} and (form is None or "base" not in form.kinds):
        return last_auxiliary, "do"
    if form is not None and form.kinds & {"base", "s", "past"} and low not in DETERMINERS:
        return position, form.lemma
    if last in MODALS or last == "used to":
        return (position, low) if low.isalpha() else (-1, "")
    return -1, ""


def _tense(first: str, auxiliaries: Sequence[str]) -> str:
    if "used to" in auxiliaries or first in {"was", "were", "had", "did", "could"}:
        return "past"
    if first in {"would", "might", "may", "must", "should", "shall"}:
        return "would"
    if first == "will":
        return "future"
    return "past" if verbs.is_past(first) else "present"
