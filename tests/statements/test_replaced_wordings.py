"""What a person replaced by an edit waits for them in other words, too, while the reworded statement is there."""

import pytest
from django.utils import timezone

from facts.actions import facts_index
from memories.actions.upkeep import memories_index
from memories.models import MEMORY, Memory
from statements.actions import statements_purge
from statements.models import Suppression
from statements.policy import fingerprint
from statements.policy.resembling import RESEMBLES
from tests.assistant.test_erasure import erase
from tests.memories.rest import add, url
from tests.statements.test_earlier_wordings import CELLO, VIOLA

pytestmark = pytest.mark.django_db


@pytest.fixture
def bundled(settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"


PARAPHRASES = [
    (CELLO, VIOLA, "The user is a cellist."),
    ("The user's sister is called Anna.", "The user's sister is called Mia.", "The user has a sister named Anna."),
    ("The user is a vegetarian.", "The user eats meat again.", "The user eats no meat."),
]
BESIDE = [
    (CELLO, VIOLA, "The user plays the viola in a quartet."),
    (CELLO, VIOLA, "The user played the cello until 2019."),
    ("The user likes tea.", "The user likes green tea.", "The user likes green tea with honey."),
    ("The user works as a nurse.", "The user works as a head nurse.", "The user is the head nurse of the ward."),
]


CASES = [*((*each, True) for each in PARAPHRASES), *((*each, False) for each in BESIDE)]


@pytest.mark.parametrize(("old", "new", "said", "waits"), CASES)
def test_a_paraphrase_of_what_the_person_replaced_waits_and_what_is_so_now_does_not(
    api, owner, agent, bundled, old, new, said, waits
):
    memory = add(api(agent), old, "context")
    api(owner).put(url(memory), {"content": new})
    memories_index()
    answer = add(api(agent), said, "context", insist=True)
    assert (answer["state"] == "proposed", answer["state_reason"] == RESEMBLES) == (waits, waits)
    assert Memory.objects.filter(content=new, state="active").exists()


def test_a_paraphrase_of_a_fact_that_the_person_replaced_waits(api, owner, agent, legacy, bundled):
    def add_fact(content):
        body = {"content": content, "category": "hobby"}
        return api(agent).post(f"/api/v1/legacies/{legacy.pk}/facts/", body, format="json").json()

    fact = add_fact("Rosa played the cello.")
    facts_index()
    api(owner).patch(f"/api/v1/facts/{fact['id']}/", {"content": "Rosa played the viola."})
    answer = add_fact("Rosa was a cellist.")
    assert answer["state"] == "proposed"


def test_what_is_rejected_in_the_replaced_words_is_compared_as_that(api, owner, agent, me, bundled):
    memory = add(api(agent), CELLO, "context")
    api(owner).put(url(memory), {"content": VIOLA})
    other = add(api(owner), CELLO, "interests", insist=True)
    api(owner).post(url(other, "reject/"), {})
    assert Suppression.objects.get(fingerprint=fingerprint(owner.pk, CELLO)).version is None
    assert add(api(agent), "The user is a cellist.", "context", insist=True)["state"] == "proposed"


@pytest.mark.parametrize("way", ["purge", "erase"])
def test_no_vector_of_a_replaced_wording_outlives_its_text(api, owner, agent, bundled, way):
    memory = add(api(agent), CELLO, "context")
    api(owner).put(url(memory), {"content": VIOLA})
    assert Suppression.objects.filter(embedding__isnull=False, version=1).count() == 1
    if way == "erase":
        erase(owner, "memory", memory["id"])
    else:
        api(owner).post(url(memory, "reject/"), {})
        Memory.objects.update(purge_at=timezone.now())
        statements_purge(MEMORY)
    assert not Suppression.objects.filter(version__isnull=False).exists()
    kept = Suppression.objects.get(fingerprint=fingerprint(owner.pk, CELLO))
    assert (kept.embedding, kept.embedding_model) == (None, "")
