"""Their name in place of "the user" makes no other statement of what a person rejected."""

from uuid import uuid4

import pytest

from accounts.principals import Principal
from accounts.scope import acting_as
from memories.models import Memory
from statements.models import Suppression
from statements.policy.naming import as_of_user, fact_in_words, in_second_person
from statements.policy.resembling import RESEMBLES
from tests.memories.rest import URL, add, refusal, url

pytestmark = pytest.mark.django_db

OF_USER, BY_NAME = "The user has a heart murmur.", "Ada has a heart murmur."


@pytest.fixture
def ada(owner):
    owner.display_name = "Ada Lovelace"
    owner.save()
    return owner


@pytest.mark.parametrize("said", [BY_NAME, "ada has a heart murmur", "Ada Lovelace has a heart murmur.",
                                  "The user, Ada, has a heart murmur."])  # fmt: skip
@pytest.mark.parametrize("is_rejected_by_name", [False, True])
def test_an_agents_statement_with_their_name_is_refused_like_the_one_they_rejected(
    api, ada, agent, said, is_rejected_by_name
):
    memory = add(api(agent), BY_NAME if is_rejected_by_name else OF_USER, "context")
    api(ada).post(url(memory, "reject/"), {})
    body = {"category": "context", "insist": True}
    for content in (said, OF_USER):
        assert refusal(api(agent).post(URL, {"content": content, **body})) == (422, "rejected_before"), content
    assert add(api(agent), "Ada Byron has a heart murmur.", "context")["state"] in {"active", "proposed"}


def test_a_paraphrase_with_their_name_waits(api, ada, agent, settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    memory = add(api(agent), "The user owns a small sailing boat.", "context")
    api(ada).post(url(memory, "reject/"), {})
    held = add(api(agent), "Ada has their own little boat.", "context")
    assert (held["state"], held["state_reason"]) == ("proposed", RESEMBLES)
    update = add(api(agent), "The user bakes bread on Saturdays.", "context")
    answer = api(agent).put(url(update), {"content": "Ada has their own little boat."})
    assert (answer.status_code, answer.json()["proposal"]["reason"]) == (202, RESEMBLES)


def test_the_person_lifts_both_by_either(api, ada, agent):
    memory = add(api(agent), BY_NAME, "context")
    api(ada).post(url(memory, "reject/"), {})
    assert Suppression.objects.count() == 2
    assert add(api(ada), BY_NAME, "context")["state"] == "active"
    assert not Suppression.objects.exists()
    assert Memory.objects.filter(state="active").count() == 1


@pytest.mark.parametrize(
    ("name", "said", "means"),
    [
        ("Ada Lovelace", "Ada's cat is called Tom.", "The user's cat is called Tom."),
        ("Ada Lovelace", "Tom Lovelace has a cat.", "Tom Lovelace has a cat."),
        ("Ada Lovelace", "The user met Ada-Marie and Adam.", "The user met Ada-Marie and Adam."),
        ("will", "The user will go with Will.", "The user will go with the user."),
        ("Zoë", "A cat was given to ZOË.", "A cat was given to the user."),
        ("", "Ada has a cat.", "Ada has a cat."),
    ],
)
def test_only_their_own_name_means_them(name, said, means):
    assert as_of_user(said, name) == means


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("Ada keeps two goats.", "You keep two goats."),
        ("Ada Lovelace keeps two goats.", "You keep two goats."),
        ("Rosa keeps Ada's goats.", "Rosa keeps your goats."),
        ("The user keeps two goats.", "You keep two goats."),
        # Not sure who is meant, or somebody else.
        ("Ada keeps their goats.", "Ada keeps their goats."),
        ("Ada Byron keeps two goats.", "Ada Byron keeps two goats."),
        ("Ada is the user's niece.", "Ada is your niece."),
        ("Goats like Ada.", "Goats like Ada."),
        # What they are called.
        ("I like to be called Ada.", "I like to be called Ada."),
        ("Ada’s name is Ada.", "Your name is Ada."),
        ("Ada likes to be called Ada.", "You like to be called Ada."),
        ("Rosa called Ada every day.", "Rosa called you every day."),
    ],
)
def test_a_statement_with_their_name_is_shown_in_the_second_person(stored, shown):
    with acting_as(Principal("user", "user:1", uuid4(), frozenset(), name="Ada Lovelace")):
        assert in_second_person(stored) == shown


def test_a_fact_is_told_to_its_author_and_names_them_to_others():
    fact = "The user met Rosa when the user was nineteen, and Rosa met Ada Lovelace's mother."
    with acting_as(Principal("user", "user:1", uuid4(), frozenset(), name="Ada Lovelace")):
        assert fact_in_words(fact) == "You met Rosa when you were nineteen, and Rosa met your mother."
        assert fact_in_words("Ada was a midwife.") == "Ada was a midwife."
        told = fact_in_words("The user met Rosa. Rosa taught the user's sister.", "Bo Berg")
        assert told == "Bo Berg met Rosa. Rosa taught Bo Berg's sister."
