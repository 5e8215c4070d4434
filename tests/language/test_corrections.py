"""How well corrections, differences and paraphrases are told apart: floors on pairs, half of them written unseen."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from django.conf import settings

from language.embedders.e5.embedder import BundledEmbedder
from language.reading import compare as comparing
from language.reading.compare import Saying, compare, parse_pairs
from language.reading.parse import parse_each
from memories.policy.bands import Band, Neighbour, Thresholds

CORPUS = {
    half: {kind: [[part.strip() for part in row.split("|")] for row in rows] for kind, rows in kinds.items()}
    for half, kinds in yaml.load(
        Path(__file__).with_name("corrections.yaml").read_text("utf-8"), yaml.CSafeLoader
    ).items()
}


@pytest.fixture(scope="module")
def bands():
    """``bands(pairs)``: what becomes of each new statement beside the one that is remembered."""
    embedder = BundledEmbedder()

    def of(rows):
        old, new = (embedder.embed_passages([row[side] for row in rows]) for side in (0, 1))
        pairs = [(Saying(row[1], "".join(row[2:])), Saying(row[0])) for row in rows]
        parse_pairs(pairs)
        return [
            Neighbour("a", stood.content, cosine, saying=stood).band(said, Thresholds.of(""))
            for (said, stood), cosine in zip(pairs, np.sum(old * new, axis=1).tolist(), strict=True)
            if cosine >= settings.MEMORY_LINK_MIN_SIMILARITY
        ]

    return of


def read(rows):
    """Pairs of texts as sayings, parsed together."""
    pairs = [(Saying(one), Saying(other)) for one, other in rows]
    parse_pairs(pairs)
    return pairs


@pytest.mark.corpus
@pytest.mark.parametrize(("half", "floor"), [("developed_on", 0.9), ("unseen", 0.8), ("mended", 0.83)])
def test_corrections_replace(bands, half, floor):
    rows = CORPUS[half]["replaced"]
    assert bands(rows).count(Band.RECREATE) >= floor * len(rows)


@pytest.mark.corpus
@pytest.mark.parametrize("half", CORPUS)
def test_what_stands_beside_it_is_replaced_by_nothing_and_the_same_as_nothing(bands, half):
    assert not {Band.RECREATE, Band.UPDATE, Band.REINFORCE} & set(bands(CORPUS[half]["traps"]))


@pytest.mark.corpus
@pytest.mark.parametrize("half", ["developed_on", "unseen"])
def test_no_two_that_differ_in_one_thing_are_the_same(half):
    rows = read(CORPUS[half]["minimal"])
    assert [row for row in rows if "same" in {compare(*row), compare(*reversed(row))}] == []


@pytest.mark.parametrize(("half", "floor"), [("developed_on", 0.5), ("unseen", 0.44)])
def test_paraphrases_are_the_same_or_left_to_a_model(half, floor):
    found = [compare(*row) for row in read(CORPUS[half]["paraphrases"])]
    assert found.count("same") >= floor * len(found)
    assert set(found) <= {"same", "different"}


def test_what_has_to_be_read_is_read_at_once(monkeypatch):
    new = Saying("The user plays the viola.")
    old = [Saying(f"The user plays the {each}.") for each in ("cello", "flute", "viola")] + [Saying("Otto is tall.")]
    verdicts = [compare(each.content, new.content) for each in old]
    read = []
    monkeypatch.setattr(comparing, "parse_each", lambda texts, **how: read.append(texts) or parse_each(texts, **how))
    monkeypatch.setattr(comparing, "parse", lambda text, **how: pytest.fail(f"{text} was read alone"))
    parse_pairs([(new, each) for each in old])
    assert read == [["The user plays the cello.", "The user plays the viola.", "The user plays the flute."]]
    assert [new.to(each) for each in old] == verdicts
