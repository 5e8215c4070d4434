"""Give frequent phrasings of what is told of people one form: "flying frightens her", "has a fear of flying".

The words of two statements can be aligned then, and a negation or another word in one of them is seen as a difference.
The result is still parsable English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .figures import Put
from .lexicon import is_word
from .words import listed

_ARTICLES = listed("the a an my our his her their")
_KIN = r"(?:mother|mum|mom|father|dad|husband|wife|brother|sister|son|daughter|grandmother|grandfather)"
_BE, _DO = "(is|are|was|were|am)", "(?:do|does)"
_PAINS = r"(?:migraines?|headaches?|a headache|a migraine|a rash|hives|heartburn|nightmares)"
_WAYS = r"(bus|train|tram|ferry|boat|metro|underground|subway|coach)"

_FIRST = r"([^,;]+?)"
_GROUPS = "(?:club|society|choir|party|team|union|band|church|group|association)"
_BRIEF = r"((?!.* (?:to|badly)\b)(?:[\w']+ ){0,3}[\w']+)"
_THEN = r"(?:to|in|at|on|for|with|every|most|best)"
_WHAT = r"(?:something|what|a thing)(?: that| which)?"
_SOMEBODY = r"(the user|I|we|[A-Z]\w+)"


def _in_24_hours(found: re.Match[str]) -> str:
    return f"{int(found[1]) % 12 + 12}:{found[2] or '00'}"


_PHRASINGS: Sequence[tuple[re.Pattern[str], Put]] = [
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        (r"\b(ha(?:s|ve|d)|'ve) got\b(?! to)", r"\1"),
        (r"(?-i:\b([A-Z][\w-]+)), ((?:the user's|my|our) [\w-]+),", r"\2 \1"),
        # What is put first for stress.
        (r"^it (?:is|was) ((?:in|at|on|during|with|from|by) .+?),? that (.+)$", r"\2 \1"),
        (rf"^{_FIRST} (?:is|are) {_WHAT} {_SOMEBODY} (\w+s) ({_THEN} .+)$", r"\2 \3 \1 \4"),
        (rf"^{_FIRST} (?:is|are) {_WHAT} {_SOMEBODY} ([^;]+)$", r"\2 \3 \1"),
        (r"^((?:in|on|at|near|behind) [^,;]+?) is where ([^;]+)$", r"\2 \1"),
        (rf"^(?!there\b){_FIRST} is (?:the place )?where ([^;]+)$", r"\2 in \1"),
        (r"^there (?:is|are) ([^,;]+?) in ((?:the user|\w+)'s \w+)$", r"\2 has \1"),
        (r"^((?:the|a|an|this|that) (?!user\b)[^,;]+?) belongs to ([^,;]+)$", r"\2 owns \1"),
        # Fears, allergies and tastes.
        (rf"\b{_BE} (?:scared|frightened|terrified|fearful) of\b", r"\1 afraid of"),
        (r"\b(?:has|have) an? (?:fear|phobia) of\b", "is afraid of"),
        (rf"^{_FIRST} (?:scares?|frightens?|terrif(?:y|ies)) {_BRIEF}$", r"\2 is afraid of \1"),
        (r"\b(?:has|have) an allergy to\b", "is allergic to"),
        (r"\bsuffers? from an? (\w+) allergy\b", r"is allergic to \1"),
        (r"\b(?:has|have) an? (?!severe\b|serious\b|mild\b|new\b)(\w+) allergy\b", r"is allergic to \1"),
        (r"\bcan not (?:tolerate|digest) (\w+)$", r"is \1 intolerant"),
        (r"\b(?:has|suffers from) (\w+) intolerance\b", r"is \1 intolerant"),
        (r"\bcan not (?:stand|bear|abide)(?= \w)(?! (?:children|up|on|for|in|without|alone|long|still)\b)", "hates"),
        (r"\bthe taste of (?=\w+$)", ""),
        (r"\blikes? (.+?) (?:better|more) than (.+)$", r"prefers \1 to \2"),
        (r"\bis (?:teetotal|a teetotaller)\b", "does not drink alcohol"),
        (r"\b(?:never drinks(?: any)?|drinks no) alcohol\b", "does not drink alcohol"),
        (rf"^{_FIRST} gives? (the user|me|us|[A-Z]\w+) ({_PAINS})$", r"\2 gets \3 from \1"),
        # Family and life.
        (r"^(.+?) is (.+?)'s birthplace$", r"\2 was born in \1"),
        (r"^(.+?)'s birthplace is (.+)$", r"\1 was born in \2"),
        (rf"^(the user|[A-Z]\w+) lost (?:his|her|their) ({_KIN})\b(?! in the\b)", r"\1's \2 died"),
        (r"^(.+)'s birthday is (?:on )?(?=[A-Z]\w+ \d)", r"\1 was born on "),
        (r"\bprefers to be called\b", "wants to be called"),
        (r"\bha(?:s|ve) (?:never been to|not visited)\b", "has never visited"),
        (r"\bis a (?:big |great |huge )?fan of\b", "likes"),
        (r"^(.+)'s (?:goal|aim|dream) is to\b", r"\1 wants to"),
        (r"^(.+)'s car is an? ", r"\1 drives a "),
        (r"\bha(?:s|ve) (?:problems|trouble|difficulty|difficulties) with\b", "struggles with"),
        (r"\b(is|am|are) not good at\b", r"\1 bad at"),
        (r"\b(?:do|does) not know how to\b", "can not"),
        (r"\bcan speak\b", "speaks"),
        (r"\bpassed away\b", "died"),
        (r"\bgave birth to\b", "had"),
        (r"\bis pregnant with\b", "is expecting"),
        (r"\bis pregnant\b", "is expecting a baby"),
        (r"\bspent (?:his|her|their|my) childhood in\b", "grew up in"),
        (r"\bha(?:s|ve) (?:no brothers? (?:or|and|nor) sisters?|neither brothers? nor sisters?)\b", "has no siblings"),
        (rf"\b{_DO} not (?:own|have|possess) (?:an?|any)\b", "has no"),
        (r"\bbe addressed as\b", "be called"),
        (r"\bfirst language\b", "native language"),
        (r"\bis fluent in ([A-Z]\w+)", r"speaks \1 fluently"),
        (r"\bspeaks fluent ([A-Z]\w+)", r"speaks \1 fluently"),
        (r"\b(?:his|her|their|my) own hands?\b", "himself"),
        (r"\bwith himself\b", "himself"),
        # Work and money.
        (r"\b(?:commutes|(?:goes|travels|gets) to work) by (?:bike|bicycle)\b", "cycles to work"),
        (r"\b(?:takes|rides) (?:the|a|an|his|her|their|my) (?:bike|bicycle) to work\b", "cycles to work"),
        (r"\bcommutes by car\b", "drives to work"),
        (rf"\bcommutes (?:by|on) (?:the |a |an )?{_WAYS}", r"commutes by \1"),
        (rf"\b(?:goes|travels|gets) to work (?:by|on) (?:the |a |an )?{_WAYS}", r"commutes by \1"),
        (rf"\b(?:takes|rides|catches) (?:the |a |an )?{_WAYS} to work", r"commutes by \1"),
        (r"\bworks remotely\b", "works from home"),
        (r"\bis the owner of\b", "owns"),
        (r"^(.+)'s (?:occupation|profession|job) is (?:an? )?(\w+)$", r"\1 is a \2"),
        (rf"\bbelongs to (an?|the) ((?:\w+ )?{_GROUPS})\b", r"is a member of \1 \2"),
        (r"\bis responsible for\b", "is in charge of"),
        (r"\btakes (\w+) lessons\b", r"is learning \1"),
        (r"\bdoes (?:voluntary|volunteer) work\b|\bworks as a volunteer\b|\bis a volunteer\b", "volunteers"),
        (r"\bputs? (?:some )?(?:money )?aside (?:money )?(?:for|to buy)\b", "is saving for"),
        (r"\bputting (?:some )?(?:money )?aside (?:money )?(?:for|to buy)\b", "saving for"),
        (r"\bsaving (?:up |money )?(?:for|to buy)\b", "saving for"),
        (r"\bsaves (?:up |money )?(?:for|to buy)\b", "is saving for"),
        # Numbers and times.
        (r"\bon alternate (?=\w+days?\b)", "every 2 "),
        (r"\b(?:on|at) (?:the )?weekends?\b", "every weekend"),
        (r"\bon (\w+day)s\b", r"every \1"),
        (r"(\d (?:\w+ of )?\w+) an? (?=(?:day|week|month|year)\b)", r"\1 every "),
        (r"\b(\d\d?)(?::(\d\d))? (?:in the (?:afternoon|evening)|at night)\b", _in_24_hours),
        (r"\b(\d\d?)(?::00)? in the morning\b(?! of)", r"\1:00"),
        (r"\bhad (?:his|her|their) (\d+) birthday\b", r"turned \1"),
        (r"\bprobably\b|\bmost likely\b", "perhaps"),
    )
]


def _is_common(low: str) -> bool:
    return low in _ARTICLES or is_word(low) or is_word(low.removesuffix("s"))


def normalise_phrasings(text: str) -> str:
    """The text with frequent phrasings in one form."""
    start = re.split(r"\W", text, maxsplit=1)[0]
    for pattern, put in _PHRASINGS:
        text = pattern.sub(put, text)
    is_moved = bool(start) and not text.startswith(start)
    if is_moved and start != "I" and _is_common(start.lower()):  # A name stays.
        text = re.sub(rf"\b{start}\b", start.lower(), text, count=1)
    return text
