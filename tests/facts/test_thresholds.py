"""The similarity settings against the bundled embedder: what they let through is what the settings say they do."""

from functools import cache

import numpy as np
import pytest

from facts.policy import relation
from language.embedders.e5.embedder import BundledEmbedder

from . import pairs

NAMES = ["Rose", "Henry", "Aunt Mary", "Grandma Rose Ellington"]
"""As in the table of the settings: the longer a name in both, the nearer are two statements to each other."""


@pytest.fixture(scope="module")
def cosines():
    embedder = BundledEmbedder()

    @cache
    def of(group, name):
        named = [[text.replace("Rose", name, 1) for text in pair] for pair in getattr(pairs, group)]
        first, second = (embedder.embed_passages(list(side)) for side in zip(*named, strict=True))
        return named, np.sum(first * second, axis=1)

    return of


@pytest.mark.parametrize("name", NAMES)
def test_no_two_facts_are_taken_for_one(cosines, name):
    """Without a model that knows better, only pairs that say the same are dropped, bar one known opposite."""
    for group, most in (("RELATED", 0), ("UNRELATED", 0), ("CONTRADICTS", 1)):
        taken = [
            pair
            for pair, cosine in zip(*cosines(group, name), strict=True)
            if relation(*pair, float(cosine), "different")
        ]
        assert len(taken) <= most, taken


@pytest.mark.parametrize("name", NAMES)
def test_most_repetitions_are_recognised(cosines, settings, name):
    _, same = cosines("SAME", name)
    assert np.sum(same >= settings.FACT_DUPLICATE_SIMILARITY) >= 12
    assert np.sum(same >= settings.SUPPRESSION_SIMILARITY) >= 18


@pytest.mark.parametrize("name", NAMES)
def test_whatever_matters_is_near_enough_to_be_compared(cosines, settings, name):
    for group, least in (("SAME", 25), ("CONTRADICTS", 23)):
        assert np.sum(cosines(group, name)[1] >= settings.FACT_RELATED_SIMILARITY) >= least
