"""What may mean something that was rejected, with the bundled embedder: how much is found, and how much falsely."""

from functools import cache

import numpy as np
import pytest
from django.conf import settings

from language.embedders.e5.embedder import BundledEmbedder
from language.likeness import likeness
from language.reading.compare import Saying
from language.reading.content import Content
from language.reading.figures import normalise_figures
from language.reading.parse import parse_each
from language.reading.traces import Traces
from statements.policy.resembling import LEAST_SIMILARITY, adds_to, matching, resembles

from . import resembling

TREATED = "The user was treated for gambling addiction at the Marlow clinic in 2019."


@pytest.fixture(scope="module")
def shares():
    """``shares(pairs, known)``: the share of pairs that resemble each other; ``known``: the rejected text is there."""
    embedder = BundledEmbedder()

    def of(pairs, known=True):
        rejected, said = (embedder.embed_passages(list(side)) for side in zip(*pairs, strict=True))
        _parse(text for pair in pairs for text in pair)
        cosines = np.sum(rejected * said, axis=1).tolist()
        found = [
            cosine >= settings.SUPPRESSION_SIMILARITY and resembles(_saying(new), old if known else None, cosine)
            for (old, new), cosine in zip(pairs, cosines, strict=True)
        ]
        return sum(found) / len(found)

    return of


@pytest.mark.corpus
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


@pytest.fixture(scope="module")
def waiting():
    """``waiting(texts, rejected, known)``: the share that waits for a person who rejected all of that.

    ``known`` is what is there of the rejected texts: "text", "traces" once they are purged, or the "vector" alone.
    """
    embedder = BundledEmbedder()

    def share(texts, rejected, known):
        _parse((*texts, *rejected))
        against = list(zip(rejected, embedder.embed_passages(list(rejected)), strict=True))
        waits = [
            any(_waits(text, _known(old, known), vector, stood) for old, stood in against)
            for text, vector in zip(texts, embedder.embed_passages(texts), strict=True)
        ]
        return sum(waits) / len(texts)

    return share


def _parse(texts):
    """Parse texts together, in half the time; the tests keep what was parsed."""
    parse_each([normalise_figures(text) for text in texts])


@cache
def _saying(text):
    return Saying(text)


@cache
def _known(text, known):
    return {"text": text, "vector": None}[known] if known != "traces" else Traces.of(Content(text), str)


def _waits(text, rejected, vector, stood):
    cosine = float(vector @ stood)
    match = matching(_saying(text), rejected, cosine, likeness(vector, stood), [str])
    return cosine >= LEAST_SIMILARITY and bool(match)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("paraphrases", "near", "found", "falsely"),
    [
        (resembling.TOLD_APART_PARAPHRASES, resembling.TOLD_APART_NEAR, 38, 4),
        (resembling.LAST_PARAPHRASES, resembling.LAST_NEAR, 17, 2),
    ],
    ids=["trained on these", "unseen"],
)
def test_near_but_different_statements_do_not_wait_and_paraphrases_still_do(waiting, paraphrases, near, found, falsely):
    assert sum(waiting([said], [old], known="text") for old, said in paraphrases) >= found
    assert sum(waiting([said], [old], known="text") for old, said in near) <= falsely


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("paraphrases", "near"),
    [
        (resembling.TOLD_APART_PARAPHRASES, resembling.TOLD_APART_NEAR),
        (resembling.LAST_PARAPHRASES, resembling.LAST_NEAR),
    ],
    ids=["trained on these", "unseen"],
)
def test_once_the_text_is_purged_its_traces_tell_near_statements_from_paraphrases(waiting, paraphrases, near):
    """By the vectors alone 33 of the 40 near ones waited, and 14 of the 20."""
    assert sum(waiting([said], [old], known="traces") for old, said in paraphrases) >= 0.9 * len(paraphrases)
    assert sum(waiting([said], [old], known="traces") for old, said in near) <= 0.2 * len(near)


@pytest.mark.parametrize(
    ("rejected", "said", "waits"),
    [
        ("The user prefers cats to dogs.", "The user prefers dogs to cats.", False),
        ("The user owes his brother money.", "The user's brother owes him money.", False),
        ("The user dropped out of medical school.", "The user's brother dropped out of medical school.", False),
        ("The user smokes.", "The user doesn't smoke.", False),
        ("Walter never learned to write.", "Walter never learned to drive.", False),
        ("The user owes 8,000 euros.", "The user owes 800 euros.", False),
        ("The user smokes a pipe.", "The user smokes a pipe in the garden every evening.", True),
        ("The user is afraid of dogs.", "Dogs frighten the user.", True),
        ("The user owes 11,000 euros.", "The user owes 12,000 euros.", False),
        ("The user owes twelve thousand euros.", "The user owes 12,000 euros.", True),
        ("The user owes 12,000 euros.", "The user owes 12k euros.", True),
        ("The user owes 12,000 euros.", "The user owes EUR 12,000.00.", True),
        (
            TREATED,
            "In 2019 the user had a gambling addiction.",
            True,
        ),
        (
            TREATED,
            "The user was treated for a broken leg in 2019.",
            False,
        ),
        ("The dog of the user is Max.", "The dog of the user is Rex.", False),
        ("The user plans to leave her job.", "The user plans to leave her husband.", False),
        ("The user's sister Ana sings.", "The user's sister Ana smokes.", False),
    ],
)
def test_another_role_person_denial_thing_or_number_is_another_statement(waiting, rejected, said, waits):
    assert waiting([said], [rejected], known="text") == waits


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("rejected", "ordinary", "known", "found", "falsely"),
    [
        (resembling.REJECTED, resembling.ORDINARY, "text", 0.9, 0.06),
        (resembling.REJECTED, resembling.ORDINARY, "traces", 0.9, 0.12),
        (resembling.REJECTED, resembling.ORDINARY, "vector", 0.9, 0.06),
        (resembling.UNSEEN_REJECTED, resembling.UNSEEN_ORDINARY, "text", 0.89, 0.12),
        (resembling.UNSEEN_REJECTED, resembling.UNSEEN_ORDINARY, "traces", 0.85, 0.12),
        (resembling.UNSEEN_REJECTED, resembling.UNSEEN_ORDINARY, "vector", 0.89, 0.12),
    ],
)
def test_after_twenty_rejections_what_somebody_words_anew_waits_and_little_else(
    waiting, rejected, ordinary, found, falsely, known
):
    """Wanted of unseen ones are 0.95 and 0.05. Before, by ``resembles`` alone, it were 0.51 and 0 of the first set."""
    assert waiting([each for said in rejected.values() for each in said], rejected, known) >= found
    assert waiting(ordinary, rejected, known) <= falsely


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The user was arrested in Ghent for shoplifting cheese in 2019.", True),
        ("The user was arrested in Ghent, Belgium, for shoplifting cheese.", True),
        ("The user was never arrested in Ghent for shoplifting cheese.", False),
        ("The user was arrested in Bruges for shoplifting cheese.", False),
    ],
)
def test_what_only_adds_to_something_rejected_waits_too(said, expected):
    """Reproduction: a year or a name that was added made it another statement."""
    assert adds_to(said, "The user was arrested in Ghent for shoplifting cheese.") == expected


@pytest.mark.parametrize(
    ("said", "rejected"),
    [
        ("The user owns 4 spoons and 11 forks.", "The user owns 11 spoons and 4 forks."),
        ("The user lent Ben money for Ana.", "The user lent Ana money for Ben."),
    ],
)
def test_the_same_figures_or_names_in_another_order_add_nothing(said, rejected):
    assert not adds_to(said, rejected)
