import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from language.offline.model import OfflineModel
from language.reading.compare import Saying, compare

CASES = {
    "same": [
        ("Rosa loved coffee.", "Rosa really loved coffee!"),
        ("Rosa loved coffee.", "Rosa adored coffee."),
        ("Rosa had four children.", "Rosa had 4 kids."),
        ("Rosa never learned to drive.", "Rosa didn't learn to drive."),
        ("Rosa's favourite dish was cod.", "Rosa's favorite dish was cod."),
        ("Ana's mother taught Rosa.", "Ana's mum taught Rosa."),
        ("日本語です", "日本語です"),
        ("Maria manages the budget.", "The budget is managed by Maria."),
        ("Alec is the user's boss.", "The user's boss is Alec."),
        ("The user's mother lives in Porto.", "The mother of the user is living in Porto."),
        ("The user has a dog named Rufus.", "The user's dog is called Rufus."),
        ("The user lives in Porto.", "THE USER LIVES IN PORTO."),
        ("The user has no siblings.", "The user does not have siblings."),
        ("Rosa keeps hens and no geese.", "Rosa keeps hens but no geese."),
    ],
    "contradicts": [
        ("Rosa was born in 1931.", "Rosa was born in 1933."),
        ("Rosa was born in Galway.", "Rosa was born in Cork."),
        ("Rosa died in 2010.", "Rosa died in May 2011."),
        ("Rosa loved coffee.", "Rosa did not love coffee."),
        ("Rosa was patient.", "Rosa was impatient."),
        ("Rosa was patient.", "Rosa wasn't patient."),
        ("Rosa was the oldest of seven children.", "Rosa was the youngest of seven children."),
        ("Rosa had four children.", "Rosa had five children."),
        ("Rosa's favourite dish was cod.", "Rosa's favorite dish was soup."),
        ("Rosa was married to Manuel.", "Rosa was married to Artur."),
    ],
    "replaces": [
        ("The user's name is Ana.", "The user's name is Bea."),
        ("The user is allergic to nuts.", "The user is not allergic to nuts."),
        ("The user is 34 years old.", "The user is 35 years old."),
        ("Rosa lives in Porto.", "Rosa lives in Braga."),
    ],
    "different": [
        ("Rosa keeps hens but no geese.", "Rosa keeps geese but no hens."),
        ("Rosa keeps hens and no geese.", "Rosa keeps geese and no hens."),
        ("Rosa has no piano but a violin.", "Rosa has no violin but a piano."),
        ("Rosa lives with no pets.", "Rosa lives with pets."),
        ("Rosa goes to no church.", "Rosa goes to church."),
        ("The user says that Ana is ill.", "The user says that Ana was ill."),
        ("The user says that Ana is ill.", "Ana was ill."),
        ("The user says that Ana is ill.", "Ana is ill."),
        ("Rosa lived in Porto.", "Rosa lived in Braga."),
        ("Rosa was born in Porto.", "Rosa was born in 1931."),
        ("Rosa was born in Porto.", "Tom was born in Braga."),
        ("Rosa loved coffee.", "Rosa loved tea."),
        ("Rosa loved coffee.", "Rosa loved Portuguese coffee."),
        ("Rosa worked as a nurse.", "Tom worked as a nurse."),
        ("Rosa was a teacher.", "Rosa sang in a choir."),
        ("Tom is Rosa's son.", "Rosa is Tom's son."),
        ("Dad taught Ana to swim.", "Ana taught Dad to swim."),
        ("The user lives in Lisbon.", "The user lived in Lisbon."),
        ("The user used to smoke.", "The user does not smoke."),
        ("Rosa moved to Lisbon in 1955.", "Rosa moved to Lisbon in 1960."),
        ("Rosa has two cats.", "Rosa has three dogs."),
        ("Rosa was born in 1931 in Porto.", "Rosa was born in Porto."),
        ("Rosa rarely drank wine.", "Rosa drank wine."),
        ("", ""),
        ("", "Rosa"),
    ],
}


@pytest.mark.parametrize(
    ("existing", "new", "expected"),
    [(existing, new, expected) for expected, pairs in CASES.items() for existing, new in pairs],
)
def test_statements_are_compared_by_what_they_say(existing, new, expected):
    assert OfflineModel().same_fact([(existing, new), (new, existing)]).verdicts == (expected, expected)


def test_no_pairs_give_no_answers():
    assert OfflineModel().same_fact([]).verdicts == ()


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_can_be_compared_in_either_order(one, other):
    model = OfflineModel()
    first, second = model.same_fact([(one, other), (other, one)]).verdicts
    assert (first == "same") == (second == "same")
    assert first in {"same", "replaces", "contradicts", "different"}


@settings(max_examples=30, deadline=None)
@given(st.from_regex(r"[A-Z][a-z]{3,8} (likes|has|knows) [a-z]{3,8}( [a-z]{3,8}){0,4}\.", fullmatch=True))
def test_a_statement_is_the_same_as_itself(statement):
    assert OfflineModel().same_fact([(statement, statement.upper())]).verdicts == ("same",)


@pytest.mark.parametrize(
    ("memory", "verdict"),
    [
        ("The user is 59.", "different"),
        ("The user is tall.", "different"),
        ("The user is a mother of three.", "different"),
        ("The user is a carpenter.", "replaces"),
        ("The user is a student.", "replaces"),
    ],
)
def test_a_new_trade_ends_another_and_nothing_else_that_one_is(memory, verdict):
    assert compare(memory, Saying("The user is a baker.", "I'm a baker now.")) == verdict


@pytest.mark.parametrize(
    ("memory", "said", "verdict"),
    [
        ("The user stopped taking metformin in spring.", "The user is moving to Bruges in the spring.", "different"),
        ("The user works as a nurse at the hospital in Graz.", "The user moved from Graz to Linz.", "different"),
        ("The user is a member of a choir in Graz.", "The user moved from Graz to Linz.", "different"),
        ("The user lives in an old flat in Graz.", "The user moved from Graz to Linz.", "replaces"),
        ("The user works at Siemens.", "The user moved from Siemens to Bosch.", "replaces"),
        ("Sarah works on the Platform team.", "Sarah moved from the Platform team to Design.", "replaces"),
    ],
)
def test_who_moves_leaves_what_they_move_from(memory, said, verdict):
    assert compare(memory, said) == verdict


@pytest.mark.parametrize(
    ("said", "verdict"),
    [("Actually, Lena lives in Madrid.", "replaces"), ("My sister Lena lives in Madrid.", "different")],
)
def test_a_relative_called_by_name_alone_is_the_one_who_is_known_by_it(said, verdict):
    new = Saying("The user's sister Lena lives in Madrid.", said)
    assert compare("Lena lives in Porto.", new) == verdict
    assert compare("Lena plays the harp.", new) == "different"
