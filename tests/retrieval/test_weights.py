from dataclasses import astuple

import pytest

from retrieval.weights import NAMES, PARTS, SearchWeights, default_weights, weights_error, without


def test_the_setting_overrides_single_weights(settings):
    assert default_weights() == SearchWeights()
    settings.SEARCH_WEIGHTS = {"vector": 0.75, "neighbours": 0.0}
    assert default_weights() == SearchWeights(vector=0.75, neighbours=0.0)
    assert default_weights().keyword == 0.25


@pytest.mark.parametrize("part", PARTS)
def test_every_part_can_be_turned_off_by_itself(part):
    weights = SearchWeights()
    changed = {
        name
        for name, old, new in zip(
            SearchWeights.__dataclass_fields__, astuple(weights), astuple(without(part, weights)), strict=True
        )
        if old != new
    }
    assert changed == set(PARTS[part]) <= NAMES


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ({}, ""),
        ({"vector": 0.0, "speaker": 3.0}, ""),
        ({"vectors": 0.5}, "there is no weight vectors"),
        ({"vector": 1.1}, "vector must be from 0 to 1"),
        ({"centre": 2.0}, "centre must be from 0 to 1"),
        ({"speaker": -0.1}, "speaker must not be negative"),
        ({"speaker": float("nan")}, "speaker must not be negative"),
    ],
)
def test_what_is_wrong_with_the_setting_is_told(overrides, told):
    assert weights_error(overrides).startswith(told)
    assert bool(weights_error(overrides)) == bool(told)
