from dataclasses import replace

import pytest

from retrieval.reranking import RerankCandidate, scores_in_context
from retrieval.text import QuestionNames
from retrieval.weights import SearchWeights

WEIGHTS = SearchWeights(neighbours=0.5, further_neighbours=0.25, context_words=60, speaker=0.8)


def turns(*found, talk="a", words=60):
    return [
        RerankCandidate(place, score, 0.0, None, None, talk=talk, place=place, words=words)
        for place, score in enumerate(found)
    ]


def test_neighbours_on_both_sides_lift_a_turn_by_half_when_it_has_as_many_words_as_context_words():
    scores = scores_in_context(turns(1, 0, 0, 4, 0, 0), "?", WEIGHTS)
    assert scores == pytest.approx([1, 0.25 + 0.5, 1 + 0.125, 4, 1, 0.5])


def test_short_turns_lean_more_on_their_neighbours_than_long_ones():
    gains = [scores_in_context(turns(0, 2, words=words), "?", WEIGHTS)[0] for words in (0, 6, 60, 600)]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] == pytest.approx(1)
    assert gains[-1] < 0.1


def test_a_neighbour_below_the_average_takes_nothing_away():
    assert scores_in_context(turns(1, -3), "?", WEIGHTS) == pytest.approx([1, -3 + 0.25])


def test_turns_of_another_talk_and_missing_ones_are_no_neighbours():
    first, second = turns(1, 2)
    assert scores_in_context([first, replace(second, talk="b")], "?", WEIGHTS) == [1, 2]
    assert scores_in_context([first, replace(second, place=3)], "?", WEIGHTS) == [1, 2]


def test_without_weights_the_scores_stay():
    off = replace(WEIGHTS, neighbours=0, further_neighbours=0, speaker=0)
    assert scores_in_context(turns(1, 2, 3), "?", off) == [1, 2, 3]
    assert scores_in_context(turns(1, 2, 3), "?", replace(WEIGHTS, context_words=0)) == [1, 2, 3]
    assert scores_in_context([], "?", WEIGHTS) == []


def test_what_speaks_for_a_turn_is_not_passed_on_to_its_neighbours():
    first, second = turns(1, 2)
    plain = scores_in_context([first, second], "?", WEIGHTS)
    lifted = scores_in_context([first, replace(second, prior=5.0)], "?", WEIGHTS)
    assert lifted == pytest.approx([plain[0], plain[1] + 5])


def test_the_speaker_that_the_question_names_is_lifted():
    first, second = turns(1, -9)
    scores = scores_in_context([replace(first, speaker="Rosa"), second], "What did rosa plant?", WEIGHTS)
    assert scores[0] == pytest.approx(1.8)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What did Caroline say?", "Caroline"),
        ("what did caroline say", "Caroline"),
        ("What are Caroline's plans?", "Caroline Berg"),
        ("What did Karoline say?", "Caroline"),
        ("When did Debora move?", "Deborah"),
        ("Was sagte José?", "Jose"),
        ("田中さんは何と言いましたか", "田中"),
        ("Did Bo call?", "Bo"),
    ],
)
def test_a_name_is_found_in_a_question(question, name):
    assert QuestionNames(question).contain(name)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What did Caroline say?", "Melanie"),
        ("which carolina reaper did she eat", "Caroline"),
        ("What did Joan plant?", "Jolene"),
        ("Did Al call?", "Alfred"),
        ("What about a plan B?", "B"),
        ("What did Caroline say?", ""),
        ("", "Caroline"),
    ],
)
def test_what_only_looks_like_a_name_is_none(question, name):
    assert not QuestionNames(question).contain(name)
