"""The parts that a memory consists of, and what of it stays when one of them is outdated."""

import pytest

from language.reading.compare import Saying
from language.reading.revising import parts_of, with_rest


@pytest.mark.parametrize(
    ("memory", "said", "left"),
    [
        (
            "The user has diabetes type 2 and takes metformin.",
            "The user stopped taking metformin in spring.",
            "The user has diabetes type 2 and stopped taking metformin in spring.",
        ),
        (
            "The user has asthma grade 2 and uses a spray.",
            "The user does not use a spray anymore.",
            "The user has asthma grade 2 and does not use a spray anymore.",
        ),
    ],
)
def test_what_a_change_does_not_touch_stays(memory, said, left):
    """Reproduction: the diabetes went with the metformin, since the verb was taken to join another word."""
    assert with_rest(memory, said, Saying(said)) == left


@pytest.mark.parametrize(
    "memory",
    [
        "The user can sing and play the piano.",
        "The user grows tomatoes and beans.",
        "The user likes to swim and take photos.",
        "The user wants a dog that barks and guards the house.",
    ],
)
def test_what_is_no_statement_of_its_own_is_no_part(memory):
    assert parts_of(memory) == (memory,)
