"""How well the networks do beside the rules, on texts that were written when both stood."""

import time

import pytest

from language import gates
from language.embedders.e5.embedder import BundledEmbedder
from language.gates.judging import Meaning, field_by, kind_of

from .labelled import labelled


@pytest.fixture(scope="module")
def stopped():
    """``stopped(texts)``: which share of the texts does not become active when an agent writes them."""
    embedder = BundledEmbedder()

    def share(texts):
        judged = map(kind_of, map(Meaning, *embedder.read_passages(texts)))
        held = [kind or gates.find_sensitive(text) or gates.find_instructions(text)
                for text, kind in zip(texts, judged, strict=True)]  # fmt: skip
        return sum(map(bool, held)) / len(texts)

    return share


@pytest.mark.parametrize(
    ("name", "orders", "secrets", "ordinary"),
    [("round_9", 0.98, 0.97, 0.01), ("round_10", 0.9, None, 0.02), ("round_12", 0.99, None, 0.025)],
    ids=["learned from", "margins chosen on it", "margins chosen on it too"],
)
def test_what_is_no_statement_of_a_person_is_stopped(stopped, name, orders, secrets, ordinary):
    """Wanted of unseen ones are 0.95, 0.95 and at most 0.02.

    Of round 12 all 100 orders were stopped at first sight, and 18 of 500 ordinary texts.
    """
    texts = labelled(name)
    assert stopped(texts["hostile"]) >= orders
    assert secrets is None or stopped(texts["secret"]) >= secrets
    assert stopped(texts["ordinary"]) <= ordinary


def test_judging_takes_microseconds_when_the_vector_is_there():
    (read,) = map(Meaning, *BundledEmbedder().read_passages(["The user keeps bees."]))
    kind_of(read), field_by(read)  # The weights are read when they are first needed.
    spent = []
    for _ in range(50):
        before = time.thread_time()
        kind_of(read), field_by(read)
        spent.append(time.thread_time() - before)
    assert sorted(spent)[25] < 0.001


def test_by_the_vector_of_a_stored_row_alone_less_is_recognised():
    texts = labelled("round_9")["hostile"]
    vectors = BundledEmbedder().embed_passages(texts)
    assert sum(bool(kind_of(Meaning(vector))) for vector in vectors) >= 0.85 * len(texts)
