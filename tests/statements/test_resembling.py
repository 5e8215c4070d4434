"""What may mean something that was rejected, with the bundled embedder: how much is found, and how much falsely."""

import numpy as np
import pytest
from django.conf import settings

from language.embedders.e5.embedder import BundledEmbedder
from language.reading.compare import Saying
from statements.policy.resembling import resembles

from . import resembling


@pytest.fixture(scope="module")
def shares():
    """``shares(pairs, known)``: the share of pairs that resemble each other; ``known``: the rejected text is there."""
    embedder = BundledEmbedder()

    def of(pairs, known=True):
        rejected, said = (embedder.embed_passages(list(side)) for side in zip(*pairs, strict=True))
        cosines = np.sum(rejected * said, axis=1).tolist()
        found = [
            cosine >= settings.SUPPRESSION_SIMILARITY and resembles(Saying(new), old if known else None, cosine)
            for (old, new), cosine in zip(pairs, cosines, strict=True)
        ]
        return sum(found) / len(found)

    return of


@pytest.mark.parametrize(
    ("paraphrases", "near", "found", "without_the_text", "falsely"),
    [
        (resembling.PARAPHRASES, resembling.NEAR, 0.85, 0.7, 0.05),
        (resembling.UNSEEN_PARAPHRASES, resembling.UNSEEN_NEAR, 0.8, 0.65, 0.05),
    ],
)
def test_paraphrases_of_what_was_rejected_wait_and_other_claims_do_not(
    shares, paraphrases, near, found, without_the_text, falsely
):
    assert shares(paraphrases) >= found
    assert shares(paraphrases, known=False) >= without_the_text
    assert shares(near) <= falsely
    assert shares(near, known=False) <= falsely
