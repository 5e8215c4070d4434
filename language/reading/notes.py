"""Expand notes into sentences: "Family: wife Amara, two sons" gives "I have a wife Amara. I have two sons."

A label is recognised by a verb ("Things I like", "What he ate") or from a list of common ones. Each item becomes a
sentence about the notes' subject.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from language.reading.inflection import past_of
from language.reading.words import KIN, KIN_PLURALS, PETS

_LABEL = re.compile(
    r"(?:(?<=[.!?] )|^)(?P<label>[A-Za-z][\w' -]{1,40}?)(?::\s+|\s+-\s+"
    r"|\?\s+(?=\w+(?: \w+)?[,.]))(?P<items>[^.!?\n]+(?=[.!?]|$))"
)
_VERB = re.compile(
    r"(?i)^(?:things|stuff|what|foods?|the things|\w+) (?P<who>i|he|she) (?P<verb>(?:\w+'t |really "
    r"|never )?[a-z]+(?: to)?)$"
)
_ABLE = re.compile(r"(?i)^(?:can|can't|cannot|won't|don't|never) [a-z]+$")
"""A label that tells what somebody does: "Can cook: pelau, doubles"."""
_LABELS = {
    "like": r"likes?|loves?|hobby|hobbies|interests?",
    "dislike": r"dislikes?|hates?",
    "speak": r"languages?",
    "am allergic to": r"allergy|allergies",
    "was born": r"born|date of birth",
    "am afraid of": r"fears?|phobias?",
    "take": r"medicines?|medications?|meds|tablets|pills",
    "want to": r"goals?",
    "am": r"age|diet|job|profession|occupation",
    "live in": r"home|lives?|location",
    "have": r"family|kids|children|pets?|health|illness|illnesses|conditions?|siblings|injuries",
}
_LABEL_PATTERNS = {
    verb: re.compile(rf"(?i)^(?:my |his |her )?(?:{words})(?: (?:stuff|things|this year|now|spoken))?$")
    for verb, words in _LABELS.items()
}
_LIST_VERBS = frozenset({"like", "dislike", "speak", "am allergic to", "am afraid of", "take"})
_ABOUT = re.compile(
    r"(?i)\b(?:about|on) (?P<who>me|myself|him|her|\w+(?: \w+)?)(?: so you have it| before i forget)?$|^(?P<me>me)$"
)
_PAST = {
    "like": "liked", "dislike": "disliked", "speak": "spoke", "take": "took", "want to": "wanted to", "am": "was",
    "live in": "lived in", "have": "had", "am afraid of": "was afraid of", "am allergic to": "was allergic to",
    "can": "could", "can't": "couldn't", "cannot": "could not", "don't": "didn't",
}  # fmt: skip
_ITEM = re.compile(r"\s*[,;]\s*(?:and )?(?![^()]*\))|\s*(?<!\()\b\d[.)]\s+")
_STATES = re.compile(
    r"(?i)^(?:from|in|at|on|near|born|married|divorced|widowed|retired|single|engaged|allergic|vegan|vegetarian|pescatarian|"
    r"diabetic|asthmatic|dyslexic|coeliac|celiac|left-handed|\d{1,3}$|youngest|oldest|the (?:youngest|oldest|eldest))\b"
)
_DAY = re.compile(r"(?:the )?\d{1,2}(?:st|nd|rd|th)? [A-Z]\w+|[A-Z]\w+ \d{1,2}\b")
_VERBS = re.compile(
    r"(?i)^(?:can't|cannot|don't|never|always|used to|had|have|live|work|love|like|hate|play|speak|study|went"
    r"|was|got|taught|ran|grew|"
    r"made|wrote|sang|kept|left|won|lost|drove|became|moved|served|\w{2,}ed)\b(?! by\b)"
)
_NAMED = re.compile(
    rf"^(?:(?:my|his|her) )?(?P<kin>{'|'.join(sorted(map(re.escape, KIN), key=len, reverse=True))}) "
    r"(?P<name>[A-Z][\w.-]+(?: [A-Z][\w.-]+)?)(?: ?\(?(?P<age>\d{1,3})\)?)?$"
)
_SINGULARS = (frozenset(KIN) | PETS) - {word for word in PETS if word.endswith("s")} - KIN_PLURALS
_NUMBERS = frozenset("a an the one two three four five six seven eight nine ten no some many".split())  # noqa: SIM905
_WITH_SUBJECT = re.compile(
    r"(?i)^(?:i|i'\w+|my|we|our|he|she|it|they|you|this|that|these|those|there|the|his|her|xquote\w?)\b"
)

# "I'm 27, live in Leeds, moved here from Leicester"
_OF_ONESELF = re.compile(r"(?:(?<=[.!?] )|^)(?:I'm|I am) [^.!?;\n]+")
_GOES_ON = re.compile(
    r", (?:and )?(?=(?P<born>born (?:in|on|at|and)\b)|(?:live|work|study|teach|run|play|love|hate|speak|drive|got"
    r"|have|moved|grew up|was born|used to|came|retired|don't|can't) \w)"
)
_OF_ANOTHER = re.compile(
    r"(?i)(?:'m| am) (?:\w+ly )?\w+ing\b|'s\b|\b(?:to|into|with|of|for|by|about|my|his|her|our|their|the|this|that)\b"
)
"""What brings in somebody or something else, of whom a participle may tell: "I'm visiting my gran, born in 1932"."""
_CLAUSE = re.compile(r"(?i)(?:i|he|she|we|they)(?: |')")
_COUNTED = rf"(?:two|three|four|five|\d) (?:{'|'.join(sorted(KIN_PLURALS))})"
_KIN = "|".join(sorted(map(re.escape, KIN), key=len, reverse=True))
OWN_NOTES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (  # "Two daughters: Mia and Ada."
        re.compile(rf"(?i)(?:(?<=[.!?] )|^)(?P<kin>{_COUNTED}): "),
        lambda match: f"I have {match['kin'].lower()}, ",
    ),
    (  # "Deputy is Jo." "Husband, Tom, broke his wrist."
        re.compile(rf"(?:(?<=[.!?,] )|^)(?P<kin>(?i:{_KIN}))(?=(?: is|, [A-Z][\w-]+,) )"),
        lambda match: f"My {match['kin'].lower()}",
    ),
    (  # "Mondays bridge."
        re.compile(
            r"(?:(?<=[.!?] )|^)(?P<days>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days)(?:,|:| -)? (?P<what>(?:the )?"
            r"(?!I\b|we\b|off\b|only\b|free\b|are\b|is\b|always\b)[a-z]\w+(?=[.,!?]|$))"
        ),
        lambda match: f"On {match['days']} I have {match['what']}",
    ),
)
"""Notes on the user's own name and people, and how to make sentences of them."""


def is_label(text: str) -> bool:
    """Whether a text is a usual label of notes about oneself or the person discussed."""
    return bool(
        re.fullmatch(_COUNTED, text, re.I)
        or _ABOUT.search(text)
        or _VERB.match(text)
        or any(each.match(text) for each in _LABEL_PATTERNS.values())
    )


def lists_things(label: str) -> bool:
    """Whether a label's items are what somebody likes, speaks or the like: "Hobbies"."""
    return any(_LABEL_PATTERNS[verb].match(label) for verb in _LIST_VERBS)


def expand_notes(text: str, subject: str, legacy: str) -> Iterator[tuple[int, int, str]]:
    """Replacements (start, end, text) that expand notes. ``subject`` is I, He or She, or empty if unknown."""
    for match in _LABEL.finditer(text):
        label = match["label"].strip()
        who, verb = _subject_and_verb(label, subject, legacy)
        if not verb:
            continue
        items = list(_items(match["items"], match.start("items")))
        if (
            not who
            or not items
            or _CLAUSE.match(items[0][2])
            or any(_WITH_SUBJECT.match(item) and verb not in _LIST_VERBS for _, _, item in items)
        ):
            continue
        if verb in _LIST_VERBS or (verb not in _LABELS):
            yield match.start(), match.start("items"), f"{who} {_inflected(verb, who)} "
            continue
        before = match.start()
        for start, end, item in items:
            said = _sentence(item, who, verb)
            yield before, start, ". " if before != match.start() else ""
            yield start, end, said
            before = end
        yield before, match.end("items"), ""


def part_lists(text: str) -> Iterator[tuple[int, int, str]]:
    """Replacements (start, end, text) that give each predicate of a list about oneself its subject."""
    for listing in _OF_ONESELF.finditer(text):
        for comma in _GOES_ON.finditer(text, *listing.span()):
            if comma["born"] and _OF_ANOTHER.search(text, listing.start(), comma.start()):
                continue
            yield comma.start(), comma.end(), ". I was " if comma["born"] else ". I "


def _subject_and_verb(label: str, subject: str, legacy: str) -> tuple[str, str]:
    able = _ABLE.match(label)
    if able is not None:
        return subject, label.lower().replace("won't", "don't")
    own = _VERB.match(label)
    if own is not None:
        who = own["who"].capitalize()
        return (who if who == "I" or legacy else ""), own["verb"]
    about = _ABOUT.search(label)
    if about is not None:
        named = (about["who"] or about["me"]).lower()
        if named in {"me", "myself"}:
            return "I", "have"
        return (subject if subject != "I" else ""), "have"
    return subject, next((verb for verb, pattern in _LABEL_PATTERNS.items() if pattern.match(label)), "")


def _items(text: str, offset: int) -> Iterator[tuple[int, int, str]]:
    start = 0
    for match in [*_ITEM.finditer(text), None]:
        end = match.start() if match else len(text)
        item = text[start:end].strip()
        # "One cat, Biscuit" is one item, and so is "born 1948, Laredo".
        counted = any(word in _SINGULARS for word in item.partition(",")[0].lower().split()[-1:])
        goes_on = match and re.match(r"[A-Z]\w+(?=[,;.]|$)|\d{4}\b", text[match.end() :])
        if goes_on:
            continue
        if item:
            first = text.index(item, start)
            yield (
                offset + first,
                offset + first + len(item),
                (re.sub(r", (?=[A-Z]\w+$)", " called ", item) if counted else item),
            )
        start = match.end() if match else end


def _born_when(item: str) -> str:
    """A day, year or place of birth with its preposition."""
    return item if item.startswith(("in ", "on ", "at ")) else f"{'on' if _DAY.match(item) else 'in'} {item}"


def _inflected(verb: str, who: str) -> str:
    if who == "I":
        return verb
    helper, _, rest = verb.partition(" ")
    return _PAST.get(verb) or (
        f"never {past_of(rest)}" if helper == "never" else f"{_PAST.get(helper, helper)} {rest}".strip()
    )


def _sentence(item: str, who: str, verb: str) -> str:
    be = "am" if who == "I" else "was"
    own = "My" if who == "I" else {"He": "His", "She": "Her"}.get(who, f"{who}'s")
    low = item[:1].lower() + item[1:] if verb in {"have", "want to"} and not item[1:2].isupper() else item
    named = _NAMED.match(item)
    if named is not None:
        is_now = "is" if who == "I" else "was"
        return (
            f"{own} {named['kin'].lower()} {named['name']} is {named['age']}"
            if named["age"]
            else f"{own} {named['kin'].lower()} {is_now} {named['name']}"
        )
    if verb in {"want to", "was born"}:
        return f"{who} {_inflected(verb, who)} {_born_when(item) if verb == 'was born' else low}"
    if _STATES.match(item):
        the = "the " if re.match(r"(?i)(?:young|old|eld)est", item) else ""
        return f"{who} {be} {the}{low}"
    if _VERBS.match(item):
        return f"{who} {low}"
    if verb == "am":
        article = "" if low.split()[0] in _NUMBERS or low[0].isdigit() else "an " if low[0] in "aeiou" else "a "
        return f"{who} {be} {article}{low}"
    words = low.split()
    article = "a " if words[0] not in _NUMBERS and _SINGULARS & set(words[:4]) else ""
    return f"{who} {_inflected(verb, who)} {article}{low}"
