"""The claims of a third person statement, from its parse: subject, predicate, arguments, tense, polarity, modality.

Paraphrases that differ only in grammar give equal claims: passive voice, "of" or a possessive, the position of an
adverbial, numerals or digits. Words are compared by lemma; lexical meaning is not considered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from language.reading.parse import Parsed, Word
from language.reading.stems import DATES, activity, is_activity, stem, stem_of
from language.reading.words import listed

Tense = Literal["present", "past", "future"]


_DROPPED = listed(
    """a an the 's ’s also really very truly quite simply just still now currently already actually nowadays
        presently anymore both usually generally instead well indeed"""
)
_MODIFIERS = listed("amod compound nummod nmod quantmod advmod npadvmod det predet appos")
_OBJECTS = {"dobj": "obj", "dative": "to", "attr": "is", "acomp": "is", "oprd": "name", "xcomp": "is"}
_AT_TIMES = listed("on in at to for")
_DATED = re.compile(rf"{DATES.pattern}|today|yesterday|tomorrow|weeks?|months?|weekends?")
_LIKING = frozenset({"like", "love", "hate", "dislike", "prefer"})
_STOPPING = frozenset({"stop", "quit", "cease", "give up", "finish"})
_STATES = {
    "married": "marry passive",
    "engaged": "engage passive",
    "employed": "employ passive",
    "divorced": "divorce passive",
}
"""Participles that the parser often tags as adjectives, with their passive verbs."""
_PARTICIPLES = {"marry": "married", "engage": "engaged", "employ": "employed", "divorce": "divorced"}


class Thing(NamedTuple):
    """The stem of a noun or other argument, with its modifiers as pairs of role and thing."""

    stem: str
    modifiers: frozenset[tuple[str, Thing]]

    def words(self) -> frozenset[str]:
        """The stems of the thing and all its modifiers."""
        return frozenset({self.stem}.union(*(part.words() for _, part in self.modifiers)))


Argument = tuple[str, Thing]


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim of one clause.

    ``verbs`` are the stems from the finite verb to its complements ("wants to learn": want, learn). ``ended``: it held
    until now ("no longer", "stopped"). ``mood`` is empty for a plain assertion, otherwise its modal or marker ("might",
    "used", "if").
    """

    subject: frozenset[Thing]
    verbs: tuple[str, ...]
    arguments: frozenset[Argument]
    negated: bool = False
    ended: bool = False
    tense: Tense = "present"
    mood: str = ""

    @property
    def polarity(self) -> tuple[bool, bool]:
        """Whether it is negated, and whether it has ended."""
        return self.negated, self.ended

    @property
    def core(self) -> frozenset[Argument]:
        """The arguments without those of time and manner."""
        return frozenset(argument for argument in self.arguments if argument[0] not in {"time", "adv", "since"})

    def things(self, *roles: str) -> frozenset[Thing]:
        """The arguments in these roles; all without any."""
        return frozenset(thing for role, thing in self.arguments if not roles or role in roles)

    def key(self) -> object:
        """A comparison key, equal for paraphrases: "A is B" and "B is A", "works as" and "is"."""
        is_job = self.verbs == ("work",) and any(role == "as" for role, _ in self.arguments)
        verbs: tuple[str, ...] = ("be",) if is_job else self.verbs
        who: object = self.subject
        rest = self.arguments
        if verbs == ("be",):
            roles = ("is", "as") if is_job else ("is",)
            who = frozenset({self.subject, self.things(*roles)})
            rest = frozenset(each for each in rest if each[0] not in roles)
        return who, verbs, rest, self.negated or self.ended, self.tense, self.mood


def claims_of(parsed: Parsed) -> tuple[Claim, ...]:
    """The claims of a statement, one for each clause."""
    return tuple(_normalise_naming(claim) for claim in _ClaimExtractor(parsed).claims())


class _ClaimExtractor:
    """Extracts the claims of one parse."""

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed

    def claims(self) -> Iterator[Claim]:
        for sentence in self.parsed.each_sentence():
            root = next((word for word in sentence if word.head == word.index), None)
            if root is not None:
                yield from self.of_clause(root, frozenset())

    def of_clause(self, verb: Word, subject: frozenset[Thing], *, mood: str = "") -> Iterator[Claim]:
        """The claim of a clause and of its coordinated clauses, which can share its subject."""
        children = self.parsed.children(verb)
        claim = self.claim(verb, subject)
        coordinated = [
            joined
            for each in children
            if each.dep == "conj" and (each.pos in {"VERB", "AUX"} or self.parsed.child(each, "nsubj", "nsubjpass"))
            for joined in self.of_clause(each, claim.subject, mood=claim.mood)
        ]
        # A shared object: "Has finished and submitted the thesis."
        shared = (
            coordinated[0].arguments
            if coordinated and not claim.arguments and coordinated[0].subject == claim.subject
            else claim.arguments
        )
        yield replace(claim, mood=claim.mood or mood, arguments=shared)
        yield from coordinated

    def claim(self, verb: Word, subject: frozenset[Thing]) -> Claim:
        """The claim of one clause, including open complements: "wants to learn"."""
        clause = _Clause(subject, *self.tense(verb))
        word: Word | None = verb
        while word is not None:
            clause.begin(word)
            inner = None
            for child in self.parsed.children(word):
                if inner is None and self.is_open_complement(child, word):
                    inner = child
                elif not (child.dep == "conj" and child.pos in {"VERB", "AUX"}):
                    self.add_dependent(clause, child)
            clause.is_negated ^= self.has_negative_determiner(word)
            clause.finish(word, inner)
            word = inner
        return clause.claim()

    def is_open_complement(self, word: Word, verb: Word) -> bool:
        """Whether a token is an open complement of the verb: "wants to swim", "likes swimming" (tagged as a noun)."""
        if word.dep == "xcomp":
            return word.pos in {"VERB", "AUX"}
        return word.dep == "dobj" and is_activity(word) and stem_of(verb) in _LIKING

    def add_dependent(self, clause: _Clause, word: Word) -> None:
        """Add a dependent of the verb to the clause."""
        if word.dep in {"punct", "cc", "expl", "mark"}:
            return
        if word.dep in {"nsubj", "csubj", "nsubjpass"}:
            clause.set_subject(self.things(word), is_patient=word.dep == "nsubjpass")
        elif word.dep in {"aux", "auxpass"}:
            clause.add_auxiliary(word)
        elif word.dep == "neg" or word.low == "never":
            clause.is_negated = not clause.is_negated
        elif word.dep == "prt":
            clause.verb += f" {word.low}"
        elif word.dep == "agent":
            clause.agent = self.prepositional_objects(word)
        elif self.says_ended(word):
            clause.has_ended = True
        else:
            if word.dep == "advcl":
                mark = self.parsed.child(word, "mark", "advmod")
                clause.mood = mark.low if mark is not None and mark.low in {"if", "unless"} else clause.mood
            clause.verb_arguments |= set(self.arguments(word))

    def tense(self, verb: Word) -> tuple[Tense, bool]:
        """The tense of the finite verb, and whether it is the perfect."""
        aux = [each for each in self.parsed.children(verb) if each.dep in {"aux", "auxpass"}]
        perfect = verb.tag in {"VBN", "VBG"} and any(
            each.lemma.lower() == "have" or each.low in {"'ve", "’ve"} for each in aux
        )
        if perfect or verb.tag == "VBD" or any(each.tag == "VBD" for each in aux):
            return "past", perfect
        finite = [each for each in aux if each.tag in {"VBZ", "VBP", "MD"}]
        return ("past" if verb.tag == "VBN" and not finite and not aux else "present"), False

    def has_negative_determiner(self, verb: Word) -> bool:
        """Whether an object or attribute has the determiner "no": "has no siblings"."""
        return any(
            self.negates_its_verb(each) for noun in self.parsed.children(verb) for each in self.parsed.children(noun)
        )

    def negates_its_verb(self, word: Word) -> bool:
        """Whether a token is "no" before an object or attribute, and not just before a part: "no car but a bicycle"."""
        noun = self.parsed.head(word)
        return (
            word.low == "no"
            and word.dep == "det"
            and noun.dep in {"dobj", "attr"}
            and not any(each.dep == "cc" and each.low == "but" for each in self.parsed.children(noun))
        )

    def says_ended(self, word: Word) -> bool:
        """Whether a token says that the state has ended: "no longer", "not … any more"."""
        if word.low == "anymore" or (word.low in {"longer", "more"} and word.dep == "advmod"):
            return any(each.low in {"no", "any", "not"} for each in self.parsed.children(word)) or word.low == "anymore"
        return False

    def arguments(self, word: Word) -> Iterator[Argument]:
        """The arguments that a dependent adds to its verb."""
        if word.dep == "prep":
            yield from self.prepositional_arguments(word)
            return
        name = _OBJECTS.get(word.dep)
        if name is None:
            for thing in self.things(word):
                if thing.stem not in _DROPPED or thing.modifiers:
                    yield self.role_or_time(word, "adv"), thing
            return
        # Attach prepositional phrases to the clause: the attachment point is a matter of style.
        lifted = [each for each in self.parsed.children(word) if each.dep == "prep" and each.low not in {"of", "than"}]
        for each in lifted:
            yield from self.prepositional_arguments(each)
        for thing in self.things(word, but={each.index for each in lifted}):
            yield name, thing

    def prepositional_arguments(self, preposition: Word) -> Iterator[Argument]:
        for each in self.parsed.children(preposition):
            if each.dep in {"pobj", "pcomp", "prep"}:
                role = preposition.low
                if role in _AT_TIMES:
                    role = self.role_or_time(each, role)
                for thing in self.things(each):
                    yield role, thing
        if not self.parsed.children(preposition):
            yield "adv", Thing(preposition.low, frozenset())

    def role_or_time(self, word: Word, role: str) -> str:
        dated = any(_DATED.fullmatch(each.low) for each in (word, *self.parsed.children(word)))
        return "time" if dated else role

    def prepositional_objects(self, preposition: Word) -> frozenset[Thing]:
        return frozenset(
            thing for each in self.parsed.children(preposition) if each.dep == "pobj" for thing in self.things(each)
        )

    def things(self, word: Word, *, but: Iterable[int] = ()) -> frozenset[Thing]:
        """The thing a token names and its conjuncts: "cats and dogs"."""
        found = [self.thing(word, but=but)]
        found += [
            thing
            for each in self.parsed.children(word)
            if each.dep == "conj" and each.pos not in {"VERB", "AUX"}
            for thing in self.things(each)
        ]
        return frozenset(found)

    def thing(self, word: Word, *, but: Iterable[int] = ()) -> Thing:
        modifiers: set[Argument] = set()
        if word.dep in {"ccomp", "advcl", "relcl"} and word.pos in {"VERB", "AUX"}:
            modifiers.add(("tense", Thing(self.tense(word)[0], frozenset())))
        for each in self.parsed.children(word):
            if (
                each.index in but
                or each.dep in {"punct", "cc", "case", "conj", "aux", "auxpass"}
                or each.pos == "PUNCT"
            ):
                continue
            if each.dep == "prep":
                for inner in self.parsed.children(each):
                    modifiers |= {(each.low, thing) for thing in self.things(inner)}
            elif each.dep == "poss":
                modifiers |= {("of", thing) for thing in self.things(each)}
            else:
                thing = self.thing(each)
                if (thing.stem not in _DROPPED or thing.modifiers) and not self.negates_its_verb(each):
                    modifiers.add(("mod" if each.dep in _MODIFIERS else each.dep, thing))
        # Equal whether the parser tags it as a noun or a verb: "likes gardening".
        stemmed = stem(word.low[:-3]) if word.low.endswith("ing") and len(word.low) > 6 else stem_of(word)
        return Thing(stemmed, frozenset(modifiers))


@dataclass
class _Clause:
    """A clause under construction; ``verb_arguments`` are those of the current verb."""

    subject: frozenset[Thing]
    tense: Tense
    is_perfect: bool
    verb: str = ""
    mood: str = ""
    is_negated: bool = False
    has_ended: bool = False
    verbs: list[str] = field(default_factory=list)
    arguments: set[Argument] = field(default_factory=set)
    verb_arguments: set[Argument] = field(default_factory=set)
    patient: frozenset[Thing] = frozenset()
    agent: frozenset[Thing] = frozenset()
    is_inner: bool = False

    def begin(self, verb: Word) -> None:
        liked = bool(self.verbs) and self.verbs[-1] in _LIKING
        self.verb, self.verb_arguments = activity(verb) if liked else stem_of(verb), set()

    def set_subject(self, things: frozenset[Thing], *, is_patient: bool) -> None:
        if self.is_inner:
            self.verb_arguments |= {("subj", thing) for thing in things}
            return
        self.subject = things
        self.patient = things if is_patient else frozenset()

    def add_auxiliary(self, word: Word) -> None:
        if word.tag == "MD" and word.lemma.lower() in {"will", "shall"}:
            self.tense = "future"
        elif word.tag == "MD":
            self.mood = word.lemma.lower()

    def finish(self, word: Word, inner: Word | None) -> None:
        """Finish the current verb before its open complement."""
        # Primes mark the depth of a complement, so that "asked Ana to call Tom" keeps its arguments apart.
        self.arguments |= {(role + "'" * len(self.verbs), thing) for role, thing in self.verb_arguments}
        self.is_inner = True
        if inner is not None and self.verb == "use":
            self.mood = "used"
        elif inner is not None and self.verb == "go" and word.tag == "VBG":
            self.tense = "future"
        elif inner is not None and self.verb in _STOPPING:
            self.has_ended, self.tense = True, "present"
        elif self.verb == "like" and self.mood == "would":
            self.verbs.append("want")
            self.mood = ""
        else:
            self.verbs.append(self.verb)

    def claim(self) -> Claim:
        if self.is_perfect and any(role == "since" for role, _ in self.arguments):
            self.tense = "present"
        if self.agent:
            self.subject, self.arguments = self.agent, self.arguments | {("obj", thing) for thing in self.patient}
        elif self.patient:
            self.verbs[-1] += " passive"
        denied = self.is_negated and not self.has_ended
        return Claim(
            self.subject, tuple(self.verbs), frozenset(self.arguments), denied, self.has_ended, self.tense, self.mood
        )


def _normalise_naming(claim: Claim) -> Claim:
    """Normalise naming: "has a dog named Rufus", "the dog's name is Rufus" and "the dog is Rufus" become equal."""
    if claim.verbs in {("call passive",), ("name passive",)}:
        roles = frozenset(("is" if role in {"name", "obj"} else role, thing) for role, thing in claim.arguments)
        return replace(claim, verbs=("be",), arguments=roles)
    if claim.verbs == ("engage",):
        return replace(claim, verbs=("engage passive",))
    if claim.verbs == ("own",):
        return replace(claim, verbs=("have",))
    states = {_PARTICIPLES.get(thing.stem, thing.stem) for role, thing in claim.arguments if role == "is"}
    if claim.verbs in {("be",), ("get",)} and len(states) == 1 and not states.isdisjoint(_STATES):
        (state,) = states
        return replace(
            claim, verbs=(_STATES[state],), arguments=frozenset(role for role in claim.arguments if role[0] != "is")
        )
    if claim.verbs == ("have",) and len(claim.arguments) == 1:
        ((role, thing),) = claim.arguments
        named = [part for part in thing.modifiers if part[0] == "acl" and part[1].stem in {"call", "name"}]
        if role == "obj" and named:
            (acl,) = named[:1]
            names = [inner for _, inner in acl[1].modifiers]
            owner = {("of", owner) for owner in claim.subject}
            owned = Thing(thing.stem, (thing.modifiers - {acl}) | owner)
            return replace(
                claim, subject=frozenset({owned}), verbs=("be",), arguments=frozenset(("is", each) for each in names)
            )
    return claim


def is_dated(thing: Thing) -> bool:
    """Whether a thing is a date or time of day."""
    return any(DATES.fullmatch(word) for word in thing.words())


def all_words(things: Iterable[Thing]) -> frozenset[str]:
    """The stems of several things."""
    return frozenset().union(*(thing.words() for thing in things))
