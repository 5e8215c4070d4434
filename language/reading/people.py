"""Coreference: the people of a conversation, and the antecedents of names, pronouns and kinship terms."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from language.reading.antecedents import Trail, speaks_of_past
from language.reading.kin import (
    ONE_EACH,
    given_name,
    has_article,
    is_name_given,
    is_particle,
    is_personal_predicate,
    kin_of_legacy,
    name_after,
    name_gender,
    named_relatives,
    nicknames,
    possessor,
    whole_name,
)
from language.reading.mentions import NO_PERSON, note_stranger, people_of, tells_of_now
from language.reading.normalise import MASK
from language.reading.parse import NOUN_SUBJECTS, Parsed, Word
from language.reading.persons import PRONOUNS, Person
from language.reading.words import KIN, KIN_GENDER, KIN_PLURALS, NAMING_KIN, NOT_NAMES, TITLES

_ASKED_CHILDREN = re.compile(r"(?i)\b(?:children|kids)\b[^.!?]*\?$")
_OWN = frozenset({"i", "me", "my", "mine", "myself", "our"})
_THEY = frozenset({"they", "them", "their"})
_CLERGY = frozenset({"father", "mother", "brother", "sister"})
_OF_PLACES = frozenset({"at", "in", "through", "across", "along"})  # An unknown name after one is no person's.


def _unaccented(name: str) -> str:
    """A name as it is written in a hurry: "joaquin" for "joaquín"."""
    return "".join(each for each in unicodedata.normalize("NFD", name) if not unicodedata.combining(each))


@dataclass
class Cast:
    """The people of one conversation, and the salience of each as an antecedent."""

    legacy: Person | None
    user: Person
    legacy_names: frozenset[str] = frozenset()
    others: list[Person] = field(default_factory=list)
    focus: Person | None = None
    """The last subject other than the user: the preferred antecedent."""
    mentioned_now: list[Person] = field(default_factory=list)
    mentioned_before: list[Person] = field(default_factory=list)
    """People mentioned in this message so far, the latest last, and in the message before."""
    trail: Trail = field(default_factory=lambda: Trail(None))
    is_past: bool = False
    """Whether the user tells of the legacy in the past: who "is" something now is somebody else."""
    plural_antecedent: Person | None = None
    """The antecedent of "they": "my parents", until another plural is mentioned."""
    parent_asked_about: Person | None = None
    """Whose children the assistant asked about: names in the answer are theirs."""
    has_plural: bool = False
    """Whether this message has mentioned a plural so far."""

    @classmethod
    def of(cls, legacy_name: str | None, user_name: str, texts: Sequence[str]) -> Cast:
        """Start with the user and the legacy, whose relation and gender are inferred from the user's texts."""
        user = Person("user", user_name.strip())
        if user.name.islower():
            user.name = user.name.capitalize()
        if not legacy_name or not any(character.isalnum() for character in legacy_name):
            return cls(None, user)
        legacy = Person("legacy", given_name(legacy_name))
        low = [word.lower().strip(".") for word in legacy_name.split()]
        names = frozenset(word for word in low if word not in TITLES and word not in KIN) or frozenset(low)
        names |= {each for name in names if (each := _unaccented(name)) != name}
        # "Father Declan Moriarty" is nobody's father.
        is_titled = low[0] in _CLERGY and len(low) > 1
        legacy.kin = next((word for word in low[is_titled:] if word in KIN), "")
        everything = " ".join(texts)
        legacy.kin = legacy.kin or kin_of_legacy(names, everything)
        legacy.gender = KIN_GENDER.get(legacy.group, "?").strip("?") or name_gender(
            (names and legacy.name.split()[0]) or ""
        )
        if not legacy.gender:
            counts = Counter(PRONOUNS[word] for word in re.findall(r"\w+", everything.lower()) if word in PRONOUNS)
            legacy.gender = counts.most_common(1)[0][0] if counts else ""
        names |= nicknames(names, everything)
        pronoun = {"m": "he", "f": "she"}.get(legacy.gender, "he")
        is_past = speaks_of_past(names, pronoun, everything)
        return cls(legacy, user, names, focus=legacy, trail=Trail(legacy), is_past=is_past)

    def next_message(self, reply: str, about: str) -> None:
        """Move on to the user's next message after the assistant's ``reply``; ``about``: whom it asks about."""
        parent = self.user if about == "I" else self.legacy if about in {"He", "She"} else None
        self.parent_asked_about = parent if _ASKED_CHILDREN.search(reply) else None
        self.mentioned_before, self.mentioned_now = self.mentioned_now, []
        self.plural_antecedent, self.has_plural = None, False
        self.trail.next_message(answered=bool(reply))
        asked = people_of(self, reply)
        for person, gender, is_subject in asked:
            others = (each for each in asked if each[0] is not person and (not each[1] or each[1] == gender))
            is_certain = is_subject or next(others, None) is None
            self.trail.mention(person, gender, is_subject=is_subject, is_certain=is_certain)
        if reply and not asked:
            self._leave_topic()
        spoken_of = next((each for each, _, _ in reversed(asked) if each is not None), None)
        if asked:
            self.focus = spoken_of
        elif self.legacy is not None:
            self.focus = self.trail.antecedent(self.legacy.gender)
        elif set(self.mentioned_before) != {self.focus}:
            self.focus = None
        if self.focus is not None and self.focus.kin and self.focus in [each for each, _, _ in asked]:
            self._mention(self.focus)

    def _leave_topic(self) -> None:
        """The assistant mentions nobody: it goes on about the legacy, if the last message was about them."""
        if self.legacy is not None and self.trail.asked_about(self.legacy.gender) is self.legacy:
            self.trail.mention(self.legacy)
        else:
            self.trail.forget_certainty()

    def find_or_add(self, *, name: str = "", kin: str = "", owner: Person | None = None) -> Person:
        """Find or add a person who is neither the user nor the legacy."""
        group = KIN.get(kin, kin)
        for person in self.others:
            same_kin = bool(group) and person.group == group and person.owner is owner
            if name and person.name == name and (not kin or not person.kin or same_kin):
                if kin and not person.kin:
                    person.kin, person.owner = kin, owner
                    person.gender = person.gender or KIN_GENDER.get(group, "").strip("?")
                return person
            if same_kin and (not name or not person.name) and (group in ONE_EACH or not name):
                person.name = person.name or name
                return person
        gender = KIN_GENDER.get(group, "").strip("?") or name_gender(name.split(" ", maxsplit=1)[0])
        person = Person("other", name, gender, kin, owner)
        self.others.append(person)
        return person

    # --- words --------------------------------------------------------------------------------------------------

    def resolve(self, parsed: Parsed, words: Sequence[Word], referents: dict[int, Person | None]) -> None:
        """Resolve each token that refers to a person and store it in ``who``; None for an ambiguous pronoun."""
        subject: Person | None = None
        self.trail.clause += 1
        for word in words:
            if word.index in referents:
                continue
            if word.low in _OWN and word.pos != "NUM" and (word.low != "our" or self.legacy is None):
                referents[word.index] = self.user
            elif word.low in _THEY and self.plural_antecedent is not None:
                referents[word.index] = self.plural_antecedent
            elif word.low == "they" and word.dep in NOUN_SUBJECTS and (couple := self._couple()) is not None:
                referents[word.index] = self.plural_antecedent = couple
            elif word.tag in {"NNS", "NNPS"}:
                self.has_plural = True
                self.plural_antecedent = self._plural_antecedent(parsed, word)
            elif word.low in PRONOUNS and word.pos in {"PRON", "DET", "ADJ"}:
                referents[word.index] = self._antecedent(parsed, word, referents, subject)
            elif word.pos in {"NOUN", "PROPN", "ADJ", "VERB"}:
                person = self._resolve_name(parsed, word, referents)
                if person is not None:
                    referents[word.index] = person
                else:
                    note_stranger(self, parsed, word)
            person = referents.get(word.index)
            if person is not None and person.role != "user":
                person.gender = person.gender or PRONOUNS.get(word.low, "")
                is_subject = word.dep in NOUN_SUBJECTS and subject is None
                subject = person if is_subject else subject
                self._mention(person)
                is_weak = word.dep in {"pobj", "attr"} and not (person.gender or person.kin)
                self.trail.mention(person, is_subject=is_subject, is_certain=word.low in PRONOUNS, is_weak=is_weak)

    def _mention(self, person: Person) -> None:
        """Make a person the latest of those mentioned in this message."""
        self.mentioned_now = [*(each for each in self.mentioned_now if each is not person), person]

    def _couple(self) -> Person | None:
        """The legacy and the only other person of this message, as the antecedent of "they" without another plural."""
        spoken = {id(each): each for each in (*self.mentioned_before, *self.mentioned_now) if each.gender != "several"}
        others = [each for each in spoken.values() if each.role == "other" and each.name]
        others = others if others and others[0] in self.mentioned_now else []
        if self.legacy is None or self.has_plural or len(others) != 1 or id(self.legacy) not in spoken:
            return None
        for each in (self.legacy, *others):
            self._mention(each)
        return Person("other", f"{self.legacy.name} and {others[0].name}", "several", owner=self.legacy)

    def _plural_antecedent(self, parsed: Parsed, word: Word) -> Person | None:
        """The antecedent for "they" that a plural sets: "my parents"; None for any other plural."""
        holder = parsed.child(word, "poss")
        own = holder is not None and holder.low in {"my", "our"} and self.legacy is None
        kin = word.lemma in KIN or word.low in KIN_PLURALS
        return Person("other", gender="several", kin=word.low, owner=self.user) if own and kin else None

    def _resolve_name(self, parsed: Parsed, word: Word, referents: dict[int, Person | None]) -> Person | None:  # noqa: PLR0911
        words = parsed.words
        is_kin = word.low in KIN and not is_particle(parsed, word)
        if is_kin and word.tag not in {"NNS", "NNPS"} and word.pos in {"NOUN", "PROPN"}:
            return self._resolve_kin(parsed, word, referents)
        known = next((person for person in self.others if person.name == word.text), None)
        if known is not None and word.dep in NOUN_SUBJECTS:
            return known
        human = word.dep == "nsubj" and is_personal_predicate(parsed, parsed.head(word))
        noun = not (human and word.pos == "NOUN" and not parsed.children(word) and word.tag == "NN")
        plain = word.pos != "PROPN" and noun and word.low not in self.legacy_names - NOT_NAMES
        if plain or not word.text[:1].isupper() or word.text.startswith(MASK):
            return None
        before = words[word.index - 1] if word.index else None
        joined = before is not None and before.pos in {"PROPN", "NOUN"} and before.dep in {"compound", "nmod"}
        if before is not None and joined and before.index in referents:
            return referents[before.index]
        if word.low in self.legacy_names:
            after = words[word.index + 1] if word.index + 1 < len(words) else word
            named = after.pos == "PROPN" and not after.text.startswith(MASK)
            strange = named and after.low not in self.legacy_names and word.dep == "compound"
            other = (
                before is not None
                and before.index in referents
                and before.low in KIN
                and referents[before.index] is not self.legacy
            )
            return None if strange or other else self.legacy
        if known is not None:
            return known
        accompanies = word.dep == "pobj" and word.pos == "PROPN" and parsed.head(word).low == "with"
        if (
            (word.entity in NO_PERSON and not (human or accompanies))
            or word.low in NOT_NAMES
            or word.low == self.user.name.lower()
        ):
            return None
        located = word.dep == "pobj" and parsed.head(word).low in _OF_PLACES
        inside = word.dep in {"compound", "nmod", "amod"} and word.head > word.index
        if located or (inside and parsed.head(word).pos != "PROPN"):
            return None
        if word.entity == "PERSON" or word.dep in NOUN_SUBJECTS or accompanies or name_gender(word.text):
            alone = word.dep in NOUN_SUBJECTS and not parsed.children(word)
            parent = self.parent_asked_about if alone else None
            return self.find_or_add(name=whole_name(parsed, word), kin="child" if parent else "", owner=parent)
        return None

    def _resolve_kin(self, parsed: Parsed, word: Word, referents: dict[int, Person | None]) -> Person | None:  # noqa: PLR0911
        words = parsed.words
        name = name_after(parsed, word)
        possessive = possessor(parsed, word, words[word.index + 1] if name else None)
        if not name and (word.dep == "attr" or (word.dep == "pobj" and possessive is None)):
            return None
        if possessive is None and is_name_given(parsed, word):
            return None
        if name and possessive is None and word.text[:1].isupper() and KIN[word.low] in _CLERGY:
            return None  # "Father Coll".
        owner = self._resolve_owner(possessive, referents)
        capital = word.text[:1].isupper() and bool(name)
        is_bare = word.dep in NOUN_SUBJECTS and not parsed.children(word)  # "Girlfriend is Shannon."
        if possessive is None and (word.low in NAMING_KIN or capital or is_bare) and not has_article(parsed, word):
            owner = self.user
        if word.dep == "appos" and word.head in referents:
            return None
        if name and any(part.lower() in self.legacy_names for part in name.split()):
            return self.legacy
        if owner is None:
            return None
        legacy = self.legacy
        if (
            legacy is not None
            and owner is self.user
            and not name
            and KIN.get(word.low) == legacy.group
            and legacy.group
            and not any(each.low in {"other", "great", "step"} for each in parsed.children(word))
        ):
            return legacy
        return self.find_or_add(name=name, kin=word.low, owner=owner)

    def _resolve_owner(self, possessive: Word | None, referents: dict[int, Person | None]) -> Person | None:
        if possessive is None:
            return None
        if possessive.low in {"my", "our"}:
            return self.user
        return referents.get(possessive.index)

    def _antecedent(
        self, parsed: Parsed, word: Word, referents: dict[int, Person | None], subject: Person | None
    ) -> Person | None:
        """The antecedent of a third person pronoun; None if it is ambiguous."""
        gender = PRONOUNS[word.low]
        possessive = word.tag == "PRP$"
        is_subject = word.dep in NOUN_SUBJECTS
        parallel = self._parallel_holder(parsed, word, referents) if possessive else None
        if parallel is not None:
            return parallel
        barred: set[int] | None = None
        if not possessive and not is_subject and word.low not in {"himself", "herself"}:
            verb = parsed.head(word)
            while verb.pos not in {"VERB", "AUX"} and verb.head != verb.index:
                verb = parsed.head(verb)
            barred = {
                id(referents[each.index])
                for each in parsed.children(verb)
                if each.dep in NOUN_SUBJECTS and each.index in referents
            }
        if subject is not None and possessive and parsed.head(word).dep == "attr" and parsed.head(word).low in KIN:
            barred = {id(subject)}

        legacy = self.legacy
        is_rival = legacy is not None and legacy.fits(gender) and id(legacy) not in (barred or ())
        if subject is not None and subject.fits(gender) and id(subject) not in (barred or ()):
            rival = is_rival and subject is not legacy
            unclear = rival and possessive == (subject.owner is not legacy)
            return None if unclear or not self.trail.is_alone_since(subject, gender) else subject
        person = self.trail.antecedent(gender, barred)
        if person is None or (is_rival and person.owner is legacy and is_subject and person.kin and not person.name):
            return None  # "Her mother was ill, so she worked."
        if person is legacy and self.is_past and is_subject and tells_of_now(parsed, parsed.head(word)):
            return None
        return person

    @staticmethod
    def _parallel_holder(parsed: Parsed, word: Word, referents: dict[int, Person | None]) -> Person | None:
        """Whose relative an earlier possessive of that form names: "his father was ill, and his mother taught"."""
        kin = [each for each in parsed.words[: word.index + 1] if each.dep == "poss" and parsed.head(each).low in KIN]
        same = [each for each in kin if each.low == word.low]
        return referents.get(same[0].index) if len(same) > 1 and same[-1] is word else None

    def learn_from_copula(self, subject: Person, complement: Word, possessive: Word | None) -> None:
        """Learn a name or relation from a copula: "my boss is Teresa", "Mike is my godson"."""
        if subject.role != "other":
            return
        if subject.kin and not subject.name and complement.pos == "PROPN" and complement.low not in NOT_NAMES:
            subject.name, subject.is_introduced = complement.text, True
        elif (
            subject.name
            and subject.kin != complement.low
            and complement.low in KIN
            and possessive is not None
            and possessive.low == "my"
        ):
            subject.kin, subject.owner, subject.is_introduced = complement.low, self.user, True
            subject.gender = subject.gender or KIN_GENDER[KIN[complement.low]].strip("?")

    def learn_relatives(
        self, parsed: Parsed, head: Word, subject: Person, referents: Mapping[int, Person | None]
    ) -> None:
        """Learn the relatives that a clause names: of its subject, or of whose they are said to be."""
        for name, kin, holder in named_relatives(parsed, head):
            owner = subject if holder is None else referents.get(holder.index)
            if owner is None:
                continue
            person = self.find_or_add(name=name, kin=kin, owner=owner)
            person.is_introduced = True
            self._mention(person)
            self.trail.mention(person, is_subject=True)
            self.focus = person
        if head.lemma in {"have", "get"} and subject.role != "other":
            for each in parsed.children(head):
                self._learn_unnamed(parsed, each, subject)

    def _learn_unnamed(self, parsed: Parsed, word: Word, subject: Person) -> None:
        """Learn a relative without a name, "he" or "she" of the next sentence: "I had a brother"."""
        article = parsed.child(word, "det", "nummod")
        if word.dep != "dobj" or word.low not in KIN or article is None or article.low not in {"a", "an", "one"}:
            return
        gender = KIN_GENDER[KIN[word.low]].strip("?")
        named = parsed.child(word, "appos", "acl") is not None
        if not gender or named or (subject.role == "legacy" and subject.fits(gender)):
            return
        person = self.find_or_add(kin=word.low, owner=subject)
        self._mention(person)
        self.trail.mention(person, is_subject=True)
        self.focus = person

    def other_in_we(self, pair: bool) -> Person | None:
        """The other person in "we" if there is one person. ``pair``: the predicate is reciprocal."""
        others = [person for person in self.mentioned_now or self.mentioned_before if person.role != "user"]
        if self.legacy is not None:
            alone = others == [self.legacy] or (pair and not others)
            if alone or not (pair and self.focus in others):
                return self.legacy if alone and self.focus is self.legacy else None
        return others[0] if pair and len(others) == 1 and others[0].name else None

    def elided_subject(self, text: str) -> str:
        """The elided subject of notes about the legacy, if the conversation was just about them; else empty."""
        legacy = self.legacy
        if legacy is None or self.focus is not legacy:
            return ""
        named = {*self.legacy_names, legacy.kin} & set(re.findall(r"\w+", text.lower()))
        spoken_of = legacy in self.mentioned_before or named
        return {"m": "He", "f": "She"}.get(legacy.gender, legacy.name) if spoken_of else ""

    def set_focus(self, person: Person | None) -> None:
        """Make the person of a clause the preferred antecedent."""
        if person is not None and person.role != "user":
            self.focus = person
