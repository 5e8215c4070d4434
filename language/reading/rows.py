"""Expand rows about a relative or pet, or a person by name, into sentences: "Son - Erik, 31" gives "My son is Erik. …".

The first capitalised item is a name. What the others say follows from their kind: a number is an age, a trade or breed
what they are, a place where they live.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from language.reading.learners import article
from language.reading.lexicon import is_adjective, is_kind_of, is_place, is_word
from language.reading.questions import is_question
from language.reading.words import ENGLISH, FEMALE_NAMES, KIN, KIN_PLURALS, MALE_NAMES, PETS, listed

_HEADS = "|".join(sorted(map(re.escape, KIN.keys() | KIN_PLURALS | PETS), key=len, reverse=True))
_ROW = re.compile(
    rf"(?:(?<=[.!?] )|^)(?P<own>(?i:my|his|her) )?(?P<head>(?i:{_HEADS}))(?P<mark>:| =| -)? "
    r"(?P<items>[^.!?\n]+)(?=[.!?]|$)"
)
_ITEM = re.compile(r"\s*[,;(]\s*|\)\s*,?\s*|\s+(?=\d{1,3}(?:,|$))")
_NAME = re.compile(r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)?$")
_AGE = re.compile(r"(?:aged? )?(?P<age>\d{1,3})(?: ?(?:yrs?|years)(?: old)?)?$")
_BORN = re.compile(r"(?:born|b) (?P<year>\d{4})(?: (?P<place>[A-Z]\w+))?$")
_OF_PARENTS = re.compile(r"(?i)\b(?:his|her|\w+'s) (?:parents|mother|father|mum|mom|dad)\b")
_PARENTS = frozenset({"mother", "father"})
_OTHERS = {"He": "His", "She": "Her"}
_STATES = listed("alive dead married divorced widowed retired single engaged")
_PERSON = re.compile(
    r"(?:(?<=[.!?] )|^)(?P<name>[A-Z][\w-]+)(?P<items>(?:[.,] [\w'][\w' -]{1,30}(?=[.,!?]|$)){1,6})(?=[.,!?]|$)"
)
_AFTER_NAME = re.compile(r"[.,] (?P<item>[^.,]+)")
_FOND = r"(?:poor|dear|bless|lovely|silly|the|my) "
_DOES = re.compile(r"(?:has|had|loves|likes|works|plays|speaks|studies|teaches) \w")
_BEFORE_ITEM = re.compile(r"^(?i:an?|in|lives in|now) ")
_REMARK = re.compile(rf"(?i), {_FOND}\w+(?=[.!?]|$)")
_RELATIVES = "|".join(sorted(map(re.escape, KIN.keys() | KIN_PLURALS), key=len, reverse=True))
_ASKED = re.compile(rf"(?i)\b(?:your|the) (?:\w+ )?({_RELATIVES})\b")
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
_ASKS_WHO = re.compile(r"(?i)^$|\babout (?:you|yourself)\b|\bwho are you\b|\byour name\b|\bintroduce yourself\b")
_EITHER = {
    **dict.fromkeys(("children", "kids", "child", "kid"), ("child", "son", "daughter")),
    **dict.fromkeys(("grandchildren", "grandkids", "grandchild"), ("grandchild", "grandson", "granddaughter")),
    "siblings": ("", "brother", "sister"),
}
"""What those of a group are: of unknown gender, men, women."""


def is_row(line: str) -> bool:
    """Whether a line begins with a row about a relative or pet, unlike what one of them says: "Mum: are you there?"."""
    first = next(expand_rows(line, "I", ""), None)
    return first is not None and first[0] == 0 and "?" not in line


def expand_rows(text: str, about: str, reply: str) -> Iterator[tuple[int, int, str]]:
    """Yield replacements (start, end, new text).

    ``about`` is whom a question of the assistant's ``reply`` is about: "I", "He", "She" or empty, if unknown. Without a
    question, and where parents are not asked for, the relatives are the user's.
    """
    for row in _ROW.finditer(text):
        head, owner = row["head"].lower(), about if about in _OTHERS and "?" in reply else "I"
        if row["own"]:
            owner = {"my": "I", "his": "He", "her": "She"}[row["own"].strip().lower()]
        elif KIN.get(head) in _PARENTS and not _OF_PARENTS.search(reply):
            owner = "I"
        items = [each for each in _ITEM.split(row["items"]) if each]
        said = _sentences(head, owner, items) if items else []
        # "Husband Dave loves maps" is a sentence.
        if said and (row["mark"] or (len(items) > 1 and items[0][:1].isupper() and all(said))):
            yield row.start(), row.end("items"), ". ".join(filter(None, said))


def expand_people(text: str, about: str, reply: str) -> Iterator[tuple[int, int, str]]:
    """Yield replacements (start, end, new text) of what names somebody and little else: "Tom. Glasgow. Electrician."

    It is one of the user's relatives whom the assistant asked about, or else the user, asked about themself.
    """
    asked = _ASKED.findall(" ".join(each for each in _SENTENCE.findall(reply) if is_question(each)))
    for row in _PERSON.finditer(text):
        kin = _kin_of(asked[-1].lower(), row["name"]) if asked else ""
        is_own = not asked and about == "I" and not row.start() and _ASKS_WHO.search(reply) is not None
        low = row["name"].lower()
        is_name = low in FEMALE_NAMES | MALE_NAMES or not (is_word(low) or is_place(low))
        if not is_name or not (kin or is_own):
            continue
        told, end = [], row.start("items")
        for item in _AFTER_NAME.finditer(row["items"]):
            said = "" if re.match(_FOND, item["item"], re.I) else _predicate(_BEFORE_ITEM.sub("", item["item"]), "is")
            said = item["item"] if kin and _DOES.match(item["item"]) else said
            if not said:
                break
            told.append(said)
            end = row.start("items") + item.end()
        if len(told) > (0 if kin else 1):
            yield row.start(), end + _aside(text, end), ". ".join(_told_of(row["name"], kin, told))


def _told_of(name: str, kin: str, told: Sequence[str]) -> list[str]:
    if kin:
        return [f"My {kin} {name} {each}" for each in told]
    return [f"My name is {name}", *(f"I {re.sub('^is ', 'am ', each).replace('lives', 'live')}" for each in told)]


def _aside(text: str, end: int) -> int:
    """The length of a fond remark after a comma: "Divorced, poor lamb."."""
    return len(found.group()) if (found := _REMARK.match(text, end)) else 0


def _kin_of(asked: str, name: str) -> str:
    """What one of those who were asked about is to the user: "son" for Tom of "children"; empty if unknown."""
    if asked not in _EITHER:
        return asked if asked in KIN else asked.removesuffix("s") if asked.removesuffix("s") in KIN else ""
    low = name.lower()
    known = (low in MALE_NAMES) - (low in FEMALE_NAMES)
    return _EITHER[asked][known]


def _sentences(head: str, owner: str, items: Sequence[str]) -> list[str]:
    """What the items say, an empty text for each that is not understood."""
    own, has, be = ("My", "have", "is") if owner == "I" else (_OTHERS[owner], "had", "was")
    if head in KIN_PLURALS:
        return _of_several(head, f"{owner} {has}", items, be)
    named = bool(_NAME.match(items[0])) and not _is_kind(items[0].lower(), "person")
    subject = f"{own} {head} {items[0]}" if named else f"{own} {head}"
    first = [f"{own} {head} {be} {'called ' if head in PETS else ''}{items[0]}"] if named else []
    told = [_predicate(each, be) for each in items[named:]]
    return first + [each and f"{subject} {each}" for each in told]


def _of_several(head: str, has: str, items: Sequence[str], be: str) -> list[str]:
    items = [each for each in items if each.lower() != "me"]
    names = [each for each in items if _NAME.match(each)]
    ages = [(name, age["age"]) for name, each in pairwise(items) if name in names and (age := _AGE.match(each))]
    understood = names and len(names) + len(ages) == len(items)
    return [f"{has} {head}, {' and '.join(names)}", *(f"{name} {be} {age}" for name, age in ages)] if understood else []


def _predicate(item: str, be: str) -> str:
    """What an item says of its relative or pet; empty if unknown."""
    low, last = item.lower(), item.lower().split()[-1]
    if re.match(r"from [A-Z]", item):
        return f"{be} {item}"
    age, born = _AGE.match(item), _BORN.match(item)
    if age is not None:
        return f"{be} {age['age']}"
    if born is not None:
        return f"was born in {born['year']}" + (f" in {born['place']}" if born["place"] else "")
    if low in _STATES or (low == last and is_adjective(low) and not _is_kind(low, "person")):
        return f"{be} {low}"
    is_trade = last.endswith("ist") and not is_adjective(last)
    if ENGLISH.isdisjoint(low.split()) and (is_trade or _is_kind(last, "person") or _is_kind(last, "animal")):
        return f"{be} {article(low[0])} {low}"
    return f"{'lives' if be == 'is' else 'lived'} in {item}" if item[:1].isupper() and is_place(item) else ""


def _is_kind(word: str, kind: str) -> bool:
    """Whether a word is a kind of person or animal, and not the name of one: a baker, not a Walter."""
    return is_word(word) and is_kind_of(word, kind)
