"""Embedders by HTTP against a server on this machine: what is sent, what an answer becomes, how every failure ends."""

import logging
import os
import time
import traceback
from dataclasses import replace
from email.utils import formatdate
from importlib.util import find_spec, module_from_spec
from threading import Thread

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from language.backends import embedder_replaced, get_embedder, get_embedder_before
from language.base import Embedder, EmbedderUnavailable
from language.embedders import http
from language.embedders.choice import MOST_DIMENSIONS, EmbedderChoice, read_choice
from language.embedders.hashing import HashingEmbedder
from language.embedders.http import Endpoint, _retry_after
from language.embedders.remote import REQUEST_TOKENS, Limits, RemoteEmbedder
from language.tokens import count_tokens
from tests.language import scripted
from tests.language.embeddings_api import (
    BROKEN,
    DIMENSIONS,
    KEY,
    answering,
    as_numbers,
    embedded,
    error,
    serving,
    vectors_for,
)

TEXTS = ["She kept bees.", "He mended clocks.", "They swam in the river."]
OPENAI = EmbedderChoice("openai", "text-embedding-3-small", DIMENSIONS)
BGE = EmbedderChoice("openai", "bge-m3", DIMENSIONS)
VOYAGE = EmbedderChoice("voyage", "voyage-4", DIMENSIONS)
LIMITS = Limits(texts=64, text_tokens=8_000, passage_seconds=20, query_seconds=10)


@pytest.fixture(scope="module")
def running():
    with serving() as api:
        yield api


@pytest.fixture
def server(running):
    running.reset()
    return running


@pytest.fixture
def make(server):
    def embedder(choice=OPENAI, *, retries=0, key=KEY, limits=None, **options):
        return RemoteEmbedder(
            choice, Endpoint(server.base_url, key, retries), replace(LIMITS, **limits or {}), **options
        )

    return embedder


# --- What is sent -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", [OPENAI, VOYAGE])
def test_it_is_an_embedder_and_keeps_the_order_of_the_texts(make, choice):
    embedder = make(choice)
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dimensions) == (choice.name, DIMENSIONS)
    rows = embedder.embed_passages(TEXTS)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, vectors_for(TEXTS), atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query(TEXTS[1]), rows[1], atol=1e-6)


def test_openai_is_told_the_dimensions(server, make):
    make().embed_passages(TEXTS)
    (sent,) = server.requests
    assert sent.body == {
        "model": "text-embedding-3-small",
        "input": TEXTS,
        "encoding_format": "base64",
        "dimensions": DIMENSIONS,
    }


def test_voyage_is_told_what_a_text_is_for(server, make):
    embedder = make(VOYAGE)
    embedder.embed_passages(TEXTS)
    embedder.embed_query("bees")
    assert [(sent.body["input_type"], sent.body["output_dimension"]) for sent in server.requests] == [
        ("document", DIMENSIONS),
        ("query", DIMENSIONS),
    ]
    assert server.requests[0].body["truncation"] is True


def test_a_model_that_can_not_shorten_its_vectors_is_not_asked_to(server, make):
    make(BGE, send_dimensions=False).embed_query("bees")
    assert "dimensions" not in server.requests[0].body


def test_prefixes_go_before_the_texts_and_mark_the_vectors(server, make):
    plain, prefixed = make(BGE), make(BGE, query_prefix="query: ", passage_prefix="passage: ")
    prefixed.embed_passages(["bees"])
    prefixed.embed_query("bees")
    assert server.inputs == [["passage: bees"], ["query: bees"]]
    assert prefixed.name.startswith(plain.name + ":")
    assert prefixed.name != make(BGE, passage_prefix="text: ").name
    assert make(BGE, query_prefix="query: ").name == plain.name


def test_numbers_are_read_as_well_as_base64(server, make):
    server.answers(as_numbers)
    np.testing.assert_allclose(make().embed_passages(TEXTS), vectors_for(TEXTS), atol=1e-6)


def test_vectors_come_out_with_length_one(server, make):
    server.answers(answering([3.0, 4.0, *[0.0] * (DIMENSIONS - 2)]))
    row = make().embed_query("bees")
    np.testing.assert_allclose(row[:2], [0.6, 0.8], atol=1e-6)


def test_without_texts_nothing_is_called(server, make):
    assert make().embed_passages([]).shape == (0, DIMENSIONS)
    assert not server.requests


def test_without_a_key_none_is_sent(server, make):
    with pytest.raises(http.EmbedderKeyRefused):
        make(key="").embed_query("bees")
    assert "authorization" not in server.requests[0].headers


def test_many_texts_go_in_several_calls(server, make):
    texts = [f"Letter {n} about the bees" for n in range(150)]
    rows = make().embed_passages(texts)
    assert [len(batch) for batch in server.inputs] == [64, 64, 22]
    np.testing.assert_allclose(rows, vectors_for(texts), atol=1e-6)


def test_many_tokens_go_in_several_calls(server, make):
    texts = ["honey bee " * 3_000] * 30
    make().embed_passages(texts)
    sizes = [sum(map(count_tokens, batch)) for batch in server.inputs]
    assert len(sizes) > 1
    assert sum(len(batch) for batch in server.inputs) == 30
    assert max(sizes) <= REQUEST_TOKENS


def test_only_the_beginning_of_a_long_text_is_sent(server, make):
    make(limits={"text_tokens": 50}).embed_passages(["honey bee " * 1_000])
    ((sent,),) = server.inputs
    assert count_tokens(sent) == 50
    assert sent + ("honey bee " * 1_000)[len(sent) :] == "honey bee " * 1_000


@pytest.mark.parametrize(
    "text", ["", " \n", "\ud83d lone surrogate", "\0", "漢字" * 9_000, "<|endoftext|>", "ﷺ" * 3_000]
)
def test_awkward_texts_are_embedded(make, text):
    np.testing.assert_allclose(np.linalg.norm(make().embed_passages([text, "bees"]), axis=1), 1, atol=1e-5)


# --- A server that takes less -----------------------------------------------------------------------------------


def test_a_server_that_takes_fewer_texts_gets_fewer(server, make):
    server.most_texts = 16
    texts = [f"Letter {n}" for n in range(64)]
    np.testing.assert_allclose(make().embed_passages(texts), vectors_for(texts), atol=1e-6)
    assert [len(batch) for batch in server.inputs] == [64, 32, 16, 16, 32, 16, 16]


def test_a_server_that_takes_shorter_texts_gets_the_beginning(server, make):
    server.most_tokens = 512
    texts = ["short", "honey bee " * 2_000, "another"]
    rows = make().embed_passages(texts)
    taken = [batch[0] for batch in server.inputs if len(batch) == 1 and batch[0].startswith("honey")]
    assert count_tokens(taken[-1]) <= 512
    np.testing.assert_allclose(rows[0], vectors_for(["short"])[0], atol=1e-6)
    np.testing.assert_allclose(rows[2], vectors_for(["another"])[0], atol=1e-6)


def test_a_server_that_takes_nothing_ends_the_call(server, make):
    server.answers(error(400))
    with pytest.raises(http.EmbedderCallRejected):
        make().embed_passages([*TEXTS, "honey bee " * 2_000])
    assert len(server.requests) < 20


# --- Failures ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", BROKEN)
def test_an_answer_that_is_not_what_was_asked_for(server, make, case):
    server.answers(BROKEN[case])
    with pytest.raises(http.EmbedderAnswerInvalid):
        make(retries=2).embed_passages(["She kept bees."])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, http.EmbedderCallRejected),
        (401, http.EmbedderKeyRefused),
        (402, http.EmbedderNotPaid),
        (403, http.EmbedderKeyRefused),
        (404, http.EmbedderNotFound),
        (429, http.EmbedderRateLimited),
        (500, http.EmbedderServerError),
        (503, http.EmbedderOverloaded),
        (529, http.EmbedderOverloaded),
        (204, http.EmbedderCallRejected),
        (307, http.EmbedderCallRejected),
    ],
)
def test_a_refusal_has_a_code_and_quotes_nothing(server, make, caplog, status, kind):
    server.answers(error(status, Location=f"{server.url}/v1/elsewhere"))
    with caplog.at_level(logging.DEBUG), pytest.raises(kind) as raised:
        make().embed_query("She kept bees.")
    told = "".join(traceback.format_exception(raised.value)) + caplog.text + repr(make().endpoint)
    assert "She kept" not in str(raised.value)
    assert kind.__name__ in caplog.text
    assert KEY not in told
    assert "She kept bees." not in caplog.text
    assert raised.value.__cause__ is None
    assert all(request.path == "/v1/embeddings" for request in server.requests)


@pytest.mark.parametrize("ending", [scripted.cut, scripted.hang_up])
def test_a_cut_connection(server, make, ending):
    server.answers(ending)
    with pytest.raises(http.EmbedderUnreachable):
        make().embed_query("bees")


def test_nobody_there():
    with serving() as gone:
        address = gone.base_url
    embedder = RemoteEmbedder(OPENAI, Endpoint(address, KEY, 0), LIMITS)
    with pytest.raises(http.EmbedderUnreachable):
        embedder.embed_query("bees")


def test_an_address_that_is_none():
    embedder = RemoteEmbedder(OPENAI, Endpoint("http://[", KEY, 0), LIMITS)
    with pytest.raises(http.EmbedderUnreachable):
        embedder.embed_query("bees")


@pytest.mark.parametrize("slow", [scripted.silent, scripted.drip, scripted.drip_headers])
def test_a_slow_server_is_given_up_in_time(server, make, slow):
    server.answers(slow)
    for seconds in scripted.PATIENCE:
        began = time.monotonic()
        with pytest.raises((http.EmbedderTimedOut, http.EmbedderUnreachable)):
            make(retries=3, limits={"query_seconds": seconds}).embed_query("bees")
        assert time.monotonic() - began < scripted.SOON
        if server.requests:
            break
    assert server.gone.wait(scripted.SOON), "the connection is closed too"


def test_several_calls_share_the_time(server, make):
    server.answers(embedded, scripted.silent)
    began = time.monotonic()
    with pytest.raises(http.EmbedderTimedOut):
        make(limits={"texts": 1, "passage_seconds": 0.5}).embed_passages(TEXTS)
    assert time.monotonic() - began < scripted.SOON


def test_time_that_is_over_before_a_call(server, make):
    with pytest.raises(http.EmbedderTimedOut):
        make(limits={"passage_seconds": 0}).embed_passages(TEXTS)
    assert not server.requests


def test_an_answer_without_an_end_is_dropped(server, make):
    server.answers(scripted.endless)
    with pytest.raises(http.EmbedderAnswerInvalid):
        make(retries=2).embed_query("bees")
    assert server.gone.wait(scripted.SOON)
    assert len(server.requests) == 1


@pytest.mark.parametrize("failure", [error(529), error(429, retry_after="0.05"), error(500), scripted.cut])
def test_what_passes_is_tried_again(server, make, failure):
    server.answers(failure, embedded)
    make(retries=1).embed_passages(TEXTS)
    assert len(server.requests) == 2


def test_it_is_tried_as_often_as_the_settings_say(server, make):
    server.answers(error(529, retry_after="0.01"))
    with pytest.raises(http.EmbedderOverloaded):
        make(retries=2).embed_query("bees")
    assert len(server.requests) == 3


def test_a_wrong_key_is_not_tried_again(server, make):
    server.answers(error(401))
    with pytest.raises(http.EmbedderKeyRefused):
        make(retries=2).embed_query("bees")
    assert len(server.requests) == 1


def test_the_server_is_waited_for_as_long_as_it_asks(server, make):
    server.answers(error(429, retry_after="0.7"), embedded)
    began = time.monotonic()
    make(retries=1).embed_query("bees")
    assert time.monotonic() - began >= 0.7


def test_a_wait_beyond_the_deadline_is_not_begun(server, make):
    server.answers(error(429, retry_after="3600"))
    began = time.monotonic()
    with pytest.raises(http.EmbedderRateLimited):
        make(retries=2).embed_query("bees")
    assert time.monotonic() - began < scripted.SOON
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("2.5", 2.5),
        ("-4", 0.0),
        ("Fri, 31 Dec 1999 23:59:59 -0000", 0.0),
        ("Fri, 31 Dec 99999999999999 23:59:59 GMT", None),
    ],
)
def test_retry_after(header, seconds):
    assert _retry_after(header) == seconds


def test_retry_after_a_date():
    assert 50 < _retry_after(formatdate(time.time() + 60, usegmt=True)) <= 60


@given(st.text())
def test_any_retry_after_is_read(header):
    wait = _retry_after(header)
    assert wait is None or wait >= 0


def test_threads_share_one(server, make):
    embedder = make()
    rows = {}

    def work(n):
        rows[n] = embedder.embed_passages([f"Letter {n}"])[0]

    threads = [Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(
        np.array([rows[n] for n in range(8)]), vectors_for([f"Letter {n}" for n in range(8)]), atol=1e-6
    )


def test_every_error_is_an_embedder_away_and_fits_a_job():
    kinds = [kind for name, kind in vars(http).items() if name.startswith("Embedder") and isinstance(kind, type)]
    assert len(kinds) > 9
    assert all(issubclass(kind, EmbedderUnavailable) and len(kind.__name__) <= 60 for kind in kinds)


# --- Settings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("bundled", EmbedderChoice("bundled")),
        ("hashing", EmbedderChoice("hashing")),
        ("openai", EmbedderChoice("openai", "text-embedding-3-small", 1_024)),
        ("openai:text-embedding-3-large", EmbedderChoice("openai", "text-embedding-3-large", 1_024)),
        ("openai:text-embedding-3-large:512", EmbedderChoice("openai", "text-embedding-3-large", 512)),
        ("openai:BAAI/bge-m3:1024", EmbedderChoice("openai", "BAAI/bge-m3", 1_024)),
        ("openai:nomic-embed-text:latest:768", EmbedderChoice("openai", "nomic-embed-text:latest", 768)),
        ("voyage", EmbedderChoice("voyage", "voyage-4", 1_024)),
        ("voyage:voyage-4-large:256", EmbedderChoice("voyage", "voyage-4-large", 256)),
    ],
)
def test_a_choice_is_read(value, expected):
    assert read_choice("KEEPSAKE_EMBEDDER", value) == expected


@pytest.mark.parametrize(
    "value",
    [
        "",
        None,
        ["openai"],
        "gpt",
        "hashing:512",
        "openai:bge-m3",
        "openai:bge-m3:latest",
        "openai:text-embedding-3-small:0",
        f"openai:text-embedding-3-small:{MOST_DIMENSIONS + 1}",
        "openai:two words:512",
        f"openai:{'m' * 80}:512",
    ],
)
def test_a_choice_that_can_not_be_is_refused_by_name(value):
    with pytest.raises(ImproperlyConfigured, match="KEEPSAKE_EMBEDDER_BEFORE"):
        read_choice("KEEPSAKE_EMBEDDER_BEFORE", value)


@pytest.fixture
def chosen(settings, server):
    settings.OPENAI_BASE_URL = settings.VOYAGE_BASE_URL = server.base_url
    settings.OPENAI_API_KEY = settings.VOYAGE_API_KEY = KEY
    settings.KEEPSAKE_EMBEDDER_RETRIES = 0
    return settings


@pytest.mark.parametrize("value", ["openai:text-embedding-3-small:256", "voyage:voyage-4:256"])
def test_the_settings_choose_a_remote_embedder(chosen, value):
    chosen.KEEPSAKE_EMBEDDER = value
    assert get_embedder().name == value
    np.testing.assert_allclose(get_embedder().embed_passages(TEXTS), vectors_for(TEXTS), atol=1e-6)


def test_the_settings_say_what_a_model_of_ones_own_is_sent(server, chosen):
    chosen.KEEPSAKE_EMBEDDER = "openai:bge-m3:256"
    chosen.OPENAI_PASSAGE_PREFIX, chosen.OPENAI_QUERY_PREFIX = "passage: ", "query: "
    get_embedder().embed_passages(["bees"])
    get_embedder().embed_query("bees")
    chosen.OPENAI_SEND_DIMENSIONS = True
    get_embedder().embed_query("bees")
    assert server.inputs == [["passage: bees"], ["query: bees"], ["query: bees"]]
    assert ["dimensions" in sent.body for sent in server.requests] == [False, False, True]


def test_the_embedder_before(chosen):
    chosen.KEEPSAKE_EMBEDDER = "openai"
    chosen.KEEPSAKE_EMBEDDER_BEFORE = ""
    assert get_embedder_before() is None
    chosen.KEEPSAKE_EMBEDDER_BEFORE = "hashing"
    assert get_embedder_before().name == "hashing:384"
    chosen.KEEPSAKE_EMBEDDER_BEFORE = "openai"
    assert get_embedder_before() is None


def test_an_embedder_replaced_for_a_while(settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"
    with embedder_replaced(HashingEmbedder(16)):
        assert get_embedder().name == "hashing:16"
    assert get_embedder().name == "hashing:384"


NAMES = [
    "KEEPSAKE_EMBEDDER",
    "KEEPSAKE_EMBEDDER_BEFORE",
    "KEEPSAKE_EMBEDDER_TIMEOUT_SECONDS",
    "KEEPSAKE_EMBEDDER_QUERY_TIMEOUT_SECONDS",
    "KEEPSAKE_EMBEDDER_RETRIES",
    "KEEPSAKE_EMBEDDER_BATCH",
    "KEEPSAKE_EMBEDDER_TEXT_TOKENS",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_SEND_DIMENSIONS",
    "OPENAI_QUERY_PREFIX",
    "OPENAI_PASSAGE_PREFIX",
    "VOYAGE_API_KEY",
    "VOYAGE_BASE_URL",
    "KEEPSAKE_RERANKER",
    "KEEPSAKE_RERANKER_TIMEOUT_SECONDS",
    "RERANKER_API_KEY",
    "RERANKER_BASE_URL",
]


def settings_from(monkeypatch, **environment):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    spec = find_spec("memory_project.settings")
    read_again = module_from_spec(spec)
    spec.loader.exec_module(read_again)
    return vars(read_again)


def test_without_settings_the_bundled_embedder_is_taken(monkeypatch):
    read = settings_from(monkeypatch, KEEPSAKE_EMBEDDER="")
    assert (read["KEEPSAKE_EMBEDDER"], read["KEEPSAKE_EMBEDDER_BEFORE"]) == ("bundled", "")
    held = 2 * read["MODEL_TIMEOUT_MAX_SECONDS"] + 2 * read["EMBEDDER_TIMEOUT_MAX_SECONDS"]
    assert held < read["BATCH_LEASE_SECONDS"]


@pytest.mark.parametrize(
    "environment",
    [
        {"KEEPSAKE_EMBEDDER": "openai", "OPENAI_API_KEY": f"{KEY}\n"},
        {"KEEPSAKE_EMBEDDER": "openai:bge-m3:1024", "OPENAI_BASE_URL": "http://localhost:8080/v1"},
        {"KEEPSAKE_EMBEDDER": "voyage", "VOYAGE_API_KEY": KEY, "KEEPSAKE_EMBEDDER_BEFORE": "bundled"},
        {"KEEPSAKE_EMBEDDER_BEFORE": "voyage", "VOYAGE_API_KEY": KEY},
    ],
)
def test_settings_that_are_right(monkeypatch, environment):
    settings_from(monkeypatch, **environment)


@pytest.mark.parametrize(
    "environment",
    [
        {"KEEPSAKE_EMBEDDER": "gpt"},
        {"KEEPSAKE_EMBEDDER": "openai"},
        {"KEEPSAKE_EMBEDDER": "voyage"},
        {"KEEPSAKE_EMBEDDER": "voyage:voyage-4:2048", "VOYAGE_API_KEY": KEY},
        {"KEEPSAKE_EMBEDDER_BEFORE": "voyage"},
        {"KEEPSAKE_EMBEDDER_BEFORE": "openai:bge-m3"},
        {"KEEPSAKE_EMBEDDER_TIMEOUT_SECONDS": "41"},
        {"KEEPSAKE_EMBEDDER_QUERY_TIMEOUT_SECONDS": "0"},
        {"KEEPSAKE_EMBEDDER_RETRIES": "-1"},
        {"KEEPSAKE_EMBEDDER_BATCH": "0"},
        {"KEEPSAKE_ENTAILMENT": "on"},
        {"KEEPSAKE_EMBEDDER_TEXT_TOKENS": "31"},
        {"OPENAI_API_KEY": "two words"},
        {"VOYAGE_API_KEY": "schlüssel"},
        {"OPENAI_BASE_URL": "api.openai.com"},
        {"VOYAGE_BASE_URL": "ftp://voyage"},
    ],
)
def test_settings_that_can_not_be_right_stop_the_start(monkeypatch, environment):
    name, value = next(iter(environment.items()))
    with pytest.raises(ImproperlyConfigured, match=name) as raised:
        settings_from(monkeypatch, **environment)
    if name.endswith("_KEY"):
        assert value not in str(raised.value)


# --- The real thing ---------------------------------------------------------------------------------------------


@pytest.mark.expensive
@pytest.mark.parametrize("choice", ["openai:text-embedding-3-small:256", "voyage:voyage-4:256"])
def test_a_real_server_finds_the_passage_about_the_question(settings, choice):
    kind = choice.partition(":")[0].upper()
    if not os.environ.get(f"{kind}_API_KEY"):
        pytest.skip(f"calls a real embedder: set {kind}_API_KEY to run it")
    settings.KEEPSAKE_EMBEDDER = choice
    settings.KEEPSAKE_EMBEDDER_QUERY_TIMEOUT_SECONDS = 20
    rows = get_embedder().embed_passages(["Rosa baked bread at dawn.", "Manuel repaired clocks.", " ", "漢字" * 9_000])
    assert rows.shape == (4, 256)
    assert int((rows @ get_embedder().embed_query("who mended watches?")).argmax()) == 1
