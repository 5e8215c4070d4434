"""Split parsed sentences into clauses, each with one predicate and one subject."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from language.reading.kin import NAMING
from language.reading.normalise import MASK
from language.reading.parse import Parsed, Word
from language.reading.words import DIAGNOSING, NOT_NAMES, listed

_MAY_BE_VERBS = frozenset({"VERB", "NOUN", "AUX"})
_FINITE_FIRST = listed("do be have can could will would should must may")
SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl", "csubj"})
SAY = listed(
    """say tell ask answer reply call shout joke admit insist announce whisper explain reckon claim swear mention
    mutter complain promise warn remind report"""
)
DOUBT = listed(
    """think suppose guess reckon imagine assume suspect doubt wonder hear bet wish pretend hope believe feel
    gather figure"""
)
_MARKS = frozenset({",", ";", "-", ":", ".", "(", ")"})
_MARKERS = listed(
    """well so yeah yeh yes no oh anyway also then actually basically honestly and but or though tho too however
    obviously funnily practically really please thanks straight still now just yet"""
)
_FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
# Modifiers that may be dropped if unclear: the rest stays true, only less specific.
_ASIDES = frozenset({"advcl", "relcl", "conj", "parataxis", "appos"})
_PLACES = frozenset({"here", "there"})
_WHEN = frozenset({"after", "before", "since", "during", "despite"})
_LIMITS = frozenset({"only", "hardly", "rarely", "no", "nobody", "nothing"})
_NEEDS_PLACE = listed("put keep place set compare leave live stay")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: its head verb, the indices of its tokens, and its subject, which can be elided."""

    parsed: Parsed
    head: Word
    indices: frozenset[int]
    subject: Word | None

    def with_main_verb(self) -> Clause:
        """The clause headed by the verb that carries the meaning: "live" in "used to live"."""
        inner = next(iter(self.children("xcomp")), None) if self.head.low == "used" else None
        return self if inner is None else replace(self, head=inner)

    def words(self) -> list[Word]:
        """Its tokens in text order."""
        return [self.parsed.words[index] for index in sorted(self.indices)]

    def lower_words(self) -> set[str]:
        """Its tokens in lower case."""
        return {word.low for word in self.words()}

    def children(self, *deps: str) -> list[Word]:
        """The head's dependents within the clause, all or those with one of these relations."""
        found = (each for each in self.parsed.children(self.head) if each.index in self.indices)
        return [each for each in found if not deps or each.dep in deps]

    def without(self, word: Word) -> Clause:
        """The clause without a token's subtree, and without the conjunction or mark that joined it."""
        gone = {each.index for each in self.parsed.subtree(word)}
        first = min(gone)
        while first - 1 in self.indices and self.parsed.words[first - 1].dep in {"cc", "punct", "mark"}:
            first -= 1
            gone.add(first)
        return replace(self, indices=self.indices - gone)

    def droppable_modifier(self, word: Word) -> Word | None:
        """The smallest droppable modifier that contains ``word``; None if there is none."""
        if self._is_droppable_adjunct(word):
            return word if word.low in _PLACES else self.parsed.head(word)
        while word.index not in {self.head.index, word.head}:
            # A restrictive clause is needed ("the way they treated her"); ", who taught us," can be dropped.
            bound = (
                word.dep == "relcl"
                and self.parsed.words[min(each.index for each in self.parsed.subtree(word)) - 1].text != ","
            )
            if word.dep in _ASIDES and word.index in self.indices and not bound:
                return word
            word = self.parsed.head(word)
        return None

    def _is_droppable_adjunct(self, word: Word) -> bool:
        """Whether an unclear word only tells where or when: "after that", "there", "won a medal with it".

        Not beside a negation: "she never sang after that" is less than "she never sang".
        """
        if self.children("neg") or not _LIMITS.isdisjoint(self.lower_words()) or self.head.lemma in _NEEDS_PLACE:
            return False
        told = self.children("dobj", "attr", "acomp")
        if word.low in _PLACES:
            alone = not self.parsed.children(word)
            moves = self.head.lemma in {"move", "come"} and any(each.low == "from" for each in self.children("prep"))
            return word.dep == "advmod" and word.head == self.head.index and alone and (moves or bool(told))
        prep = self.parsed.head(word)
        beside = word.dep == "pobj" and prep.dep == "prep" and prep.head == self.head.index
        return beside and (prep.low in _WHEN or (prep.low in {"with", "from", "at"} and bool(self.children("dobj"))))


def is_verb(word: Word) -> bool:
    """Whether a token can head a clause."""
    return word.pos in {"VERB", "AUX"}


def own_subject(parsed: Parsed, verb: Word) -> Word | None:
    """The verb's own subject."""
    return parsed.child(verb, *SUBJECTS)


def subject_of(parsed: Parsed, verb: Word) -> Word | None:
    """The subject of a verb, including one shared with a coordinated verb or controlled by the main verb."""
    if verb.dep in {"aux", "auxpass"}:
        verb = parsed.head(verb)
    while True:
        subject = own_subject(parsed, verb)
        if subject is not None:
            return subject
        if verb.dep not in {"conj", "xcomp"}:
            return None
        verb = parsed.head(verb)
        if verb.dep == "acomp":  # Of "I'm vegetarian and live here" by the verb of "vegetarian".
            verb = parsed.head(verb)


def is_finite(parsed: Parsed, verb: Word) -> bool:
    """Whether a verb is finite: it or one of its auxiliaries has a tense."""
    return verb.tag in _FINITE or any(
        each.tag in _FINITE and each.dep in {"aux", "auxpass"} for each in parsed.children(verb)
    )


def clauses(parsed: Parsed, first: int, last: int) -> Iterator[Clause]:
    """Yield the clauses of the tokens ``first`` to before ``last``. Verbs that share a subject stay together."""
    root = next((word for word in parsed.words[first:last] if word.head == word.index), None)
    if root is None:
        return
    heads = [root, *_further_heads(parsed, root)]
    subtrees = {head.index: {word.index for word in parsed.subtree(head)} for head in heads}
    for head in sorted(heads, key=lambda each: each.index):
        ids = set(subtrees[head.index])
        for other in heads:
            if other is not head and other.index in ids:
                ids -= subtrees[other.index]
        subject = own_subject(parsed, head)
        yield Clause(parsed, head, frozenset(ids), subject if subject is not None and subject.index in ids else None)


def _further_heads(parsed: Parsed, head: Word) -> Iterator[Word]:
    for child in parsed.children(head):
        own = own_subject(parsed, child)
        if child.dep == "conj" and is_verb(child):
            if own is not None:
                yield child
            yield from _further_heads(parsed, child)
        elif child.dep in {"ccomp", "parataxis", "nsubj"} and is_verb(child) and (own or child.index < head.index):
            if any(each.dep == "mark" for each in parsed.children(child)):
                continue
            low, high = sorted((child.index, head.index))
            comma = any(word.text in _MARKS or word.low == "so" for word in parsed.words[low:high])
            beside = child.index < head.index or (comma and own_subject(parsed, head) is not None)
            tells = head.lemma in SAY | DOUBT and not _is_of_its_own(parsed, child, head)
            if (comma or own is None) and beside and not tells and is_finite(parsed, child):
                yield child
                yield from _further_heads(parsed, child)


def _is_of_its_own(parsed: Parsed, verb: Word, says: Word) -> bool:
    """Whether a clause before a verb of saying is not what is said.

    "He never married, said he had a boat", "I have gout, can you imagine".
    """
    subject = own_subject(parsed, says)
    told = any(each.dep == "ccomp" and each.index > says.index for each in parsed.children(says))
    return verb.index < says.index and (told if subject is None else subject.low == "you")


def reshaped(parsed: Parsed) -> list[tuple[int, int, str]]:
    """The edits (start, end, new text), in order, that make plain sentences of spliced and cleft ones."""
    return sorted({*_splices(parsed), *_clefts(parsed)})


def _splices(parsed: Parsed) -> Iterator[tuple[int, int, str]]:
    """Yield the edits (start, end, new text) that end a sentence at a comma between two that the parser took for one.

    A verb with two subjects shows it: "I'm left-handed, I grew up in Bremen, I work as a midwife."
    """
    for verb in filter(is_verb, parsed.words):
        for subject in [each for each in parsed.children(verb) if each.dep in {"nsubj", "nsubjpass"}][1:]:
            before = parsed.words[min(each.index for each in parsed.subtree(subject)) - 1]
            if before.text == ",":
                yield before.start, before.end, "."


def _clefts(parsed: Parsed) -> Iterator[tuple[int, int, str]]:
    """Yield the edits (start, end, new text) that make a plain sentence of a cleft one.

    "It was Ann who taught me." gives "Ann taught me."
    """
    for it in parsed.words:
        if it.low != "it" or it.dep not in SUBJECTS or parsed.head(it).lemma != "be":
            continue
        be = parsed.head(it)
        what = parsed.child(be, "attr")
        said = list(parsed.subtree(be)) if what is not None else []
        who = next(
            (each for each in said if what is not None and _is_relative(parsed, each, {what.index, be.index})), None
        )
        if what is None or who is None or what.pos not in {"NOUN", "PROPN"}:
            continue
        first = min(parsed.subtree(what), key=lambda each: each.index)
        is_plain = be.index == it.index + 1 and first.index == be.index + 1 < who.index
        if is_plain and parsed.words[who.index - 1].text != ",":
            text = f"{first.text[0].upper()}{first.text[1:]}" if it.text[0].isupper() else first.text
            yield it.start, first.end, text
            yield who.start, parsed.words[who.index + 1].start, ""


def _is_relative(parsed: Parsed, word: Word, heads: Collection[int]) -> bool:
    """Whether "who" or "that" is the subject of a clause that depends on one of these heads."""
    return word.low in {"who", "that"} and word.dep in {"nsubj", "nsubjpass"} and parsed.head(word).head in heads


def unwrapped(clause: Clause) -> Clause:
    """The complement of a factive verb in the first person, or of what a doctor says of the speaker.

    "She loved roses" of "I remember that she loved roses", "I have gout" of "the doctor says I have gout".
    """
    inner = next(iter(clause.children("ccomp")), None)
    subject = clause.subject
    if inner is None or subject is None or clause.children("neg") or inner.index < clause.head.index:
        return clause
    plain = clause.head.lemma in {"remember", "recall", "swear", "know"} and subject.low == "i"
    if not plain and not (clause.head.lemma in {"say", "tell"} and _is_diagnosis(clause.parsed, subject, inner)):
        return clause
    ids = frozenset(
        word.index for word in clause.parsed.subtree(inner) if not (word.dep == "mark" and word.head == inner.index)
    )
    own = next((each for each in clause.parsed.children(inner) if each.dep in {"nsubj", "nsubjpass"}), None)
    return Clause(clause.parsed, inner, ids & clause.indices, own)


def _is_diagnosis(parsed: Parsed, says: Word, told: Word) -> bool:
    subject = parsed.child(told, "nsubj", "nsubjpass")
    holder = parsed.child(subject, "poss") if subject is not None else None
    mine = subject is not None and (subject.low == "i" or (holder is not None and holder.low == "my"))
    finite = [each for each in (told, *parsed.children(told)) if each.tag in {"VBP", "VBZ", "VBD", "MD"}]
    return says.low in DIAGNOSING and mine and bool(finite) and finite[0].tag in {"VBP", "VBZ"}


def means_people(clause: Clause, word: Word) -> bool:
    """Whether a subject is people in general who give a name: "Everybody called him Tom"."""
    named = clause.head.lemma in NAMING and bool(clause.children("oprd", "ccomp", "attr"))
    return word == clause.subject and word.low in {"everybody", "everyone"} and named


def governor(clause: Clause, word: Word) -> int:
    """The index of the verb that governs a token."""
    while word.head != word.index and word.pos not in {"VERB", "AUX"}:
        word = clause.parsed.head(word)
    return word.index


def subject_index(clause: Clause) -> int:
    """The index of the subject, -1 without one."""
    return clause.subject.index if clause.subject is not None else -1


_AT_ENDS = frozenset({"though", "tho", "too", "also", "now", "sorry"})


def _ends_part(parsed: Parsed, word: Word, last: int) -> bool:
    after = parsed.words[word.index + 1] if word.index < last else None
    return after is None or (word.low == "now" and after.text == ",")


def _is_mark(word: Word) -> bool:
    return word.text in _MARKS | {"!"} or (word.dep == "punct" and not word.text.isalpha())


def trimmed(clause: Clause) -> list[Word]:
    """The clause's tokens without discourse markers, vocatives and marks at the ends."""
    gone: set[int] = set()
    last = max((word.index for word in clause.words() if word.dep != "punct"), default=0)
    for each in clause.children():
        opens = each.index < clause.head.index and (clause.subject is None or each.index < clause.subject.index)
        marker = each.dep in {"intj", "cc", "advmod", "mark"} and each.low in _MARKERS
        if (each.dep in {"intj", "discourse"} and each.index < clause.head.index) or (
            each.dep == "cc" and not any(one.dep == "conj" and one.index > each.index for one in clause.children())
        ):
            gone |= {one.index for one in clause.parsed.subtree(each)}
        elif (
            (marker and (opens or (_ends_part(clause.parsed, each, last) and each.low in _AT_ENDS)))
            or (
                each.dep == "advmod"
                and each.low in {"actually", "basically", "honestly", "obviously", "just", "also", "then"}
            )
            or (each.low in {"really", "literally"} and each.dep == "advmod" and not clause.children("neg"))
        ):
            gone.add(each.index)
        elif (
            each.dep in {"npadvmod", "vocative"}
            and each.pos == "PROPN"
            and each.low not in NOT_NAMES
            and not each.text.startswith(MASK)
            and each.index > clause.head.index
            and clause.parsed.words[min(one.index for one in clause.parsed.subtree(each)) - 1].text == ","
        ):
            gone |= {one.index for one in clause.parsed.subtree(each)}
    words = [word for word in clause.words() if word.index not in gone]
    if clause.subject is not None:
        # A removed interjection ("God rest her soul,") leaves a comma between subject and verb.
        verb = {clause.head.index, *(each.index for each in clause.children("aux", "auxpass"))}
        bare = [
            place
            for place, word in enumerate(words[:-1])
            if word.text == "," and words[place + 1].index in verb and words[place - 1].index >= clause.subject.index
        ]
        if len(bare) == 1 and not any(word.text == "," for word in words[: bare[0]]):
            del words[bare[0]]
    while words and _is_mark(words[0]):
        words.pop(0)
    while words and (_is_mark(words[-1]) or words[-1].dep == "cc"):
        words.pop()
    return words


def listed_with(parsed: Parsed, word: Word) -> list[Word]:
    """The nouns of the list that a noun is in, in order; only itself if it is in none."""
    first = word
    while first.dep == "conj" and parsed.head(first).pos in {"NOUN", "PROPN"}:
        first = parsed.head(first)
    found = [first]
    while (after := parsed.child(found[-1], "conj")) is not None and after.pos in {"NOUN", "PROPN"}:
        found.append(after)
    return found


def span_in(parsed: Parsed, word: Word, listed_ones: list[Word]) -> tuple[int, int]:
    """Where a noun of a list stands with its own words, without those that are listed after it."""
    later = {each.index for other in listed_ones if other.index > word.index for each in parsed.subtree(other)}
    own = [each for each in parsed.subtree(word) if each.index not in later and each.dep not in {"cc", "punct"}]
    return own[0].start, own[-1].end


def is_inverted(parsed: Parsed, first: int, last: int) -> bool:
    """Whether a sentence begins with its finite verb before its subject, as a question does: "did Rosa swim"."""
    begins = parsed.words[first]
    if begins.lemma not in _FINITE_FIRST or begins.tag in {"VB", "VBN", "VBG"}:
        return False
    named, after = (parsed.words[min(first + ahead, last - 1)] for ahead in (1, 2))
    if begins.lemma == "do" and named.pos == "PROPN" and after.pos in _MAY_BE_VERBS and after is not named:
        return True  # Parsed as an object: "did Rosa swim".
    verbs = (begins, parsed.head(begins), *(each for each in parsed.children(begins) if each.dep == "ccomp"))
    subjects = (each for verb in verbs if verb.index < last for each in parsed.children(verb) if each.dep in SUBJECTS)
    return (subject := next(subjects, None)) is not None and subject.index > first
