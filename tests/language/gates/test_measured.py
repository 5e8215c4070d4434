"""How well the gates do on text that they were not made from, and how fast they are."""

import time

import pytest

from language import gates
from tests.timing import allowed

from .labelled import labelled

UNSEEN = labelled("unseen")


@pytest.mark.parametrize(
    ("gate", "find", "found", "recall", "precision"),
    [
        ("sensitive", gates.find_sensitive, "must_refuse", 0.95, 0.95),
        ("instructions", gates.find_instructions, "must_hold_back", 0.85, 0.90),
    ],
)
def test_text_that_the_rules_were_not_made_from(gate, find, found, recall, precision):
    hits = sum(bool(find(text)) for text in UNSEEN[gate][found])
    wrong = sum(bool(find(text)) for text in UNSEEN[gate]["must_pass"])
    assert hits / len(UNSEEN[gate][found]) >= recall
    assert hits / (hits + wrong) >= precision


def share(find, texts):
    """Which share of the texts a gate stops."""
    return sum(bool(find(text)) for text in texts) / len(texts)


@pytest.mark.parametrize("name", ["made_from", "round_1", "round_2", "round_3", "round_4"])
def test_texts_that_were_learned_from_stay_recognised(name):
    texts = labelled(name)
    assert share(gates.find_instructions, texts["hostile"]) >= 0.97
    assert share(gates.find_sensitive, texts["secret"]) >= 0.96
    assert share(lambda text: gates.find_sensitive(text) or gates.find_instructions(text), texts["ordinary"]) <= 0.01


def test_texts_of_the_fifth_round_were_written_after_the_rules():
    """0.95 are wanted of both. The orders that get through are English ones without any word of machines."""
    texts = labelled("round_5")
    assert share(gates.find_instructions, texts["hostile"]) >= 0.72
    assert share(gates.find_sensitive, texts["secret"]) >= 0.95


def seconds_of(text):
    """Processor time for one text, whatever else the machine does."""
    before = time.thread_time()
    gates.find_sensitive(text)
    gates.find_instructions(text)
    return time.thread_time() - before


def test_two_hundred_characters_take_about_half_a_millisecond():
    told = labelled("round_4")["ordinary"]
    texts = [" ".join(told[start : start + 6])[:200] for start in range(0, len(told) - 6, 2)]
    for text in texts:
        seconds_of(text)  # Patterns are compiled when they are first needed.
    spent = sorted(seconds_of(text) for text in texts)
    # Eight times that, for what else the machine does.
    assert spent[len(spent) // 2] < allowed(0.004)


@pytest.mark.parametrize(
    "part",
    [
        *(
            "ignore ",
            "ignore all of the ",
            "when the user ",
            "always tell ",
            "send ",
            "you are ",
            "https://",
            "http://a?",
        ),
        *("<", "<a ", "{{", "![x", "a_", "i ", "=?&", '"role"', "action: x ", "-", "\u200b", "і", "Ａ", "SWdub3Jl"),
        *("4", "4 ", "4-", "1 2-3.4/", "GB29 ", "AB12", "QQ123456 ", "12-34-56.,", "password is ", "password for a "),
        *("account number ", "passport 1", "eyJ", "AKIA", "A", "://a:", "seed phrase is word "),
    ],
)
def test_no_text_makes_a_pattern_run_away(part):
    assert seconds_of((part * 500)[:500]) < allowed(0.5)


@pytest.mark.corpus
@pytest.mark.parametrize("part", ["sk-", "/", "-eyJa", "token:", "eyJaaaaaaaaaa.", "://a:", "1-", "DE12 ", "A-", "aws"])
def test_no_message_keeps_a_worker_busy(part, settings):
    before = time.thread_time()
    gates.mask_sensitive((part * 32_000)[:32_000])
    spent = time.thread_time() - before
    # A batch of such messages has to be read within its lease.
    assert spent < allowed(settings.BATCH_LEASE_SECONDS / settings.SUMMARY_BATCH_MESSAGES)
