"""What somebody says anew in a talk without a model changes what it is about, and nothing else. Bundled embedder."""

import pytest

from language.reading.replying import NO_MODEL
from tests import factories

from .replying import remembered, telling

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tell(settings, api, owner, talk):
    """``tell(*contents)``: say them, and return the last answer's text."""
    settings.KEEPSAKE_EMBEDDER = "bundled"
    tell = telling(api(owner), talk(owner))
    return lambda *contents: [tell(content) for content in contents][-1].removeprefix(f"{NO_MODEL} ")


def test_a_liking_that_looks_like_a_name_replaces_no_name(tell, owner):
    name = factories.MemoryFactory(user=owner, content="The user likes to be called Otto.")
    tell("im realy fond of jaz music, espescially Chet Baker", "y")
    name.refresh_from_db()
    assert (name.state, name.field) == ("active", "preferred_name")
    assert len(remembered()) == 2
    assert "Otto" in tell("what's my name?")


def test_two_people_in_a_sentence_are_two_memories(tell):
    tell("Mieke works in Haarlem and Joost works in Delft", "ok", "Mieke works in Zwolle now")
    assert remembered() == ["Joost works in Delft.", "Mieke works in Zwolle."]


def test_where_somebody_else_moved_says_nothing_of_the_person(tell, owner):
    factories.MemoryFactory(user=owner, content="The user lives in Gent.")
    assert "Gent" not in tell("Joost isn't in Delft any more, he lives in Gouda now")


@pytest.mark.parametrize("said", ["That's not true, I never played the harp.", "I never played the harp."])
def test_what_they_never_did_takes_the_place_of_what_they_do(tell, said):
    tell("I play the harp", "yes", said)
    assert remembered() == ["The user never played the harp."]


def test_a_name_may_be_spelt_out(tell):
    assert tell("My dog is called Bobbie", "yes", "sorry, his name is Bobby with a y").startswith("Updated: ")
    assert remembered() == ["The user's dog is called Bobby."]


def test_another_year_of_a_move_waits_for_nobody(tell):
    assert tell("I moved to Breda in 2016", "yes", "correction: it was 2017").startswith("Updated: ")
    assert remembered() == ["The user moved to Breda in 2017."]


def test_an_amount_in_other_figures_changes_nothing(tell):
    tell("I earn 4200 euros a month", "yes", "My salary is 4.200 € per month.")
    assert "The user earns 4200 euros a month." in remembered()


def test_a_new_post_is_told_before_the_one_that_ended(tell):
    tell("I work at Kruidvat", "yes", "I no longer work at Kruidvat, I started at the hospital last month")
    answer = tell("where do I work?")
    assert -1 < answer.find("the hospital") < answer.find("no longer work at Kruidvat")


def test_what_was_told_of_somebody_is_told_with_what_changed(tell):
    tell("I have two kids, Joris and Hanneke.", "yes", "Hanneke lives in Lyon", "yes")
    tell("Hanneke lives in Grenoble, not Lyon")
    assert "Hanneke lives in Grenoble. (" in tell("what did I tell you about Hanneke?")


def test_what_an_agent_noted_under_their_name_is_known(tell, owner, agent):
    owner.display_name = "Maria Silva"
    owner.save()
    factories.MemoryFactory(user=owner, agent=agent, content="Maria is allergic to shellfish.")
    assert "Shall I remember" not in tell("I'm allergic to shellfish")
    assert tell("I'm not allergic to shellfish any more").startswith("Updated: ")
    assert len(remembered()) == 1
