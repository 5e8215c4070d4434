"""Names, pronouns, city and language wait for the person wherever an agent puts them (issue 14, B8)."""

import pytest

from language.backends import embedder_replaced, get_embedder
from language.embedders.e5.embedder import BundledEmbedder
from memories.actions import memories_add
from memories.models import Memory, Place, Proposal
from memories.policy.beside import reason_beside, reason_for_notes
from memories.policy.fields import MAY_SET_A_FIELD
from memories.records import Addition, NewMemory
from tests.factories import agent_principal
from tests.memories.rest import add, url

pytestmark = pytest.mark.django_db
BREAD = {"content": "The user bakes bread.", "category": "context"}
TOLD = "Porto has been home for the user since May."
SETS = [
    {"subject": "The preferred name of the user is Bobby"},
    {"topics": ["baking", "call me Bobby"]},
    {"topics": ["lives in Porto"]},
    {"topics": ["uses they/them pronouns"]},
    {"topics": ["pronouns they/them"]},
    {"topics": ["he/him"]},
    {"metadata": {"preferred_name": "Bobby"}},
    {"metadata": {"preferredName": "Bobby"}},
    {"metadata": {"user": {"pronouns": "they/them"}}},
    {"metadata": {"note": "Likes bread. The user lives in Porto."}},
    {"metadata": {"notes": ["The user prefers German answers."]}},
    {"metadata": {"userCity": "Porto"}},
    {"metadata": {"city": "Porto"}},
    {"metadata": {"user_name": "Bobby"}},
    {"topics": ["name: Bobby"]},
    {"topics": ["home city Porto"]},
    {"subject": "Call her Bobby"},
    {"topics": ["residence Porto"]},
    {"metadata": {"residence": "Porto"}},
    {"topics": ["now answers to Bobby"]},
    {"topics": ["commutes from home in Porto"]},
    {"metadata": {"locale": "pt-PT"}},
    {"metadata": {"user_locale": "pt"}},
    {"metadata": {"preferredLanguage": "pt"}},
    {"metadata": {"loc": "Porto", "lang": "pt"}},
    {"subject": "Bobby (the user)"},
    {"topics": ["Robin Moss, the account owner"]},
]
PASSES = [
    {"subject": "Porto"},
    {"topics": ["live music in Porto", "Porto", "German"]},
    {"subject": "Ines", "topics": ["lives in Porto"]},
    {"metadata": {"name": "bread.pdf", "language": "en", "source": "user"}},
    {"metadata": {"user_name": "bobby12", "note": "The user's sister lives in Porto."}},
    {"topics": ["city guide Porto", "nickname"], "subject": "Call her on Monday"},
    {"topics": ["residence permit", "Residence: see below", "drives Ann to her home in Porto"]},
    {"metadata": {"locale": "the pub", "lang": "pt", "file": {"locale_dir": "pt"}}},
    {"metadata": {"goal": "The user wants to learn Spanish."}},
    {"metadata": {"loc": "Porto", "lang": "a dialect"}},
    {"topics": ["User Guide", "Mac user", "About me", "Anna (the user's aunt)"]},
]


@pytest.mark.parametrize("beside", SETS)
def test_what_stands_beside_a_new_statement_waits(api, agent, owner, beside):
    made = add(api(agent), **BREAD, **beside)
    assert (made["state"], made["state_reason"]) == ("proposed", MAY_SET_A_FIELD)
    assert add(api(owner), **{**BREAD, "content": "The user bakes cakes."}, **beside)["state"] == "active"


@pytest.mark.parametrize("beside", SETS)
def test_so_does_what_is_put_beside_a_known_one(api, agent, beside):
    kept = add(api(agent), **BREAD)
    answer = api(agent).patch(url(kept), beside, format="json")
    assert (answer.status_code, answer.json()["proposal"]["reason"]) == (202, MAY_SET_A_FIELD)
    assert Memory.objects.get().topics == []


def test_so_does_metadata_that_comes_with_a_new_wording(api, agent):
    kept = add(api(agent), **BREAD)
    changed = {"content": "The user bakes rye bread.", "metadata": {"preferred_name": "Bobby"}}
    assert api(agent).put(url(kept), changed, format="json").status_code == 202
    assert (Memory.objects.get().content, Memory.objects.get().metadata) == (BREAD["content"], {})


@pytest.mark.parametrize("beside", PASSES)
def test_other_texts_beside_a_statement_pass(api, agent, beside):
    assert add(api(agent), **BREAD, **beside)["state"] == "active"


def test_what_stands_beside_many_is_read_in_one_call(agent, monkeypatch):
    embedder, calls = get_embedder(), []
    embed = type(embedder).embed_passages
    monkeypatch.setattr(type(embedder), "embed_passages", lambda self, texts: calls.append(texts) or embed(self, texts))
    notes = [*(f"The user owns {count} spoons." for count in range(9)), "The user lives in Porto."]
    outcomes = memories_add(
        agent_principal(agent),
        [
            Addition(
                NewMemory(f"The user bakes bread number {count}.", "context", metadata={"note": note}), insist=True
            )
            for count, note in enumerate([*notes, *notes])
        ],
    )
    assert [each.memory.state for each in outcomes] == [*["active"] * 9, "proposed"] * 2
    assert len(calls) == 2, "the statements, and what stands beside them"
    assert calls[1] == notes


def test_while_the_embedder_is_away_what_stands_beside_is_judged_by_its_words(agent, away):
    away()
    notes = ["The user owns spoons.", TOLD, "The user lives in Porto."]
    outcomes = memories_add(
        agent_principal(agent),
        [
            Addition(
                NewMemory(f"The user bakes bread number {count}.", "context", metadata={"note": note}), insist=True
            )
            for count, note in enumerate(notes)
        ],
    )
    assert [each.memory.state for each in outcomes] == ["active", "active", "proposed"]


def test_whom_the_statement_is_about_counts_for_its_topics(agent, owner):
    bot = agent_principal(agent, owner)
    assert not reason_beside(bot, {"topics": ["lives in Porto"]}, "Ines")
    assert reason_beside(bot, {"topics": ["lives in Porto"]})
    assert reason_beside(bot, {"topics": ["lives in Porto"], "subject": ""}, "Ines")


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("My home in Porto", ""),
        ("Café", "Goes by Bobby here."),
        ("Home", "Porto, Portugal"),
        ("Where the user sleeps", "Rua do Sol 12, Faro"),
        ("Faro flat", "The user's home."),
        ("Faro", ""),
    ],
)
def test_names_and_notes_of_places_wait(api, agent, name, notes):
    answer = api(agent).post("/api/v1/places/", {"place_id": "faro-home", "name": name, "notes": notes}, format="json")
    assert (answer.status_code, Proposal.objects.get().reason) == (202, MAY_SET_A_FIELD)


def test_an_agents_title_is_omitted(api, agent, owner):
    def titled(by, title):
        return api(by).post("/api/v1/conversations/", {"title": title}, format="json").json()["title"]

    told = ["Call me Bobby", "My home in Porto", "Pronouns they/them"]
    assert [titled(agent, each) for each in told] == ["", "", ""]
    assert [titled(owner, each) for each in told] == told
    assert titled(agent, "Flats in Porto") == "Flats in Porto"


def test_notes_about_a_place_wait_and_are_kept_once_approved(api, agent, owner):
    sent = {"place_id": "home", "name": "Home", "notes": "The user lives in Porto."}
    answer = api(agent).post("/api/v1/places/", sent, format="json")
    assert (answer.status_code, Proposal.objects.get().reason) == (202, MAY_SET_A_FIELD)
    assert not Place.objects.exists()
    assert api(owner).post(f"/api/v1/proposals/{Proposal.objects.get().pk}/approve/", {}).status_code == 200
    place = Place.objects.get()
    answer = api(agent).patch(f"/api/v1/places/{place.pk}/", {"notes": "The user's name is Bobby."}, format="json")
    assert answer.status_code == 202
    place.refresh_from_db()
    assert place.notes == sent["notes"]


def test_other_notes_pass(api, agent):
    sent = {"place_id": "cafe", "name": "Café Porto", "notes": "Their sister works here. Open until six."}
    assert api(agent).post("/api/v1/places/", sent, format="json").status_code == 201
    assert not reason_for_notes(agent_principal(agent), ["Where the user buys bread."])


@pytest.mark.slow
@pytest.mark.parametrize(
    "beside",
    [
        {"subject": TOLD},
        {"topics": [TOLD]},
        {"metadata": {"note": f"Likes it. {TOLD}"}},
        {"metadata": {"who": "the user", "home": "Porto since May"}},
        {"metadata": {"of": "me", "home": "Porto since May"}},
    ],
)
def test_what_no_rule_recognises_beside_a_statement_waits_by_its_meaning(api, agent, owner, beside):
    with embedder_replaced(BundledEmbedder()):
        client = api(agent)
        made = add(client, **BREAD, **beside)
        assert (made["state"], made["state_reason"]) == ("proposed", MAY_SET_A_FIELD)
        tea = add(client, content="The user drinks tea.", category="context")
        changed = client.patch(url(tea), beside, format="json")
        assert (changed.status_code, changed.json()["proposal"]["reason"]) == (202, MAY_SET_A_FIELD)


@pytest.mark.slow
def test_keys_and_short_values_are_no_sentence_to_judge(api, agent):
    """What a client of mem0 changed waited: "… helper source me" was read as the user's name."""
    beside = {"metadata": {"mem0_app_id": "shop", "mem0_agent_id": "helper", "source": "me"}}
    with embedder_replaced(BundledEmbedder()):
        client = api(agent)
        kept = add(client, **BREAD, **beside)
        assert kept["state"] == "active"
        changed = {"content": "The user bakes rye bread.", **beside}
        assert client.put(url(kept), changed, format="json").status_code == 200
        filed = {"metadata": {**beside["metadata"], "source": "i"}}
        assert client.patch(url(kept), filed, format="json").status_code == 200


@pytest.mark.slow
def test_notes_of_a_place_wait_by_their_meaning(api, agent, owner):
    with embedder_replaced(BundledEmbedder()):
        client = api(agent)
        cafe = {"place_id": "a", "name": "Cafe"}
        told = client.post("/api/v1/places/", {**cafe, "notes": TOLD}, format="json")
        assert (told.status_code, Place.objects.count()) == (202, 0)
        notes = "The user has lunch here with Ann."
        assert client.post("/api/v1/places/", {**cafe, "notes": notes}, format="json").status_code == 201
        changed = client.patch(f"/api/v1/places/{Place.objects.get().pk}/", {"notes": TOLD}, format="json")
        assert (changed.status_code, Place.objects.get().notes) == (202, notes)
