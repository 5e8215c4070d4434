"""Coreference: the people of a conversation, and the antecedents of names, pronouns and kinship terms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from language.reading.kin import (
    ONE_EACH,
    can_name,
    given_name,
    has_article,
    kin_of_legacy,
    name_after,
    name_gender,
    possessor,
    whole_name,
)
from language.reading.normalise import MASK
from language.reading.parse import Parsed, Word
from language.reading.words import (
    KIN,
    KIN_GENDER,
    KIN_PLURALS,
    NAMING_KIN,
    NOT_NAMES,
    TITLES,
    listed,
)

Role = Literal["legacy", "user", "other"]

PRONOUNS = {
    "he": "m", "him": "m", "his": "m", "himself": "m",
    "she": "f", "her": "f", "hers": "f", "herself": "f",
}  # fmt: skip
_NO_PERSON = listed("""GPE LOC ORG DATE TIME NORP FAC PRODUCT EVENT WORK_OF_ART LANGUAGE LAW CARDINAL MONEY QUANTITY""")
_PERSONAL_STATES = listed("allergic diabetic pregnant married engaged")
_CONDITIONS = listed(
    """asthma diabetes epilepsy dementia cancer arthritis migraines allergies adhd autism eczema coeliac celiac
    epileptic asthmatic shellfish nuts peanuts dairy gluten lactose"""
)
_THEY = frozenset({"they", "them", "their"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_NAME_ENDS = frozenset({"'s", "’s"})


def is_personal_predicate(parsed: Parsed, verb: Word) -> bool:
    """Whether a predicate applies only to people: to be allergic, to have asthma."""
    return any(each.low in (_PERSONAL_STATES | _CONDITIONS) for each in parsed.children(verb))


@dataclass(eq=False, slots=True)
class Person:
    """A person or pet. ``kin`` is the kinship term used for them, ``owner`` the person it relates them to."""

    role: Role
    name: str = ""
    gender: str = ""
    kin: str = ""
    owner: Person | None = None
    told: bool = False

    def fits(self, gender: str) -> bool:
        """Whether a pronoun of this gender can refer to them."""
        return self.role != "user" and self.gender in {"", gender}

    @property
    def group(self) -> str:
        """The kinship group of the term: ``mother`` for "mum"."""
        return KIN.get(self.kin, self.kin)


@dataclass
class Cast:
    """The people of one conversation, and the salience of each as an antecedent."""

    legacy: Person | None
    user: Person
    legacy_names: frozenset[str] = frozenset()
    others: list[Person] = field(default_factory=list)
    subject: Person | None = None
    """The last subject other than the user: the preferred antecedent."""
    here: list[Person] = field(default_factory=list)
    """People mentioned in this message so far, the latest last."""
    before: list[Person] = field(default_factory=list)
    """People mentioned in the message before."""
    unclear: bool = False
    """Whether a pronoun can refer both to the legacy and to somebody of the message before."""
    several: Person | None = None
    """The antecedent of "they": "my parents", until another plural is mentioned."""

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
        legacy.kin = next((word for word in low if word in KIN), "")
        everything = " ".join(texts)
        legacy.kin = legacy.kin or kin_of_legacy(names, everything)
        legacy.gender = KIN_GENDER.get(legacy.group, "?").strip("?") or name_gender(
            (names and legacy.name.split()[0]) or ""
        )
        if not legacy.gender:
            counts = Counter(PRONOUNS[word] for word in re.findall(r"\w+", everything.lower()) if word in PRONOUNS)
            legacy.gender = counts.most_common(1)[0][0] if counts else ""
        return cls(legacy, user, names, subject=legacy)

    def next_message(self, reply: str) -> None:
        """Move on to the user's next message; ``reply`` is the assistant's message before it."""
        carried, self.before, self.here = self.subject, self.here, []
        low = set(re.findall(r"[\w'-]+", reply.lower()))
        named = [one for one in self.before if one.role == "other" and one.name.lower() in low and one.name]
        self.unclear, self.several = False, None
        if self.legacy is None:
            self.subject = (
                carried if carried is not None and (carried in named or set(self.before) == {carried}) else None
            )
            return
        back = self.legacy in self.before or self.legacy_names & low or carried in {None, self.legacy}
        back = back or any(self.legacy.fits(PRONOUNS[word]) for word in low if word in PRONOUNS)
        self.subject = named[-1] if named and not self.legacy_names & low else self.legacy
        self.unclear = not named and not back

    def other(self, *, name: str = "", kin: str = "", owner: Person | None = None) -> Person:
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

    def mentions(self, parsed: Parsed, words: Sequence[Word], who: dict[int, Person | None]) -> None:
        """Resolve each token that refers to a person and store it in ``who``; None for an ambiguous pronoun."""
        subject: Person | None = None
        for word in words:
            if word.index in who:
                continue
            if word.low in {"i", "me", "my", "mine", "myself"} and word.pos != "NUM":
                who[word.index] = self.user
            elif word.low in _THEY and self.several is not None:
                who[word.index] = self.several
            elif word.tag in {"NNS", "NNPS"}:
                self.several = self._several(parsed, word)
            elif word.low in PRONOUNS and word.pos in {"PRON", "DET", "ADJ"}:
                who[word.index] = self._antecedent(parsed, word, who, subject)
            elif word.pos in {"NOUN", "PROPN", "ADJ", "VERB"}:
                person = self._named(parsed, word, who)
                if person is not None:
                    who[word.index] = person
            person = who.get(word.index)
            if person is not None and person.role != "user":
                if word.dep in _SUBJECTS and subject is None:
                    subject = person
                self.here = [one for one in self.here if one is not person] + [person]

    def _several(self, parsed: Parsed, word: Word) -> Person | None:
        """The antecedent for "they" that a plural sets: "my parents"; None for any other plural."""
        holder = parsed.child(word, "poss")
        own = holder is not None and holder.low in {"my", "our"} and self.legacy is None
        kin = word.lemma in KIN or word.low in KIN_PLURALS
        return Person("other", gender="several", kin=word.low, owner=self.user) if own and kin else None

    def _named(self, parsed: Parsed, word: Word, who: dict[int, Person | None]) -> Person | None:  # noqa: PLR0911
        words = parsed.words
        if word.low in KIN and word.tag not in {"NNS", "NNPS"} and word.pos in {"NOUN", "PROPN"}:
            return self._kin(parsed, word, who)
        known = next((one for one in self.others if one.name == word.text), None)
        if known is not None and word.dep in _SUBJECTS:
            return known
        human = word.dep == "nsubj" and is_personal_predicate(parsed, parsed.head(word))
        noun = not (human and word.pos == "NOUN" and not parsed.children(word) and word.tag == "NN")
        plain = word.pos != "PROPN" and noun and word.low not in self.legacy_names - NOT_NAMES
        if plain or not word.text[:1].isupper() or word.text.startswith(MASK):
            return None
        before = words[word.index - 1] if word.index else None
        if (
            before is not None
            and before.pos in {"PROPN", "NOUN"}
            and before.index in who
            and before.dep in {"compound", "nmod"}
        ):
            return who[before.index]
        if word.low in self.legacy_names:
            after = words[word.index + 1] if word.index + 1 < len(words) else None
            strange = (
                after is not None
                and after.pos == "PROPN"
                and after.low not in self.legacy_names
                and not after.text.startswith(MASK)
                and word.dep == "compound"
            )
            other = (
                before is not None
                and before.index in who
                and before.low in KIN
                and who[before.index] is not self.legacy
            )
            return None if strange or other else self.legacy
        if known is not None:
            return known
        if (word.entity in _NO_PERSON and not human) or word.low in NOT_NAMES or word.low == self.user.name.lower():
            return None
        if word.dep in {"compound", "nmod", "amod"} and word.head > word.index and parsed.head(word).pos != "PROPN":
            return None
        if word.entity == "PERSON" or word.dep in _SUBJECTS or name_gender(word.text):
            return self.other(name=whole_name(parsed, word))
        return None

    def _kin(self, parsed: Parsed, word: Word, who: dict[int, Person | None]) -> Person | None:
        words = parsed.words
        name = name_after(parsed, word)
        possessive = possessor(parsed, word, words[word.index + 1] if name else None)
        if not name and (word.dep == "attr" or (word.dep == "pobj" and possessive is None)):
            return None
        owner = self._owner(possessive, who)
        capital = word.text[:1].isupper() and bool(name)
        if possessive is None and (word.low in NAMING_KIN or capital) and not has_article(parsed, word):
            owner = self.user
        appositive = parsed.head(word) if word.dep == "appos" else None
        if appositive is not None and appositive.index in who:
            person = who[appositive.index]
            if person is not None and person.role == "other" and owner is not None and not person.kin:
                person.kin, person.owner = word.low, owner
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
        ):
            other = any(each.low in {"other", "great", "step"} for each in parsed.children(word))
            named = any(one.group == legacy.group and one.owner is self.user for one in self.others)
            if not other and (legacy.group in ONE_EACH or not named):
                return legacy
        return self.other(name=name, kin=word.low, owner=owner)

    def _owner(self, possessive: Word | None, who: dict[int, Person | None]) -> Person | None:
        if possessive is None:
            return None
        if possessive.low in {"my", "our"}:
            return self.user
        return who.get(possessive.index)

    def _antecedent(  # noqa: PLR0911
        self, parsed: Parsed, word: Word, who: dict[int, Person | None], subject: Person | None
    ) -> Person | None:
        """The antecedent of a third person pronoun; None if it is ambiguous."""
        gender = PRONOUNS[word.low]
        possessive = word.tag == "PRP$" or word.dep == "poss"
        is_subject = word.dep in _SUBJECTS
        barred: set[int] = set()
        if not possessive and not is_subject and word.low not in {"himself", "herself"}:
            own = parsed.head(word)
            while own.pos not in {"VERB", "AUX"} and own.head != own.index:
                own = parsed.head(own)
            barred = {
                id(who[each.index]) for each in parsed.children(own) if each.dep in _SUBJECTS and each.index in who
            }
        if subject is not None and possessive and parsed.head(word).dep == "attr" and parsed.head(word).low in KIN:
            barred = {id(subject)}
        if subject is not None and subject.fits(gender) and id(subject) not in barred:
            rival = possessive and self.legacy is not None and subject is not self.legacy and self.legacy.fits(gender)
            return None if rival and subject.owner is not self.legacy else subject
        last = self.subject
        if last is not None and last.fits(gender) and id(last) not in barred and (last in self.here or not self.here):
            unclear = self.unclear and not self.here and self._rival(gender, last)
            return None if unclear or (last is self.legacy and self._is_present_tense(parsed, word)) else last
        fitting = [one for one in self.here if one.fits(gender) and id(one) not in barred]
        if len(fitting) > 1:
            sure = [one for one in fitting if one.gender == gender]
            fitting = sure if len(sure) == 1 else fitting
        if len(fitting) == 1:
            only = fitting[0]
            aside = only not in {self.legacy, self.subject, subject}
            if aside and self.legacy is not None and self.legacy.fits(gender) and id(self.legacy) not in barred:
                return None
            return (
                only
                if only.gender == gender or is_subject or only is self.legacy
                else self._or_legacy(gender, only, barred)
            )
        if fitting:
            return None
        if self.legacy is not None and self.legacy.fits(gender) and id(self.legacy) not in barred:
            return None if self.unclear or self._is_present_tense(parsed, word) else self.legacy
        earlier = [one for one in self.before if one.fits(gender) and id(one) not in barred]
        return earlier[0] if len(earlier) == 1 else None

    def _rival(self, gender: str, last: Person) -> bool:
        return any(one.fits(gender) and one is not last for one in self.before)

    def _is_present_tense(self, parsed: Parsed, word: Word) -> bool:
        """Whether "he is …" is likely about a living person, as the legacy was not mentioned recently."""
        return parsed.head(word).low in {"is", "'s", "isn't"} and self.legacy not in (*self.before, *self.here)

    def _or_legacy(self, gender: str, only: Person, barred: set[int]) -> Person | None:
        legacy = self.legacy
        return only if legacy is None or not legacy.fits(gender) or id(legacy) in barred else legacy

    def bind(self, subject: Person, complement: Word, possessive: Word | None) -> None:
        """Learn a name or relation from a copula: "my boss is Teresa", "Mike is my godson"."""
        if subject.role != "other":
            return
        if subject.kin and not subject.name and complement.pos == "PROPN" and complement.low not in NOT_NAMES:
            subject.name, subject.told = complement.text, True
        elif (
            subject.name
            and not subject.kin
            and complement.low in KIN
            and possessive is not None
            and possessive.low == "my"
        ):
            subject.kin, subject.owner, subject.told = complement.low, self.user, True
            subject.gender = subject.gender or KIN_GENDER[KIN[complement.low]].strip("?")

    def introduce(self, parsed: Parsed, head: Word) -> None:
        """Learn the user's relatives from appositions and "married to": "two daughters, Emilija and Ugne"."""
        for each in parsed.children(head):
            if each.dep == "prep":
                self.introduce(parsed, each)
            if each.dep in {"dobj", "pobj", "attr"} and each.lemma in KIN:
                named = [word for word in parsed.children(each) if word.dep == "appos" and can_name(word)]
                for name in named:
                    beside = [word for word in parsed.children(name) if word.dep == "conj" and can_name(word)]
                    for word in (name, *beside):
                        self._add_relative(whole_name(parsed, word), each.lemma)
            if each.dep == "acomp":
                self._spouse(parsed, each)
        self._spouse(parsed, head)

    def _spouse(self, parsed: Parsed, word: Word) -> None:
        to = parsed.child(word, "prep") if word.low in {"married", "engaged"} else None
        whom = parsed.child(to, "pobj") if to is not None and to.low == "to" else None
        if whom is not None and whom.pos == "PROPN" and can_name(whom):
            self._add_relative(whole_name(parsed, whom), "partner")

    def _add_relative(self, name: str, kin: str) -> None:
        person = self.other(name=name, kin=kin, owner=self.user)
        person.told = True
        self.here = [one for one in self.here if one is not person] + [person]
        self.subject = person

    def together(self, pair: bool) -> Person | None:
        """The other person in "we" if there is one candidate. ``pair``: the predicate is reciprocal."""
        others = [one for one in self.here or self.before if one.role != "user"]
        if self.legacy is not None:
            alone = others == [self.legacy] or (pair and not others)
            return self.legacy if alone and self.subject is self.legacy and not self.unclear else None
        return others[0] if pair and len(others) == 1 and others[0].name else None

    def noted(self, text: str) -> str:
        """The elided subject of notes about the legacy, if the conversation was just about them; else empty."""
        legacy = self.legacy
        if legacy is None or self.subject is not legacy or self.unclear:
            return ""
        named = {*self.legacy_names, legacy.kin} & set(re.findall(r"\w+", text.lower()))
        spoken_of = legacy in self.before or named
        return {"m": "He", "f": "She"}.get(legacy.gender, legacy.name) if spoken_of else ""

    def spoken_of(self, person: Person | None, beside: Person | None) -> None:
        """Make the person of a clause the preferred antecedent, unless a conjunct makes the next pronoun ambiguous."""
        if person is not None and person.role != "user":
            two = beside is not None and (not beside.gender or person.fits(beside.gender)) and beside.role != "user"
            self.subject = None if two else person
