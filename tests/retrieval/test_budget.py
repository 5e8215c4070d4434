import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.budget import pack

COSTS = st.lists(st.integers(0, 50), max_size=30)


@given(COSTS, st.integers(-5, 300))
def test_packing_keeps_the_order_and_the_budget(costs, budget):
    items = list(enumerate(costs))
    packed = pack(items, budget, lambda item: item[1])
    assert sorted(packed.kept + packed.dropped) == items
    assert packed.kept == sorted(packed.kept)
    assert packed.dropped == sorted(packed.dropped)
    assert packed.tokens == sum(cost for _, cost in packed.kept) <= max(budget, 0)


@given(COSTS, st.integers(0, 300))
def test_whatever_is_dropped_did_not_fit_beside_what_ranks_above_it(costs, budget):
    packed = pack(list(enumerate(costs)), budget, lambda item: item[1])
    for place, cost in packed.dropped:
        assert sum(other for number, other in packed.kept if number < place) + cost > budget


def test_a_shorter_item_further_down_still_gets_in():
    packed = pack(["aaaa", "bbbbbbbb", "cc"], 6, len)
    assert (packed.kept, packed.dropped, packed.tokens) == (["aaaa", "cc"], ["bbbbbbbb"], 6)


def test_an_item_can_not_give_tokens_back():
    with pytest.raises(ValueError, match="negative"):
        pack([1], 10, lambda item: -item)
