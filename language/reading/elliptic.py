"""Complete an elliptic answer by the question that it answers.

"When was Wim born?" and "In 1931, in Zwolle." give "Wim was born in 1931, in Zwolle."; "Have you a pet?" and "A cat."
give "I have a cat." Only what fits the question is completed: a time for "when", a place for "where", a noun for
"what".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile

from language.reading.figures import MONTHS
from language.reading.lexicon import is_adjective, is_kind_of, is_place, is_word
from language.reading.notes import lists_things
from language.reading.parse import NOUN_SUBJECTS, Parsed, Word, parse
from language.reading.question_parts import QuestionParts, after, text_of
from language.reading.refusals.wording import takes_leave
from language.reading.words import KIN, KIN_PLURALS, PETS, PROPER, listed

MOST_WORDS = 24
"""Of the answer's first sentence: a longer one is rarely elliptic."""
_QUESTION = re.compile(r"[^.!?\n]*\?")
_LEAD = re.compile(
    r"(?i)^\W*(?:(?:and|so|but|oh|ok|okay|ah|well|then|now|tell me|may i ask|by the way)\b[,:]?\s+)*(?=\w)"
)
_TAIL = re.compile(
    r"(?i)(?:,? (?:if (?:i|you)\b[^?]*|by the way|exactly|originally|again|anyway|please|dear|back then|then|"
    r"at the time|in those days|at some point|at all|any ?more|these days|nowadays|(?-i:, [A-Z]\w+)))+(?=\?)"
)
_TOPIC = re.compile(r"(?P<topic>(?:[Yy]our |[Hh]is |[Hh]er )?\w+), (?=(?:what|when|where|who|how|did|does|is|was)\b)")
_WORTH_KNOWING = r" (?:that )?(?:i|we) should (?:know|remember)[^?]*"
_VERBLESS = re.compile(
    r"(?i)^(?:(?:and|any|by|what about|how about) )?(?:your |his |her )?(?P<what>\w+(?: (?:or|and) \w+)?)"
    rf"(?: outside of \w+| about you| in the family|{_WORTH_KNOWING})?\?$"
)
_HAVING = re.compile(rf"(?i)^(?:do|did) (?:you|he|she) have (?:any )?(?P<what>\w+)(?:{_WORTH_KNOWING})?\?$")
_TRADES = listed("profession occupation trade job work")
_STATES = listed("married divorced widowed separated single engaged retired employed unemployed")
_YOU_TWO = re.compile(r"(?i)\byou (?:two|both|all)\b")
_ASSENT = re.compile(r"(?i)(?:(?:oh|ah|yes|yeah|yeh|sure|of course|certainly|indeed)\b,? )+")
_NEXT_CLAUSE = re.compile(r"(?i), (?:and |but )?(?=(?:i|he|she|it|we|they)(?: |'))")
_COMMA = re.compile(r", (?:and )?")
_DEGREE = re.compile(r"(?i)(?:very|extremely|terribly|really|quite|rather|deeply|a (?:bit|little))(?: much)?$")
_SENTENCE = re.compile(r"[^.!?\s][^.!?\n]*(?=[.!?\n]|$)")
_MOST_OF_A_LEAD = 3
"""Words of a sentence before the answer: "Of course."."""
_ASKS_FOR_THINGS = re.compile(r"(?i)\b(?:what|which)\b(?! (?:do|did|does) \w+ do\b)|\b(?:likes|hobbies)\?")
_MOST_OF_A_THING = 4
_OF_THINGS = frozenset({"NOUN", "PROPN", "ADJ", "DET", "CCONJ", "VERB"})
"""The parts of speech of a sentence that only names things; its verb is a gerund."""
_DENIED = re.compile(r"(?i)^\W*(?:oh,? )?(?:no|nope|nah|not|never|none|nothing|nobody|neither)\b")
_HAS_SUBJECT = re.compile(r"(?i)(?:i|he|she|we|they|it|you|there)\b(?! (?:and|or)\b)")
"""The beginning of a sentence that is whole: it needs no parse."""
_HEDGED = re.compile(r"(?i)\b(?:maybe|perhaps|possibly|probably|guess|suppose|think|not sure|dunno|idea)\b|\?")
_MONTH = "|".join((*MONTHS, *(rf"{month[:3]}\b\.?" for month in MONTHS), r"sept\b\.?"))
_TIMES = (
    (
        re.compile(rf"(?i)(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})\b|(?:{_MONTH}) \d{{1,2}}\b(?!\d)"),
        "on ",
    ),
    (re.compile(rf"(?i)the (?:[a-z]+-)?(?:first|second|third|[a-z]+th) of (?:{_MONTH})"), "on "),
    (re.compile(rf"(?i)(?:[a-z]+-)?(?:first|second|third|[a-z]+th) of (?:{_MONTH})"), "on the "),
    (
        re.compile(
            rf"(?i)(?:\d{{4}}|the (?:\d{{2}}|(?:early|late) )|(?:the )?(?:spring|summer|autumn|winter)|{_MONTH})"
        ),
        "in ",
    ),
    (
        re.compile(r"(?i)(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|christmas (?:day|eve)\b|my \w+ birthday\b"),
        "on ",
    ),
    (re.compile(r"(?i)\d{1,2}(?::\d\d)? ?(?:am|pm|o'clock)\b|half past\b|(?:noon|midnight)\b"), "at "),
    (re.compile(r"(?i)(?:yesterday|today|last|this|every|(?:\w+ ){1,3}ago)\b"), ""),
)
"""What a time begins with, and the preposition before it."""
_DURATION = re.compile(
    r"(?i)^(?:(?:about|almost|nearly|over|only|just) )?[\w-]+(?: and a half)? (?:minute|hour|day|week|month|year)s?\b"
)
_OFTEN = re.compile(r"(?i)^(?:every|each|once|twice|daily|weekly|always|most|(?:\w+ )times)\b")
_TOWARDS = listed("go move travel come emigrate return fly run flee retire")
_WITH_TO = listed("teach want hope plan like love learn try promise")
_ON = listed("farm island coast estate street road")
_DWELLINGS = _ON | listed("village town city cottage house flat apartment suburb hamlet countryside mountains valley")
_ACTIVITIES = listed("sport exercise instrument language")
_INDEFINITE = frozenset({"a", "an", "any", "some"})
_LIGHT_VERBS = listed("have do get be make take give leave")
"""What one has may be answered with what it is like: "Did he have a temper?"."""
_FAVOURITES = frozenset({"favourite", "favorite"})
_NOMINAL = frozenset({"NOUN", "PROPN", "NUM"})


def complete_answer(reply: str, text: str, said: str, about: str) -> Iterator[tuple[int, int, str]]:
    """Yield the edit (start, end, new text) that completes the first sentence of ``text``, if it is elliptic.

    ``reply`` is the assistant's message before it, ``said`` the text as the user wrote it, and ``about`` whom a
    question without a subject means: "I", "He", "She", or empty.
    """
    questions = _QUESTION.findall(reply)
    if not questions or _DENIED.search(said) or takes_leave(said):
        return
    text = _gathered(text) if _ASKS_FOR_THINGS.search(questions[-1]) else text
    for sentence in islice(_SENTENCE.finditer(text), 2):
        assent = _ASSENT.match(sentence[0])
        start = sentence.start() + (assent.end() if assent else 0)
        for end, rest in _ends(text, start, sentence.end()):
            part = text[start:end]
            is_short = len(part.split()) <= MOST_WORDS and not (_HEDGED.search(part) or _HAS_SUBJECT.match(part))
            whole = _completed(questions[-1], part, about) if is_short else ""
            if whole:
                yield sentence.start(), rest, whole if end == rest else f"{whole}. "
                return
        if len(sentence[0].split()) > _MOST_OF_A_LEAD:
            return


def _gathered(text: str) -> str:
    """Join the nouns that a text begins with: "Chess. Ice fishing." gives "Chess, ice fishing."."""
    parsed = parse(text)
    ends = []
    for words in parsed.each_sentence() if parsed is not None else ():
        plain = [each for each in words if each.pos != "PUNCT"]
        names_things = plain and len(plain) <= _MOST_OF_A_THING and all(each.pos in _OF_THINGS for each in plain)
        if not names_things or all(each.pos not in _NOMINAL and each.tag != "VBG" for each in plain):
            break
        ends.append((words[-1], plain[0]))
    for (end, _), (_, first) in pairwise(ends):
        if end.text == ".":
            begin = first.text.lower() if _is_common(first) and first.low not in PROPER else first.text
            text = f"{text[: end.start]},{text[end.end : first.start]}{begin}{text[first.end :]}"
    return text


def _ends(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield where the answer may end, and where the next sentence then begins: at the full stop, or before a comma."""
    yield stop, stop
    for pattern in (_NEXT_CLAUSE, _COMMA):
        comma = pattern.search(text, start, stop)
        if comma is not None:
            yield comma.start(), comma.end()


def _completed(question: str, answer: str, about: str) -> str:
    given = parse(f"{answer}.")
    root = given.root if given is not None else None
    if not answer or given is None or root is None or _is_clause(given, root):
        return ""
    alone = _TAIL.sub("", _LEAD.sub("", question))
    having = _HAVING.match(alone)
    verbless = (having if having and lists_things(having["what"]) else _VERBLESS.match(alone)) if about else None
    if verbless is not None:
        what = verbless["what"].lower()
        first = re.split(r"(?i), (?=(?:i|he|she|it|we)\b)", answer)[0]
        if lists_things(what) and root.pos in _NOMINAL and not answer[0].isdigit():
            start = given.words[0]
            begin = start.text.lower() if _is_common(start) and start.low not in PROPER else start.text
            return f"{what.capitalize()}: {begin}{first[start.end :]}"
        if what in _TRADES:
            alone = "What do you do?" if about == "I" else f"What did {about.lower()} do?"
        elif is_adjective(what) or what in _STATES:
            alone = f"Are you {what}?" if about == "I" else f"Was {about.lower()} {what}?"
        counts = given.words[0].pos in {"NUM", "DET"} or root.low in KIN.keys() | PETS
        if counts and what.split()[0] in KIN.keys() | KIN_PLURALS | PETS | {"pets", "animals"}:
            alone = f"Do you have {what}?" if about == "I" else f"Did {about.lower()} have {what}?"
    topic = _TOPIC.match(alone)
    alone = re.sub(r"\b(?:he|she|they)\b", topic["topic"], alone[topic.end() :], count=1) if topic else alone
    asked = QuestionParts.of(_YOU_TWO.sub("you", alone))
    told = _Answer(asked, given, root).sentence() if asked else ""
    if told and _YOU_TWO.search(alone):
        told = re.sub(r"^I (am|was|\b)", lambda found: {"am": "we are", "was": "we were"}.get(found[1], "we "), told)
    return f"{told[0].upper()}{told[1:].rstrip(' ,;-')}" if told else ""


def _is_common(word: Word) -> bool:
    return any(is_word(form) for form in (word.low, word.lemma.lower(), word.low.removesuffix("s")))


def _is_clause(given: Parsed, root: Word) -> bool:
    """Whether an answer is a sentence by itself, an order or an exclamation."""
    if given.words[0].tag == "TO":
        return False
    if root.pos == "INTJ" or root.low in {"wait", "same", "yes", "thanks"} or root.tag in {"VB", "VBP", "MD"}:
        return True
    return root.pos not in _NOMINAL and any(each.dep in {*NOUN_SUBJECTS, "expl"} for each in given.children(root))


@dataclass(frozen=True, slots=True)
class _Answer:
    """An elliptic answer to a question."""

    question: QuestionParts
    parsed: Parsed
    root: Word

    @property
    def text(self) -> str:
        """The answer without its full stop; a common word at its start is in lower case."""
        said, first = self.parsed.text[:-1], self.parsed.words[0]
        low = first.low
        is_named_place = is_place(first.text) and (first.entity in {"GPE", "LOC"} or not is_word(low))
        named = self.question.names or low in PROPER or is_named_place or not _is_common(first)
        keeps = (named and first.pos in {"PROPN", "NOUN", "ADJ"}) or low == "i" or first.text[1:].isupper()
        return said if keeps else f"{said[0].lower()}{said[1:]}"

    @property
    def begins_with_preposition(self) -> bool:
        return self.parsed.words[0].pos in {"ADP", "SCONJ"} or self.parsed.words[0].low in {"when", "near", "since"}

    @property
    def is_nominal(self) -> bool:
        names = self.root.pos in _NOMINAL or self.root.entity in {"NORP", "LANGUAGE"}
        is_unknown = self.root.tag == "VBG" or (self.root.pos == "ADJ" and not is_adjective(self.root.low))
        return (names or is_unknown) and not self.begins_with_preposition

    def sentence(self) -> str:
        """The statement, or empty if the answer does not fit the question."""
        question, asks = self.question, self.question.asks
        if not question.subject:
            return self._of_subject()
        if asks in {"when", "where", "how long", "how often", "how"}:
            adverbial = self._adverbial(asks)
            return _joined(*question.begin(), adverbial) if adverbial else ""
        if not asks:
            return self._of_yes_or_no()
        if asks in {"how old", "how tall"}:
            said, verb, rest = question.begin()
            return _joined(said, f"{verb} {self.text}", rest) if self.root.pos in _NOMINAL else ""
        if asks in {"how many", "how much"}:
            return self._with_object(self._counted(question.gap[2:]))
        return self._of_thing() if asks in {"what", "who", "whom", "which"} else ""

    def _of_subject(self) -> str:
        asks, is_a = self.question.asks, self.question.auxiliary.lemma.lower() == "be"
        if not self.is_nominal or asks not in {"who", "what", "which"} or (is_a and asks != "who"):
            return ""
        return _joined(self.text.split(",")[0], self.question.auxiliary.text, self.question.rest)

    def _of_thing(self) -> str:
        said, verb, rest = self.question.begin()
        low = [each.low for each in rest]
        if self.question.is_what_done:
            return self._of_occupation(said)
        if low[:1] == ["like"] and rest[0].pos != "VERB":
            plain = [each for each in self.parsed.words if each.pos != "PUNCT"]
            fits = self.root.pos == "ADJ" or plain[0].pos == "DET" or (len(plain) == 1 and is_adjective(plain[0].low))
            return _joined(said, f"{verb} {self.text}", rest[1:]) if fits else ""
        if low == ["to", "you"] and self.is_nominal:  # "Who was Ann to you?" "My sister."
            return f"{said} {verb} {self.text}"
        is_infinitive = (
            self.parsed.words[0].tag == "TO" and self.question.rest[:1] and self.question.rest[0].lemma in _WITH_TO
        )
        words = self.parsed.words
        if low[-1:] == [words[0].low] and rest[-1].pos == "ADP" and len(words) > 2:  # "Of what?" "Of the telephone."
            return _joined(said, verb, rest, self.parsed.text[words[1].start : -1])
        return self._with_object(self.text) if self.is_nominal or is_infinitive else ""

    def _of_occupation(self, said: str) -> str:
        """ "What did he do?" asks for a trade or for what was done."""
        now = self.question.auxiliary.low != "did"
        if self.root.tag == ("VBZ" if now else "VBD"):
            return f"{said} {self.text}"
        is_trade = is_kind_of(self.root.low, "person") or (
            is_word(self.root.low) and self.root.low.endswith(("er", "ist"))
        )
        is_trade = is_trade or any(each.low in {"at", "in", "for"} for each in self.parsed.children(self.root))
        if self.root.tag not in {"NN", "NNP", "JJR"} or not is_trade:
            return ""
        be = ("am" if self.question.of_user else "is") if now else "was"
        article = "" if self.parsed.words[0].pos == "DET" else "an " if self.text[0] in "aeiou" else "a "
        return f"{said} {be} {article}{self.text}"

    def _with_object(self, thing: str) -> str:
        """The statement with a noun in the place of what is asked for; empty if it is no object or complement."""
        said, verb, rest = self.question.begin()
        if not thing:
            return ""
        last = rest[-1] if rest else None
        if (
            last is not None
            and last.pos == "ADP"
            and all(each.index < last.index for each in self.question.parsed.children(last))
        ):
            return _joined(said, verb, rest, thing)
        gap = {each.index for each in self.question.gap}
        asked = next(each for each in self.question.gap if each.head not in gap or each.head == each.index)
        if asked.dep not in {"dobj", "attr", "oprd", "dep", "pobj", "dative"}:
            return ""
        place = next((at for at, each in enumerate(rest, start=1) if each.index == asked.head), 0)
        while place < len(rest) and (
            rest[place].dep in {"prt", "dative"}
            or rest[place].tag == "PRP"
            or (not place and rest[place].pos == "VERB")
        ):
            place += 1
        return _joined(said, f"{verb}{after(rest[:place])} {thing}", rest[place:])

    def _counted(self, noun: Sequence[Word]) -> str:
        first = self.parsed.words[0]
        if first.pos != "NUM" or not noun:
            return ""
        if len(self.parsed.words) > 1 and self.parsed.words[1].pos != "PUNCT":
            return self.text
        named = text_of(noun[:-1]) + f" {noun[-1].lemma if first.low in {'one', '1'} else noun[-1].text}"
        return f"{self.text[: first.end]} {named.strip()}{self.text[first.end :]}"

    def _adverbial(self, asks: str) -> str:
        """The answer as an adverbial that fits: of time, place, length, frequency or manner."""
        first_part = takewhile(lambda each: each.text != ",", self.parsed.words)
        finite = [each for each in first_part if each.tag in {"VBZ", "VBD"} and each.pos == "VERB"]
        if any(self.parsed.child(each, *NOUN_SUBJECTS, "mark", "advmod") is None for each in finite):
            return ""  # "In the papers stands 1929."
        parts = [each.strip() for each in self.text.split(",")]
        if asks == "how" and self.is_nominal and self.question.rest[-1:] and self.question.rest[-1].lemma == "die":
            return f"of {parts[0]}"
        if asks in {"when", "how"} or (asks == "where" and self.begins_with_preposition):
            first = self._timed(parts[0]) if asks == "when" else parts[0] if self.begins_with_preposition else ""
            ends = self.question.rest[-1].low if self.question.rest else ""
            first = first.removeprefix(f"{ends} ") if asks == "where" else first
            more = takewhile(lambda each: re.match(r"(?:in|at|on|near|by)\b", each), parts[1:])
            return ", ".join([first, *more]) if first else ""
        if asks == "where":
            return self._placed(parts[0])
        if asks == "how long":
            return parts[0] if self.begins_with_preposition else f"for {parts[0]}" if _DURATION.match(parts[0]) else ""
        further = takewhile(lambda each: re.match(r"(?:to|in|at|with) ", each), parts[1:])
        return ", ".join([parts[0], *further]) if asks == "how often" and _OFTEN.match(parts[0]) else ""

    def _placed(self, part: str) -> str:
        if not (self.root.pos == "PROPN" or self.root.low in _DWELLINGS or is_place(self.root.text)):
            return ""
        is_stranded = bool(self.question.rest) and self.question.rest[-1].dep == "prep"
        goes = any(each.lemma in _TOWARDS for each in self.question.rest)
        before = "to " if goes else "on " if self.root.low in _ON else "in "
        article = "the " if part.startswith("same ") else ""
        return f"{'' if is_stranded else before}{article}{part}"

    def _timed(self, part: str) -> str:
        if self.begins_with_preposition:
            return part
        before = next((word for pattern, word in _TIMES if pattern.match(part)), None)
        return "" if before is None else f"{before}{part}"

    def _of_yes_or_no(self) -> str:
        said, verb, rest = self.question.begin()
        head = next((each for each in rest if each.dep == "dobj"), None)
        asked = self.question.parsed.subtree(head) if head is not None else []
        if head is not None and self.is_nominal and any(each.low in _FAVOURITES for each in asked):
            be = "was" if self.question.auxiliary.low in {"did", "had"} else "is"
            noun = "".join(f" {each.text}" for each in asked if each.pos != "DET")
            return f"{self.question.whose()}{noun} {be} {self.text}"
        if head is not None and self._answers(head):
            thing = self._counted([head]) or self.text
            before = [each for each in rest if each.index < asked[0].index]
            behind = [each for each in rest if each.index > asked[-1].index]
            return _joined(said, f"{verb}{after(before)} {thing}", behind)
        if self.question.auxiliary.lemma.lower() == "be" and not self.begins_with_preposition:
            is_adjective = [each.pos for each in rest] == ["ADJ"]
            degree = self.text.split(",")[0]
            if is_adjective and _DEGREE.match(degree):
                return f"{said} {verb} {degree} {rest[0].text}"
            is_other = any(each.low in _STATES for each in rest) and self.parsed.words[0].low in _STATES
            return f"{said} {verb} {self.text}" if is_other else ""
        if any(each.tag == "PRP" for each in self.parsed.words):
            return ""
        fits = (self._adverbial(each) for each in ("when", "how long", "how often"))
        adverbial = next((each for each in fits if each), "")
        return _joined(said, verb, rest, adverbial) if adverbial else ""

    def _answers(self, asked: Word) -> bool:
        """Whether the answer names some of what is asked about: two dogs for pets, a sister for siblings."""
        if not self.is_nominal:
            return False
        if self.root.pos == "NUM":
            return True
        kin = KIN.keys() | KIN_PLURALS
        is_any = any(each.low in _INDEFINITE for each in self.question.parsed.children(asked))
        return (
            self.root.lemma == asked.lemma
            or (is_any and self.question.parsed.head(asked).lemma not in _LIGHT_VERBS)
            or asked.lemma in _ACTIVITIES
            or (self.root.low in kin and asked.low in kin)
            or (self.root.low in PETS and asked.lemma in {"pet", "animal"})
        )


def _joined(subject: str, verb: str, rest: Sequence[Word], last: str = "") -> str:
    return f"{subject} {verb}{after(rest)}{f' {last}' if last else ''}"
