"""What the question whether something may be kept is answered by, where the words alone mislead."""

import pytest

from language.reading.refusals import Turn, find_refusal, may_refuse, names_what_was_said, says_yes
from language.reading.replying import NO_MODEL

TOLD = "My sister has left the church."
ASKED = "Shall I remember that?"


def refuses(answer, question=ASKED):
    return find_refusal([Turn("user", TOLD), Turn("assistant", question), Turn("user", answer)], 2) is not None


@pytest.mark.parametrize(
    "answer",
    [
        "That's hers to tell.",
        "She told me in confidence.",
        "I gave her my word.",
        "I swore to her never to tell.",
        "This goes no further.",
        "that's between me and my doctor",
        "That was confidential.",
        "I've kept that to myself for years.",
        "I'd rather not, the neighbours talk enough.",
        "Lieber nicht.",
        "Bitte nicht, das wäre mir peinlich.",
        "Mejor no.",
        "Nee, laat maar.",
    ],
)
def test_secrets_and_a_clear_no_beside_a_reason_refuse(answer):
    assert may_refuse(answer)
    assert refuses(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "If you'd be so kind.",
        "With pleasure.",
        "lol obviously",
        "yh",
        "No need to ask, note it.",
        "No problem at all, keep it.",
        "I don't want to say it twice, so yes",
        "can't see why not",
        "You'd better, because I shan't.",
        "No speeches. Yes, hold on to that so that you don't suggest one.",
        "It's no secret, you may.",
        "Not on Sundays. Get that right and you can keep it.",
        "No church, no choir, no coffee afterwards. Write it all down.",
    ],
)
def test_a_yes_in_the_words_of_a_no_keeps(answer):
    assert not refuses(answer)


@pytest.mark.parametrize(
    ("answer", "is_no"),
    [
        ("No, he was a dyer. His hands were blue till he died.", False),
        ("nope, a tanner", False),
        ("No, thank you.", True),
        ("No, that's private.", True),
        ("No. Don't write that down.", True),
    ],
)
def test_of_two_questions_a_no_that_goes_on_answers_the_first(answer, is_no):
    assert refuses(answer, "As a weaver? Shall I remember that?") == is_no


def test_what_somebody_else_says_refuses_nothing():
    """Reproduction: "my boss always says please don't write that down" withheld the message before."""
    said = "My boss always says please don't write that down."
    turns = [Turn("user", "I bought a blue tandem."), Turn("assistant", "Okay."), Turn("user", said)]
    assert find_refusal(turns, 2) is None


def test_an_order_to_keep_one_thing_takes_no_refusal_of_another_back():
    said = "Don't write down the thing about my sister, but my own birthday, note it."
    assert find_refusal([Turn("user", TOLD), Turn("assistant", "I see."), Turn("user", said)], 2) is not None


@pytest.mark.parametrize("question", ["Would you object to my keeping that?", "Do you mind if I remember that?"])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("No.", False),
        ("I wouldn't, no.", False),
        ("Not at all.", False),
        ("Yes, I would.", True),
        ("I do mind.", True),
        ("Please don't.", True),
    ],
)
def test_who_is_asked_for_objections_allows_it_by_a_no(question, answer, expected):
    assert refuses(answer, question) == expected


def test_a_no_to_what_was_asked_first_is_none():
    assert not refuses("No, she was the bookkeeper there.", "Was she a miller, shall I write that down?")


@pytest.mark.parametrize("answer", ["nein, er war Bäcker", "No, she sings in the choir still.", "Not on Sundays."])
def test_a_no_about_the_matter_is_none(answer):
    assert not refuses(answer, "Does she still go there?")
    assert not says_yes(answer)


AFFAIR = "My sister Roswitha had an affair with the priest."
OFFER = "Shall I remember that your sister Roswitha had an affair with the priest?"


def withheld_by(answer, *between):
    turns = [Turn("user", AFFAIR), *(Turn("assistant", each) for each in between), Turn("user", answer)]
    refusal = find_refusal(turns, len(turns) - 1)
    return may_refuse(answer) and refusal is not None and (0, AFFAIR) in refusal.passages


@pytest.mark.parametrize("between", [(), (OFFER,)], ids=["at once", "asked"])
@pytest.mark.parametrize(
    "answer",
    [
        "Please forget that I told you about Roswitha's affair.",
        "Forget that I mentioned the affair.",
        "Forget that I mentioned that my sister had an affair.",
        "Forget that I ever said anything about Roswitha.",
        "Don't remember that I mentioned her affair.",
        "Forget I ever mentioned the affair.",
        "forget what I said about the affair",
    ],
)
def test_telling_is_not_what_is_named(answer, between):
    assert withheld_by(answer, *between)


@pytest.mark.parametrize(
    ("answer", "declines"),
    [
        ("Forget that my brother drinks.", False),
        ("No, and what is the weather like in Graz?", True),
        ("No. My dog is called Rex.", True),
        ("Nein, und wie wird das Wetter?", True),
        ("Yes, and forget that my brother drinks.", False),
        ("No. My sister never told anyone.", False),
    ],
)
def test_what_was_just_asked_about_is_declined_by_a_no_and_not_by_what_names_something_else(answer, declines):
    assert withheld_by(answer, OFFER) == declines


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("Forget that I told you about Korbinian.", True),
        ("Don't write down what I said about the rent.", True),
        ("Please don't write down that I stole a bike.", False),
        ("I once stole a bike, forget that.", False),
    ],
)
def test_who_names_what_was_said_before_wants_it_found(said, names):
    assert names_what_was_said(said) == names


@pytest.mark.parametrize("answer", ["Annelies is a nurse.", "Lise likes drawing.", "My sister lives in Rome."])
def test_that_no_model_is_configured_makes_no_answer_a_no(answer):
    """Reproduction: after the first answer of a talk, which says so, each of these was withheld as a refusal."""
    asked = "Shall I remember that Pieter is a crane operator at the port?"
    assert not refuses(answer, f"{NO_MODEL} {asked}")
    assert refuses("no thanks", f"{NO_MODEL} {asked}")
