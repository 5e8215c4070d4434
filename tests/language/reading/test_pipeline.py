"""The quicker parts of the parser compute what spaCy's own do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.conf import settings
from spacy.util import load_model_from_path

from language.reading.pipeline import _folder, load
from language.reading.word_vectors import WordVectors, computes_word_vectors

TEXTS = [
    "Anna's sister hasn't moved to Lisbon since 2019, but she'd like to.",
    "",
    "It's not that I can't swim; I won't.",
    "  What   did Tom's colleagues tell you about the Müllers?\n\nNothing  ",
    "Works nights, hates being interrupted and is no longer a nurse.",
    "If so, there's nothing that both of those men, or anybody else, ought to have been doing all that time.",
    "12:30!! :-) https://example.org a@b.example #topic £4k",
]


@pytest.fixture(scope="module")
def pipelines() -> tuple[Any, Any]:
    """The pipeline as it is used, and as spaCy loads it."""
    folder = _folder(settings.KEEPSAKE_READING_MODEL)
    assert folder is not None
    return load(settings.KEEPSAKE_READING_MODEL), load_model_from_path(folder)


@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1], TEXTS[1:3]])
def test_word_vectors_are_equal_up_to_rounding(pipelines: tuple[Any, Any], texts: list[str]) -> None:
    quick, plain = ([pipeline.get_pipe("tok2vec"), map(pipeline.make_doc, texts)] for pipeline in pipelines)
    for one, other in zip(*(part.predict(list(docs)) for part, docs in (quick, plain)), strict=True):
        assert one.shape == other.shape
        assert np.allclose(one, other, atol=1e-5)


def test_all_models_of_word_vectors_are_quick(pipelines: tuple[Any, Any]) -> None:
    models = [part.model for _, part in pipelines[0].pipeline if getattr(part, "model", None)]
    found = [layer for model in models for layer in model.walk() if computes_word_vectors(layer)]
    assert [type(layer._func) for layer in found] == [WordVectors, WordVectors]


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_rules_apply(pipelines: tuple[Any, Any], text: str) -> None:
    quick, plain = (
        [(rule, start, stop) for rule, _, start, stop in pipeline.get_pipe("attribute_ruler").match(pipeline(text))]
        for pipeline in pipelines
    )
    assert quick == list(dict.fromkeys(plain))
    assert quick or not text


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_parsed_alike(pipelines: tuple[Any, Any], text: str) -> None:
    quick, plain = (pipeline(text).to_json() for pipeline in pipelines)
    assert quick == plain
