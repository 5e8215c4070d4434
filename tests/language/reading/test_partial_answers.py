"""Answers that let a part be kept of what the assistant asked about."""

import pytest

from language.reading.refusals import leaves_open, says_yes
from language.reading.refusals.parts import asked_statements, choose, passages_about, told_beside_only

CAT, BROTHER, COFFEE = (
    "you have a cat named Minka",
    "your brother Paul lives in Graz",
    "you drink four coffees a day",
)
ASKED = f"Shall I remember that {CAT} and that {BROTHER} and that {COFFEE}?"


def test_the_statements_asked_about():
    assert asked_statements(f"I see. {ASKED}") == [CAT, BROTHER, COFFEE]
    assert asked_statements("I will remember that you live in Porto.") == []


@pytest.mark.parametrize(
    ("answer", "kept", "refused"),
    [
        ("the first two yes, the coffee no", {CAT, BROTHER}, {COFFEE}),
        ("only the first one", {CAT}, {BROTHER, COFFEE}),
        ("only Minka please", {CAT}, {BROTHER, COFFEE}),
        ("Only remember Minka, nothing else.", {CAT}, {BROTHER, COFFEE}),
        ("Minka, and not the rest", {CAT}, {BROTHER, COFFEE}),
        ("just the second", {BROTHER}, {CAT, COFFEE}),
        ("the rest is fine, but don't keep the coffee thing", {CAT, BROTHER}, {COFFEE}),
        ("all but the coffee", {CAT, BROTHER}, {COFFEE}),
        ("everything except Paul", {CAT, COFFEE}, {BROTHER}),
        ("yes, but not the last one", {CAT, BROTHER}, {COFFEE}),
        ("no, only the first", {CAT}, {BROTHER, COFFEE}),
        ("keep the first and forget the rest", {CAT}, {BROTHER, COFFEE}),
        ("Paul no. the others yes", {CAT, COFFEE}, {BROTHER}),
        ("not the coffee", set(), {COFFEE}),
        ("No, not the coffee", set(), {COFFEE}),
        ("the coffee is private", set(), {COFFEE}),
    ],
)
def test_what_is_agreed_to_and_refused(answer, kept, refused):
    chosen = choose(ASKED, answer)
    assert (set(chosen.kept), set(chosen.refused)) == (kept, refused)


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        "no",
        "both please",
        "none of them",
        "I don't drink coffee",
        "My brother also plays chess",
        "no, my brother lives in Linz",
        "yes, and I have a dog",
        "the first two?",
    ],
)
def test_what_chooses_nothing(answer):
    assert choose(ASKED, answer) is None


def test_one_statement_has_no_parts():
    assert choose(f"Shall I remember that {CAT}?", "only Minka please") is None


@pytest.mark.parametrize(
    ("said", "kept", "refused", "going"),
    [
        (["I have a cat.", "I hate tea."], "you have a cat", "you hate tea", ["I hate tea."]),
        (["I love coffee and hate tea."], "you hate tea", "you love coffee", ["love coffee and"]),
        (["My sister Ana, a vet, lives in Porto."], "Ana lives in Porto", "Ana is a vet", ["a vet,"]),
        (["Ana tests toys for a firm."], "Ana works for a firm", "Ana tests toys", ["Ana tests toys for a firm."]),
    ],
)
def test_the_words_of_what_is_refused(said, kept, refused, going):
    assert passages_about(said, [kept], [refused]) == going


def test_what_is_told_nowhere_has_no_words():
    assert passages_about(["I have a cat."], ["you have a cat"], ["you hate tea"]) is None


@pytest.mark.parametrize(
    "said", ["hmm maybe", "Where do I live?", "[withheld]", "Forget that I eat meat.", "the first"]
)
def test_what_leaves_a_question_open(said):
    assert leaves_open(said)


def test_what_tells_something_leaves_none_open():
    assert not leaves_open("I'm so tired today.")


@pytest.mark.parametrize(
    ("said", "agrees"), [("well ok then yes", True), ("all three", True), ("both work in Graz", False), ("well", False)]
)
def test_a_yes_after_hesitation(said, agrees):
    assert says_yes(said) is agrees


@pytest.mark.parametrize(
    ("said", "beside"),
    [
        (
            ["I owe Jo 900 euros and I play the oboe.", "Only remember that I play the oboe."],
            ["I owe Jo 900 euros and"],
        ),
        (["My son has asthma.", "I ride.", "Please remember only that I ride."], ["My son has asthma."]),
        (["Hello there!", "Only remember that I keep bees."], []),
        (["I keep bees.", "Only remember that I keep bees."], []),
        (["I bought a coat.", "Only keep the receipts."], []),
        (["Grandma died when I was four.", "Only remember that she sang."], []),
        (["She was lovely.", "I only remember that my gran sang."], []),
    ],
)
def test_what_a_message_tells_beside_what_alone_it_asks_to_keep(said, beside):
    assert told_beside_only(said) == beside
