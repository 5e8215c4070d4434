"""What shortens something rejected, or says it in wider words, waits for the person; what only names the same does not.

The pairs were written after the limit was chosen on 88 others, of which 14 of 41 waited before, and 39 since.
"""

import pytest

from language.embedders.e5.embedder import BundledEmbedder
from language.likeness import likeness
from language.reading.compare import Saying
from memories.actions import memory_reject
from statements.policy.resembling import LEAST_SIMILARITY, RESEMBLES, is_far, matching
from tests.memories.rest import add

DEBT = "Karl owes the user nine thousand euros."
LESS = [
    ("The user crashed a rented van into a bus stop.", "The user crashed a van."),
    ("The user crashed a rented van into a bus stop.", "The user had an accident."),
    ("Nadia sold her grandmother's ring to a pawnbroker.", "Nadia sold a ring."),
    ("Nadia sold her grandmother's ring to a pawnbroker.", "Nadia sold some jewellery."),
    ("The user's cousin Bruno steals from the parish.", "Bruno is a thief."),
    ("The user's cousin Bruno steals from the parish.", "Bruno steals."),
    ("The user sees a psychiatrist every second Thursday.", "The user sees a psychiatrist."),
    ("The user sees a psychiatrist every second Thursday.", "The user sees a doctor."),
    ("The user smuggled cigarettes over the border for her uncle.", "The user smuggled cigarettes."),
    ("The user smuggled cigarettes over the border for her uncle.", "The user broke the law."),
    ("The user keeps six pythons in the cellar.", "The user keeps snakes."),
    ("The user bets on horses with his brother.", "The user gambles."),
]
ELSE = [
    ("The user crashed a rented van into a bus stop.", "The user rented a flat."),
    ("The user crashed a rented van into a bus stop.", "The user takes the bus."),
    ("Nadia sold her grandmother's ring to a pawnbroker.", "Nadia visits her grandmother."),
    ("Nadia sold her grandmother's ring to a pawnbroker.", "Nadia wears a ring."),
    ("The user's cousin Bruno steals from the parish.", "Bruno sings in the parish."),
    ("The user's cousin Bruno steals from the parish.", "Bruno rides a motorbike."),
    ("The user sees a psychiatrist every second Thursday.", "The user is a psychiatrist."),
    ("The user sees a psychiatrist every second Thursday.", "The user sings every Thursday."),
    ("The user smuggled cigarettes over the border for her uncle.", "The user gave up cigarettes."),
    ("The user smuggled cigarettes over the border for her uncle.", "The user lives near the border."),
    ("The user keeps six pythons in the cellar.", "The user keeps bees."),
    ("The user bets on horses with his brother.", "The user rides horses."),
    (DEBT, "Karl visits the user on Sundays."),
    (DEBT, "The user owes Karl money."),
]


@pytest.fixture(scope="module")
def wait():
    embedder = BundledEmbedder()

    def each(pairs):
        for rejected, said in pairs:
            stood, vector = embedder.embed_passages([rejected, said])
            near = Saying(said), rejected, float(stood @ vector), likeness(vector, stood)
            yield near[2] >= LEAST_SIMILARITY and not is_far(*near) and bool(matching(*near))

    return lambda pairs: [said for (_, said), waits in zip(pairs, each(pairs), strict=True) if waits]


def test_what_says_less_waits_and_what_is_of_the_same_persons_and_things_does_not(wait):
    assert len(wait(LESS)) >= 10
    assert not wait(ELSE)


@pytest.mark.django_db
def test_an_agent_s_memory_without_the_end_of_a_rejected_one_waits(owner, me, api, agent, settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    memory_reject(me, add(api(owner), DEBT, "context")["id"])
    kept = add(api(agent), "Karl owes the user money.", "context", insist=True)
    assert (kept["state"], kept["state_reason"]) == ("proposed", RESEMBLES)
    assert add(api(agent), ELSE[-2][1], "context", insist=True)["state"] == "active"


BROTHER = "The user's brother Piotr gambled away his flat in Lodz."


def test_also_of_somebody_who_is_named_alone(wait):
    """Reproduction: said of "the user's brother Piotr" it waited, of "Piotr" it was active."""
    again = ["Piotr lost his apartment in Lodz through gambling.", "Piotr lost his flat in Lodz by gambling."]
    others = ["Piotr owns a flat in Lodz.", "Piotr plays chess in Lodz.", "Paul lost his flat in Lodz by gambling."]
    assert wait([(BROTHER, said) for said in (*again, *others)]) == again
