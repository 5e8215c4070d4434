"""Whether a sentence beside a refusal says something itself, or only points to what was said before."""

from __future__ import annotations

import re
from collections.abc import Iterable

from language.reading.sentences import Sentence
from language.reading.words import listed

from ..parse import Parsed, Word, parse
from .subjects import content_words
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
    if subjects and parsed.head(subjects[0]).lemma in _TALKS:
        return False
    return bool(words) and not (pointing and (len(words) < 2 or not any(map(str.isdigit, text))))


_TALKS = listed("think know tell say care mind mean gossip ramble rant vent babble joke talk speak kid")


def refers_back(text: str) -> bool:
    """Whether a sentence is about a thing said before: it has "it", "this" or "that" before it names anything."""
    parsed = parse(text)
    for word in parsed.words if parsed is not None else ():
        if word.pos in {"NOUN", "PROPN"}:
            return False
        if word.low in _BACK and word.tag in {"PRP", "DT"} and word.dep != "det":
            return True
    return False


_BACK = listed("it this that these those")


def is_fragment(text: str) -> bool:
    """Whether a text has no subject."""
    parsed = parse(text)
    return parsed is not None and not any(word.dep in {"nsubj", "nsubjpass"} for word in parsed.words)


def is_order(parsed: Parsed, root: Word) -> bool:
    """Whether a sentence is an imperative for something other than keeping quiet."""
    subject = parsed.child(root, "nsubj", "nsubjpass", "neg", "aux")
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


def means_part(inside: Iterable[Sentence]) -> bool:
    """Whether a request names a part of what was said: "that's one for the pub, not for your archive"."""
    return any(_PART.search(each.text) for each in inside)


_PART = re.compile(r"\b(?:bit|part|one|last)\b", re.IGNORECASE)
