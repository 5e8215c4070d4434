"""Reading memories over REST: lists and their filters, topics, one memory, the prompt block, the document."""

import random
from datetime import timedelta
from unittest import mock

import pytest
import time_machine
from django.core.cache import cache
from django.utils import timezone

from conversations.models import Conversation
from memories.models import Memory, MemoryEvidence, Place, PlaceMention
from retrieval import prepared
from tests import factories
from tests.assistant.querying import START, random_memories
from tests.conftest import with_key

from .rest import URL, contents, url
from .rows import archive, remember, reword


@pytest.fixture
def get_and_keep(django_capture_on_commit_callbacks):
    """``get_and_keep(client, path)``: what is read is kept once the request's transaction has ended."""

    def get(client, path):
        with django_capture_on_commit_callbacks(execute=True):
            return client.get(path)

    return get


class TestLists:
    @pytest.fixture
    def memories(self, api, owner):
        start = timezone.now() - timedelta(days=10)
        for number, columns in enumerate(
            [
                {"content": "Lives in a café in Łódź.", "category": "profile", "topics": ["home", "food"]},
                {"content": "Works on the compiler.", "category": "project", "subject": "Falcon", "importance": 5},
                {"content": "Prefers tea to coffee.", "category": "preference", "topics": ["food"], "importance": 3},
                {"content": "Went hiking in May.", "category": "event", "kind": "episodic", "topics": ["sport"]},
                {"content": "Had a parrot.", "category": "history", "state": "rejected"},
                {"content": "Owns a boat.", "category": "profile", "state": "proposed"},
            ]
        ):
            at = start + timedelta(days=number)
            gone = {"deleted_at": at, "purge_at": at + timedelta(days=30), "deleted_why": "rejected"}
            rejected = gone if columns.get("state") == "rejected" else {}
            remember(owner, {"created_at": at, "updated_at": at, **columns, **rejected})
        return lambda query="": contents(api(owner).get(f"{URL}{query}"))

    ACTIVE = [
        "Went hiking in May.",
        "Prefers tea to coffee.",
        "Works on the compiler.",
        "Lives in a café in Łódź.",
    ]

    def test_what_is_remembered_the_latest_change_first(self, memories):
        assert memories() == self.ACTIVE

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("?search=CAFE+lodz", ["Lives in a café in Łódź."]),
            ("?search=compil", ["Works on the compiler."]),
            ("?search=parrot", []),
            ("?search=%21%3F", []),
            ("?topics=food", ["Prefers tea to coffee.", "Lives in a café in Łódź."]),
            ("?topics=food,home", ["Lives in a café in Łódź."]),
            ("?topics=Food", []),
            ("?category=preferences", ["Prefers tea to coffee."]),
            ("?category=events,project", ["Went hiking in May.", "Works on the compiler."]),
            ("?kind=episodic", ["Went hiking in May."]),
            ("?state=rejected", ["Had a parrot."]),
            ("?state=proposed", ["Owns a boat."]),
            ("?state=all&search=a&category=profile", ["Owns a boat.", "Lives in a café in Łódź."]),
            ("?search=&topics=&category=&kind=&state=&sort_by=&sort_order=", ACTIVE),
        ],
    )
    def test_filters(self, memories, query, found):
        assert memories(query) == found

    @pytest.mark.parametrize(
        ("query", "first"),
        [
            ("?sort_by=created_at&sort_order=asc", "Lives in a café in Łódź."),
            ("?sort_by=created_at", "Went hiking in May."),
            ("?sort_by=importance&sort_order=desc", "Works on the compiler."),
            ("?sort_by=subject&sort_order=desc", "Works on the compiler."),
            ("?sort_by=category&sort_order=asc", "Went hiking in May."),
            ("?sort_by=kind&sort_order=asc", "Went hiking in May."),
            ("?sort_order=asc", "Lives in a café in Łódź."),
        ],
    )
    def test_orders(self, memories, query, first):
        assert memories(query)[0] == first
        assert sorted(memories(query)) == sorted(self.ACTIVE)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("kind", "dream"),
            ("state", "gone"),
            ("sort_by", "tokens"),
            ("sort_order", "up"),
        ],
    )
    def test_a_filter_that_is_none_is_refused_by_name(self, api, owner, name, value):
        answer = api(owner).get(f"{URL}?{name}={value}")
        assert (answer.status_code, list(answer.json())) == (400, [name])

    def test_an_unknown_category_is_refused(self, api, owner):
        answer = api(owner).get(f"{URL}?category=profile,nonsense")
        assert (answer.status_code, answer.json()["code"]) == (400, "unknown_category")

    def test_a_category_that_the_agent_lacks_is_named(self, api, owner):
        stylist = with_key(factories.AgentFactory(owner=owner, role="stylist"))
        answer = api(stylist).get(f"{URL}?category=tone,goals")
        assert (answer.status_code, answer.json()["code"]) == (403, "category_not_allowed")
        assert "goals" in answer.json()["detail"]
        assert api(stylist).get(f"{URL}?category=tone").status_code == 200

    def test_pages(self, memories, api, owner):
        page = api(owner).get(f"{URL}?per_page=3&page=2").json()
        assert (page["count"], page["next"], len(page["results"])) == (4, None, 1)
        assert "per_page=3" in page["previous"]
        assert contents(api(owner).get(page["previous"])) == self.ACTIVE[:3]
        assert api(owner).get(f"{URL}?page=9").status_code == 404
        for wrong in ("?page=0", "?page=x"):
            assert list(api(owner).get(f"{URL}{wrong}").json()) == ["page"]

    @pytest.mark.parametrize(("page", "trips"), [("", [2]), ("&page=1", [1, 1]), ("&page=2", [1, 1])])
    def test_the_first_page_is_counted_and_read_in_one_round_trip(self, memories, api, owner, page, trips):
        with mock.patch.object(prepared, "_run", wraps=prepared._run) as run:
            answer = api(owner).get(f"{URL}?per_page=3{page}").json()
        assert answer["count"] == 4
        assert [each["content"] for each in answer["results"]] == (self.ACTIVE[3:] if "2" in page else self.ACTIVE[:3])
        asked = [call.args[0] for call in run.call_args_list]
        assert [len(calls) for calls in asked if "memories_memory" in calls[0].statement.text] == trips

    def test_an_agent_sees_its_categories_and_nothing_that_waits_but_its_own(self, memories, api, owner):
        supervisor = with_key(factories.AgentFactory(owner=owner, role="supervisor"))
        theirs = contents(api(supervisor).get(f"{URL}?state=all"))
        assert theirs == ["Went hiking in May.", "Prefers tea to coffee.", "Lives in a café in Łódź."]
        remember(owner, "Owns a bicycle.", category="profile", state="proposed", agent=supervisor)
        assert "Owns a bicycle." in contents(api(supervisor).get(f"{URL}?state=all"))

    def test_what_has_expired_is_not_listed_before_the_job_has_come_either(self, api, owner):
        soon = timezone.now() + timedelta(seconds=90)
        remember(owner, "Parked on level three.", expires_at=soon)
        assert contents(api(owner).get(URL)) == ["Parked on level three."]
        with time_machine.travel(soon + timedelta(seconds=1), tick=False):
            assert contents(api(owner).get(f"{URL}?page=1")) == []
            assert contents(api(owner).get(f"{URL}?state=all")) == ["Parked on level three."]

    def test_a_row_tells_all_but_where_it_was_said_to_an_agent_without_turns(self, api, owner, agent):
        talk = factories.ConversationFactory(user=owner)
        (memory,) = remember(owner, "Keeps bees.", category="interests", topics=["bees"], source_conversation=talk)
        (row,) = api(owner).get(URL).json()["results"]
        assert row == {
            "id": memory.pk,
            "content": "Keeps bees.",
            "category": "interests",
            "subject": "",
            "topics": ["bees"],
            "kind": "semantic",
            "field": "",
            "importance": 2,
            "pinned": False,
            "verbatim": False,
            "state": "active",
            "state_reason": "",
            "version": 1,
            "written_by": "",
            "agent": None,
            "metadata": {},
            "external_id": "",
            "run_id": "",
            "actor_id": "",
            "role": "",
            "source_conversation": str(talk.pk),
            "valid_from": None,
            "valid_to": None,
            "said_at": None,
            "expires_at": None,
            "reviewed_at": None,
            "deleted_at": None,
            "deleted_why": "",
            "purge_at": None,
            "created_at": row["created_at"],
            "updated_at": row["updated_at"],
        }
        assert api(agent).get(URL).json()["results"][0]["source_conversation"] == str(talk.pk)
        factories.GrantFactory._meta.model.objects.filter(agent=agent).update(sources=["facts"])
        assert api(agent).get(URL).json()["results"][0]["source_conversation"] is None


@pytest.mark.parametrize("reads_turns", [True, False])
def test_a_list_shows_memories_as_the_serializer_does(api, owner, agent, reads_turns):
    """Byte for byte: a page is made of plain rows, a single memory is not."""
    memories = random_memories(owner, random.Random(3), 60)
    talk = factories.ConversationFactory(user=owner)
    Memory.objects.filter(pk__in=[each.pk for each in memories[:30]]).update(
        source_conversation=talk, valid_from=START, valid_to=START + timedelta(microseconds=1), reviewed_at=START
    )
    client = api(owner)
    if not reads_turns:
        factories.GrantFactory(user=owner, agent=agent, sources=["facts"])
        client = api(agent)
    listed = client.get(f"{URL}?state=all&per_page=100").json()["results"]
    assert len(listed) == 60 if reads_turns else 20 < len(listed) < 60
    for each in listed:
        alone = client.get(f"{URL}{each['id']}/").json()
        del alone["versions"]
        assert list(each.items()) == list(alone.items())
        assert (each["source_conversation"] is None) == (
            not reads_turns or each["id"] not in {memory.pk for memory in memories[:30]}
        )


class TestKeptLists:
    """A page is kept until the person's revision moves, and belongs to whom it was shown."""

    @pytest.mark.parametrize(("caller", "more"), [("agent", 0), ("owner", 2)])
    def test_queries_do_not_grow_with_the_page_and_a_page_kept_takes_none(
        self, request, api, owner, agent, get_and_keep, django_assert_num_queries, caller, more
    ):
        """Beyond the principal (and a session with its user): the count with the next expiry, the rows."""
        client = api(request.getfixturevalue(caller))
        client.get(URL)  # The first visit of a key leaves a grant.
        remember(owner, "Keeps 1 bee.")
        with django_assert_num_queries(1 + more + 2):
            get_and_keep(client, URL)
        with django_assert_num_queries(1 + more):
            assert len(client.get(URL).json()["results"]) == 1
        remember(owner, *(f"Keeps {number} bees." for number in range(2, 102)))
        with django_assert_num_queries(1 + more + 2):
            first = get_and_keep(client, f"{URL}?per_page=100")
        assert len(first.json()["results"]) == 100
        with django_assert_num_queries(1 + more):
            assert client.get(f"{URL}?per_page=100").content == first.content

    @pytest.mark.parametrize("caller", ["owner", "agent"])
    @pytest.mark.parametrize("page", [1, 2])
    def test_the_usual_list_is_the_one_that_names_what_is_usual(self, request, api, owner, agent, caller, page):
        """Without filters it is read by statements of its own."""
        _, gone, over, hidden = remember(owner, *(f"Keeps {number} bees." for number in (3, 4, 5, 6)))
        remember(owner, "Sails on Sundays.", "Knits hats.", "Reads maps.", category="interests")
        archive(gone)
        Memory.objects.filter(pk=over.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
        Memory.objects.filter(pk=hidden.pk).update(state="proposed", active_rev=None)
        client = api(request.getfixturevalue(caller))
        usual = client.get(f"{URL}?per_page=2&page={page}").json()
        named = client.get(f"{URL}?per_page=2&page={page}&state=active&sort_by=updated_at&sort_order=desc").json()
        assert usual["count"] == 4
        assert (usual["results"], usual["count"]) == (named["results"], named["count"])

    def test_a_write_shows_at_once(self, api, owner, get_and_keep):
        (memory,) = remember(owner, "Keeps bees.")
        assert contents(get_and_keep(api(owner), URL)) == ["Keeps bees."]
        reword(memory, "Keeps wasps.")
        assert contents(get_and_keep(api(owner), URL)) == ["Keeps wasps."]
        archive(memory)
        assert contents(get_and_keep(api(owner), URL)) == []

    def test_agents_that_see_differently_do_not_share_a_page(self, api, owner, agent, get_and_keep):
        remember(owner, "Keeps bees.", category="interests")
        assert len(contents(get_and_keep(api(agent), URL))) == 1
        stylist = with_key(factories.AgentFactory(owner=owner, role="stylist"))
        assert contents(get_and_keep(api(stylist), URL)) == []
        assert len(contents(get_and_keep(api(owner), URL))) == 1

    def test_an_agent_that_lost_turns_is_not_shown_what_was_kept_before(self, api, owner, agent, get_and_keep):
        remember(owner, "Keeps bees.", source_conversation=factories.ConversationFactory(user=owner))
        assert get_and_keep(api(agent), URL).json()["results"][0]["source_conversation"]
        factories.GrantFactory._meta.model.objects.filter(agent=agent).update(sources=["facts"])
        assert get_and_keep(api(agent), URL).json()["results"][0]["source_conversation"] is None

    def test_links_lead_to_the_host_that_was_asked(self, api, owner, get_and_keep, settings):
        settings.ALLOWED_HOSTS = ["one.example", "two.example"]
        remember(owner, "Keeps bees.", "Keeps wasps.")
        client = api(owner)
        for host in settings.ALLOWED_HOSTS:
            client.defaults["HTTP_HOST"] = host
            assert host in get_and_keep(client, f"{URL}?per_page=1").json()["next"]

    def test_with_the_cache_away_everything_is_answered(self, api, owner, get_and_keep, monkeypatch):
        remember(owner, "Keeps bees.", topics=["bees"])
        monkeypatch.setattr(type(cache._cache), "get_client", _gone)
        for _ in range(2):
            assert contents(get_and_keep(api(owner), URL)) == ["Keeps bees."]
            assert get_and_keep(api(owner), f"{URL}topics/").json() == {"topics": ["bees"]}
            assert "Keeps bees." in get_and_keep(api(owner), f"{URL}context/").json()["text"]
            assert get_and_keep(api(owner), f"{URL}document/").json()["metadata"]["total_facts"] == 1


def _gone(*_args, **_kwargs):
    raise ConnectionError


class TestTopics:
    def test_each_once_in_order_of_what_is_remembered_now(self, api, owner):
        remember(
            owner, {"content": "Keeps bees.", "topics": ["zoo", "bees"]}, {"content": "Sold honey.", "topics": ["bees"]}
        )
        (gone,) = remember(owner, "Had a parrot.", topics=["birds"])
        archive(gone)
        assert api(owner).get(f"{URL}topics/").json() == {"topics": ["bees", "zoo"]}

    def test_none_for_somebody_new(self, api, stranger):
        assert api(stranger).get(f"{URL}topics/").json() == {"topics": []}

    def test_an_agent_is_told_those_of_its_categories(self, api, owner):
        remember(owner, "Keeps bees.", category="interests", topics=["bees"])
        remember(owner, "Likes it short.", category="tone", topics=["writing"])
        stylist = with_key(factories.AgentFactory(owner=owner, role="stylist"))
        assert api(stylist).get(f"{URL}topics/").json() == {"topics": ["writing"]}

    def test_they_are_kept(self, api, owner, agent, get_and_keep, django_assert_num_queries):
        remember(owner, "Keeps bees.", topics=["bees"])
        client = api(agent)
        get_and_keep(client, f"{URL}topics/")
        with django_assert_num_queries(1):
            assert client.get(f"{URL}topics/").json() == {"topics": ["bees"]}

    def test_one_goes_when_the_last_memory_of_it_expires(self, api, owner):
        soon = timezone.now() + timedelta(seconds=90)
        remember(owner, "Parked on level three.", topics=["car"], expires_at=soon)
        client = api(owner)
        assert client.get(f"{URL}topics/").json() == {"topics": ["car"]}
        with time_machine.travel(soon + timedelta(seconds=1), tick=False):
            assert client.get(f"{URL}topics/").json() == {"topics": []}


class TestOneMemory:
    def test_it_comes_with_its_wordings_and_what_bears_them_out(self, api, owner, agent):
        message = factories.MessageFactory(
            conversation=factories.ConversationFactory(user=owner), content="I keep bees now."
        )
        (memory,) = remember(owner, "Keeps bees.", subject="Bees", category="interests")
        reword(memory, "Keeps wasps.")
        version = memory.versions.get(number=1)
        MemoryEvidence.objects.create(version=version, message=message, quote="I keep bees now.")
        shown = api(owner).get(url(memory)).json()
        assert (shown["content"], shown["version"]) == ("Keeps wasps.", 2)
        first, second = shown["versions"]
        assert (first["number"], first["content"], first["actor"], first["subject"]) == (
            1,
            "Keeps bees.",
            "person",
            "Bees",
        )
        assert first["evidence"] == [
            {
                "quote": "I keep bees now.",
                "conversation": str(message.conversation_id),
                "message": str(message.pk),
                "index": 0,
                "at": first["evidence"][0]["at"],
            }
        ]
        assert first["ended_at"] == second["created_at"]
        assert (second["number"], second["content"], second["ended_at"]) == (2, "Keeps wasps.", None)
        api(agent).get(url(memory))
        factories.GrantFactory._meta.model.objects.filter(agent=agent).update(sources=["facts"])
        assert [each["evidence"] for each in api(agent).get(url(memory)).json()["versions"]] == [[], []]

    def test_queries_do_not_grow_with_its_versions(self, api, owner, agent, django_assert_num_queries):
        """A key: principal, memory, whether anything was refused, versions, evidence."""
        (memory,) = remember(owner, "Keeps 0 bees.")
        client = api(agent)
        client.get(url(memory))
        with django_assert_num_queries(5):
            client.get(url(memory))
        for number in range(1, 6):
            reword(memory, f"Keeps {number} bees.")
        with django_assert_num_queries(5):
            assert len(client.get(url(memory)).json()["versions"]) == 6

    def test_who_has_it_already_is_told_so(self, api, owner):
        (memory,) = remember(owner, "Keeps bees.")
        seen = api(owner).get(url(memory))["ETag"]
        assert seen.startswith('"1-')
        for sent in (seen, f"W/{seen}", f'"other", {seen}', "*"):
            answer = api(owner).get(url(memory), HTTP_IF_NONE_MATCH=sent)
            assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", seen)
        assert api(owner).get(url(memory), HTTP_IF_NONE_MATCH='"other"', HTTP_IF_MATCH='"other"').status_code == 200
        reword(memory, "Keeps wasps.")
        assert api(owner).get(url(memory), HTTP_IF_NONE_MATCH=seen).json()["version"] == 2

    @pytest.mark.parametrize("sent", ["abc", "abcdefghi", "abcdefg-", "abcdef%00", "abcd%2Fef", "ünïcödes"])
    def test_what_can_not_be_an_id_leads_nowhere(self, api, owner, sent):
        answer = api(owner).get(f"{URL}{sent}/")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")

    def test_its_history_tells_who_did_what(self, api, owner, agent):
        (memory,) = remember(owner, "Keeps bees.")
        reword(memory, "Keeps wasps.")
        history = api(agent).get(url(memory, "history/?per_page=1")).json()
        assert [each["event"] for each in history["results"]] == ["UPDATE"]
        rest = api(agent).get(history["next"]).json()
        assert [(each["event"], each["actor"], each["new_version"]) for each in rest["results"]] == [
            ("ADD", "person", 1)
        ]
        assert [each["content"] for each in rest["versions"]] == ["Keeps bees."]
        assert rest["next"] is None


NOTHING_TOLD = {"difference": None, "delta": None}


class TestContext:
    def test_the_block_its_cost_and_the_revision_that_it_is_of(self, api, owner):
        (memory,) = remember(owner, "Keeps bees.", subject="Bees")
        shown = api(owner).get(f"{URL}context/").json()
        assert f"[id:{memory.pk}]" in shown["text"]
        assert "[Bees] Keeps bees." in shown["text"]
        assert shown == {"text": shown["text"], "tokens": shown["tokens"], "revision": 1, **NOTHING_TOLD}
        assert shown["tokens"] > 10

    def test_it_is_empty_for_somebody_new(self, api, stranger):
        assert api(stranger).get(f"{URL}context/").json() == {"text": "", "tokens": 0, "revision": 0, **NOTHING_TOLD}

    def test_it_takes_one_query_when_it_is_kept(self, api, owner, agent, get_and_keep, django_assert_num_queries):
        remember(owner, "Keeps bees.")
        client = api(agent)
        first = get_and_keep(client, f"{URL}context/")
        with django_assert_num_queries(1):
            assert client.get(f"{URL}context/").content == first.content

    def test_who_has_it_already_is_told_so(self, api, owner):
        (memory,) = remember(owner, "Keeps bees.")
        seen = api(owner).get(f"{URL}context/")["ETag"]
        answer = api(owner).get(f"{URL}context/", HTTP_IF_NONE_MATCH=seen)
        assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", seen)
        reword(memory, "Keeps wasps.")
        assert api(owner).get(f"{URL}context/", HTTP_IF_NONE_MATCH=seen).status_code == 200

    def test_a_role_narrows_it_for_agents_and_for_the_person(self, api, owner, agent):
        remember(owner, "Keeps bees.", category="profile")
        remember(owner, "Likes it short.", category="tone")
        for caller in (owner, agent):
            text = api(caller).get(f"{URL}context/?role=stylist").json()["text"]
            assert "short" in text
            assert "bees" not in text
        answer = api(agent).get(f"{URL}context/?role=emperor")
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_role")

    def test_a_conversation_keeps_the_block_of_its_first_turn(self, api, owner):
        talk = factories.ConversationFactory(user=owner)
        (kept,) = remember(owner, "Keeps bees.")
        (gone,) = remember(owner, "Keeps wasps.")
        pinned = api(owner).get(f"{URL}context/").json()
        Conversation.objects.filter(pk=talk.pk).update(block_at=timezone.now(), block_rev=pinned["revision"])
        reword(kept, "Keeps hornets.")
        remember(owner, "Keeps flies.")
        told = api(owner).get(f"{URL}context/?conversation={talk.pk}").json()
        assert {**told, **NOTHING_TOLD} == pinned
        assert f"- [id:{kept.pk}] now: " in told["difference"]
        assert "- new: [context]" in told["difference"]
        archive(gone)
        anew = api(owner).get(f"{URL}context/?conversation={talk.pk}").json()
        assert "hornets" in anew["text"]
        assert "wasps" not in anew["text"]
        assert anew["difference"] is None
        assert "hornets" in api(owner).get(f"{URL}context/").json()["text"]

    def test_after_an_idle_hour_a_conversation_gets_the_present_one(self, api, owner):
        talk = factories.ConversationFactory(user=owner)
        (memory,) = remember(owner, "Keeps bees.")
        before = timezone.now() - timedelta(minutes=61)
        Conversation.objects.filter(pk=talk.pk).update(block_at=before, block_rev=1, last_message_at=before)
        reword(memory, "Keeps hornets.")
        assert "hornets" in api(owner).get(f"{URL}context/?conversation={talk.pk}").json()["text"]

    def test_a_conversation_that_has_none_yet_gets_the_present_one(self, api, owner):
        talk = factories.ConversationFactory(user=owner)
        remember(owner, "Keeps bees.")
        assert "bees" in api(owner).get(f"{URL}context/?conversation={talk.pk}").json()["text"]

    def test_a_private_conversation_gets_none(self, api, owner):
        remember(owner, "Keeps bees.")
        talk = factories.ConversationFactory(user=owner, private=True)
        shown = api(owner).get(f"{URL}context/?conversation={talk.pk}").json()
        assert shown == {"text": "", "tokens": 0, "revision": 1, **NOTHING_TOLD}

    def test_somebody_else_s_conversation_is_missing(self, api, owner, stranger):
        theirs = factories.ConversationFactory(user=stranger)
        answers = [
            api(owner).get(f"{URL}context/?conversation={each}")
            for each in (theirs.pk, "00000000-0000-4000-8000-000000000000")
        ]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].content == answers[1].content
        assert api(owner).get(f"{URL}context/?conversation=x").json().keys() == {"conversation"}

    @pytest.mark.parametrize("caller", ["owner", "agent"])
    def test_it_is_empty_while_memory_is_off(self, request, api, owner, agent, caller):
        remember(owner, "Keeps bees.")
        factories.PreferencesFactory(user=owner, has_memory=False)
        shown = api(request.getfixturevalue(caller)).get(f"{URL}context/").json()
        assert (shown["text"], shown["tokens"]) == ("", 0)


class TestDocument:
    @pytest.fixture
    def said(self, owner):
        return factories.MessageFactory(conversation=factories.ConversationFactory(user=owner))

    @pytest.fixture
    def remembered(self, owner, said):
        (first,) = remember(owner, "Keeps bees.", category="profile", source_conversation=said.conversation)
        MemoryEvidence.objects.create(version=first.versions.get(), message=said, quote="bees")
        (gone,) = remember(owner, "Had a parrot.", category="profile")
        archive(gone)
        remember(owner, "Went hiking.", category="event")
        remember(owner, "Owns a boat.", state="proposed")
        return first

    @pytest.fixture
    def place(self, owner, said):
        place = Place.objects.create(
            user=owner, place_id="home", name="Home", notes="12 Main St", tokens=9, active_rev=1
        )
        PlaceMention.objects.create(place=place, message=said, rev=1)
        return place

    def test_its_shape(self, api, owner, said, remembered, place):
        shown = api(owner).get(f"{URL}document/").json()
        assert shown["facts"][0] == {
            "id": remembered.pk,
            "content": "Keeps bees.",
            "added_at": shown["facts"][0]["added_at"],
            "source_conversation_id": str(said.conversation_id),
            "source_message_id": str(said.pk),
            "is_active": True,
        }
        assert [(fact["content"], fact["is_active"]) for fact in shown["facts"]] == [
            ("Keeps bees.", True),
            ("Had a parrot.", False),
            ("Went hiking.", True),
        ]
        (point,) = shown["placer_user_datapoints"]
        ((conversation, ((message, at),)),) = point.pop("mentioned_in").items()
        assert (conversation, message) == (str(said.conversation_id), str(said.pk))
        assert at.endswith("Z")
        added_at = point.pop("added_at")
        assert point == {"place_id": "home", "place_name": "Home", "notes": "12 Main St"}
        assert shown["metadata"] == {
            "last_updated": max(added_at, shown["metadata"]["last_updated"]),
            "total_facts": 3,
            "total_active_facts": 2,
            "total_pois": 1,
            "token_count": remembered.tokens + place.tokens,
            "schema_version": "1.0",
        }

    def test_for_somebody_new_it_is_zeros(self, api, stranger):
        shown = api(stranger).get(f"{URL}document/").json()
        assert (shown["facts"], shown["placer_user_datapoints"]) == ([], [])
        assert shown["metadata"] == {
            "last_updated": stranger.date_joined.isoformat().replace("+00:00", "Z"),
            "total_facts": 0,
            "total_active_facts": 0,
            "total_pois": 0,
            "token_count": 0,
            "schema_version": "1.0",
        }

    def test_an_agent_gets_what_it_may_see(self, api, owner, remembered, place):
        stylist = with_key(factories.AgentFactory(owner=owner, role="stylist"))
        remember(owner, "Likes it short.", category="tone")
        shown = api(stylist).get(f"{URL}document/").json()
        assert [fact["content"] for fact in shown["facts"]] == ["Likes it short."]
        assert shown["placer_user_datapoints"] == []
        assert shown["metadata"]["total_facts"] == 1

    def test_an_agent_without_turns_is_not_told_where_it_was_said(self, api, owner, agent, remembered, place):
        factories.GrantFactory(user=owner, agent=agent, sources=["facts"])
        shown = api(agent).get(f"{URL}document/").json()
        assert {fact["source_conversation_id"] for fact in shown["facts"]} == {None}
        assert {fact["source_message_id"] for fact in shown["facts"]} == {None}
        assert shown["placer_user_datapoints"][0]["mentioned_in"] == {}

    def test_a_place_that_was_removed_is_not_in_it(self, api, owner, place):
        now = timezone.now()
        Place.objects.update(deleted_at=now, purge_at=now, active_rev=None)
        assert api(owner).get(f"{URL}document/").json()["metadata"]["total_pois"] == 0

    def test_what_has_expired_is_inactive(self, api, owner):
        soon = timezone.now() + timedelta(seconds=90)
        remember(owner, "Parked on level three.", expires_at=soon)
        with time_machine.travel(soon + timedelta(seconds=1), tick=False):
            shown = api(owner).get(f"{URL}document/").json()
        assert (shown["facts"][0]["is_active"], shown["metadata"]["token_count"]) == (False, 0)

    def test_queries_do_not_grow_and_a_document_kept_takes_none(
        self, api, owner, agent, remembered, place, get_and_keep, django_assert_num_queries
    ):
        """A key: principal, memories with their first message, places, mentions, the next expiry."""
        client = api(agent)
        client.get(f"{URL}document/")
        remember(owner, *(f"Keeps {number} bees." for number in range(2, 52)))
        with django_assert_num_queries(5):
            first = get_and_keep(client, f"{URL}document/")
        with django_assert_num_queries(1):
            assert client.get(f"{URL}document/").content == first.content
        assert first.json()["metadata"]["total_facts"] == 52

    def test_who_has_it_already_is_told_so(self, api, owner, remembered):
        seen = api(owner).get(f"{URL}document/")["ETag"]
        assert api(owner).get(f"{URL}document/", HTTP_IF_NONE_MATCH=seen).status_code == 304
        reword(remembered, "Keeps wasps.")
        assert api(owner).get(f"{URL}document/", HTTP_IF_NONE_MATCH=seen).status_code == 200
