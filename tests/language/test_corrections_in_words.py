"""What a sentence of talk puts in the place of what, without a parse."""

import pytest

from language.reading.corrections import corrections_in, puts_right, tells_change

CELLO, DOG = "The user plays the cello.", "The user's dog is called Rex."


@pytest.mark.parametrize(
    ("said", "statement", "right"),
    [
        ("Actually it's the viola, not the cello.", CELLO, "The user plays the viola."),
        ("Actually, it’s the viola not the cello", CELLO, "The user plays the viola."),
        ("No, the viola, not the cello!", CELLO, "The user plays the viola."),
        ("Sorry, I meant the viola, not the cello.", CELLO, "The user plays the viola."),
        ("Oh, and it was viola, not cello.", CELLO, "The user plays the viola."),
        ("I play the viola, not the cello.", CELLO, "The user plays the viola."),
        ("Make that an oboe, not a cello.", "The user owns a cello.", "The user owns an oboe."),
        ("No, wait, he is called Max, not Rex.", DOG, "The user's dog is called Max."),
        ("That's wrong, it is the viola that I play, not the cello.", CELLO, "The user plays the viola."),
        ("Max, not Rex.", DOG, "The user's dog is called Max."),
        ("She lives in Faro, not in Porto.", "Ana lives in Porto.", "Ana lives in Faro."),
        ("She lives in Faro, not Porto.", "Ana lives in Porto.", "Ana lives in Faro."),
        ("No, it's blue, not red.", "The user drives a red Fiat.", "The user drives a blue Fiat."),
        ("I have three children, not two.", "The user has two children.", "The user has three children."),
        ("It's the viola, not the cello.", "The user sings.", None),
        ("It's Max, not Rex.", "The user likes Rex's kennel.", None),
    ],
)
def test_puts_a_statement_right(said, statement, right):
    assert puts_right(said)
    (found,) = corrections_in(said)
    assert found.apply_to(statement) == right


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("Not Rex, Max.", "The user's dog is called Max."),
        ("No, not Rex, Max!", "The user's dog is called Max."),
        ("not rex, max", "The user's dog is called Max."),
        ("Not Rex, sadly.", None),
        ("Not Rex, please.", None),
        ("Not today, Rex.", None),
    ],
)
def test_a_sentence_of_both_values_alone_puts_right(said, right):
    """Reproduction: "Not Rex, Max." changed nothing, and "No, not Rex, Max!" called the dog "No"."""
    (found,) = corrections_in(said)
    assert found.apply_to(DOG) == right


@pytest.mark.parametrize(
    "said",
    [
        "Is it the viola, not the cello?",
        "We swam, and the water was lovely.",
        "Not bad at all!",
        "Sorry, I am late.",
        "No, I have not been there.",
        "The viola and the cello are alike.",
    ],
)
def test_leaves_what_puts_nothing_right(said):
    assert list(corrections_in(said)) == []


@pytest.mark.parametrize(
    "said", ["Actually I don't play the cello, I play the oboe.", "I quit Siemens, I'm at Bosch now."]
)
def test_what_is_said_to_be_otherwise_now_is_read_at_once(said):
    assert puts_right(said)


@pytest.mark.parametrize(
    "said",
    [
        "I sold the Volvo; I drive a Skoda now.",
        "Anna and I got divorced in spring.",
        "We've just broken up.",
        "I moved to Faro last week.",
        "My mother takes the tram these days.",
    ],
)
def test_tells_that_something_changed(said):
    assert tells_change(said)


@pytest.mark.parametrize(
    "said", ["I drive a Volvo.", "Now and then I sing.", "I like to sell bread.", "Do I drive a Skoda now?", "Hello."]
)
def test_what_tells_no_change(said):
    assert not tells_change(said)
