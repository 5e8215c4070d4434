"""Answers that agree to a part of what the assistant asked about: "the first two yes, the coffee no", "only Minka"."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from language.reading.sentences import split_sentences
from language.reading.words import listed

from ..clauses import listed_with, span_in
from ..parse import parse
from ..stock import confirms
from .subjects import content_words, lemmas
from .wording import KEEPS_ONLY, LONGEST_ANSWER, any_case


@dataclass(frozen=True, slots=True)
class Choice:
    """The statements that an answer agrees to and refuses, as the question words them; what it passes over is open.

    ``naming``: the sentences of the answer that name what it refuses by its words.
    """

    kept: tuple[str, ...]
    refused: tuple[str, ...]
    naming: tuple[str, ...] = ()


@dataclass(slots=True)
class _Phrase:
    """A part of an answer: the places of the statements that it means, and whether it agrees; None: neither."""

    places: frozenset[int]
    agrees: bool | None
    only: bool = False
    of_all: bool = False
    of_rest: bool = False

    @property
    def points(self) -> bool:
        """Whether it means any of the statements."""
        return bool(self.places) or self.of_all or self.of_rest


_ASKED = any_case(r"\b(?:remember|note|keep|save|store|record|mind)(?: down| in mind)? that (?P<what>.+)\?\s*$")
_NUMBERED = re.compile(r"^(?P<number>\d{1,2})\) (?P<what>.+?)[.!]?$", re.MULTILINE)
_NEXT = re.compile(r",?(?: and)? that ")
_EXCEPT = any_case(
    r",? ?\b(?:(?:all|every|both)\b(?P<of>[^,.;]*?) (?:but(?! not\b)|except(?: for)?|apart from|other than"
    r"|without|minus)|except(?: for)?|apart from|other than|without|minus|(?:but|and|just|only) not)\b"
)
_BORDERS = any_case(
    r"\s*(?:[,.;:!…–—]+|\s-+\s)\s*|\s+but\s+"
    r"|\s+and\s+(?=(?:not|no|yes|yeah|forget|skip|drop|leave|delete|keep|remember|don't|do not)\b)"
)
_DECLINES = any_case(
    r"\b(?:no|nope|nah|not|never|don't|do not|skip|drop|forget|leave|delete|remove|rather|neither|none"
    r"|private|confidential|secret|between us|to yourself)\b"
)
_AGREES = any_case(
    r"\b(?:yes|yeah|yep|yup|sure|ok|okay|fine|keep|remember|note|save|store|please|good|right|alright|absolutely)\b"
)
_ONLY = any_case(r"\b(?:only|just)\b")
_NOTHING_ELSE = any_case(
    r"^(?P<what>.+?)[,;.–-]* (?:and |but )?(?:nothing (?:else|more)|not the (?:rest|others?))[.! ]*$"
)
_KEPT_ALONE = any_case(
    rf"(?:(?:please|pls|ok|okay|so|but|and|just),? )*{KEEPS_ONLY.pattern}(?P<that> that)? (?P<what>\S.*)"
)
_ALL = any_case(r"\b(?:all|everything|both|each|every one)\b(?! else)")
_REST = any_case(r"\b(?:rest|others?|remaining|remainder|else)\b")
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINALS = {word: place for place, word in enumerate(_PLACES)} | {
    word: place for place, word in enumerate(("1st", "2nd", "3rd", *(f"{place}th" for place in range(4, 11))))
}
_COUNTS = {"two": 2, "2": 2, "three": 3, "3": 3, "four": 4, "4": 4}
_RANGE = any_case(rf"\b(?P<end>first|last) (?P<count>{'|'.join(_COUNTS)})\b")
_NUMBER = any_case(r"\b(?:no\. ?|number |#)?(?P<number>[1-9]|10)\b(?![\d:.]?\d)")
_POINTER = any_case(rf"\b(?:{'|'.join(_ORDINALS)}|last|former|latter)\b")
POINTS = listed(
    "first second third fourth fifth sixth seventh eighth ninth tenth last former latter two three four rest other "
    "remainder remaining else both all "
    "each everything only just keep leave drop skip fine good right ok okay alright sure note store delete remove "
    "rather want kept saved please no yes yeah private confidential"
)
"""Words of an answer that say nothing but which statements it means and whether they may be kept."""
_BREAK = re.compile(r"\s*[,;]\s*(?:(?:and|but|while|whereas)\s+)?|\s+(?:and|but|while|whereas)\s+|\s+[–—-]+\s+")


def numbered_lines(text: str) -> list[str]:
    """The lines of the last list of statements in the assistant's message: "1) You live in Porto."."""
    lines: list[str] = []
    for each in _NUMBERED.finditer(text):
        lines = [*(lines if each["number"] != "1" else ()), each[0]]
    return lines


def asked_statements(question: str) -> list[str]:
    """The statements that the assistant asks about, as it words them: "… that you live in Porto and that …?"."""
    if lines := numbered_lines(question.replace("’", "'")):
        return [_NUMBERED.sub(r"\g<what>", each) for each in lines]
    asks = [each.text for each in split_sentences(question) if each.text.rstrip().endswith("?")][-1:]
    told = (each.replace("’", "'").replace("\n", " ") for each in (*asks, question))
    asked = next(filter(None, map(_ASKED.search, told)), None)
    return _NEXT.split(asked["what"]) if asked is not None else []


def choose(question: str, answer: str) -> Choice | None:
    """What an answer chooses of several statements asked about; None if it means none or all of them."""
    statements = asked_statements(question)
    said = _NOTHING_ELSE.sub(r"only \g<what>", answer.strip().replace("’", "'"))
    if not statements or "?" in said or len(said) > LONGEST_ANSWER:
        return None
    if numbered_lines(question):
        said = _NUMBER.sub(lambda found: _PLACES[int(found["number"]) - 1], said)
    words = [lemmas(each) for each in statements]
    parted = _EXCEPT.sub(lambda found: f"{'all, ' if found['of'] is not None else ', '}not", said)
    phrases, beside = [], []
    for text in (each for each in _BORDERS.split(parted) if each):
        phrase = _read(text, words)
        if phrase is not None:
            phrases.append(phrase)
        elif _DECLINES.search(text) and lemmas(text).isdisjoint(frozenset().union(*words)):
            beside.append(text)
        else:
            return None
    joined = _joined(phrases)
    found = _agreed_beside(joined, len(statements)) if beside else _resolve(joined, len(statements))
    if found is None or (len(statements) < 2 and not beside):
        return None
    kept, refused = (tuple(statements[place] for place in sorted(each)) for each in found)
    refused = (*refused, *(" ".join(lemmas(each) - POINTS) for each in beside))
    told = frozenset().union(*map(lemmas, refused))
    naming = [each.text for each in split_sentences(answer) if not told.isdisjoint(lemmas(each.text))]
    return Choice(kept, refused, tuple(naming))


def agrees_to_all(question: str, answer: str) -> bool:
    """Whether an answer lets only that be kept which it names, and that is all that was asked: "just the car".

    Not where it names one of several things that a statement lists.
    """
    statements, said = asked_statements(question), answer.strip().replace("’", "'")
    if not statements or not says_only(said) or _DECLINES.search(said):
        return False
    words = [lemmas(each) for each in statements]
    phrases = [_read(text, words) for text in _BORDERS.split(said) if text]
    named = {place for each in phrases if each is not None for place in each.places}
    listed_ones = {
        word.lemma.lower()
        for each in filter(None, map(parse, statements))
        for word in each.words
        if word.dep == "conj" or each.child(word, "conj") is not None
    }
    return None not in phrases and named == set(range(len(statements))) and lemmas(said).isdisjoint(listed_ones)


def listed_beside(question: str, answer: str, sentences: Sequence[str]) -> list[str]:
    """What a sentence lists after the thing which an answer keeps alone: ", a dog and two rabbits" of "just the cat".

    Nothing where more than one statement was asked about, or it is not the first of the list, or an apposition: of
    "two brothers, Wim and Joris" nothing can be left out.
    """
    if not keeps_a_part(question, answer) or len(asked_statements(question)) != 1:
        return []
    return [after for each in sentences if (after := _listed_after(each, lemmas(answer) - POINTS))][:1]


def keeps_a_part(question: str, answer: str) -> bool:
    """Whether an answer names what alone is to be kept, by words of what was asked: "just the dog"."""
    named = lemmas(answer) - POINTS if says_only(answer) and not _DECLINES.search(answer) else frozenset()
    return bool(named) and named <= lemmas(question)


def _listed_after(sentence: str, kept: frozenset[str]) -> str:
    parsed = parse(sentence)
    if parsed is None:
        return ""
    for word in parsed.words:
        things = [] if word.dep in {"conj", "appos"} else listed_with(parsed, word)
        spans = [span_in(parsed, each, things) for each in things if len(things) > 1]
        named = [not kept.isdisjoint(lemmas(sentence[start:end])) for start, end in spans]
        if named and named[0] and sum(named) == 1:
            return sentence[spans[0][1] : spans[-1][1]].strip()
    return ""


def says_only(said: str) -> bool:
    """Whether an answer is short and has a word for "only"."""
    return "?" not in said and len(said) <= LONGEST_ANSWER and _ONLY.search(said) is not None


def _agreed_beside(phrases: Sequence[_Phrase], count: int) -> tuple[Collection[int], Collection[int]] | None:
    """The places that are agreed to, and the others, where an answer also refuses what the question left out."""
    if any(each.agrees is False for each in phrases) or not any(each.agrees for each in phrases):
        return None
    kept = {place for each in phrases if each.agrees for place in each.places} or set(range(count))
    return kept, set(range(count)) - kept


def _read(text: str, statements: Sequence[frozenset[str]]) -> _Phrase | None:
    """Read a part of an answer; None if it says something else."""
    parsed = parse(text)
    said = frozenset(content_words(parsed.words)) if parsed is not None else frozenset()
    root = parsed.root if parsed is not None else None
    if said - POINTS - frozenset().union(*statements):
        return None
    # "I don't eat meat" states something, "the coffee is fine" and "I don't want the coffee" choose.
    if (
        parsed is not None
        and root is not None
        and root.lemma.lower() in said - POINTS
        and parsed.child(root, "nsubj", "nsubjpass") is not None
    ):
        return None
    declines = _DECLINES.search(text) is not None
    agrees = False if declines else True if _AGREES.search(text) else None
    if agrees is None and parsed is not None and any(word.dep in {"nsubj", "nsubjpass"} for word in parsed.words):
        return None
    shared = [len((said - POINTS) & each) for each in statements]
    named = {place for place, count in enumerate(shared) if count and count == max(shared)}
    places = frozenset(named | _pointed(text, len(statements)))
    return _Phrase(
        places,
        agrees,
        only=not declines and _ONLY.search(text) is not None,
        of_all=not places and _ALL.search(text) is not None,
        of_rest=not places and _REST.search(text) is not None,
    )


def _pointed(text: str, count: int) -> set[int]:
    """The places that ordinals name: "the first two", "the last one"."""
    found: set[int] = set()
    for each in _RANGE.finditer(text):
        many = min(_COUNTS[each["count"].lower()], count)
        found.update(range(many) if each["end"].lower() == "first" else range(count - many, count))
    for each in _POINTER.finditer(_RANGE.sub(" ", text)):
        word = each[0].lower()
        place = 0 if word == "former" else count - 1 if word in {"last", "latter"} else _ORDINALS[word]
        found |= {place} if place < count else set()
    return found


def _joined(phrases: Sequence[_Phrase]) -> list[_Phrase]:
    """Phrases with a yes or no of their own: "the first two: yes", "yes, the first two", and a bare "the first two"."""
    joined: list[_Phrase] = []
    general: _Phrase | None = None
    for place, each in enumerate(phrases):
        after = phrases[place + 1] if place + 1 < len(phrases) else None
        if not each.points:
            general = each if each.agrees is not None else general
            joined.append(each)
        elif each.agrees is None and after is not None and not after.points and after.agrees is not None:
            each.agrees, after.agrees = after.agrees, None
            joined.append(each)
        elif each.agrees is None:
            each.agrees = True if general is None or each.only else general.agrees
            if general is not None:
                general.agrees = None
            joined.append(each)
        else:
            joined.append(each)
    return joined


def _resolve(phrases: Sequence[_Phrase], count: int) -> tuple[Collection[int], Collection[int]] | None:
    """The places that are agreed to and those that are refused; None if that is none or all of them, or unclear."""
    everything = set(range(count))
    kept = {place for each in phrases if each.agrees for place in each.places}
    refused = {place for each in phrases if each.agrees is False for place in each.places}
    if kept & refused or not (kept or refused):
        return None
    general = [each.agrees for each in phrases if each.agrees is not None and not each.places]
    if not kept and True in general and False not in general:
        kept = everything - refused
    if any(each.of_rest and each.agrees for each in phrases):
        kept = everything - refused
    if kept:
        refused = everything - kept
    return (kept, refused) if refused and refused != everything else None


def told_beside_only(sentences: Sequence[str]) -> list[str]:
    """What a message tells beside what alone it asks to keep: "I owe Jo 90 euros and I row. Only remember the rowing."

    Nothing where it is unclear what it names.
    """
    asked = next((found for each in sentences if (found := _KEPT_ALONE.match(each)) is not None), None)
    if asked is None:
        return []
    parsed = parse(asked["what"])
    # "Only remember that she sang": they remember no more.
    recalls = (
        parsed is not None and parsed.root is not None and parsed.root.tag == "VBD" and "please" not in asked[0].lower()
    )
    kept, others = lemmas(asked["what"]), [each for each in sentences if each != asked.string and _states(each)]
    if recalls or not kept:
        return []
    if not asked["that"] and all(kept.isdisjoint(lemmas(each)) for each in others):
        return []
    told: list[str] = []
    for each in others:
        beside = lemmas(each) - kept
        if beside == lemmas(each):
            told.append(each)
        elif beside:
            told += _parts_about(each, {"kept": kept, "beside": beside}, ["beside"])
    return told


def _states(sentence: str) -> bool:
    """Whether a sentence names something: "Hello there!" doesn't."""
    parsed = parse(sentence)
    return parsed is not None and any(word.pos in {"NOUN", "PROPN", "VERB"} for word in parsed.words)


def asked_beside_changes(question: str, sentences: Sequence[str], answers: Sequence[str]) -> list[str] | None:
    """The passages of a message that tell what the assistant asks about, where it has carried out the rest already.

    ``answers``: what it said since the message. None where it only asks, or if they can't be told from the rest.
    """
    asked = asked_statements(question) if any(map(confirms, answers)) else []
    told = [each.text for answer in answers for each in split_sentences(answer) if not each.text.endswith("?")]
    return passages_about(sentences, (), asked, opens=told) if asked else None


def passages_about(
    sentences: Sequence[str], kept: Sequence[str], refused: Sequence[str], *, opens: Collection[str] = ()
) -> list[str] | None:
    """The sentences, or parts of sentences, that tell what is refused; None if one of the statements is told nowhere.

    A part goes with the word that joins it to the next, or to the one before. A sentence without such a part goes as a
    whole, with what is agreed to or open.
    """
    stays = [*kept, *opens]
    words = {each: lemmas(each) for each in [*stays, *refused]}
    told: dict[str, list[str]] = {each: [] for each in sentences}
    for statement, said in words.items():
        best = max(sentences, key=lambda each: len(said & lemmas(each)), default="")
        if best and said & lemmas(best):
            told[best].append(statement)
        elif statement in refused:
            return None
    found: list[str] = []
    for sentence, statements in told.items():
        going = [each for each in statements if each in refused]
        if going:
            own = len(going) < len(statements)
            found += (own and _parts_about(sentence, {each: words[each] for each in statements}, going)) or [sentence]
    return found


def _parts_about(sentence: str, words: dict[str, frozenset[str]], going: Collection[str]) -> list[str]:
    """The parts of a sentence about the statements that are ``going``; none if they can't be told from the others."""
    end = len(sentence.rstrip(" .!?…"))
    breaks = [each.span() for each in _BREAK.finditer(sentence) if each.start() > 0 and each.end() < end]
    starts, ends = [0, *(each[1] for each in breaks)], [*(each[0] for each in breaks), end]
    about: list[str] = []
    for start, stop in zip(starts, ends, strict=True):
        said = lemmas(sentence[start:stop])
        shared = {each: len(said & of) for each, of in words.items()}
        # What is said of both stays: "My sister Ana, a vet, lives in Porto".
        best = max(shared, key=lambda each: (shared[each], each not in going))
        about.append(best if shared[best] or not about else about[-1])
    own = frozenset().union(*(words[each] for each in going)) - frozenset().union(
        *(said for each, said in words.items() if each not in going)
    )
    left = [sentence[starts[place] : ends[place]] for place, each in enumerate(about) if each not in going]
    if not left or not set(going) <= set(about) or any(own & lemmas(each) for each in left):
        return []
    found, place = [], 0
    while place < len(about):
        last = place
        while last + 1 < len(about) and (about[last + 1] in going) == (about[place] in going):
            last += 1
        if about[place] in going:
            goes_on = last + 1 < len(about)
            # "I love coffee and hate tea": what follows needs the subject.
            start = (
                _after_subject(sentence, starts[place], ends[place], sentence[starts[last + 1] :])
                if goes_on
                else (ends[place - 1])
            )
            found.append(sentence[start : starts[last + 1] if goes_on else end].strip())
        place = last + 1
    return found


def _after_subject(sentence: str, start: int, end: int, following: str) -> int:
    """Where a part begins that is taken out: after its subject if what follows has none."""
    next_one, own = parse(following), parse(sentence[start:end])
    if next_one is None or own is None or own.root is None or next_one.root is None:
        return start
    subject = own.child(own.root, "nsubj", "nsubjpass")
    if subject is None or next_one.child(next_one.root, "nsubj", "nsubjpass") is not None:
        return start
    return start + max(each.end for each in own.subtree(subject))
