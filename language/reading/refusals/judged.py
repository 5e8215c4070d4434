"""Recognise refusals that no pattern covers, with a small network over the bundled embedder.

``benchmarks.gates.train`` trains it. A linear model of words preselects what is embedded, which takes some 7 ms a part.
With another embedder nothing is judged, and only the patterns apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np

from language.backends import get_embedder
from language.base import Vectors
from language.brief_caches import cached_briefly
from language.embedders.e5.embedder import BundledEmbedder
from language.embedders.http import EmbedderUnavailable
from language.gates.judging import Layers, scores
from language.reading.sentences import Sentence, split_sentences

WEIGHTS = Path(__file__).with_name("judged.npz")
CLASSES = ("neither", "points", "no", "asks")
NEITHER, POINTS, NO, _ = range(len(CLASSES))
_ASKING = "asks_"
"""The network that tells whether an assistant asks to keep something, as its arrays begin."""
LEAST_THAT_POINTS, LEAST_THAT_DECLINES, LEAST_THAT_ASKS = 2.75, -0.5, 2.0
"""At these, 1 to 3 of 229 messages of people who refuse nothing (LoCoMo) are classified as refusals."""
LEAST_WHERE_ORDERED = -1.0
"""The same where a pattern matched an order to keep nothing, but not what it names."""
_CERTAIN = 4.0
"""From this margin on, a whole sentence counts as clearly as a part of it."""
_LEAST_OF_A_SENTENCE = -4.0
"""The margin a whole sentence needs for its parts to be judged too."""
_MOST_WORDS, _FEWEST_OF_A_QUESTION = 24, 4
_MOST_PIECES = 12
_MOST_CHARACTERS = 160

FEATURES = 4096
_LEAST_WORTH = -1.5
"""The linear score a part needs to be embedded: two in five ordinary parts have it, 99 of 100 requests."""
_LEAST_OF_A_QUESTION = -3.5

_PARTS = re.compile(r"(?:[,;:–—(]\s*|\s-+\s|\s(?=(?:but|and|so)\s))")


def has_cue(line: str) -> bool:
    """Whether a text has a short part that may refuse, by the linear model."""
    return any(_worth(line[start:end]) for each in split_sentences(line) for start, end in pieces(each))


def judged_spans(line: str, *, ordered: bool = False) -> list[tuple[int, int]]:
    """The character ranges in which a text refuses; at most one for each sentence.

    ``ordered``: a pattern matched an order to keep nothing, so a lower margin is enough.
    """
    least = LEAST_WHERE_ORDERED if ordered else LEAST_THAT_POINTS
    found: list[tuple[int, int]] = []
    left = _MOST_PIECES
    for sentence in split_sentences(line):
        asking: dict[tuple[int, int], float] = {}
        whole = sentence.start, sentence.end
        for start, end in pieces(sentence):
            if not ordered and not _worth(line[start:end]):
                continue
            margins = _margins([line[start:end]])
            left -= 1
            if not len(margins) or left < 0:
                return found
            margin = float(margins[0][POINTS] - margins[0][NEITHER])
            if margin >= least:
                asking[start, end] = margin
            elif (start, end) == whole and margin < _LEAST_OF_A_SENTENCE:
                break
        found += sorted(asking, key=lambda each: (asking[each] < _CERTAIN, each == whole))[:1]
    return found


def declines(answer: str) -> bool:
    """Whether the answer to a request to keep something is no."""
    if len(answer) > _MOST_CHARACTERS:
        return False
    said = [answer, *(each.text for each in split_sentences(answer) if each.text != answer)]
    margins = _margins(list(dict.fromkeys(text.strip().replace("’", "'") for text in said)))
    return any(max(each[POINTS], each[NO]) - each[NEITHER] >= LEAST_THAT_DECLINES for each in margins)


def asks(said: str) -> bool:
    """Whether the assistant's last sentence asks or announces to keep something, or its last two: "… Okay?"."""
    told = list(split_sentences(said))
    if not told:
        return False
    is_short = len(told) > 1 and len(told[-1].text.split()) < _FEWEST_OF_A_QUESTION
    last = said[told[-2 if is_short else -1].start : told[-1].end]
    is_likely = len(last.split()) <= _MOST_WORDS and _worth(last, _LEAST_OF_A_QUESTION, of=_ASKING)
    return is_likely and any(each[1] - each[0] >= LEAST_THAT_ASKS for each in _margins([last], of=_ASKING))


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
    """Whether a part's linear score is enough for it to be embedded. ``of``: which network judges it then."""
    places = features(text)
    weights, bias = _stored()[f"{of}words"], _stored()[f"{of}words_bias"]
    return float(weights[places].sum() / max(1, len(places)) ** 0.5 + bias) > least


def _margins(texts: Sequence[str], *, of: str = "") -> Vectors:
    """The scores of each class, one row per text; no rows without the bundled embedder."""
    embedder = get_embedder()
    if not texts or not isinstance(embedder, BundledEmbedder):
        return np.empty((0, len(CLASSES)), dtype=np.float32)
    try:
        vectors, traits = embedder.read_passages(texts)
    except EmbedderUnavailable:
        return np.empty((0, len(CLASSES)), dtype=np.float32)
    layers = Layers(*(_stored()[f"{of}{part}"] for part in Layers._fields))
    return scores(layers, np.concatenate([vectors, traits], axis=1))


@cache
def _stored() -> dict[str, Vectors]:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return {name: stored[name].astype(np.float32) for name in stored.files}
