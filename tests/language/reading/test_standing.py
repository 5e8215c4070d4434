"""What can't be understood without the sentences around it is no statement."""

import pytest

from language.reading.statements import read
from tests.language.offline_talk import conversation


def told(said):
    return [one.content for one in read(conversation(said, legacy="Otto")).statements]


@pytest.mark.parametrize(
    "said",
    [
        "It was a long night. I had the key.",
        "We got to the fair late. The rain came on. I made the labels.",
        "They were all at the door. He held the torch.",
    ],
)
def test_a_moment_of_a_tale_is_no_statement(said):
    assert told(said) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("It was a long night. I had the key of the mill in Porto.", "The user had the key of the mill in Porto."),
        ("They were all there. He trained as a pharmacist.", "Otto trained as a pharmacist."),
        ("They were all there. I keep bees.", "The user keeps bees."),
        ("I had the key. Remember that I had the key.", "The user had the key."),
    ],
)
def test_what_is_understood_alone_is(said, expected):
    assert told(said) == [expected]
