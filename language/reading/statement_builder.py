"""Build statements from one message, and those that only name a relative."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from language.base import Utterance
from language.reading.clauses import Clause, means_people
from language.reading.gate import rejection_reason
from language.reading.lexicon import is_kind_of
from language.reading.normalise import Normalised
from language.reading.parse import Word
from language.reading.people import Cast
from language.reading.persons import PRONOUNS, Person


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """A sentence about ``person``. ``quote`` is a verbatim part of message ``index``.

    ``is_momentary``: it holds only at this moment and is not to be kept.
    """

    person: Person
    content: str
    kind: str
    index: int
    quote: str
    is_explicit: bool = False
    is_momentary: bool = False


class StatementBuilder:
    """Builds the statements of one message.

    ``referents``: the person of each token by its index, None if ambiguous. ``defaults_to_user``: an elided subject is
    the user.
    """

    def __init__(
        self,
        cast: Cast,
        message: Utterance,
        normalised: Normalised,
        reply: str = "",
        dropped: Counter[str] | None = None,
        *,
        defaults_to_user: bool = False,
    ) -> None:
        self.cast, self.message, self.normalised = cast, message, normalised
        self.reply, self.defaults_to_user = reply, defaults_to_user
        self.dropped: Counter[str] = Counter() if dropped is None else dropped
        self.last_person: Person | None = None
        self.referents: dict[int, Person | None] = {}
        self.deceased: Person | None = None

    # --- kin ----------------------------------------------------------------------------------------------------

    def _kin_statements(self, clause: Clause) -> Iterator[ReadStatement]:
        """State each relative's name and relation once, and the legacy's relation to the user."""
        cast, legacy = self.cast, self.cast.legacy
        for word in clause.words():
            person = self.referents.get(word.index)
            if person is None or person.is_introduced or word.low in PRONOUNS or person.role == "user":
                continue
            if person is legacy and person.kin and word.low in {person.kin, *cast.legacy_names}:
                said = {each.low for each in clause.words()}
                named = person.kin in said and said & cast.legacy_names and person.kin not in cast.legacy_names
                # "Grandma Rosa" is only a form of address; "my grandma Rosa" states the relation.
                if not named or not said & {"my", "our"}:
                    continue
                person.is_introduced = True
                if any(each.low == person.kin and each.dep == "attr" for each in clause.words()):
                    continue
                user = cast.user.name or "the user"
                yield self._statement(
                    person, f"{person.name} was {user}'s {person.kin}.", "relationship", *self._span([word])
                )
            elif (
                person.role == "other"
                and person.name
                and person.kin
                and word.low == person.kin
                and person.owner is not None
            ):
                yield from self._named_relative(clause, word, person, person.owner)

    def _named_relative(self, clause: Clause, word: Word, person: Person, owner: Person) -> Iterator[ReadStatement]:
        cast = self.cast
        if owner.role == "other" or not word.text.islower() or word.dep == "attr":
            return
        person.is_introduced = True
        if owner is cast.legacy:
            about, whose = owner, owner.name
        else:
            about, whose = cast.user, "The user"
        article = "an" if word.low[0] in "aeiou" else "a"
        name = person.name[:1].upper() + person.name[1:]
        verb = "had" if about.role == "legacy" else "has"
        text = f"{whose} {verb} {article} {word.low} named {name}."
        near = [each for each in clause.words() if abs(each.index - word.index) <= 3]
        if not rejection_reason(text, ""):
            yield self._statement(about, text, "relationship", *self._span(near))

    def _legacy_acted_on(self, clause: Clause) -> Person | None:
        """The legacy, if somebody or something named did something to them: "A teacher hid him for a year".

        Of people also what they did or felt towards them, or called them: "The drivers were scared of her".
        """
        subject = clause.subject
        if subject is None or any(each.dep == "neg" for each in clause.words()):
            return None
        is_somebody = subject.pos in {"NOUN", "PROPN"} or means_people(clause, subject)
        objects = clause.children("dobj", "dative") if is_somebody else []
        if subject.pos == "NOUN" and is_kind_of(subject.lemma, "person"):
            heads = (clause.head, *clause.children("acomp", "attr", "dobj"))
            preps = [each for head in heads for each in clause.parsed.children(head) if each.dep in {"prep", "dative"}]
            objects += [one for each in preps if (one := clause.parsed.child(each, "pobj")) is not None]
        return self.cast.legacy if self.cast.legacy in {self.referents.get(each.index) for each in objects} else None

    # --- out ----------------------------------------------------------------------------------------------------

    def _span(self, words: Sequence[Word]) -> tuple[int, int]:
        """The start and end of tokens in the message, without punctuation at their ends."""
        while len(words) > 1 and words[-1].dep == "cc":
            words = words[:-1]
        start, end = self.normalised.place(words[0].start, words[-1].end)
        content = self.message.content
        while start < end and content[start] in " ,;-\n\r\t":
            start += 1
        while end > start and content[end - 1] in " ,;-\n\r\t":
            end -= 1
        return start, end

    def _statement(
        self, person: Person, content: str, kind: str, start: int, end: int, *, explicit: bool = False
    ) -> ReadStatement:
        return ReadStatement(person, content, kind, self.message.index, self.message.content[start:end], explicit)
