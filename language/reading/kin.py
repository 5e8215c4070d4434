"""Names and kinship terms in a parse: the legacy's given name and relation, names beside kinship terms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from language.reading.normalise import MASK
from language.reading.parse import Parsed, Word
from language.reading.words import (
    ENGLISH,
    FEMALE_NAMES,
    KIN,
    KIN_GENDER,
    MALE_NAMES,
    NAMING_KIN,
    NOT_NAMES,
    TITLES,
    listed,
)

_PARTICLES = frozenset({"da", "de", "van", "von", "la"})
NAMING = frozenset({"call", "name", "nickname"})
ONE_EACH = listed("mother father grandmother grandfather husband wife boss girlfriend boyfriend")
"""Relations people mostly have one of, so that "my dad" identifies him."""

_KIN_ADJECTIVES = listed(
    """late dear little big older younger elder eldest oldest youngest best old great beloved baby twin own"""
)
_PERSONAL_STATES = listed("allergic diabetic pregnant married engaged")
_CONDITIONS = listed(
    """asthma diabetes epilepsy dementia cancer arthritis migraines allergies adhd autism eczema coeliac celiac
    epileptic asthmatic shellfish nuts peanuts dairy gluten lactose"""
)


def name_gender(name: str) -> str:
    """The gender of a known given name, "f" or "m"; empty if unknown or ambiguous."""
    low = name.lower()
    return "" if (low in FEMALE_NAMES) == (low in MALE_NAMES) else "f" if low in FEMALE_NAMES else "m"


def given_name(legacy_name: str) -> str:
    """The legacy's name in statements: the first name without titles, or the whole name if nothing else is left."""
    words = legacy_name.split()
    plain = [word for word in words if word.lower().strip(".") not in TITLES and word.lower() not in KIN]
    titled = any(word.lower().strip(".") in TITLES for word in words)
    return plain[0] if plain and not (len(plain) == 1 and titled) else " ".join(words)


def before_name(word: Word) -> bool:
    """Whether a word only introduces a name: "my late uncle" before "Joe"."""
    low = word.low.strip(".")
    return low in _KIN_ADJECTIVES or low in KIN or low in TITLES or low in {"my", "our", "the", "poor", "", "dear"}


def nicknames(names: frozenset[str], everything: str) -> frozenset[str]:
    """Other names of the legacy in lower case: stated beside the name, or short for it and used more than once."""
    name = "|".join(map(re.escape, names))
    stated = (
        rf"\b(?i:{name}),? (?P<nick>[A-Z]\w+) (?i:we|they|everyone|everybody|people) (?i:said|say|called|call)\b",
        rf"\b(?i:{name})\b[^.!?]{{0,40}}\b(?i:called|nicknamed) (?:him|her) (?P<nick>[A-Z]\w+)",
        # Not "had a parrot called Chico".
        rf"\b(?i:{name})\b,?(?: (?i:is|was|who|also|always|often|usually|just|only|better|later|the one))*"
        r" (?i:called|known(?: to \w+)? as|nicknamed|went by) (?P<nick>[A-Z]\w+)",
    )
    found = {match["nick"].lower() for pattern in stated for match in re.finditer(pattern, everything)}
    words = Counter(re.findall(r"\b[A-Z][a-z]{2,}\b", everything))
    short = {each.lower() for each, times in words.items() if times > 1}
    found |= {each for each in short if any(name.startswith(each) and name != each for name in names)}
    return frozenset(found - ENGLISH)


def kin_of_legacy(names: frozenset[str], everything: str) -> str:
    """The legacy's relation to the user as the user's texts state it; empty if they don't."""
    kin = "|".join(sorted(map(re.escape, KIN), key=len, reverse=True))
    name = "|".join(map(re.escape, names))
    adjectives = "|".join(_KIN_ADJECTIVES)
    said = (
        rf"(?i)\b(?:my|our) (?:(?:{adjectives}) )*(?P<kin>{kin})(?:,? |'s name (?:is|was) )(?:{name})\b",
        rf"(?i)\b(?:{name})(?:'s|,)? (?:\w+, )?(?:(?:is|was) )?my (?:(?:{adjectives}|piano|school|maths?|"
        rf"first) )*(?P<kin>{kin})\b",
        rf"(?i)(?<!my )\b(?P<kin>{'|'.join(sorted(NAMING_KIN, key=len, reverse=True))}) (?:{name})\b",
        rf"(?i)\b(?:s?he)(?:'s| is| was) my (?:(?:{adjectives}) )*(?P<kin>{kin})\b",
        # What the talk is announced to be about.
        r"(?is)\A.{0,300}?\b(?:tell|talk|speak|write)\b(?: to)?(?: you)? about my "
        rf"(?:(?:{adjectives}) )*(?P<kin>{kin})(?=[.,!?;]|$)",
    )
    for pattern in said:
        match = re.search(pattern, everything)
        known = next(iter({name_gender(each) for each in names} - {""}), "?")
        if match and {KIN_GENDER[KIN[match["kin"].lower()]], known} in ({"f"}, {"m"}, {"f", "?"}, {"m", "?"}, {"?"}):
            return match["kin"].lower()
    naming = "|".join(sorted(NAMING_KIN, key=len, reverse=True))
    opening = re.search(
        rf"(?i)^(?:[^.!?]*\babout )?(?:my|our)? ?(?:late |dear |old )?(?:{naming})\b", everything.strip()
    )
    reports = re.search(
        rf"(?i)\b(?:{naming}) (?:(?:always |once )?(?:says?|said|told|tells|thinks|and)|(?:is|was) (?:his|her))\b",
        everything,
    )
    if re.search(rf"(?i)\b(?:{name})\b", everything) or not opening or reports:
        return ""
    # The name is never mentioned: take the only parent or grandparent who is.
    spoken = {
        KIN[match["kin"].lower()]
        for match in re.finditer(rf"(?i)\b(?:my|our) (?:late |dear |old )?(?P<kin>{kin})\b", everything)
    } | {
        KIN[match.lower()] for match in re.findall(rf"(?i)(?<!his )(?<!her )(?<!the )(?<!a )\b({naming})\b", everything)
    }
    genders = {name_gender(each) for each in names} - {""}
    only = next(iter(spoken)) if len(spoken) == 1 else ""
    suits = only in ONE_EACH and (not genders or KIN_GENDER[only] in genders)
    return only if suits else ""


def whole_name(parsed: Parsed, word: Word) -> str:
    """The full name around a token: "Frau Lenz", "João da Costa"."""
    words = parsed.words
    first = last = word.index
    while first and is_name_part(words[first - 1]) and words[first - 1].head in {word.index, first}:
        first -= 1
    while last + 1 < len(words) and is_name_part(words[last + 1]) and words[last].dep in {"compound", "nmod", "flat"}:
        last += 1
    return parsed.text[words[first].start : words[last].end]


def is_name_part(word: Word) -> bool:
    """Whether a token can be part of a longer name."""
    is_particle = word.low in _PARTICLES and word.text.islower()
    is_name = word.pos == "PROPN" and word.text[:1].isupper() and word.low not in KIN
    return is_particle or (is_name and not word.text.startswith(MASK))


def is_particle(parsed: Parsed, word: Word) -> bool:
    """Whether a kinship term is a part of a name: "da" in "Maria da Silva"."""
    before = parsed.words[word.index - 1] if word.index else word
    return word.low in _PARTICLES and word.text.islower() and before.text[:1].isupper() and before.pos == "PROPN"


def is_name_given(parsed: Parsed, word: Word) -> bool:
    """Whether a word is, or begins, what somebody is called: "Uncle Engine" in "We called him Uncle Engine."."""
    head = parsed.head(word)
    last, verb = (head, parsed.head(head)) if word.dep in {"compound", "nmod"} else (word, head)
    return last.dep in {"oprd", "attr"} and verb.lemma in NAMING


def name_after(parsed: Parsed, word: Word) -> str:
    """The name in apposition to a kinship term: "my sister Inês", "my brother, Tom,"."""
    words, place = parsed.words, word.index + 1
    if place < len(words) and words[place].text == "," and place + 1 < len(words):
        beside = words[place + 1]
        if beside.dep == "appos" and beside.head == word.index and can_name(beside):
            return whole_name(parsed, beside)
        return ""
    if place >= len(words) or not can_name(words[place]):
        return ""
    last = place
    while last + 1 < len(words) and is_name_part(words[last + 1]) and words[last + 1].text[:1].isupper():
        last += 1
    return parsed.text[words[place].start : words[last].end]


def can_name(word: Word) -> bool:
    """Whether a token beside a kinship term can be a name."""
    return (
        word.text[:1].isupper()
        and word.pos in {"PROPN", "NOUN", "ADJ", "VERB", "X", "INTJ"}
        and word.low not in NOT_NAMES
        and word.low not in KIN
        and not word.text.startswith(MASK)
    )


def possessor(parsed: Parsed, word: Word, name: Word | None) -> Word | None:
    """The possessive of a kinship term."""
    for holder in (word, name, parsed.head(word) if word.dep in {"compound", "nmod"} else None):
        found = parsed.child(holder, "poss") if holder is not None else None
        if found is not None and found.index < word.index:
            return found
    return None


def has_article(parsed: Parsed, word: Word) -> bool:
    """Whether a kinship term has an article, so it identifies nobody."""
    return any(each.dep == "det" for each in parsed.children(word)) or (
        word.index > 0 and parsed.words[word.index - 1].low in {"a", "an", "the"}
    )


def is_personal_predicate(parsed: Parsed, verb: Word) -> bool:
    """Whether a predicate applies only to people: to be allergic, to have asthma."""
    return any(each.low in (_PERSONAL_STATES | _CONDITIONS) for each in parsed.children(verb))


def named_relatives(parsed: Parsed, head: Word) -> Iterator[tuple[str, str, Word | None]]:
    """Yield name, kinship and possessive of relatives in appositions and "married to": "two sons, Jan and Piet"."""
    for child in parsed.children(head):
        if child.dep == "prep":
            yield from named_relatives(parsed, child)
        if child.dep in {"dobj", "pobj", "attr"} and child.lemma in KIN:
            called = [each for each in parsed.children(child) if each.dep == "acl" and each.lemma in NAMING]
            near = [*parsed.children(child), *(one for each in called for one in parsed.children(each))]
            named = [word for word in near if _stands_beside(parsed, word) and can_name(word)]
            for name in named:
                beside = (*parsed.children(name), *(parsed.children(child) if child.tag == "NNS" else ()))
                conjuncts = [
                    word for word in beside if word.dep == "conj" and word.index > name.index and can_name(word)
                ]
                holder = parsed.child(child, "poss")
                yield from ((whole_name(parsed, word), child.lemma, holder) for word in (name, *conjuncts))
        if child.dep == "acomp":
            yield from _named_spouse(parsed, child)
    yield from _named_spouse(parsed, head)


def _stands_beside(parsed: Parsed, name: Word) -> bool:
    """Whether a name is in apposition; of several the parser may take the first for a conjunct."""
    noun = parsed.head(name)
    is_first = noun.tag == "NNS" and name.index == noun.index + 2 and parsed.words[noun.index + 1].text in {",", ":"}
    return name.dep in {"appos", "oprd"} or (name.dep == "conj" and is_first)


_TOLD = re.compile(
    r"\b(?i:user's|your) (?:\w+ )?(?P<kin>[\w-]+)(?:'s name is| is (?:called|named))? (?P<name>[A-Z][\w'’-]+)\b"
    r"|\b(?i:user has|you have) (?:an?|one|two|three|four|\d) (?:\w+ )??(?P<kins>[\w-]+)(?: (?:called|named)|,) "
    r"(?P<names>[A-Z][\w'’-]+(?:(?:, | and |, and )[A-Z][\w'’-]+)*)"
)


def relatives_told(statement: str) -> Iterator[tuple[str, str]]:
    """Yield name and kinship of the user's relatives whom a remembered statement names.

    "The user's wife's name is Ingrid.", "The user's son Max plays football.", "The user has two sons, Max and Leo."
    """
    for told in _TOLD.finditer(statement):
        kin = (told["kin"] or told["kins"]).lower()
        kin = kin if kin in KIN else kin.removesuffix("s")
        if kin in KIN:
            yield from ((name, kin) for name in re.split(r", and | and |, ", told["name"] or told["names"]))


def _named_spouse(parsed: Parsed, word: Word) -> Iterator[tuple[str, str, None]]:
    to = parsed.child(word, "prep") if word.low in {"married", "engaged"} else None
    whom = parsed.child(to, "pobj") if to is not None and to.low == "to" else None
    if whom is not None and whom.pos == "PROPN" and can_name(whom):
        yield whole_name(parsed, whom), "partner", None
