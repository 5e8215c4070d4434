"""Plans over REST: planned, looked at, carried out in part, taken back; and how memories are related."""

from dataclasses import replace

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from journal.models import JobRun
from language.base import ModelUnavailable
from memories import actions, strategies
from memories.models import Memory, MemoryPlan, Relation
from memories.plan_querysets import STRATEGY
from tests import factories
from tests.conftest import with_key

from .plans import Scripted, standing
from .rest import URL, now, refusal, url
from .rows import archive, change, remember
from .state import check

pytestmark = pytest.mark.django_db

PLANS = f"{URL}optimize/"
BEES, HENS, BOTH = "The user keeps bees.", "The user keeps hens.", "The user keeps bees and hens."
TEA, JAM, SWEET = "The user likes tea.", "The user likes jam.", "The user likes tea and jam."
DOG, SAME_DOG = "The user's dog is called Rufus.", "The user has a dog named Rufus."


@pytest.fixture
def way(monkeypatch):
    made = Scripted()
    monkeypatch.setitem(strategies.STRATEGIES, made.name, made)
    return made


@pytest.fixture
def mine(api, owner):
    return api(owner)


@pytest.fixture
def memories(owner, way):
    made = remember(owner, BEES, HENS, TEA, JAM)
    way.say(BOTH, *made[:2], subject="Animals", topics=["home"])
    way.say(SWEET, *made[2:])
    return made


@pytest.fixture
def plan(mine, memories):
    answer = mine.post(PLANS, {"strategy": "scripted"})
    assert answer.status_code == 200, answer.content
    return answer.json()


def of(plan, what=""):
    return f"{PLANS}{plan['id']}/{what}"


class TestPlans:
    def test_a_plan_shows_what_would_be_beside_what_is(self, mine, owner, memories, plan):
        first, second = plan["items"]
        assert {name: value for name, value in first.items() if name not in {"id", "sources"}} == {
            "state": "waiting",
            "reason": "",
            "content": BOTH,
            "kind": "semantic",
            "category": "context",
            "subject": "Animals",
            "topics": ["home"],
            "importance": 2,
            "tokens_before": memories[0].tokens + memories[1].tokens,
            "tokens_after": first["tokens_after"],
            "merged": None,
        }
        assert first["sources"] == [
            {"id": memory.pk, "version": 1, "content": memory.content, "subject": ""} for memory in memories[:2]
        ]
        assert second["content"] == SWEET
        assert (plan["state"], plan["strategy"], plan["categories"], plan["pinned"]) == (
            "preview",
            "scripted",
            None,
            False,
        )
        assert (plan["looked_at"], plan["left_over"], plan["written_by"]) == (4, 0, "scripted model")
        assert (plan["job"], plan["decided_at"]) == (None, None)
        assert mine.get(of(plan)).json() == plan

    def test_the_open_plan_is_found_without_its_id_and_says_why_it_asks(self, mine, owner, plan):
        assert mine.get(PLANS).json() == plan
        assert plan["asks_because"] == ""
        MemoryPlan.objects.filter(pk=plan["id"]).update(strategy=STRATEGY)
        assert mine.get(PLANS).json()["asks_because"] == "share"
        factories.PreferencesFactory(user=owner, review="before")
        assert mine.get(PLANS).json()["asks_because"] == "review"
        assert mine.delete(of(plan)).status_code == 204
        assert refusal(mine.get(PLANS)) == (404, "not_found")

    def test_a_key_that_may_decide_finds_the_plan_that_consolidation_asks_about(self, api, mine, owner, plan):
        agents = [factories.AgentFactory(owner=owner, role=role) for role in ("", "planner")]
        keys = [api(with_key(each, ["read", "write", "admin"])) for each in agents]
        assert [key.get(PLANS).status_code for key in keys] == [404, 404]
        MemoryPlan.objects.filter(pk=plan["id"]).update(strategy=STRATEGY)
        assert [key.get(PLANS).status_code for key in keys] == [200, 404]
        assert keys[0].post(of(plan, "apply/"), {}).json()["state"] == "applied"

    def test_applied_in_part_and_reverted(self, mine, owner, memories, plan):
        before = standing(owner)
        applied = mine.post(of(plan, "apply/"), {"items": [plan["items"][0]["id"]]}).json()
        (item,) = applied["items"]
        assert (applied["state"], item["state"], item["content"]) == ("applied", "applied", "")
        assert (item["merged"]["content"], item["merged"]["state"]) == (BOTH, "active")
        assert [source["content"] for source in item["sources"]] == [BEES, HENS]
        assert now(memories[2]).state == "active"
        reverted = mine.post(of(plan, "revert/")).json()
        assert (reverted["state"], reverted["items"][0]["state"]) == ("reverted", "reverted")
        assert standing(owner) == before
        check(owner)

    def test_without_items_all_of_it(self, mine, plan):
        applied = mine.post(of(plan, "apply/"), {"items": None}).json()
        assert [item["state"] for item in applied["items"]] == ["applied", "applied"]
        assert applied["items"][1]["merged"]["content"] == SWEET

    def test_what_is_skipped_says_why(self, mine, memories, plan):
        mine.put(url(memories[0]), {"content": "The user keeps wasps."})
        applied = mine.post(of(plan, "apply/")).json()
        assert [(item["state"], item["reason"]) for item in applied["items"]] == [
            ("skipped", "changed"),
            ("applied", ""),
        ]
        assert applied["items"][0]["sources"][0]["content"] == BEES

    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            ({"items": []}, 400, None),
            ({"items": ["nonsense"]}, 400, None),
            ({"items": ["00000000-0000-4000-8000-000000000000"]}, 400, "bad_items"),
        ],
    )
    def test_items_that_are_none_of_it(self, mine, owner, plan, body, status, code):
        before = standing(owner)
        assert refusal(mine.post(of(plan, "apply/"), body)) == (status, code)
        assert standing(owner) == before

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ({"strategy": "magic"}, "unknown_strategy"),
            ({"categories": ["nonsense"]}, "unknown_category"),
            ({"categories": "context"}, None),
            ({"pinned": "perhaps"}, None),
        ],
    )
    def test_what_can_not_be_planned(self, mine, body, code):
        assert refusal(mine.post(PLANS, body)) == (400, code)
        assert not MemoryPlan.objects.exists()

    def test_without_a_body_the_model_is_asked_about_everything(self, mine, owner):
        remember(owner, DOG, SAME_DOG)
        plan = mine.post(PLANS, {"categories": ["context"]}).json()
        assert (plan["strategy"], plan["categories"], len(plan["items"])) == ("summarise", ["context"], 1)
        assert len(mine.post(PLANS).json()["items"]) == 1

    def test_discarding(self, mine, plan):
        assert mine.delete(of(plan)).status_code == 204
        assert mine.get(of(plan)).json()["state"] == "discarded"
        assert mine.get(of(plan)).json()["items"] == []
        assert refusal(mine.delete(of(plan))) == (409, "wrong_state")
        assert refusal(mine.post(of(plan, "apply/"))) == (409, "wrong_state")

    def test_one_whose_day_is_over_says_nothing_any_more(self, mine, plan):
        MemoryPlan.objects.update(expires_at=timezone.now())
        late = mine.get(of(plan)).json()
        assert (late["state"], late["items"]) == ("lapsed", [])
        assert mine.post(of(plan, "apply/")).json()["state"] == "lapsed"
        assert actions.plans_tidy() == 1
        assert mine.get(of(plan)).json()["state"] == "lapsed"

    def test_one_that_a_job_makes_is_polled(self, mine, way, memories):
        way.slow = True
        answer = mine.post(PLANS, {"strategy": "scripted"})
        plan = answer.json()
        job = JobRun.objects.get()
        assert (answer.status_code, plan["state"], plan["items"]) == (202, "making", [])
        assert plan["job"] == {"id": str(job.pk), "state": "waiting", "done": 0, "total": 4}
        assert refusal(mine.post(of(plan, "apply/"))) == (409, "wrong_state")
        actions.plan_make(job.pk)
        made = mine.get(of(plan)).json()
        assert (made["state"], len(made["items"])) == ("preview", 2)
        assert made["job"] == {"id": str(job.pk), "state": "done", "done": 4, "total": 4}

    def test_a_model_that_is_away_is_told(self, mine, way, memories, monkeypatch):
        way.failures = 1
        answer = mine.post(PLANS, {"strategy": "scripted"})
        assert refusal(answer) == (503, "unavailable")
        assert answer["Retry-After"]
        assert not MemoryPlan.objects.exists()
        assert ModelUnavailable.__name__ not in answer.content.decode()

    def test_too_many_a_day_are_told(self, mine, way, memories, settings):
        way.slow = True
        settings.OPTIMIZE_PLANS_PER_DAY = 0
        assert refusal(mine.post(PLANS, {"strategy": "scripted"})) == (429, "too_many_for_now")

    def test_the_same_request_twice_does_its_work_once(self, mine, owner, way, memories):
        def send(path, key, body=None):
            return mine.post(path, body or {}, HTTP_IDEMPOTENCY_KEY=key)

        first, again = (send(PLANS, "plan", {"strategy": "scripted"}) for _ in range(2))
        assert first.json() == again.json()
        assert again["Idempotent-Replay"] == "true"
        for what in ("apply/", "revert/"):
            first, again = (send(of(first.json(), what), what) for _ in range(2))
            assert (first.status_code, first.json()) == (200, again.json())
        assert Memory.objects.filter(content=BOTH).count() == 1
        assert standing(owner)[0]

    def test_a_repeated_202_is_one_too(self, mine, way, memories):
        way.slow = True
        codes = [mine.post(PLANS, {"strategy": "scripted"}, HTTP_IDEMPOTENCY_KEY="k").status_code for _ in range(2)]
        assert codes == [202, 202]
        assert MemoryPlan.objects.count() == 1

    def test_queries_do_not_grow_with_the_items(self, mine, owner, way, django_assert_num_queries):
        """Session, user, principal, plan, items, sources with their words, job."""

        def plan(count):
            made = remember(owner, *(f"Statement {count} {number} stands here." for number in range(2 * count)))
            for one, other in zip(made[::2], made[1::2], strict=True):
                way.say(f"Statement {count} {made.index(one)} twice.", one, other)
            return mine.post(PLANS, {"strategy": "scripted"}).json()

        for count in (1, 6):
            made = plan(count)
            assert len(made["items"]) >= count
            with django_assert_num_queries(7):
                mine.get(of(made))
            applied = mine.post(of(made, "apply/")).json()
            with django_assert_num_queries(8):  # What came of each, too.
                mine.get(of(applied))

    def test_a_service_that_sees_a_part_shows_a_part(self, api, owner, service, memories):
        factories.ExternalIdentityFactory(user=owner, issuer="backend", external_id="42")
        client = api(service, "42")
        plan = client.post(PLANS, {"strategy": "scripted"}).json()
        assert len(plan["items"]) == 2
        api(owner).patch(f"/api/v1/agents/{service.pk}/grant/", {"categories": ["goals"]})
        assert refusal(client.get(of(plan))) == (404, "not_found")
        assert refusal(client.post(of(plan, "apply/"))) == (404, "not_found")
        assert refusal(client.post(PLANS, {"categories": ["context"]})) == (403, "category_not_allowed")
        assert api(owner).get(of(plan)).status_code == 200


class TestRelations:
    @pytest.fixture
    def related(self, owner):
        """Bees with five others, one of each sort."""
        bees, *others = remember(
            owner,
            {"content": BEES, "subject": "Home"},
            *(f"Related number {number}." for number in range(4)),
            {"content": "Likes honey.", "category": "tone"},
        )
        kinds = ("related_to", "related_to", "supersedes", "derived_from", "related_to")
        for number, (other, kind) in enumerate(zip(others, kinds, strict=True)):
            ends = (bees, other) if number % 2 == 0 else (other, bees)
            Relation.objects.create(
                user=owner, from_memory=ends[0], to_memory=ends[1], type=kind, strength=0.9 - number / 10
            )
        return bees, others

    def test_the_strongest_first_with_what_is_at_the_other_end(self, mine, related):
        bees, others = related
        page = mine.get(url(bees, "relations/")).json()
        assert page["count"] == 5
        shown = [(each["type"], each["direction"], each["memory"]["content"]) for each in page["results"]]
        assert shown == [
            ("related_to", "from", "Related number 0."),
            ("related_to", "to", "Related number 1."),
            ("supersedes", "from", "Related number 2."),
            ("derived_from", "to", "Related number 3."),
            ("related_to", "from", "Likes honey."),
        ]
        assert page["results"][0]["strength"] == pytest.approx(0.9)
        assert page["results"][0]["memory"] == {
            "id": others[0].pk,
            "content": "Related number 0.",
            "category": "context",
            "subject": "",
            "kind": "semantic",
            "field": "",
            "state": "active",
            "version": 1,
        }
        (back,) = mine.get(url(others[0], "relations/")).json()["results"]
        assert (back["direction"], back["memory"]["id"], back["memory"]["subject"]) == ("to", bees.pk, "Home")

    @pytest.mark.parametrize(
        ("query", "count"),
        [("?type=related_to", 3), ("?type=supersedes", 1), ("?type=", 5), ("?per_page=2&page=3", 1)],
    )
    def test_narrowed_and_by_pages(self, mine, related, query, count):
        assert len(mine.get(url(related[0], f"relations/{query}")).json()["results"]) == count

    def test_a_type_that_there_is_not(self, mine, related):
        assert mine.get(url(related[0], "relations/?type=nonsense")).status_code == 400

    def test_memories_that_the_caller_does_not_see_are_left_out(self, api, owner, agent, related):
        bees, others = related
        planner = with_key(factories.AgentFactory(name="narrow", owner=owner))
        factories.GrantFactory(user=owner, agent=planner, categories=["context"])
        change(others[1], state="quarantined")
        archive(others[0])
        seen = [each["memory"]["content"] for each in api(planner).get(url(bees, "relations/")).json()["results"]]
        assert seen == ["Related number 2.", "Related number 3."]
        assert api(owner).get(url(bees, "relations/")).json()["count"] == 5
        assert api(planner).get(url(others[4], "relations/")).status_code == 404

    def test_nobody_elses(self, api, owner, stranger, staff, moderator, me, related):
        bees, _ = related
        assert api(stranger).get(url(bees, "relations/")).status_code == 404
        assert Relation.objects.visible_to(moderator).count() == 5
        assert Relation.objects.visible_to(me).count() == 5
        assert not Relation.objects.visible_to(principal_for_person(stranger.pk)).exists()
        assert not Relation.objects.visible_to(replace(me, user_id=None)).exists()

    def test_queries_do_not_grow_with_them(self, api, owner, agent, related, django_assert_num_queries):
        """A key: principal, memory, count, page."""
        bees, others = related
        client = api(agent)
        client.get(url(bees, "relations/"))
        for memory, count in ((others[0], 1), (bees, 5)):
            with django_assert_num_queries(4):
                assert len(client.get(url(memory, "relations/")).json()["results"]) == count

    def test_what_a_merge_was_made_of(self, mine, plan):
        applied = mine.post(of(plan, "apply/")).json()
        merged = applied["items"][0]["merged"]["id"]
        page = mine.get(url(merged, "relations/?type=derived_from")).json()
        assert {each["memory"]["content"] for each in page["results"]} == {BEES, HENS}
        assert {(each["direction"], each["strength"]) for each in page["results"]} == {("from", 1.0)}
