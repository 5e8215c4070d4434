"""What corrects something that is remembered takes its place, over REST; with the bundled embedder."""

import pytest

from memories.models import Memory, Relation
from memories.records import KEPT
from tests import factories

from .rest import URL, add, refusal, url
from .state import check

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _bundled(settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"


def active():
    return list(Memory.objects.filter(state="active").order_by("created_at").values_list("content", flat=True))


def replaced(old, new):
    """Whether the one memory was put away for the other, and that is told."""
    memory = Memory.objects.get(content=old)
    edge = Relation.objects.get(type="supersedes")
    assert (memory.state, memory.deleted_why) == ("archived", "replaced")
    assert (edge.from_memory.content, edge.to_memory_id) == (new, memory.pk)
    return memory


@pytest.mark.parametrize("by", ["agent", "person"])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Sarah works on the Platform team.", "Sarah moved to the Design team last week.", ""),
        ("The user's dog is called Rex.", "The user's dog is called Max, not Rex.", ""),
        ("The user's dog is called Rex.", "The user's dog is called Max.", "Actually, my dog is called Max, not Rex."),
        ("The user is married to Tom.", "The user got divorced from Tom.", ""),
        (
            "The user works at the Charité.",
            "The user works as a teacher.",
            "I no longer work at the Charité, I work as a teacher.",
        ),
        (
            "The plans are due on 14 March.",
            "The plans are due on 28 March.",
            "plans are due on 28 March now, they changed it again, so forget the 14th",
        ),
    ],
    ids=["moved_team", "not_rex", "actually_not_rex", "divorced", "no_longer_at", "due_now"],
)
def test_one_memory_is_active_after_a_correction_over_rest(api, owner, agent, old, new, said, by):
    client = api(owner if by == "person" else agent)
    add(client, old, "context")
    more = {}
    if said:
        talk = factories.ConversationFactory(user=owner, agent=agent if by == "agent" else None)
        message = factories.MessageFactory(conversation=talk, content=said)
        more = {"conversation": str(talk.pk), "message": str(message.pk)}
    assert add(client, new, "context", **more)["outcome"] == "created"
    assert active() == [new]
    replaced(old, new)
    check(owner)


def test_the_change_is_told(api, owner, agent):
    client = api(agent)
    talk = factories.ConversationFactory(user=owner, agent=agent)
    add(client, "Sarah works on the Platform team.", "context")
    seen = client.post(f"{URL}query/", {"query": "Sarah", "conversation": str(talk.pk)}).json()["revision"]
    add(client, "Sarah moved to the Design team last week.", "context")
    told = client.get(f"/api/v1/changes/?after={seen}").json()["results"]
    assert [each["event"] for each in told] == ["DELETE", "ADD"]
    delta = client.post(f"{URL}query/", {"query": "Sarah", "conversation": str(talk.pk)}).json()["delta"]
    assert "Design team" in str(delta)


def test_the_same_subject_under_two_categories(api, owner, agent):
    add(api(agent), "Sarah works on the Platform team.", "person", subject="Sarah")
    add(api(agent), "Sarah moved to the Design team last week.", "context", subject="Sarah")
    assert active() == ["Sarah moved to the Design team last week."]


def test_the_same_subject_in_one_category_needs_no_second_request(api, owner, agent):
    add(api(agent), "Sarah works on the Platform team.", "person", subject="Sarah")
    add(api(agent), "Sarah moved to the Design team last week.", "person", subject="Sarah")
    assert active() == ["Sarah moved to the Design team last week."]


def test_a_city_waits_and_replaces_the_other_when_it_is_approved(api, owner, agent):
    old = add(api(owner), "The user lives in Seattle.", "profile")
    new = add(api(agent), "The user lives in Porto.", "profile")
    assert (new["outcome"], active()) == ("proposed", ["The user lives in Seattle."])
    assert api(owner).post(url(new, "approve/")).status_code == 200
    assert active() == ["The user lives in Porto."]
    assert Memory.objects.get(pk=old["id"]).state == "archived"
    check(owner)


def test_what_contradicts_is_linked_and_shown_and_replaces_nothing(api, owner, agent):
    add(api(agent), "The user was born in Galway.", "profile")
    body = {"content": "The user was born in Cork.", "category": "profile"}
    assert refusal(api(agent).post(URL, body)) == (409, "similar_exists")
    add(api(agent), **body, insist=True)
    assert active() == ["The user was born in Galway.", "The user was born in Cork."]
    edge = Relation.objects.get()
    assert (edge.type, edge.from_memory.needs_check) == ("related_to", True)


def test_what_contradicts_the_person_s_own_words_waits_for_them(api, owner, agent):
    add(api(owner), "The user was born in Galway.", "profile")
    new = add(api(agent), "The user was born in Cork.", "profile", insist=True)
    assert (new["outcome"], active()) == ("proposed", ["The user was born in Galway."])


@pytest.mark.parametrize(
    ("theirs", "denial"),
    [
        ("The user was born in Galway.", "The user was born in Cork."),
        ("The user skis in Davos.", "The user no longer skis in Davos."),
    ],
)
def test_so_does_an_edit_that_makes_a_memory_contradict_them(api, owner, agent, theirs, denial):
    """An agent's PUT put the denial beside the person's words, where its POST waited."""
    kept = add(api(agent), "The user bakes bread.", "profile")
    add(api(owner), theirs, "profile")
    answer = api(agent).put(url(kept), {"content": denial}, format="json")
    assert (answer.status_code, answer.json()["proposal"]["reason"]) == (202, KEPT)
    assert active() == ["The user bakes bread.", theirs]
    other = {"content": "The user bakes rye bread in Davos."}
    assert api(agent).put(url(kept), other, format="json").status_code == 200
    assert api(owner).put(url(kept), {"content": denial}, format="json").status_code == 200


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Sarah works on the Platform team.", "Sarah Meyer works on the Design team."),
        ("The user lives in Porto.", "The user used to live in Seattle."),
        ("The user works as a nurse.", "The user would like to work as a teacher."),
        ("The user's son is called Leo.", "The user's son is called Ben."),
        ("The user speaks German.", "The user speaks French."),
    ],
    ids=["two_people_of_one_name", "used_to", "a_plan", "two_children", "two_languages"],
)
def test_what_stands_beside_it_is_not_merged(api, owner, agent, old, new):
    add(api(owner), old, "context")
    add(api(agent), new, "context")
    assert active() == [old, new]


def test_who_insists_replaces_nothing(api, owner, agent):
    add(api(agent), "Sarah works on the Platform team.", "context")
    add(api(agent), "Sarah moved to the Design team last week.", "context", insist=True)
    assert len(active()) == 2
