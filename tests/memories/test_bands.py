"""What a new statement is taken for beside one that is remembered."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from language.embedders.e5.embedder import BundledEmbedder
from language.reading.compare import Saying, compare
from memories.policy.bands import Band, Neighbour, Thresholds, band, nearest_band
from statements.policy.resembling import particulars_agree

from . import pairs

VERDICTS = ["same", "replaces", "contradicts", "different"]
SIMILARITIES = st.floats(-1, 1)
THRESHOLDS = st.lists(st.floats(0.01, 1), min_size=4, max_size=4).map(lambda values: Thresholds(*sorted(values)[::-1]))
EASY = Thresholds(auto=0.9, update=0.8, check_low=0.7, fallback_low=0.6)


class TestBand:
    @given(SIMILARITIES, st.sampled_from(VERDICTS), THRESHOLDS)
    def test_it_is_always_one(self, similarity, verdict, thresholds):
        assert band(similarity, verdict, thresholds) in Band

    @given(SIMILARITIES, SIMILARITIES, st.sampled_from(VERDICTS), THRESHOLDS)
    def test_nearer_is_never_less(self, one, other, verdict, thresholds):
        low, high = sorted((one, other))
        assert band(low, verdict, thresholds) <= band(high, verdict, thresholds)

    @given(SIMILARITIES, st.sampled_from(VERDICTS), THRESHOLDS)
    def test_what_it_says_holds(self, similarity, verdict, thresholds):
        found = band(similarity, verdict, thresholds)
        if found == Band.REINFORCE:
            assert verdict == "same"
            assert similarity >= thresholds.auto
        if found == Band.UPDATE:
            assert verdict == "same"
            assert similarity >= thresholds.update
        if found in {Band.RECREATE, Band.CONTRADICT}:
            assert verdict == ("replaces" if found == Band.RECREATE else "contradicts")
            assert similarity >= thresholds.check_low
        if similarity < thresholds.fallback_low:
            assert found == Band.NEW

    @given(SIMILARITIES, st.sampled_from(VERDICTS[1:]), THRESHOLDS)
    def test_only_what_says_the_same_is_taken_for_it(self, similarity, verdict, thresholds):
        assert band(similarity, verdict, thresholds) not in {Band.REINFORCE, Band.UPDATE}

    @pytest.mark.parametrize(
        ("similarity", "verdict", "expected"),
        [
            (0.95, "same", Band.REINFORCE),
            (0.95, "different", Band.UNSURE),
            (0.95, "contradicts", Band.CONTRADICT),
            (0.9, "replaces", Band.RECREATE),
            (0.85, "same", Band.UPDATE),
            (0.75, "same", Band.UNSURE),
            (0.7, "replaces", Band.RECREATE),
            (0.65, "replaces", Band.UNSURE),
            (0.6, "different", Band.UNSURE),
            (0.59, "same", Band.NEW),
        ],
    )
    def test_at_its_edges(self, similarity, verdict, expected):
        assert band(similarity, verdict, EASY) == expected

    def test_a_field_is_judged_more_strictly(self):
        of_memories, of_fields = Thresholds.of(""), Thresholds.of("city")
        assert of_fields.auto > of_memories.auto
        assert of_fields.update > of_memories.update


class TestNeighbours:
    def test_the_grammar_judges_unless_a_model_did(self):
        known = Neighbour("a", "The user's favourite colour is green.", 0.85)
        new = "The user's favourite colour is red."
        assert known.band(Saying(new), EASY) == Band.RECREATE
        assert known.band(Saying(new), EASY, {}) == Band.RECREATE
        assert known.band(Saying(new), EASY, {known.content: "different"}) == Band.UNSURE
        assert known.band(Saying(new), EASY, {known.content: "same"}) == Band.UPDATE

    def test_what_is_apart_is_never_taken_for_it(self):
        known = Neighbour("a", "Keeps bees.", 1.0, apart=True)
        assert known.band(Saying("Keeps bees."), EASY) == Band.UNSURE
        assert Neighbour("a", "Keeps bees.", 0.5, apart=True).band(Saying("Keeps bees."), EASY) == Band.NEW

    def test_what_is_near_without_a_word_in_common_is_another_matter(self):
        known = Neighbour("a", "The user plays the cello.", 0.88)
        assert known.band(Saying("The user hates fog."), EASY) == Band.NEW
        assert known.band(Saying("The user plays chess."), EASY, {known.content: "different"}) == Band.UNSURE

    def test_the_greatest_band_counts_then_the_nearest_in_it(self):
        near = Neighbour("near", "The user likes answers short.", 0.89)
        far = Neighbour("far", "The user likes answers in tables.", 0.7)
        other = Neighbour("other", "The user's favourite colour is red.", 0.71)
        assert nearest_band(Saying("The user likes answers in lists."), [far, near], EASY) == (Band.UNSURE, [near, far])
        assert nearest_band(Saying("The user's favourite colour is green."), [near, other], EASY) == (
            Band.RECREATE,
            [other],
        )
        assert nearest_band(Saying("Anything."), [], EASY) == (Band.NEW, [])


class TestParticulars:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("The user has 3 sisters.", "The user has 2 sisters."),
            ("The user has 4 spoons and 14 forks.", "The user has 14 spoons and 4 forks."),
            ("The user reports to Ana.", "The user reports to Tom."),
            ("Alec reports to Ana.", "Ana reports to Alec."),
            ("The user thinks that Tom likes Ana.", "The user thinks that Ana likes Tom."),
            ("The user was born on 4 May 1990.", "The user was born on 5 May 1990."),
        ],
    )
    def test_that_tell_two_apart(self, one, other):
        assert not particulars_agree(one, other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Maria manages the budget.", "The budget is managed by Maria."),
            ("The user lives in São Paulo.", "The user lives in Sao Paulo."),
            ("The user likes tasks due on Friday.", "The user prefers tasks to be due on Fridays."),
            ("In 2015 the user moved to Porto.", "The user moved to Porto in 2015."),
            ("用户住在里斯本。", "用户的家在里斯本。"),
        ],
    )
    def test_that_do_not(self, one, other):
        assert particulars_agree(one, other)

    @given(st.text(), st.text())
    def test_either_way_round(self, one, other):
        assert particulars_agree(one, other) == particulars_agree(other, one)
        assert particulars_agree(one, one)


@pytest.fixture(scope="module")
def measured():
    """For each group of pairs: the pairs with their cosines by the bundled embedder."""
    embedder = BundledEmbedder()

    def cosines(group):
        first, second = (embedder.embed_passages(list(side)) for side in zip(*group, strict=True))
        return np.sum(first * second, axis=1)

    names = ("SAME", "CONTRADICTS", "RELATED", "UNRELATED", "SAME_FIELDS", "FIELDS")
    return {name: list(zip(getattr(pairs, name), cosines(getattr(pairs, name)), strict=True)) for name in names}


def bands_of(group, field="", verdict=None):
    """The band of each pair with the deployment's settings, by the rules or by a verdict that is right."""
    thresholds = Thresholds.of(field)
    return [band(float(cosine), verdict or compare(*pair), thresholds) for pair, cosine in group]


class TestTheSettingsAgainstTheBundledEmbedder:
    def test_no_two_memories_are_taken_for_one(self, measured):
        for name in ("CONTRADICTS", "RELATED", "UNRELATED"):
            assert not {Band.REINFORCE, Band.UPDATE} & set(bands_of(measured[name])), name

    def test_no_two_values_of_a_field_are(self, measured):
        assert Band.REINFORCE not in bands_of(measured["FIELDS"], "city")

    def test_many_repetitions_are_recognised_at_once_and_the_others_later(self, measured):
        found = bands_of(measured["SAME"])
        assert sum(each >= Band.UPDATE for each in found) >= 8
        assert Band.NEW not in found

    def test_with_a_model_that_knows_all_are(self, measured):
        assert set(bands_of(measured["SAME"], verdict="same")) <= {Band.UPDATE, Band.REINFORCE}
        assert set(bands_of(measured["SAME_FIELDS"], "city", verdict="same")) <= {Band.UPDATE, Band.REINFORCE}

    def test_contradictions_are_near_enough_to_be_seen(self, measured):
        found = bands_of(measured["CONTRADICTS"], verdict="replaces")
        assert found.count(Band.RECREATE) >= 25

    def test_what_has_nothing_to_do_with_it_is_new(self, measured):
        assert bands_of(measured["UNRELATED"]).count(Band.NEW) >= 19
