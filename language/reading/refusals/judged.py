"""Recognise refusals that no pattern covers, with the entailment network, tuned for this question.

It reads an answer after the assistant's question, another message by itself, in some 14 ms (``benchmarks.tuning``
tunes it). A linear model of words preselects what it is asked about (``benchmarks.gates.train``). Without the network
only the patterns apply. Whether the assistant asked to keep something is judged by a small network over the bundled
embedder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np

from language.backends import get_embedder, get_entailment, judged_by
from language.base import Vectors
from language.brief_caches import cached_briefly
from language.embedders.e5.embedder import BundledEmbedder
from language.embedders.http import EmbedderUnavailable
from language.entailment.model import EntailmentUnavailable
from language.gates.judging import Layers, scores
from language.reading.sentences import Sentence, split_sentences

TUNING = "refused"
WEIGHTS = Path(__file__).with_name("judged.npz")
LEAST_THAT_REFUSES, LEAST_WHERE_ORDERED, LEAST_THAT_ASKS = 1.8, -0.5, 2.0
"""The logits of a refusal, of one where a pattern matched an order to keep nothing but not what it names, and the
margin of an assistant's question whether to keep something."""
_FAR = -3.4
"""With this logit of a whole message its sentences are not asked about."""
_OF_A_PART, _SURE = 1.2, 3.0
"""The logits of a part, or of another sentence than the surest, that refuses; and of a sentence that does whatever
stands beside it."""
_MOST_WORDS, _FEWEST_OF_A_QUESTION = 24, 4
_MOST_OF_A_MESSAGE = 30
"""The most words of a message that is judged as a whole, too: of one of 44 a refusal at its end was overlooked."""
_MOST_PIECES, _MOST_SENTENCES = 12, 12
"""How many parts of a sentence, and how many last sentences that may refuse, are judged."""
_MOST_CHARACTERS = 160
_ASKED = 200
"""The characters of what the assistant said that are read, from its end."""

FEATURES = 4096
_LEAST_WORTH = -1.5
"""The linear score that a part of a message needs for the network to be asked."""
_LEAST_OF_A_QUESTION = -3.5
_ASKING = "asks_"
"""The network that tells whether an assistant asks to keep something, as its arrays begin."""

_SURELY_NOT = -4.0
_DENIED = r"\b(?:nicht|nichts|nie|niemals|kein\w*|ne|pas|jamais|nunca|non|mai|não|nem|niet|nooit|geen)\b|\bn'|^\W*no\b"
_KEEPS_ABROAD = re.compile(
    rf"^(?!.*(?:{_DENIED}))\W*(?:(?:bitte|ja|s'il te plaît|por favor|per favore|alsjeblieft)\W+)?"
    r"(?:merke?n?|notier\w*|(?:auf)?schreib\w*|speicher\w*|behalt\w*|note|retiens|garde|enregistre|mémorise|guarda\w*|anota\w*"
    r"|apunta\w*|recu[eé]rda\w*|memoriza\w*|ricorda\w*|segna\w*|salva\w*|annota\w*|lembra\w*|onthoud|noteer|bewaar"
    r"|schrijf|sla)\b"
    rf"|^(?=.*(?:{_DENIED})).*\b(?:vergiss|vergesst|vergessen|lösch\w*|oublier?|efface\w*|olvid\w+|borr\w+|dimentic\w+"
    r"|cancell\w+|esque[cç]\w+|apag\w+|vergeet|vergeten|wis)\b",
    re.IGNORECASE,
)
"""An order to keep, or not to forget, in other languages: the network takes it for a refusal."""

_EXCUSE = re.compile(r"\s*i\b", re.IGNORECASE)
"""How the reason of an order begins: "Erase it, I only had to say it once"."""

_PARTS = re.compile(r"(?:[,;:–—(]\s*|\s-+\s|\s(?=(?:but|and|so)\s))")


def has_cue(line: str) -> bool:
    """Whether a text has a short part that may refuse, by the linear model."""
    return any(_worth(line[start:end]) for each in split_sentences(line) for start, end in pieces(each))


def judged_spans(line: str, *, ordered: bool = False) -> list[tuple[int, int]]:
    """The character ranges in which a text refuses by itself, as no answer; at most one for each sentence.

    ``ordered``: a pattern matched an order to keep nothing, so a lower logit is enough.
    """
    if not ordered and not has_cue(line):
        return []
    whole = refusal_logit("", line) if len(line.split()) <= _MOST_OF_A_MESSAGE else None
    if whole is not None and whole < _FAR:
        return []
    least = LEAST_WHERE_ORDERED if ordered else LEAST_THAT_REFUSES
    told = [each for each in split_sentences(line) if ordered or has_cue(each.text)][-_MOST_SENTENCES:]
    logits = [logit for each in told if (logit := _sentence_logit(each.text, ordered=ordered)) is not None]
    if len(logits) < len(told):
        return []  # The network is off, or failed.
    best = max(logits, default=0.0)
    found: list[tuple[int, int]] = []
    for sentence, logit in zip(told, logits, strict=True):
        # A message that as a whole does not refuse counts for the sentence that does so most surely but is not sure.
        is_unsure = whole is not None and whole < 0 and logit == best < _SURE
        together = (logit + whole) / 2 if whole is not None and is_unsure else logit
        if together >= (least if logit == best else _OF_A_PART):
            found.append(_refusing_part(sentence))
    return found


def _sentence_logit(text: str, *, ordered: bool) -> float | None:
    """How surely a sentence refuses; an order also without its reason: "Erase it, I only had to say it once"."""
    whole, (head, _, reason) = refusal_logit("", text), text.partition(",")
    if whole is None or not ordered or not _EXCUSE.match(reason):
        return whole
    return max(whole, refusal_logit("", head) or whole)


def _refusing_part(sentence: Sentence) -> tuple[int, int]:
    """The part of a sentence that refuses most surely by itself, or all of it."""
    whole, *parts = list(pieces(sentence))[:_MOST_PIECES] or [(sentence.start, sentence.end)]
    surest, most = whole, _OF_A_PART
    for start, end in parts:
        logit = refusal_logit("", sentence.text[start - sentence.start : end - sentence.start])
        if logit is not None and logit >= most:
            surest, most = (start, end), logit
    return surest


def refuses(before: str, said: str) -> bool:
    """Whether a message refuses what the assistant said before it."""
    logit = refusal_logit(before, said)
    return logit is not None and logit >= LEAST_THAT_REFUSES


def refusal_logit(before: str, said: str) -> float | None:
    """How surely a text refuses to have something kept, after what the assistant said; None without the network."""
    if get_entailment() is None:
        return None
    if _KEEPS_ABROAD.search(said):
        return _SURELY_NOT
    try:
        return _logit(before[-_ASKED:].strip().replace("’", "'"), said.strip().replace("’", "'"))
    except EntailmentUnavailable:
        return None


@cached_briefly(maxsize=256)
def _logit(before: str, said: str) -> float:
    """Raises EntailmentUnavailable, so that a failure is not cached."""
    logits = judged_by(TUNING, [(before, said)])
    if logits is None:
        raise EntailmentUnavailable("Refusals are not judged.")
    return float(logits[0])


def asks(said: str) -> bool:
    """Whether the assistant's last sentence asks or announces to keep something, or its last two: "… Okay?"."""
    told = list(split_sentences(said))
    if not told:
        return False
    is_short = len(told) > 1 and len(told[-1].text.split()) < _FEWEST_OF_A_QUESTION
    last = said[told[-2 if is_short else -1].start : told[-1].end]
    is_likely = len(last.split()) <= _MOST_WORDS and _worth(last, _LEAST_OF_A_QUESTION, of=_ASKING)
    return is_likely and any(each[1] - each[0] >= LEAST_THAT_ASKS for each in _margins([last]))


def pieces(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """The parts of a sentence to judge: the whole, then the parts between commas and similar marks."""
    cuts = [match.end() for match in _PARTS.finditer(sentence.text)]
    parts = zip([0, *cuts], [*cuts, len(sentence.text)], strict=True) if cuts else ()
    for start, end in [(0, len(sentence.text)), *parts]:
        text = sentence.text[start:end].strip()
        # Not a label before a colon, or an overlong word.
        if 1 <= len(text.split()) <= _MOST_WORDS and len(text) <= _MOST_CHARACTERS and not text.endswith(":"):
            yield sentence.start + start, sentence.start + end


def features(text: str) -> list[int]:
    """Hashed features of a text: words, word bigrams and 4-grams of letters, as indices below ``FEATURES``."""
    low = " ".join(text.lower().replace("’", "'").split())
    words = re.findall(r"[\w']+", low)
    found = {*words, *(f"{one} {two}" for one, two in pairwise(["^", *words, "$"]))}
    found |= {f"#{low[start : start + 4]}" for start in range(len(low) - 3)}
    return sorted({crc32(each.encode()) % FEATURES for each in found})


@cached_briefly(maxsize=64)
def _worth(text: str, least: float = _LEAST_WORTH, *, of: str = "") -> bool:
    """Whether a part's linear score is enough for a network to judge it. ``of``: which one, as its arrays begin."""
    places = features(text)
    weights, bias = _stored()[f"{of}words"], _stored()[f"{of}words_bias"]
    return float(weights[places].sum() / max(1, len(places)) ** 0.5 + bias) > least


def _margins(texts: Sequence[str]) -> Vectors:
    """The scores of a question whether to keep something, one row per text; none without the bundled embedder."""
    embedder = get_embedder()
    if not isinstance(embedder, BundledEmbedder):
        return np.empty((0, 2), dtype=np.float32)
    try:
        vectors, traits = embedder.read_passages(texts)
    except EmbedderUnavailable:
        return np.empty((0, 2), dtype=np.float32)
    layers = Layers(*(_stored()[f"{_ASKING}{part}"] for part in Layers._fields))
    return scores(layers, np.concatenate([vectors, traits], axis=1))


@cache
def _stored() -> dict[str, Vectors]:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return {name: stored[name].astype(np.float32) for name in stored.files}
