"""Normalise casual spelling for the parser, keeping each character's position in the message."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from language.reading.asked import split_lists
from language.reading.elliptic import complete_answer
from language.reading.figures import THOUSANDS
from language.reading.introducing import introduce
from language.reading.learners import LEARNERS
from language.reading.lexicon import is_word
from language.reading.notes import OWN_NOTES, expand_notes, part_lists
from language.reading.rows import expand_people, expand_rows
from language.reading.texting import normalise_words
from language.reading.words import CASUAL_SPELLINGS, ENGLISH, KIN, PETS, listed

MASK = "Xquote"
"""A quotation is replaced by this and a letter, which the parser reads as one name."""

Replacement = str | Callable[[re.Match[str]], str]

_PLAIN = {"’": "'", "‘": "'", "ʼ": "'", "—": "-", "–": "-", "…": ".", "\t": " ", "\r": "\n", "\u00a0": " "}
_TRANSLATED = str.maketrans(_PLAIN)
_QUOTATION = re.compile(
    r"[\"“„«”]([^\"“”„«»]{2,300})[\"”“»]|(?<![\w'])'(?!\d\ds?\b)([^'\"\n]{4,200}(?:'\w[^'\"\n]*)?)'(?!\w)"
)
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]+|(?<!\\w)(?:[:;]-?[()DPp]|<3|xx+)(?!\\w)")
_LAUGHS = re.compile(r"(?i)(?<!\w)(?:lol+|lmao|rofl|shh+|ha(?:ha)+h?|he(?:he)+|omg|tbh|ngl|imo|btw|fyi|smh)(?!\w)[ ,]*")
_ASIDES = re.compile(
    r"(?i),? ?(?<!\w)(?:bless (?:her|him|them)(?: (?:heart|soul))?|to be honest|by the way|(?:do )?you know|you see"
    r"|(?:so )?bear with me"
    r"|can you believe (?:it|that)|"
    r"funnily enough|of course|i must say|i swear|believe it or not|god rest (?:(?:his|her) soul|him|her|them)|may "
    r"(?:he|she) rest in peace|"
    r"(?:just )?in case (?:that|it|this)(?: ever)? (?:matters?|helps?|comes up|is relevant|is "
    r"important)|just so you know|"
    r"needless to say|thank god|thankfully|sadly|luckily|honestly|actually|obviously|believe me|for what it's worth|"
    r"if (?:that|it) matters|if (?:you|i) (?:please|like|will|may|must)|what can i say|mind you|i tell you"
    r"|my (?:dear|friend)|(?<=, )(?:dear|love|darling)|at least|as i said|"
    r"please|sorry|though|either)"
    r"(?=\s*(?:[,.!?;:)]|- |$))"
)
_OPENERS = re.compile(
    r"(?i)(?:(?<=[.!?;:] )|^)(?:(?:(?:so|neither|nor) (?:am|is|was|were|do|does|did|have|has|had|can|could|will|would) "
    r"(?:i|he|she|we|they)(?=[.,!])|well|so|yeah|yeh|yea|ya|yo|(?:my )?dear(?=,)|like(?= (?:i|he|she|we|my)\b)"
    r"|true|yep|yes|yup|no|nope|oops|wait(?=[,!])|correction(?=:)"
    r"|nah|kk?|oh?|ah|aw|ha|hm+|um|uh|and|but|"
    r"good (?:morning|afternoon|evening|day)(?: dear| love| all| there)?(?=[,!.])|"
    r"or|also|plus|anyway|anyways|"
    r"honestly|nonsense|rubbish|basically|actually|ok|okay|exactly|right|sure|thanks|thank you|hi|hey|hello|sorry|look"
    r"|listen|you see|"
    r"you know|now|then|besides|indeed|truly|still(?=,)|luckily|sadly|unfortunately|fortunately|funnily enough|"
    r"of course|in fact|by the way|fun fact|funny thing|to be honest|first of all|for example|as for "
    r"me|as i said|let me see|(?:a )?(?:bit of )?(?:background|context)(?=:)"
    r"|(?:although|though|because)(?! [^.!?]*,)|cheers|where (?:to|do i|should i) (?:start"
    r"|begin)|(?:that|this|which)(?: is|'s) (?:kinda |rather |partly )?why|(?:probably|partly) why|"
    r"(?:the (?:thing|fact|truth) is|(?:it )?turns out|(?:it|that) (?:just )?reminds me)(?:,|,? that)?|"
    r"let's see|(?:where|what) was i|(?:it|i|he|she|they|we|that) (?:is|was|did|am|were|do|does|would|"
    r"has|had)(?=[.,!]))"
    r"(?![\w'])(?:\s*[,!.:-]+\s*|\s+)){1,4}(?=\w)"
)
_QUESTION_AFTER = re.compile(
    r"(?i)[,;-]\s+(?:(?:so|and|but) )?(?=(?:do|does|did|is|are|was|were|can|could|should|would|will|"
    r"what|how|why|where|who|when|have|has|am)"
    r" (?:you|i|he|she|it|that|we|they|about|this|the|my|(?<=(?:at|ow|hy|re|ho|en) )(?:do|does|did|is|"
    r"are|was|were|can|should|would|could|will))\b"
    r"[^.!?]*\?)"
)
_SPLICE = re.compile(
    # "So I could drive him" tells what for.
    r"(?i),? (?:so|then) (?!\w+ could\b(?! not\b|n't| never\b))"
    r"(?=(?:i|he|she|we|they|it|no|nothing|send|remind|at least|don't|please)\b"
    r"|some (?:days|weeks) )"
    r"|(?<=\w), (?=(?:so|but|and) (?:i|he|she)\b(?! could\b)(?![^.!?]*\b(?:it|them|they|this|that)\b))"
)
# A comma splice is split ("I have one sister, she lives in Chicago") unless the first part is subordinate.
_COMMA = re.compile(
    r"(?i)(?:(?<=[.!?;] )|^)(?:(?:oh|and|so|well) )*"
    r"(?P<first>(?:i|he|she|we|they|it|my|his|her|our|the)(?:'\w+)? [^.!?;\n]{6,120}?), "
    r"(?P<second>(?:i|he|she|we|they|it)(?:'\w+)? (?!said\b|says\b|think\b|thought\b|told\b|guess\b|suppose\b)"
    r"|(?:the|my|our|his|her) \w+ (?:said|says|reckons?|thinks?) (?=\w)"
    r"|(?:haven't|hasn't|hadn't|never|been|remind me) )"
)
# A run-on sentence without punctuation: "the dog's called pickle she's a staffy".
_RUN_ON = re.compile(r"(?<![\w'])(?P<before>[a-z]+) (?=(?:she|he)'s\b|I'm\b)")
_SUBORDINATORS = listed(
    """that but and so or if when because until how think thinks know knows say says said guess hope since as than what
    why where who sure while now told tell tells like me him her though glad sad mean worse believe whether"""
)
_TRAILS = re.compile(
    r"(?i), (?:he|she) (?:told|said to) (?:me|us)(?: (?:that|so|it|this|once))?(?: (?:at|on|in) [^.!?,]{2,30})?"
    r"(?=[.!?]|$)"
    r"|,? (?:just |all )?the (?:two|three|four|five|six) of us(?=[.!?]|$)"
    r"|,? (?:but|and|or|so) (?:whatever|oh well|anyway|stuff|all that(?: stuff)?|so on|yeah|still"
    r"|there you go|yes|no)(?=[.!?]|$)"
)
# "Baskets, he said, don't answer back."
_HE_SAID = re.compile(
    r"(?:(?<=[.!?] )|^)(?P<what>(?!Who|What|When|Where|If|And|But|Well|So|Now|No|Yes)[A-Z]\w*(?: [\w']+){0,4}), "
    r"(?P<who>he|she) said, (?=[a-z])"
)
_ANY_KIN = "|".join(sorted(map(re.escape, KIN)))
# A contracted verb, not a possessive: "My mum's moved in".
_KIN_HAS = re.compile(
    rf"(?i)(?<=\b)((?:(?:my|our|his|her) (?:\w+ )?|(?<![\w'] ))(?:{_ANY_KIN}))'s "
    r"(?:(?P<has>been|got|gone|had|moved|become|died|left|started|retired)"
    r"|(?P<is>(?!wedding|clothing|building|painting)\w{2,}ing(?! (?:is|was)\b)|an?|the|in|at|not|very|called|named))\b"
    r"(?! of\b)"
)
_IS = re.compile(
    r"(?i)\b((?:my|our|his|her) [a-z]+)'s (?=(?:an?|the|my|in|on|at|from|called|named) )"
    r"|\b((?:my|his|her) name)'s (?=\w)|(?<![\w'])(\w+)'s (?=\d{1,2}(?:[.,;!?]|$| (?:and|years|now|in)\b))"
)
_HAS = re.compile(r"(?i)\b(who|s?he|it|(?:my|our|his|her) [a-z]+)'s (?=(?:just|already|recently) \w+ed\b)")
_PET_CALLED = re.compile(
    rf"(?i)(?:(?<=[.!?] )|^)(?:the )?(?P<pet>{'|'.join(sorted(PETS))})(?:'s| is|s)? (?:called|named)\b"
)
_HAD = re.compile(r"(?i)\b(i|s?he|we|they)'d (?=an? |the |no )")
_MINE = re.compile(
    r"(?P<before>(?:'s|\b[Hh]is|\b[Hh]er|\b[Tt]heir) (?P<thing>[a-z]+(?: [a-z]+){0,2}?) (?:is|was|are|were) [^.!?;]+?)"
    r",? (?P<joins>and|but|while) mine (?=(?:is|was|are|were)\b)"
)
_TYPE = re.compile(r"(?i)(?<=['’]m |['’]s |\bis |\bam )(?:a )?type (1|2|one|two)\b(?! diab)")

_CONTRACTION = re.compile(r"^(?!I don).*(?:n.t|.m|.ve)$")
_SAID_OF_QUOTE = re.compile(
    rf"(?P<quote>{MASK}[a-z])[,.;:]? (?:(?P<who>[Hh]e|[Ss]he),? )?(?:always |often |\w+ )?"
    r"(?:[Ss]aid|[Uu]sed to say|would say) (?:it|that)\b[^.!?;,]*"
)
"""What somebody said, after a quotation: "Waste not", she said it every day."""
_UNMARKED = re.compile(
    rf"(?<![\w'])(?:{'|'.join(each for each, meant in CASUAL_SPELLINGS.items() if _CONTRACTION.search(meant))})"
    r"(?![\w'])",
    re.I,
)
_THEREFORE = re.compile(r"(?i)[,;] ?(?:therefore|that's why|thus|hence),? (?=\w)")
_AND_TAKEN_OUT = re.compile(
    r"(?i),? (?:and|but) (?=(?:my|our|his|her|their|the) [\w' -]{1,30} (?:is|was|are) \[[\w ]+ removed\])"
)
"""What joins a clause whose value was taken out: the parser would join it to the name before."""


@dataclass
class Normalised:
    """The normalised text. Its character ``i`` comes from ``starts[i]`` to ``ends[i]`` of the message.

    ``quotes`` are the masked quotations, in the order of their masks' letters.
    """

    text: str
    starts: list[int]
    ends: list[int]
    quotes: list[str] = field(default_factory=list)
    casual: bool = False

    @classmethod
    def of(cls, text: str) -> Normalised:
        """An unchanged text."""
        return cls(text, list(range(len(text))), list(range(1, len(text) + 1)))

    def replace(self, pattern: re.Pattern[str], by: Replacement) -> None:
        """Replace a pattern's matches. Each replacement maps to the whole range it replaces."""
        found = pattern.finditer(self.text)
        self.edit((match.start(), match.end(), by if isinstance(by, str) else by(match)) for match in found)

    def edit(self, edits: Iterable[tuple[int, int, str]]) -> None:
        """Apply replacements (start, end, text), given in text order."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        done = 0
        for first, last, new in edits:
            if new == self.text[first:last]:
                continue
            parts += (self.text[done:first], new)
            starts += self.starts[done:first]
            ends += self.ends[done:first]
            if len(new) == last - first:
                starts += self.starts[first:last]
                ends += self.ends[first:last]
            elif last > first and not new[:1].isalnum():
                starts += [self.starts[first]] * len(new)
                ends += [self.starts[first]] * len(new)
            elif last > first:
                starts += [self.starts[first]] * len(new)
                ends += [self.ends[last - 1]] * len(new)
            else:
                place = self.starts[first] if first < len(self.starts) else (self.ends[-1] if self.ends else 0)
                starts += [place] * len(new)
                ends += [place] * len(new)
            done = last
        if done:
            parts.append(self.text[done:])
            self.text, self.starts, self.ends = "".join(parts), starts + self.starts[done:], ends + self.ends[done:]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The range in the message of a range of the text."""
        return (self.starts[start], self.ends[end - 1]) if start < end <= len(self.ends) else (0, 0)

    def quoted(self, mask: str) -> str:
        """The quotation behind a mask."""
        return self.quotes[ord(mask[len(MASK)]) - ord("a")]


def _strongest(marks: str) -> str:
    end = "?" if "?" in marks else "!" if "!" in marks else "."
    return end + " " if marks[-1:] == " " else end


_PUNCTUATION: Sequence[tuple[re.Pattern[str], Replacement]] = (
    (re.compile(r"(?:(?<=[.!?] )|^)\d{1,2}[.)] (?=[A-Z])"), ""),
    (THOUSANDS, ","),
    (re.compile(r"(?<=[^\s.!?,;:-])\s*\n\s*(?:[-*•·]\s*)?"), ". "),
    (re.compile(r"\s*\n\s*(?:[-*•·]\s*)?|^\s*[-*•·]\s+"), " "),
    (re.compile(r"(?<=\w)-(?=\s)|(?<=\s)-(?=\w)"), " - "),
    (re.compile(r"(?<!\w)'(\d\d)\b(?!')"), lambda match: f"{'20' if int(match[1]) <= 26 else '19'}{match[1]}"),
    (_EMOJI, "."),
    (_LAUGHS, ". "),
    (_ASIDES, ""),
    (re.compile(r"([?!.])[?!. ]*(?<=[?!.])|\s*\.(?=\s*[,;])"), lambda match: _strongest(match.group())),
)
"""Marks and asides that the parser stumbles over, and what stands in their place."""


def is_casual(texts: Sequence[str]) -> bool:
    """Whether somebody writes without capitals or apostrophes, judged from all of their messages."""
    small = sum(text[:1].islower() for text in texts)
    return (
        small * 2 > len(texts) or len(re.findall(r"(?<!\w)(?:i|im|dont|ive|hes|shes|cant)(?!\w)", " ".join(texts))) > 2
    )


def normalise(
    text: str,
    names: Collection[str],
    *,
    casual: bool,
    about: str = "",
    own: bool = False,
    reply: str = "",
    notes_of: str = "",
) -> Normalised:
    """Normalise a text for the parser.

    ``names`` are known names in lower case. ``casual`` enables the corrections for ``is_casual`` writers. ``about`` is
    the subject added to biographical notes without one ("Trained as a pharmacist."), or empty. ``own``: such notes are
    about the user ("Allergic to nuts.") until another person is mentioned. ``reply``: what the assistant said before.
    ``notes_of``: whom labelled rows are about, as far as known: "I", "He" or "She".
    """
    mended = Normalised.of(text.translate(_TRANSLATED))
    _mask(mended)
    for pattern, by in _PUNCTUATION:
        mended.replace(pattern, by)
    mended.replace(_QUESTION_AFTER, ". ")
    mended.replace(re.compile(r"(?i)(?<!\w)'cause\b"), "because")
    mended.replace(_UNMARKED, lambda match: CASUAL_SPELLINGS[match.group().lower()])
    if casual:
        mended.casual = True
        normalise_words(mended, names)
    mended.replace(
        _KIN_HAS, lambda match: f"{match[1]} {'has' if match['has'] else 'is'} {match['has'] or match['is']}"
    )
    mended.replace(_IS, lambda match: f"{match[1] or match[2] or match[3]} is ")
    mended.replace(_HAS, lambda match: f"{match[1]} has ")
    mended.replace(_HAD, lambda match: f"{match[1]} had ")
    mended.replace(_MINE, lambda match: f"{match['before']} {match['joins']} my {match['thing']} ")
    mended.replace(_TRAILS, "")
    mended.replace(_HE_SAID, lambda match: f"{match['who'].capitalize()} said that {_small(match['what'])} ")
    introduce(mended, about)
    mended.replace(_COMMA, _split_splice)
    if casual:
        mended.replace(
            _RUN_ON, lambda match: match.group() if match["before"] in _SUBORDINATORS else f"{match['before']}. "
        )
    mended.replace(re.compile(r"(?i)(?<=\bhe) (?=born\b)|(?<=\bshe) (?=born\b)|(?<=\bi) (?=born\b)"), " was ")
    if own:
        mended.replace(_PET_CALLED, lambda match: f"my {match['pet'].lower()} is called")
        for pattern, said in OWN_NOTES:
            mended.replace(pattern, said)
    for pattern, meant in LEARNERS:
        mended.replace(pattern, meant)
    mended.replace(_TYPE, lambda match: f"a type-{match[1]} diabetic")
    mended.replace(_THEREFORE, ". ")
    mended.replace(_AND_TAKEN_OUT, ". ")
    mended.replace(_SPLICE, ". ")
    mended.replace(_OPENERS, "")
    mended.replace(re.compile(r"\s+(?=[,.!?;])|[,;\s]+(?=[.!?]|$)|^[\s,;.!-]+"), "")
    mended.replace(re.compile(r"\s{2,}"), " ")
    mended.replace(re.compile(r"(?:(?<=[.!?] )|^)[a-z]"), lambda match: match.group().upper())
    mended.replace(_SAID_OF_QUOTE, lambda match: f"{match['who'] or about or 'I'} used to say {match['quote']}")
    mended.edit(list(part_lists(mended.text)))
    mended.edit(list(split_lists(mended.text)))
    mended.edit(list(expand_people(mended.text, notes_of, reply)))
    mended.edit(list(expand_rows(mended.text, notes_of, reply)))
    mended.edit(complete_answer(reply, mended.text, text, about or ("I" if own else "")))
    subject = "I" if notes_of == "I" else about or ("I" if own else "")
    mended.edit(list(expand_notes(mended.text, subject, about)))
    # Without a full stop, the parser takes the last noun for a verb.
    mended.replace(re.compile(r"(?<=\w)\Z"), ".")
    return mended


def _split_splice(match: re.Match[str]) -> str:
    """Split a comma splice if its first part has a finite verb."""
    first, second = match["first"], match["second"]
    subject = re.match(r"(?i)(?:i|he|she|we|they|it)\b", first)
    verb = subject or re.search(
        r"(?i)\b(?:is|was|are|were|has|have|had|does|did|can|could|will|would|\w+ed|\w+s)\b ", first
    )
    return (
        f"{first}. {second}"
        if verb and not re.search(r"(?i)\b(?:if|when|whenever|that|because)\b", first)
        else match.group()
    )


def _small(text: str) -> str:
    first = text.split(" ", maxsplit=1)[0].lower()
    return f"{text[0].lower()}{text[1:]}" if first in ENGLISH or is_word(first.removesuffix("s")) else text


def _mask(mended: Normalised) -> None:
    text, quotes = mended.text, mended.quotes

    def masked(match: re.Match[str]) -> str:
        inner = next(group for group in match.groups() if group is not None).strip()
        if len(quotes) >= 26 or not inner:
            return match.group()
        after = text[match.end() : match.end() + 2]
        ends = inner[-1:] in ".!?" and (not text[match.end() :].strip() or bool(re.match(r"\s[A-Z]", after)))
        quotes.append(inner if inner.endswith(("!", "?")) else inner.rstrip(",. "))
        goes_on = inner.endswith(",") and re.match(r" (?:and|but|so) ", text[match.end() :])
        return f"{MASK}{chr(96 + len(quotes))}{'.' if ends else ',' if goes_on else ''}"

    mended.replace(_QUOTATION, masked)
