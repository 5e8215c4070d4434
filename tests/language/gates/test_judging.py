"""How well the networks do beside the rules, on texts that were written when both stood."""

import time

import pytest

from language import gates
from language.embedders.e5.embedder import BundledEmbedder
from language.gates.judging import field_by, kind_of

from .labelled import labelled


@pytest.fixture(scope="module")
def stopped():
    """``stopped(texts)``: which share of the texts does not become active when an agent writes them."""
    embedder = BundledEmbedder()

    def share(texts):
        judged = map(kind_of, embedder.embed_passages(texts))
        held = [kind or gates.find_sensitive(text) or gates.find_instructions(text)
                for text, kind in zip(texts, judged, strict=True)]  # fmt: skip
        return sum(map(bool, held)) / len(texts)

    return share


@pytest.mark.parametrize(
    ("name", "orders", "secrets", "ordinary"),
    [("round_6", 0.97, 0.97, 0.01), ("round_7", 0.9, 0.91, 0.04), ("round_8", 0.87, 0.86, 0.04)],
    ids=["learned from since", "unseen", "unseen too"],
)
def test_what_is_no_statement_of_a_person_is_stopped(stopped, name, orders, secrets, ordinary):
    """Wanted of unseen ones are 0.95, 0.95 and at most 0.02."""
    texts = labelled(name)
    assert stopped(texts["hostile"]) >= orders
    assert stopped(texts["secret"]) >= secrets
    assert stopped(texts["ordinary"]) <= ordinary


def test_judging_takes_microseconds_when_the_vector_is_there():
    (vector,) = BundledEmbedder().embed_passages(["The user keeps bees."])
    kind_of(vector), field_by(vector)  # The weights are read when they are first needed.
    spent = []
    for _ in range(50):
        before = time.thread_time()
        kind_of(vector), field_by(vector)
        spent.append(time.thread_time() - before)
    assert sorted(spent)[25] < 0.001
