"""Whether a sentence beside a refusal says something itself, or only points to what was said before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from language.reading.sentences import Sentence, split_sentences
from language.reading.words import KIN, KIN_PLURALS, listed

from ..parse import Parsed, Word, parse
from .offers import asks_to_keep
from .requests import RefusalRequest
from .subjects import content_words, lemmas
from .wording import without_soft_words


def says_something(text: str) -> bool:
    """Whether a text has content of its own, not only words about telling or pointing."""
    text = without_soft_words(text)
    parsed = parse(text.strip(" ,;:-–—")) if any(map(str.isalnum, text)) else None
    if parsed is None:
        return False
    words = content_words(parsed.words)
    subjects = [word for word in parsed.words if word.dep in {"nsubj", "nsubjpass"}]
    pointing = bool(subjects) and subjects[0].low in {"it", "that", "this"}
    if subjects and (verb := parsed.head(subjects[0])).lemma in _TALKS:
        told = parsed.child(verb, "ccomp")
        clause = parsed.subtree(told) if told is not None else []
        return not any(word.low in _POINTS for word in clause) and says_something(
            " ".join(each.text for each in clause)
        )
    return bool(words) and not (pointing and (len(words) < 2 or not any(map(str.isdigit, text))))


_TALKS = listed("think know tell say care mind mean gossip ramble rant vent babble joke talk speak kid")
_POINTS = listed("you u it this")
"""What "I think you went too far" or "I know she'd hate it" is about was said before."""


def is_of_answer(named: frozenset[str], own: Iterable[str], answer: str) -> bool:
    """Whether lemmas name what an assistant's text says, not of people, and the person never: salt, of a recipe."""
    said = [each.text for each in split_sentences(answer) if not (_is_of_people(each.text) or asks_to_keep(each.text))]
    is_theirs = not named.isdisjoint(frozenset().union(*map(lemmas, own)))
    return bool(named) and not is_theirs and named <= frozenset().union(*map(lemmas, said))


def _is_of_people(text: str) -> bool:
    """Whether a sentence may tell of the person or of those they told of: "As Lena has epilepsy, …"."""
    parsed = parse(_ADVISES.sub("", text))
    words = parsed.words if parsed is not None else []
    return any(word.entity == "PERSON" or word.low in _PEOPLE for word in words)


_ADVISES = re.compile(
    r"\byou(?:'ll| will|'d| would)?(?: (?:also|only|just|then))*"
    r" (?:need|want|take|add|use|put|mix|start|can|could|should|may|might)\b",
    re.IGNORECASE,
)
"""What is told to do, and not of anybody: "you need two onions"."""


_PEOPLE = frozenset({"you", "your", "yours", "“", *KIN, *KIN_PLURALS})
"""Words of sentences about people; in quotation marks a memory is recited, maybe in the person's own words."""


def has_other_content(text: str, sentence: Sentence, act: RefusalRequest) -> bool:
    """Whether a sentence of a text has content besides a request: before it, and after it if it refers ahead."""
    rest = text[sentence.start : max(sentence.start, act.start)]
    if act.is_learned and is_fragment(rest):
        rest = ""
    if act.refers_ahead:
        rest += " " + text[min(act.end, sentence.end) : sentence.end]
    return says_something(rest) and not _reacts(rest)


def is_comment(text: str) -> bool:
    """Whether a sentence only comments on what was said: "I shouldn't have told you that"."""
    return not any(map(str.isdigit, text)) and (
        not says_something(text) or _reacts(text) or _CHANGES_MIND.fullmatch(text.strip()) is not None
    )


def _reacts(text: str) -> bool:
    """Whether a text begins like "She'd be mortified"."""
    return _REACTS.match(text.strip().replace("’", "'")) is not None


_CHANGES_MIND = re.compile(
    r"(?:\w+[,!.]* ){0,3}?(?:I(?:['’](?:ve|m)| have| am)? )?(?:just )?(?:chang(?:ed|ing) my mind|reconsider(?:ed|ing)"
    r"|thought (?:again|twice|better of it)|(?:had |having |on )?second thoughts?)"
    r"(?: (?:now|again|there|about (?:that|it|this)))*\W*",
    re.IGNORECASE,
)
_REACTS = re.compile(
    r"(?:\w+,? )?(?:(?:he|she|they|i|it|that|my [\w-]+)(?:(?:'d| would)\b|(?:'ll| will) (?:\w+ )?(?:be|do|kill|die|hate"
    r"|murder|go|find|lose|freak|flip|think|know|hear|see|read|only|never|not|regret)\b)"
    r"|(?:he|she|they) (?:asked|told|begged|made) (?:me|us) (?:not|never)\b)",
    re.IGNORECASE,
)


def refers_back(text: str) -> bool:
    """Whether a sentence is about a thing said before: "it", "this" or "that" come before anything but a subject."""
    parsed = parse(text)
    for word in parsed.words if parsed is not None else ():
        if word.pos in {"NOUN", "PROPN"} and word.dep not in {"nsubj", "poss", "compound"}:
            return False
        if word.low in _BACK and word.tag in {"PRP", "DT"} and word.dep != "det":
            return True
    return False


_BACK = listed("it this that these those")


def stands_alone(text: str) -> bool:
    """Whether a sentence names two things and points to nothing before it: "My landlord doesn't know about the cat"."""
    parsed = None if may_point(text) or _reacts(text) else parse(text)
    words = parsed.words if parsed is not None else ()
    return len({word.lemma for word in words if word.pos in {"NOUN", "PROPN"}} - _OF_THOUGHT) > 1


_OF_THOUGHT = listed("mind thought second sorry thing assistant")


def is_fragment(text: str) -> bool:
    """Whether a text has no subject, and does not tell without it what was done: "got a tattoo"."""
    parsed = parse(text)
    has_subject = parsed is not None and any(word.dep in {"nsubj", "nsubjpass"} for word in parsed.words)
    return parsed is not None and not (has_subject or _did_something(text))


def _did_something(text: str) -> bool:
    """Whether a text without a subject tells what was done, and not that something was said: "said too much"."""
    text = text.strip(" ,;:-–—")
    # Without its subject a past tense is taken for another form.
    parsed = parse(f"I {text[:1].lower()}{text[1:]}")
    root = parsed.root if parsed is not None else None
    if parsed is None or root is None or root.tag not in {"VBD", "VBN", "VBG"} or root.lemma in _TALKS:
        return False
    return len(content_words(parsed.words)) > 1


def is_order(parsed: Parsed, root: Word) -> bool:
    """Whether a sentence is an imperative for something other than keeping quiet."""
    subject = parsed.child(root, "nsubj", "nsubjpass", "neg", "aux", "det")
    return (
        root.tag in {"VB", "VBP", "NN"}
        and subject is None
        and bool(content_words(parsed.words))
        and (root.low not in _KEEPS_QUIET)
    )


def object_to_forget(text: str) -> frozenset[str]:
    """The content words of what an order to keep quiet has as its object: "please forget Bello"."""
    parsed = parse(text)
    root = parsed.root if parsed is not None else None
    thing = parsed.child(root, "dobj") if parsed is not None and root is not None else None
    if parsed is None or root is None or thing is None or root.low not in _KEEPS_QUIET:
        return frozenset()
    return frozenset(content_words(parsed.subtree(thing)))


_KEEPS_QUIET = listed(
    "keep leave forget skip omit hush shush unhear unsee unsay spare bury burn scratch scrap lose take disregard ignore"
)


def may_point(text: str) -> bool:
    """Whether a text has words that refer to what was said, or to where it is stored."""
    return _OF_WORDS.search(text) is not None


_OF_WORDS = re.compile(
    r"\b(?:it|that|these|those|them|he|him|she|her|they|what|which|here|this(?! (?:time|once|moment)\b)|\w+thing|"
    r"things?|parts?|bits?|stor(?:y|ies)|stuff|matter|business|words?|sentences?|remarks?|pieces?|facts?|notes?|"
    r"memor(?:y|ies)|record|book|album|summary|message|last|previous|above|entry|one|private|secret|sealed|mum|names?)\b",
    re.IGNORECASE,
)


def means_part(inside: Iterable[Sentence]) -> bool:
    """Whether a request names a part of what was said: "that's one for the pub, not for your archive"."""
    return any(_PART.search(each.text) for each in inside)


def means_all(inside: Iterable[Sentence]) -> bool:
    """Whether a request names all that was said before it: "don't keep any of that"."""
    return any(_ANY_OF_IT.search(each.text) for each in inside)


_ANY_OF_IT = re.compile(r"\b(?:any|all|none|nothing) of (?:that|this|it)\b|\ball (?:that|this)\b", re.IGNORECASE)
_PART = re.compile(r"\b(?:bit|part|one|last)\b", re.IGNORECASE)


def announces(text: str) -> bool:
    """Whether a request is about what follows it: "Can I tell you something off the record?"."""
    return _ANNOUNCES.search(text) is not None


_ANNOUNCES = re.compile(
    r"\b(?:something|one thing|a secret|a thing|what i(?:'m|’m| am)? (?:about|going|tell|say|write)"
    r"|(?:can|may|let me) (?:i )?(?:say|tell|ask)|incognito|private (?:round|mode))\b",
    re.IGNORECASE,
)


def with_antecedents(told: Sequence[Sentence]) -> Sequence[Sentence]:
    """The last sentence, and the one before it if its first word leans on that: "I told my wife. She cried."."""
    return told[-2:] if _LEANS.match(told[-1].text) else told[-1:]


_LEANS = re.compile(r"(?:(?:and|but|so|then|now) )*(?:he|she|they|it)\b", re.IGNORECASE)
