"""An amount with what it is for or about, or two names, are hardly shared by chance with something rejected."""

import pytest

from language.embedders.e5.embedder import BundledEmbedder
from language.likeness import likeness
from language.reading.compare import Saying
from statements.policy.particulars import shares_particulars
from statements.policy.resembling import matching

SHARED = [
    (
        "The user owes the brother Karl nine thousand euros.",
        "The user sold the car because of the EUR 9,000 owed to Karl.",
    ),
    ("The user was a member of the Falkner sect in Trier.", "The user left the Falkner sect in Trier."),
    (
        "The user lost 30,000 dollars at poker.",
        "After losing thirty thousand dollars at poker the user sold the house.",
    ),
    ("The user pays 640 pounds of alimony to Moira.", "Each month 640 pounds go from the user to Moira."),
]
OTHERS = [
    ("The user's salary is 4200 euros a month.", "The user's bike cost 4200 euros."),
    ("The user lost 30,000 dollars at poker.", "The user's town has 30,000 inhabitants."),
    ("The user was a member of the Falkner sect in Trier.", "The user studied law in Trier."),
    ("The user pays 640 pounds of alimony to Moira.", "The user's cow weighs 640 kilos."),
    ("The user moved to Trier in 2019.", "The user bought a lamp in 2019 in Ghent."),
]


@pytest.mark.parametrize(("rejected", "said"), SHARED)
def test_who_shares_particulars_with_something_rejected_waits(rejected, said):
    one, other = BundledEmbedder().embed_passages([rejected, said])
    assert shares_particulars(rejected, said)
    assert matching(Saying(said), rejected, float(one @ other), likeness(other, one))


@pytest.mark.parametrize(("rejected", "said"), OTHERS)
def test_a_figure_or_a_name_alone_is_shared_by_chance(rejected, said):
    assert not shares_particulars(rejected, said)
