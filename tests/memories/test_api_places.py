"""Places over REST: keeping, naming, taking away, restoring, and where they were mentioned."""

import pytest

from memories.models import Place, Proposal
from tests import factories
from tests.conftest import with_key
from tests.factories import rev_of

from .rest import URL, refusal

PLACES = "/api/v1/places/"
HOME = {"place_id": "home", "name": "Home", "notes": "12 Main St, Seattle"}
MISSING = "00000000-0000-4000-8000-000000000000"


def keep(client, **body):
    answer = client.post(PLACES, {**HOME, **body})
    assert answer.status_code in {200, 201}, answer.content
    return answer.json()


def address(place, what=""):
    return f"{PLACES}{place['id']}/{what}"


def names(answer):
    assert answer.status_code == 200, answer.content
    return [place["name"] for place in answer.json()["results"]]


@pytest.fixture
def message(owner):
    return factories.MessageFactory(conversation=factories.ConversationFactory(user=owner))


@pytest.fixture
def cautious(owner):
    """The owner reviews before."""
    return factories.PreferencesFactory(user=owner, review="before")


class TestKeeping:
    def test_it_is_kept_under_the_caller_s_own_id(self, api, owner):
        answer = api(owner).post(PLACES, HOME)
        shown = answer.json()
        assert answer.status_code == 201
        assert shown == {
            **HOME,
            "id": shown["id"],
            "version": 1,
            "conversations": 0,
            "added_at": shown["added_at"],
            "updated_at": shown["updated_at"],
            "deleted_at": None,
            "purge_at": None,
        }
        assert api(owner).get(address(shown)).json() == shown
        assert "Home: 12 Main St" in api(owner).get(f"{URL}context/").json()["text"]

    def test_a_second_time_updates_the_notes_and_adds_a_mention(self, api, owner, agent, message):
        made = keep(api(agent))
        answer = api(agent).post(PLACES, {**HOME, "notes": "Sold in May", "message": str(message.pk)})
        shown = answer.json()
        assert (answer.status_code, shown["id"], shown["notes"], shown["version"], shown["conversations"]) == (
            200,
            made["id"],
            "Sold in May",
            2,
            1,
        )

    def test_an_agent_s_waits_while_the_person_reviews_before(self, api, owner, agent, cautious):
        answer = api(agent).post(PLACES, HOME)
        assert (answer.status_code, answer.json()["place"]) == (202, None)
        proposal = answer.json()["proposal"]
        assert (proposal["kind"], proposal["values"], proposal["memory"]) == ("place", HOME, None)
        assert not Place.objects.exists()
        api(owner).post(f"/api/v1/proposals/{proposal['id']}/approve/", {"values": {"notes": "Upstairs"}})
        assert api(owner).get(PLACES).json()["results"][0]["notes"] == "Upstairs"

    def test_an_agent_without_the_category_keeps_none(self, api, owner):
        stylist = with_key(factories.AgentFactory(name="stylist", owner=owner, role="stylist"))
        assert refusal(api(stylist).post(PLACES, HOME)) == (403, "category_not_allowed")
        keep(api(owner))
        assert names(api(stylist).get(PLACES)) == []

    @pytest.mark.parametrize(
        ("changed", "status", "told"),
        [
            ({"place_id": None}, 400, "place_id"),
            ({"place_id": " "}, 400, "place_id"),
            ({"place_id": "p" * 201}, 400, "place_id"),
            ({"place_id": "tab\tbed"}, 400, "bad_place_id"),
            ({"name": ""}, 400, "name"),
            ({"name": "n" * 201}, 400, "name"),
            ({"notes": "n" * 501}, 400, "notes"),
            ({"notes": "Door\u202e code"}, 422, "gate"),
            ({"notes": "The password is hunter2-Xk93!pq"}, 422, "gate"),
            ({"message": "x"}, 400, "message"),
            ({"message": MISSING}, 404, "not_found"),
            ({"conversation": MISSING}, 404, "not_found"),
        ],
    )
    def test_bad_input_is_refused_and_nothing_changes(self, api, owner, changed, status, told):
        before = rev_of(owner)
        answer = api(owner).post(PLACES, {**HOME, **changed})
        assert answer.status_code == status, answer.content
        assert told in {answer.json().get("code"), *answer.json()}
        assert not Place.objects.exists()
        assert rev_of(owner) == before


class TestLists:
    def test_present_ones_in_the_order_in_which_they_came(self, api, owner, stranger):
        keep(api(owner))
        gone = keep(api(owner), place_id="gym", name="Gym")
        keep(api(owner), place_id="work", name="Work")
        keep(api(stranger), place_id="cabin", name="Cabin")
        api(owner).delete(address(gone))
        assert names(api(owner).get(PLACES)) == ["Home", "Work"]
        assert names(api(owner).get(f"{PLACES}?state=removed")) == ["Gym"]
        assert names(api(owner).get(f"{PLACES}?state=all")) == ["Home", "Gym", "Work"]
        assert names(api(owner).get(f"{PLACES}?state=present&place_id=work")) == ["Work"]
        assert names(api(owner).get(f"{PLACES}?per_page=1&page=2")) == ["Work"]
        assert api(owner).get(f"{PLACES}?state=sold").json().keys() == {"state"}

    def test_an_agent_sees_present_ones_only(self, api, owner, agent):
        gone = keep(api(owner))
        api(owner).delete(address(gone))
        assert names(api(agent).get(f"{PLACES}?state=all")) == []
        assert api(agent).get(address(gone)).status_code == 404

    def test_queries_do_not_grow_with_the_list(self, api, owner, agent, django_assert_num_queries):
        """A key: principal, count, places with their mentions counted."""
        client = api(agent)
        keep(client)
        for number in range(1, 8):
            with django_assert_num_queries(3):
                assert len(names(client.get(PLACES))) == number
            keep(client, place_id=f"p{number}", name=f"Place {number}")


class TestChanging:
    def test_it_gets_another_name_or_other_notes(self, api, owner):
        made = keep(api(owner))
        shown = api(owner).patch(address(made), {"name": "Old home"}).json()
        assert (shown["name"], shown["notes"], shown["version"]) == ("Old home", HOME["notes"], 2)
        assert api(owner).patch(address(made), {"notes": ""}).json()["notes"] == ""

    def test_an_agent_s_change_waits_while_the_person_reviews_before(self, api, owner, agent, cautious):
        made = keep(api(owner))
        answer = api(agent).patch(address(made), {"name": "Old home"})
        assert (answer.status_code, answer.json()["place"]["name"]) == (202, "Home")
        assert answer.json()["proposal"]["values"]["name"] == "Old home"

    @pytest.mark.parametrize("method", ["patch", "delete"])
    def test_if_match_holds(self, api, owner, method):
        made = keep(api(owner))
        stale = api(owner).get(address(made))["ETag"]
        fresh = api(owner).patch(address(made), {"notes": "Sold"})["ETag"]
        body = {"name": "Old home"} if method == "patch" else None
        send = getattr(api(owner), method)
        answer = send(address(made), body, HTTP_IF_MATCH=stale)
        assert refusal(answer) == (409, "version_conflict")
        assert answer.json()["current"] == 2
        assert send(address(made), body, HTTP_IF_MATCH=fresh).status_code in {200, 204}

    def test_who_has_it_already_is_told_so(self, api, owner):
        made = keep(api(owner))
        seen = api(owner).get(address(made))["ETag"]
        assert api(owner).get(address(made), HTTP_IF_NONE_MATCH=seen).status_code == 304

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({}, 400),
            ({"version": 1}, 400),
            ({"name": ""}, 400),
            ({"notes": "n" * 501}, 400),
            ({"name": "x", "version": 9}, 409),
        ],
    )
    def test_bad_input_is_refused_and_nothing_changes(self, api, owner, body, status):
        made, before = keep(api(owner)), rev_of(owner)
        assert api(owner).patch(address(made), body).status_code == status
        assert rev_of(owner) == before


class TestGoingAndComing:
    def test_it_is_taken_away_and_fetched_back_by_the_person(self, api, owner, agent):
        made = keep(api(owner))
        assert api(owner).delete(address(made)).status_code == 204
        shown = api(owner).get(address(made)).json()
        assert shown["purge_at"] > shown["deleted_at"]
        assert refusal(api(owner).patch(address(made), {"name": "x y"})) == (409, "wrong_state")
        assert refusal(api(agent).post(PLACES, HOME)) == (422, "rejected_before")
        assert refusal(api(agent).post(address(made, "restore/"))) == (403, "not_yours_to_decide")
        answer = api(owner).post(address(made, "restore/"))
        assert (answer.status_code, answer.json()["deleted_at"]) == (200, None)
        assert refusal(api(owner).post(address(made, "restore/"))) == (409, "wrong_state")

    def test_an_agent_s_removal_waits_while_the_person_reviews_before(self, api, owner, agent, cautious):
        made = keep(api(owner))
        answer = api(agent).delete(address(made))
        assert (answer.status_code, answer.json()["place"]["id"]) == (202, made["id"])
        assert Place.objects.get().deleted_at is None


class TestMentions:
    def test_a_message_is_noted_once(self, api, owner, agent, message):
        made = keep(api(owner))
        body = {"message": str(message.pk)}
        answer = api(agent).post(address(made, "mentions/"), body)
        mention = answer.json()
        assert answer.status_code == 201
        assert mention == {
            "conversation": str(message.conversation_id),
            "message": str(message.pk),
            "index": 0,
            "at": mention["at"],
        }
        again = api(agent).post(address(made, "mentions/"), body)
        assert (again.status_code, again.json()) == (200, mention)
        assert api(owner).get(address(made, "mentions/")).json()["results"] == [mention]
        assert api(owner).get(address(made)).json()["conversations"] == 1

    def test_they_are_listed_in_the_order_in_which_they_were_noted(
        self, api, owner, agent, message, django_assert_num_queries
    ):
        """A key: principal, place, count, mentions with their messages."""
        made = keep(api(owner))
        said = [message, *(factories.MessageFactory(conversation=message.conversation) for _ in range(4))]
        client = api(agent)
        for number, each in enumerate(reversed(said), start=1):
            client.post(address(made, "mentions/"), {"message": str(each.pk)})
            with django_assert_num_queries(4):
                assert len(client.get(address(made, "mentions/")).json()["results"]) == number
        page = client.get(address(made, "mentions/?per_page=2")).json()
        assert (page["count"], [each["index"] for each in page["results"]]) == (5, [4, 3])

    def test_an_agent_without_turns_is_told_none(self, api, owner, agent, message):
        made = keep(api(owner), message=str(message.pk))
        api(agent).get(PLACES)
        factories.GrantFactory._meta.model.objects.filter(agent=agent).update(sources=["facts"])
        assert api(agent).get(address(made, "mentions/")).json()["results"] == []

    @pytest.mark.parametrize(("body", "status"), [({}, 400), ({"message": "x"}, 400), ({"message": MISSING}, 404)])
    def test_bad_input_is_refused_and_nothing_changes(self, api, owner, body, status):
        made, before = keep(api(owner)), rev_of(owner)
        assert api(owner).post(address(made, "mentions/"), body).status_code == status
        assert rev_of(owner) == before

    def test_somebody_else_s_message_is_missing(self, api, owner, stranger):
        theirs = factories.MessageFactory(conversation=factories.ConversationFactory(user=stranger))
        made = keep(api(owner))
        answers = [api(owner).post(address(made, "mentions/"), {"message": str(each)}) for each in (theirs.pk, MISSING)]
        assert answers[0].status_code == answers[1].status_code == 404
        assert answers[0].content == answers[1].content


class TestIdempotency:
    def repeated(self, client, path, body=None):
        answers = [client.post(path, body, HTTP_IDEMPOTENCY_KEY="k1") for _ in range(2)]
        assert answers[1]["Idempotent-Replay"] == "true"
        assert answers[0].status_code == answers[1].status_code
        assert answers[0].json() == answers[1].json()
        return answers[1]

    def test_keeping_twice_with_one_key_keeps_once(self, api, owner):
        assert self.repeated(api(owner), PLACES, HOME).status_code == 201
        assert (Place.objects.count(), rev_of(owner)) == (1, 1)

    def test_proposing_twice_with_one_key_proposes_once(self, api, owner, agent, cautious):
        keep(api(owner), notes="Upstairs")
        answer = self.repeated(api(agent), PLACES, HOME)
        assert (answer.status_code, answer.json()["place"]["notes"]) == (202, "Upstairs")
        assert Proposal.objects.count() == 1

    def test_a_mention_and_a_restore_are_done_once(self, api, owner, message):
        made = keep(api(owner))
        assert self.repeated(api(owner), address(made, "mentions/"), {"message": str(message.pk)}).status_code == 201
        api(owner).delete(address(made))
        answers = [api(owner).post(address(made, "restore/"), HTTP_IDEMPOTENCY_KEY="k2") for _ in range(2)]
        assert [answer.json()["deleted_at"] for answer in answers] == [None, None]


def test_with_memory_off_agents_keep_none_and_see_none(api, owner, agent):
    made = keep(api(owner))
    factories.PreferencesFactory(user=owner, has_memory=False)
    assert refusal(api(agent).post(PLACES, HOME)) == (403, "memory_off")
    assert names(api(agent).get(PLACES)) == []
    assert api(agent).get(address(made)).status_code == 404
    assert names(api(owner).get(PLACES)) == ["Home"]
