"""Expand rows about a relative or pet into sentences: "Son - Erik, 31" gives "My son is Erik. …".

The first capitalised item is a name. What the others say follows from their kind: a number is an age, a trade or breed
what they are, a place where they live.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from language.reading.learners import article
from language.reading.lexicon import is_adjective, is_kind_of, is_place, is_word
from language.reading.words import ENGLISH, KIN, KIN_PLURALS, PETS, listed

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
    age, born = _AGE.match(item), _BORN.match(item)
    if age is not None:
        return f"{be} {age['age']}"
    if born is not None:
        return f"was born in {born['year']}" + (f" in {born['place']}" if born["place"] else "")
    if low in _STATES or (low == last and is_adjective(low) and not _is_kind(low, "person")):
        return f"{be} {low}"
    if ENGLISH.isdisjoint(low.split()) and (_is_kind(last, "person") or _is_kind(last, "animal")):
        return f"{be} {article(low[0])} {low}"
    return f"{'lives' if be == 'is' else 'lived'} in {item}" if item[:1].isupper() and is_place(item) else ""


def _is_kind(word: str, kind: str) -> bool:
    """Whether a word is a kind of person or animal, and not the name of one: a baker, not a Walter."""
    return is_word(word) and is_kind_of(word, kind)
