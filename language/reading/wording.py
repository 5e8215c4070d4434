"""Word a clause as a self-contained sentence in the third person."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from language.reading.clauses import SAY, Clause, governor, subject_index, subject_of, trimmed
from language.reading.fragments import PASSIVE_VERBS
from language.reading.inflection import inflect_third_person
from language.reading.kin import before_name
from language.reading.normalise import MASK, Normalised
from language.reading.parse import Word
from language.reading.people import Cast
from language.reading.persons import PRONOUNS, Person
from language.reading.things import thing_meant
from language.reading.words import ENGLISH, KIN, TITLES, listed

_DEMONSTRATIVES = listed("it its this that these those them they their theirs there here ones")
_NOUNS = frozenset({"NOUN", "PROPN"})
_CONTRACTIONS = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
_SPLIT_CONTRACTIONS = {"n't": "not", "ca": "can", "wo": "will"}
_THIRD = {"am": "is", "are": "is", "have": "has", "do": "does", "'m": "is", "'re": "is", "'ve": "has"}
_SAME_PAST = listed("quit put cut hit hurt set let read cost shut spread bet split beat")
_MOMENTARY = listed("quit split hit")
"""Those of them that tell of one event, unless the sentence says that it happens often."""
_OFTEN = re.compile(r"(?i)\b(?:every|each|often|sometimes|usually|always|when(?:ever)?|if)\b")
_PAST_TIME = re.compile(r"(?i)\b(?:ago|last|yesterday|back in|in \d{4}|when i)\b")
_NAMED = frozenset({"PERSON", "GPE", "LOC", "ORG", "FAC", "NORP"})


class Unclear(Exception):
    """A token can't be worded in the third person. ``reason`` is counted for the dropped clause."""

    def __init__(self, word: Word, reason: str = "unclear pronoun") -> None:
        super().__init__(reason)
        self.word, self.reason = word, reason


class ClauseWording:
    """Words clauses of one text in the third person, about the legacy (``of_legacy``) or about the user."""

    def __init__(
        self, cast: Cast, normalised: Normalised, referents: Mapping[int, Person | None], *, of_legacy: bool
    ) -> None:
        self.cast, self.normalised, self.referents, self.of_legacy = cast, normalised, referents, of_legacy
        self.mentioned: list[Person] = []
        self.elided: Person | None = None
        self.other_of_we: Person | None = None

    def name_of(self, person: Person) -> str:
        """How a person is referred to: "the user's sister Inês", "Rosa's husband", "Tom"."""
        if person.role == "legacy":
            return person.name
        if person.role == "user":
            return person.name if self.of_legacy and person.name else "the user"
        if person.owner is not None and person.kin:
            return f"{self.name_of(person.owner)}'s {person.kin} {person.name}".rstrip()
        return person.name

    def render(self, clause: Clause, person: Person | None, *, elided: bool = False) -> str:
        """The clause as a sentence, without its full stop. Raises Unclear."""
        self.mentioned = []
        self.elided = person if elided else None
        subject = clause.subject
        joined = subject is not None and subject.low == "we" and subject.index not in self.referents
        self.other_of_we = person if joined and person is not None and person.role != "user" else None
        words = trimmed(clause)
        parts: list[str] = []
        if elided and person is not None:
            parts.append(self.name_of(person) + " ")
            self.mentioned.append(person)
            helped = any(word.dep in {"aux", "auxpass"} for word in clause.children())
            if clause.head.tag in {"VBN", "VBG"} and not helped and not _is_active_participle(clause.head):
                parts.append("is " if clause.head.tag == "VBG" and person.role == "user" else "was ")
        skipped = self._tokens_to_skip(words)
        for position, word in enumerate(words):
            if word.index in skipped:
                continue
            following = words[position + 1] if position + 1 < len(words) else None
            said = self._render_word(clause, word, words, position, skipped)
            needs_space = bool(parts) and not parts[-1].endswith((" ", "-", "(", "/")) and word.dep != "case"
            if needs_space and said and said[0].isalnum():
                parts[-1] += " "
            has_gap = following is not None and (following.start > word.end or following.index != word.index + 1)
            space = " " if has_gap else ""
            if said:
                if (
                    elided
                    and len(parts) <= 2
                    and said[0].isupper()
                    and word.pos not in {"PROPN"}
                    and said != "I"
                    and word.index not in self.referents
                ):
                    said = said[0].lower() + said[1:]
                parts.append(said + space)
        text = re.sub(r"\s+", " ", "".join(parts)).strip(" ,;-.!")
        text = re.sub(r"\s+(?=[,.;!?)])|(?<=\()\s+", "", text)
        text = re.sub(r",? (?:though|too|either|as well|anyway|the (?:day|week|month|year) after)$|, back$", "", text)
        return text.replace("can not", "cannot").replace(" ,", ",")

    def _tokens_to_skip(self, words: list[Word]) -> set[int]:
        """Tokens to skip before the legacy's name: "my late uncle"."""
        gone: set[int] = set()
        for place, word in enumerate(words):
            position, person = place, self.referents.get(word.index)
            if word.low == "us" and [each.low for each in words[max(0, position - 2) : position]] in (
                ["all", "of"],
                ["both", "of"],
            ):
                gone |= {words[position - 2].index, words[position - 1].index}
            if person is None or person.role != "legacy" or word.low in PRONOUNS or word.index in gone:
                continue
            while (
                position and before_name(words[position - 1]) and words[position - 1].index == words[position].index - 1
            ):
                position -= 1
                if words[position].tag == "PRP$" and words[position].low not in {"my", "our"}:
                    break
                gone.add(words[position].index)
        return gone

    def _render_word(self, clause: Clause, word: Word, words: list[Word], position: int, skipped: set[int]) -> str:  # noqa: PLR0911
        low = word.low
        if word.text.startswith(MASK):
            return self._render_quoted(clause, word, words, position)
        if word.index in self.referents and not self._is_own_name(clause, word):
            return self._render_person(clause, word, words, skipped)
        if low in {"we", "us", "our", "ours", "ourselves"} and word.text != "US":
            return self._render_group(clause, word)
        if low in {"you", "your", "yours", "yourself"}:
            if self.of_legacy and clause.head.lemma in {"give", "lend", "tell", "make"}:
                return "people" if low == "you" else "their"
            raise Unclear(word)
        if low in {"here", "there"} and _is_explained(clause, words[position + 1 : position + 3]):
            skipped |= {each.index for each in words[position + 1 : position + 2] if each.text == ","}
            return ""
        if low in _DEMONSTRATIVES or (
            low == "one" and word.dep in {"dobj", "nsubj", "attr"} and not clause.parsed.children(word)
        ):
            thing = self._thing_meant(clause, word, words, position)
            if thing:
                return thing
        if word.pos in {"AUX", "VERB", "PART"} or low in {"n't", "'s", "'d"}:
            return self._verb(clause, word, words, position)
        before = words[position - 1].low if position else ""
        name = word.entity in _NAMED or (word.pos == "PROPN" and before in KIN)
        if self.normalised.casual and name and word.text.islower() and low not in ENGLISH:
            return word.text.capitalize()
        return word.text

    def _is_own_name(self, clause: Clause, word: Word) -> bool:
        """Whether a name is the speaker's, whoever else has it: "I'm Tom", beside a cousin Tom."""
        subject = clause.parsed.child(clause.parsed.head(word), "nsubj")
        return word.pos == "PROPN" and word.dep == "attr" and subject is not None and subject.low == "i"

    def _render_quoted(self, clause: Clause, word: Word, words: list[Word], position: int) -> str:
        quotation = self.normalised.quoted(word.text)
        lead = ", " if position and clause.head.lemma in SAY - {"call"} and words[position - 1].text != "," else ""
        return f'{lead}"{quotation}"'

    def _render_group(self, clause: Clause, word: Word) -> str:
        user = self.name_of(self.cast.user)
        if word.low == "we" and word == clause.subject and self.other_of_we is not None:
            self.mentioned += [self.other_of_we, self.cast.user]
            both = [self.name_of(self.other_of_we), user]
            return " and ".join(both if self.of_legacy else reversed(both))
        if word.low == "us":
            return f"{user} and others" if self.of_legacy else user
        if word.low == "our":
            return f"{user}'s"
        raise Unclear(word, "unclear we")

    def _thing_meant(self, clause: Clause, word: Word, words: list[Word], position: int) -> str:
        """What "it" or the like means; empty if the sentence itself says so. Raises Unclear."""
        low, before = word.low, words[:position]
        if word.dep in {"mark", "expl"} or word.tag in {"WDT", "EX", "WP", "IN"}:
            return ""
        if low in {"it", "its"}:
            verb = governor(clause, word)
            ok = any(
                each.tag in {"NN", "NNP"}
                and each.index not in self.referents
                and each.entity not in {"DATE", "TIME"}
                and (governor(clause, each) != verb or low == "its")
                for each in before
            )
        elif low in {"they", "them", "their", "theirs"}:
            ok = any(
                each.tag in {"NNS", "NNPS"}
                or each.low in {"everybody", "everyone", "nobody", "anyone", "anybody", "somebody", "someone", "people"}
                for each in before
            )
            ok = ok or sum(each.index in self.referents for each in before if each.pos in _NOUNS or each.low == "i") > 1
        elif word.dep == "det":
            unit = clause.parsed.head(word).lemma
            ok = unit in {"year", "month", "week", "weekend"} or (low == "these" and unit == "day")
        elif low == "there":
            ok = any(
                each.entity in {"GPE", "FAC", "LOC", "ORG"} and each.index not in self.referents for each in before
            )
        else:
            ok = False
        if ok:
            return ""
        phrase = thing_meant(clause.parsed, word, self.referents)
        if not phrase:
            raise Unclear(word)
        said = [self._render_word(clause, each, list(phrase), place, set()) for place, each in enumerate(phrase)]
        said = ["the" if each.low in {"a", "an", "one", "the"} else one for each, one in zip(phrase, said, strict=True)]
        if phrase[0].pos in {"NOUN", "ADJ"}:
            said[0] = said[0][0].lower() + said[0][1:]
        gaps = [" " * (after.start > each.end) for each, after in itertools.pairwise(phrase)]
        return "".join(itertools.chain.from_iterable(itertools.zip_longest(said, gaps, fillvalue="")))

    def _render_person(self, clause: Clause, word: Word, words: list[Word], skipped: set[int]) -> str:  # noqa: PLR0911, PLR0912
        person, low = self.referents[word.index], word.low
        if person is None:
            raise Unclear(word)
        if low in {"they", "them", "their"}:
            self._mention_once(person)
            return f"{self.name_of(person)}'" if low == "their" else self.name_of(person)
        possessive = word.tag == "PRP$"
        if person.role == "user":
            if low == "myself":
                if word.dep in {"npadvmod", "appos", "advmod"} or clause.head.lemma == "be":
                    return ""
                if self.of_legacy:
                    raise Unclear(word)
                return "themselves"
            if low == "mine":
                raise Unclear(word)
            self._mention_once(person)
            return f"{self.name_of(person)}'s" if low in {"my", "our"} else self.name_of(person)
        if low in PRONOUNS:
            if low in {"himself", "herself"}:
                if person not in self.mentioned:
                    raise Unclear(word)
                return low
            objects = word.dep in {"dobj", "dative", "pobj"} and person in {
                self.referents.get(subject_index(clause)),
                self.elided,
            }
            if objects and _is_coargument(clause, word):
                raise Unclear(word)
            rivals = [one for one in self.mentioned if one is not person and one.fits(PRONOUNS[low])]
            if person in self.mentioned and not rivals:
                return low
            name = self.name_of(person)
            if not name:
                raise Unclear(word, "unknown subject")
            if low == "hers":
                raise Unclear(word)
            self._mention_once(person)
            return f"{name}'s" if possessive else name
        return self._render_mention(clause, word, words, person, skipped)

    def _render_mention(self, clause: Clause, word: Word, words: list[Word], person: Person, skipped: set[int]) -> str:
        """A person by name or kinship term. For the legacy the name replaces the whole phrase."""
        after = {each.index for each in words if each.index > word.index}
        first = person not in self.mentioned
        self._mention_once(person)
        place = word.index + 1
        all_words = clause.parsed.words
        if person.role == "legacy":
            while place in after and (
                self.referents.get(place) is person
                or all_words[place].low in self.cast.legacy_names
                or (all_words[place].text == "," and self.referents.get(place + 1) is person)
            ):
                skipped.add(place)
                place += 1
            if place in after and all_words[place - 2].text == all_words[place].text == ",":
                skipped.add(place)
            return self.name_of(person)
        told = any(
            each.lemma.lower() == person.kin and (each.dep in {"attr", "oprd"} or each.tag == "NNS") for each in words
        )  # "Three daughters: Ruth, Ellen and May."
        if not told and all_words[word.index].pos == "PROPN" and word.low != person.kin and person.kin and first:
            beside = any(
                self.referents.get(near) is person and near != word.index
                for near in clause.indices.intersection(range(word.index - 2, word.index + 3))
            )
            is_titled = word.index > 0 and all_words[word.index - 1].low.rstrip(".") in TITLES
            if not beside and not is_titled:
                return self.name_of(person)
        if word.low == person.kin and not self._has_possessor(clause, word):
            return f"{self.name_of(person.owner)}'s {word.low}" if person.owner is not None else word.text
        return word.text

    def _has_possessor(self, clause: Clause, word: Word) -> bool:
        holders = (word, clause.parsed.head(word), *clause.parsed.children(word))
        return any(
            each.dep == "poss" and each.index < word.index and word.index - each.index <= 5
            for holder in holders
            for each in clause.parsed.children(holder)
        )

    def _mention_once(self, person: Person) -> None:
        if person not in self.mentioned:
            self.mentioned.append(person)

    def _verb(self, clause: Clause, word: Word, words: list[Word], position: int) -> str:  # noqa: PLR0911
        """A verb in agreement with "the user", and contractions expanded."""
        low = word.low
        following = words[position + 1] if position + 1 < len(words) else None
        if low in _SPLIT_CONTRACTIONS:
            return _SPLIT_CONTRACTIONS[low]
        if low == "'s":
            if word.pos == "PART":
                return word.text
            head = clause.parsed.head(word)
            return "has" if word.lemma == "have" or (word.dep == "aux" and head.tag == "VBN") else "is"
        if low == "'d":
            verb = clause.parsed.head(word)
            perfect = any(each.lemma == "have" and each is not word for each in clause.parsed.children(verb))
            past = verb.tag in {"VBN", "VBD"} or any(each.low == "been" for each in clause.parsed.children(verb))
            return "had" if past and not perfect else "would"
        if word.index == clause.head.index and low in {"am", "'m", "is"} and _turns_age(clause):
            return "will be"
        subject = subject_of(clause.parsed, word)
        first_person = subject is not None and (
            subject.low == "i" or (subject.low == "we" and self.other_of_we is None)
        )
        if first_person and low == "were" and self.referents.get(subject_index(clause)) is self.cast.user:
            return "was"
        text = self.normalised.text
        once = low in _MOMENTARY and word.index == clause.head.index and not _OFTEN.search(text)
        if first_person and low in _SAME_PAST and (once or _PAST_TIME.search(text)):
            return word.text
        bare = (
            word.tag in {"VB", "VBP"}
            and word.dep == "conj"
            and not any(each.dep == "aux" for each in clause.parsed.children(word))
        )
        joins = clause.parsed.head(word)
        if first_person and bare and joins.tag in {"VBD", "VBP", "VBZ"}:
            return _THIRD.get(low) or inflect_third_person(word.text)
        if (
            first_person
            and (word.tag in {"VBP", "VBZ"} or low in _THIRD)
            and word.tag not in {"VB", "VBN", "VBG", "VBD"}
        ):
            return _THIRD.get(low) or inflect_third_person(word.text)
        if low in _CONTRACTIONS:
            return _CONTRACTIONS[low]
        alone = word.index == clause.head.index and not any(
            each.dep in {"aux", "auxpass"} for each in clause.parsed.children(word)
        )
        if (
            subject is not None
            and alone
            and word.tag in {"VB", "VBP"}
            and (subject.low in {"he", "she"} or subject.tag in {"NN", "NNP"})
            and clause.parsed.child(subject, "conj") is None
        ):
            return _THIRD.get(low) or inflect_third_person(word.text)
        return "not" if low == "not" and following is not None else word.text


def _is_explained(clause: Clause, following: Sequence[Word]) -> bool:
    """Whether the words after "here" or "there" name the place: "there, in Faro", "here in my drawer"."""
    prep = next((each for each in following if each.text != ","), None)
    place = clause.parsed.child(prep, "pobj") if prep is not None and prep.low in {"in", "at", "on", "near"} else None
    if prep is None or place is None or place.entity in {"DATE", "TIME", "ORDINAL"}:
        return False
    return following[0].text == "," or place.pos == "PROPN" or clause.parsed.child(place, "poss") is not None


def _is_active_participle(head: Word) -> bool:
    """Whether a participle without a subject is active ("failed twice") rather than passive."""
    return head.tag == "VBN" and head.low.endswith("ed") and head.lemma not in PASSIVE_VERBS


def _turns_age(clause: Clause) -> bool:
    """Whether an age is that of a birthday to come: "I'm ninety in May"."""
    times = [clause.parsed.child(each, "pobj") for each in clause.children("prep") if each.low in {"in", "on"}]
    dated = any(each is not None and each.entity == "DATE" for each in times)
    return dated and any(each.pos == "NUM" for each in clause.children("attr"))


def _is_coargument(clause: Clause, word: Word) -> bool:
    """Whether a token is an object of the clause's own subject: it then can't be coreferent without "himself"."""
    verb = clause.parsed.words[governor(clause, word)]
    while verb.dep == "xcomp":
        verb = clause.parsed.head(verb)
    return verb.index == clause.head.index and word.dep != "pobj"
