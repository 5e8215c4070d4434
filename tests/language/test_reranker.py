"""The reranker on a server: what is asked of it in each shape, and that nothing depends on its answer."""

import time

import pytest
from django.core.exceptions import ImproperlyConfigured

from language import reranker
from language.reranker import RERANKED, is_reranking, read_choice, reranked
from tests.language.rerank_api import KEY, holding, scored, serving
from tests.language.scripted import SOON, cut, drip, endless, hang_up, silent, whole
from tests.language.test_remote_embedders import settings_from

TEXTS = ["bees", "hens", "wasps"]


@pytest.fixture(scope="module")
def server():
    with serving() as found:
        yield found


@pytest.fixture(params=["cohere", "jina"])
def kind(request):
    return request.param


@pytest.fixture(autouse=True)
def api(server, kind, settings, monkeypatch):
    settings.KEEPSAKE_RERANKER = kind
    settings.RERANKER_API_KEY = KEY
    settings.RERANKER_BASE_URL = f"{server.url}/{'v2' if kind == 'cohere' else 'v1'}"
    monkeypatch.setattr(reranker, "_rests_until", 0.0)
    server.answers(scored())
    return server


def order(texts=TEXTS, question="Who stings?"):
    return reranked(question, texts, str)


def test_the_best_answer_comes_first_in_both_shapes(api, kind):
    assert order() == ["wasps", "hens", "bees"]
    ((request),) = api.requests
    usual = {"cohere": "rerank-v3.5", "jina": "jina-reranker-v2-base-multilingual"}
    assert request.body == {
        "model": usual[kind],
        "query": "Who stings?",
        "documents": TEXTS,
        "top_n": 3,
        **({"return_documents": False} if kind == "jina" else {}),
    }


def test_the_model_is_the_one_that_is_named(api, kind, settings):
    settings.KEEPSAKE_RERANKER = f"{kind}:bge-reranker-v2-m3"
    order()
    assert api.requests[0].body["model"] == "bge-reranker-v2-m3"


def test_equal_scores_keep_their_order_and_those_not_named_come_last(api):
    api.answers(scored(lambda *_: 0.5))
    assert order() == TEXTS
    api.answers(scored(upto=1))
    assert order() == ["wasps", "bees", "hens"]


def test_the_first_fifty_are_put_in_order_and_the_rest_stays(api):
    many = [f"text {number}" for number in range(60)]
    assert order(many) == [*many[:RERANKED][::-1], *many[RERANKED:]]
    assert api.documents == [many[:50]]


def test_of_long_texts_the_beginning_is_sent_and_blank_ones_are_sound(api):
    order(["x" * 9_000, " "])
    assert [len(each) for each in api.documents[0]] == [4_000, 1]


@pytest.mark.parametrize("found", [[], ["alone"]])
def test_there_is_nothing_to_ask_about_one(api, found):
    assert order(found) == found
    assert order(TEXTS, " ") == TEXTS
    assert api.requests == []


def test_off_by_default(api, settings):
    settings.KEEPSAKE_RERANKER = ""
    assert order() == TEXTS
    assert not is_reranking()
    assert api.requests == []


@pytest.mark.parametrize(
    "answer",
    [
        *(cut, drip, endless, hang_up, silent),
        *(whole({}, status=status) for status in (302, 400, 401, 404, 429, 500, 503)),
        *(whole(body) for body in (b"no JSON", [], {}, {"results": {}}, {"results": ["x"]})),
        *(
            whole({"results": results})
            for results in (
                [{"index": 3, "relevance_score": 1}],
                [{"index": -1, "relevance_score": 1}],
                [{"index": True, "relevance_score": 1}],
                [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 2}],
                [{"index": 0}],
                [{"index": 0, "relevance_score": "1"}],
                [{"index": 0, "relevance_score": True}],
            )
        ),
        whole(b'{"results": [{"index": 0, "relevance_score": 1e999}]}'),
    ],
)
def test_whatever_it_answers_the_order_of_words_and_vectors_is_left(api, answer, settings, caplog):
    settings.KEEPSAKE_RERANKER_TIMEOUT_SECONDS = 0.3
    api.answers(answer)
    began = time.monotonic()
    assert order() == TEXTS
    assert time.monotonic() - began < SOON
    assert "not_reranked" in caplog.text
    for text in (*TEXTS, "stings", KEY):
        assert text not in caplog.text


def test_after_a_failure_it_is_let_rest(api, settings, monkeypatch):
    api.answers(whole({}, status=503), scored())
    order()
    assert not is_reranking()
    assert order() == TEXTS
    assert len(api.requests) == 1
    monkeypatch.setattr(reranker, "_rests_until", time.monotonic() - 1)
    assert order() == ["wasps", "hens", "bees"]


def test_a_server_that_is_not_there(settings):
    settings.RERANKER_BASE_URL = "http://127.0.0.1:9"
    assert order() == TEXTS


def test_no_text_is_logged_when_it_works(api, caplog):
    api.answers(holding("hens"))
    assert order()[0] == "hens"
    assert "reranked" in caplog.text
    assert "hens" not in caplog.text


@pytest.mark.parametrize("value", ["voyage", "cohere-v3", "jina:two words", "Cohere"])
def test_what_is_none_stops_the_start(monkeypatch, value):
    with pytest.raises(ImproperlyConfigured, match="KEEPSAKE_RERANKER"):
        read_choice(value)
    with pytest.raises(ImproperlyConfigured, match="KEEPSAKE_RERANKER"):
        settings_from(monkeypatch, KEEPSAKE_RERANKER=value)


@pytest.mark.parametrize(
    "environment",
    [
        {"KEEPSAKE_RERANKER": "cohere"},
        {"KEEPSAKE_RERANKER_TIMEOUT_SECONDS": "11"},
        {"KEEPSAKE_RERANKER_TIMEOUT_SECONDS": "0"},
        {"RERANKER_API_KEY": "two words"},
        {"RERANKER_BASE_URL": "ftp://rerank"},
    ],
)
def test_settings_that_can_not_be_right_stop_the_start(monkeypatch, environment):
    with pytest.raises(ImproperlyConfigured, match=next(iter(environment))):
        settings_from(monkeypatch, **environment)


@pytest.mark.parametrize("more", [{"RERANKER_API_KEY": KEY}, {"RERANKER_BASE_URL": "http://localhost:8080/v1"}])
def test_settings_that_are_right(monkeypatch, kind, more):
    assert settings_from(monkeypatch, KEEPSAKE_RERANKER=kind, **more)["KEEPSAKE_RERANKER"] == kind
