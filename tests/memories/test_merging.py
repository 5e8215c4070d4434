"""Carrying out a plan to say memories in fewer, and taking it back: nothing is lost, whoever changes what meanwhile."""

from dataclasses import replace
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as how
from hypothesis import strategies as st

from accounts.queries import principal_for_person
from journal.exceptions import Conflict, Gated, NotAllowed, NotYoursToDecide, Refused
from journal.models import Change, JobRun
from memories import actions, strategies
from memories.block import memory_block
from memories.models import MEMORY, Memory, MemoryPlan, MemoryPlanItem, MemoryUse, Relation
from memories.records import NewMemory
from statements.actions import statements_purge
from statements.models import Suppression
from tests import factories

from .plans import Scripted, standing
from .rows import change, counted, recount, remember
from .state import changes, check, now, versions

pytestmark = pytest.mark.django_db

BEES, HENS, BOTH = "The user keeps bees.", "The user keeps hens.", "The user keeps bees and hens."
TEA, JAM, SWEET = "The user likes tea.", "The user likes jam.", "The user likes tea and jam."


@pytest.fixture
def way(monkeypatch):
    made = Scripted()
    monkeypatch.setitem(strategies.STRATEGIES, made.name, made)
    return made


@pytest.fixture
def pair(me, add):
    return add(me, BEES).memory, add(me, HENS).memory


@pytest.fixture
def other(me, add):
    return add(me, TEA).memory, add(me, JAM).memory


@pytest.fixture
def plan(me, way, pair):
    """A plan of one item, which says ``BOTH`` of ``pair``."""
    way.say(BOTH, *pair, topics=["home"], importance=4)
    return actions.optimize_plan(me, "scripted")


@pytest.fixture
def two(me, way, pair, other):
    """A plan of two items."""
    way.say(BOTH, *pair)
    way.say(SWEET, *other)
    return actions.optimize_plan(me, "scripted")


def items(plan):
    return list(MemoryPlanItem.objects.filter(plan=plan).order_by("position"))


def outcome(plan):
    return [(item.state, item.reason) for item in items(plan)]


def purge(me, memory):
    """Delete a memory for good, as when its time in the archive is over."""
    if memory.state == "active":
        actions.memory_archive(me, memory.pk)
    Memory.objects.filter(pk=memory.pk).update(purge_at=timezone.now())
    assert statements_purge(MEMORY) == 1


def merged(plan):
    (item,) = items(plan)
    return item.merged


class TestApplying:
    def test_one_takes_the_place_of_several(self, me, owner, pair, plan):
        revs = now(pair[0]).active_rev
        assert actions.optimize_apply(me, plan.pk).state == "applied"
        new = merged(plan)
        assert (new.content, new.category, new.topics, new.importance) == (BOTH, "context", ["home"], 4)
        assert (new.state, new.version, new.written_by, new.agent_id) == ("active", 1, "scripted model", None)
        assert new.reviewed_at is not None
        assert new.active_rev > revs
        for source in map(now, pair):
            assert (source.state, source.deleted_why) == ("archived", "merged")
            assert source.purge_at > timezone.now()
            assert changes(owner, source)[-1] == "MERGE"
        assert changes(owner, new) == ["MERGE"]
        log = Change.objects.get(object_id=new.pk)
        assert log.meta == {"plan": str(plan.pk), "sources": [memory.pk for memory in pair]}
        derived = Relation.objects.filter(from_memory=new, type="derived_from")
        assert set(derived.values_list("to_memory", flat=True)) == {memory.pk for memory in pair}
        text = memory_block(principal_for_person(owner.pk)).text
        assert BOTH in text
        assert BEES not in text
        check(owner)

    def test_its_text_goes_with_it(self, me, plan):
        actions.optimize_apply(me, plan.pk)
        (item,) = items(plan)
        assert (item.state, item.content, item.subject, item.topics) == ("applied", "", "", [])
        plan.refresh_from_db()
        assert plan.applied_rev == principal_for_person(me.user_id).rev

    def test_what_bears_the_sources_out_is_carried_along_once(self, me, owner, add, way):
        talk = factories.ConversationFactory(user=owner)
        first, second = (factories.MessageFactory(conversation=talk, content=text) for text in ("Bees!", "Hens too."))
        bees = add(me, BEES, message_id=first.pk).memory
        hens = add(me, HENS, message_id=second.pk).memory
        add(me, BEES, message_id=second.pk)
        actions.memory_update(me, hens.pk, "The user keeps many hens.", message_id=second.pk)
        way.say("The user keeps bees and many hens.", bees, hens)
        plan = actions.optimize_plan(me, "scripted")
        actions.optimize_apply(me, plan.pk)
        (version,) = versions(merged(plan))
        said = list(version.evidence.order_by("id").values_list("message_id", "quote"))
        assert said == [(first.pk, "Bees!"), (second.pk, "Hens too.")]
        assert merged(plan).source_conversation_id == talk.pk

    def test_what_all_share_stays_and_what_differs_goes(self, me, owner, way):
        begun = timezone.now()
        memories = remember(
            owner,
            {"content": BEES, "run_id": "r1", "role": "cook", "actor_id": "a"},
            {"content": HENS, "run_id": "r1", "role": "host", "actor_id": "a", "valid_from": begun},
        )
        for uses, memory in enumerate(memories, 2):
            MemoryUse.objects.create(memory=memory, uses=uses, last_used_at=begun)
        way.say(BOTH, *memories)
        plan = actions.optimize_plan(me, "scripted")
        actions.optimize_apply(me, plan.pk)
        new = merged(plan)
        assert (new.run_id, new.role, new.actor_id, new.valid_from) == ("r1", "", "a", begun)
        assert (new.use.uses, new.use.last_used_at) == (5, begun)

    def test_pinned_ones_stay_pinned(self, me, owner, way):
        memories = remember(owner, {"content": BEES, "pinned": True}, HENS)
        way.say(BOTH, *memories)
        plan = actions.optimize_plan(me, "scripted", pinned=True)
        actions.optimize_apply(me, plan.pk)
        assert merged(plan).pinned

    def test_a_wording_that_stands_on_stays_its_writers(self, me, bot, add, way):
        bees, other = add(bot, BEES).memory, add(me, "The user keeps bees at home.").memory
        way.say(BEES, bees, other)
        plan = actions.optimize_plan(me, "scripted")
        actions.optimize_apply(me, plan.pk)
        assert (merged(plan).content, merged(plan).written_by) == (BEES, "agent")

    def test_it_is_related_to_what_is_near_it(self, me, add, way, pair, settings):
        settings.MEMORY_LINK_MIN_SIMILARITY = 0.2
        near = add(me, "The user keeps bees and hens and geese.").memory
        way.say(BOTH, *pair)
        plan = actions.optimize_plan(me, "scripted")
        actions.optimize_apply(me, plan.pk)
        related = Relation.objects.filter(from_memory=merged(plan), type="related_to")
        assert list(related.values_list("to_memory", flat=True)) == [near.pk]

    def test_without_the_embedder_its_vector_comes_later(self, me, owner, plan, away):
        away()
        actions.optimize_apply(me, plan.pk)
        assert merged(plan).embedding is None
        away.back()
        actions.memories_index()
        assert merged(plan).embedding is not None
        check(owner)

    def test_only_what_was_chosen(self, me, owner, two, pair, other):
        first, _ = items(two)
        actions.optimize_apply(me, two.pk, [first.pk])
        assert outcome(two) == [("applied", "")]
        assert [now(memory).state for memory in (*pair, *other)] == ["archived", "archived", "active", "active"]
        check(owner)

    @pytest.mark.parametrize("chosen", [list, lambda: [uuid4()]])
    def test_choosing_nothing_of_it_is_refused(self, me, owner, two, chosen):
        before = standing(owner)
        with pytest.raises(Refused) as refused:
            actions.optimize_apply(me, two.pk, chosen())
        assert refused.value.code == "bad_items"
        assert standing(owner) == before

    @pytest.mark.parametrize("state", ["applied", "reverted", "discarded"])
    def test_once_only(self, me, plan, state):
        {
            "applied": lambda: actions.optimize_apply(me, plan.pk),
            "reverted": lambda: actions.optimize_apply(me, plan.pk) and actions.optimize_revert(me, plan.pk),
            "discarded": lambda: actions.optimize_discard(me, plan.pk),
        }[state]()
        with pytest.raises(Conflict) as refused:
            actions.optimize_apply(me, plan.pk)
        assert (refused.value.code, refused.value.extra) == ("wrong_state", {"state": state})

    def test_it_is_the_persons_decision(self, me, bot, backend, cautious, plan):
        for act in (actions.optimize_apply, actions.optimize_revert, actions.optimize_discard):
            for who in (bot, cautious):
                with pytest.raises(NotYoursToDecide):
                    act(who, plan.pk)
        with pytest.raises(NotAllowed):
            actions.optimize_apply(replace(backend, has_memory=False), plan.pk)

    def test_a_service_with_every_scope_decides_about_its_own(self, backend, owner, way, pair):
        way.say(BOTH, *pair)
        plan = actions.optimize_plan(backend, "scripted")
        actions.optimize_apply(backend, plan.pk)
        assert merged(plan).agent_id == backend.agent_id
        check(owner)

    def test_what_made_room_is_not_put_away_again(self, me, owner, two, other, settings):
        """As when a deployment gave the block less room since."""
        settings.MEMORY_BLOCK_TOKENS = sum(source.tokens for source in other) + 1
        actions.optimize_apply(me, two.pk)
        assert outcome(two) == [("applied", ""), ("skipped", "gone")]
        assert counted(owner) == recount(owner)

    def test_the_block_grows_no_longer_and_nothing_is_evicted(self, me, owner, plan, settings):
        settings.MEMORY_BLOCK_TOKENS = counted(owner)["block_tokens"]
        actions.optimize_apply(me, plan.pk)
        assert counted(owner) == recount(owner)
        assert counted(owner)["block_tokens"] < settings.MEMORY_BLOCK_TOKENS
        assert not Memory.objects.filter(deleted_why="evicted").exists()

    def test_a_block_over_its_budget_evicts_and_what_went_is_no_source_any_more(self, me, owner, way, settings):
        """As after the budget was lowered: each write makes room, perhaps with what another item is about."""
        memories = remember(owner, *(f"Statement number {number} stands here." for number in range(12)))
        for one, other in zip(memories[::2], memories[1::2], strict=True):
            way.say(f"Statement {memories.index(one)} twice.", one, other)
        plan = actions.optimize_plan(me, "scripted")
        settings.MEMORY_BLOCK_TOKENS = counted(owner)["block_tokens"] // 3
        actions.optimize_apply(me, plan.pk)
        states = {state for state, _ in outcome(plan)}
        assert states == {"applied", "skipped"}
        assert {reason for state, reason in outcome(plan) if state == "skipped"} == {"gone"}
        assert counted(owner)["block_tokens"] <= settings.MEMORY_BLOCK_TOKENS
        check(owner)
        settings.MEMORY_BLOCK_TOKENS //= 2
        actions.optimize_revert(me, plan.pk)
        assert ("reverted", "") in outcome(plan)
        assert counted(owner)["block_tokens"] <= settings.MEMORY_BLOCK_TOKENS
        assert counted(owner) == recount(owner)

    def test_statements_grow_with_the_items_by_a_constant(self, me, owner, way):
        def cost(count):
            person = factories.UserFactory()
            principal = principal_for_person(person.pk)
            memories = remember(person, *(f"Statement number {number} stands." for number in range(2 * count)))
            for one, other in zip(memories[::2], memories[1::2], strict=True):
                way.say(f"Statement {one.content[17:-8]} twice.", one, other)
            plan = actions.optimize_plan(principal, "scripted")
            with CaptureQueriesContext(connection) as captured:
                actions.optimize_apply(principal, plan.pk)
            assert outcome(plan) == [("applied", "")] * count
            return len(captured)

        two, three, nine = cost(2), cost(3), cost(9)
        assert three - two <= 18
        assert nine - three == 6 * (three - two)


class TestWhatChangedMeanwhile:
    @pytest.mark.parametrize(
        ("what", "reason"),
        [
            (lambda me, memory: actions.memory_update(me, memory.pk, "The user keeps wasps."), "changed"),
            (lambda me, memory: actions.memory_amend(me, memory.pk, category="goals"), "changed"),
            (lambda me, memory: actions.memory_pin(me, memory.pk, True), "changed"),
            (lambda me, memory: change(memory, field="goal"), "changed"),
            (lambda me, memory: actions.memory_archive(me, memory.pk), "gone"),
            (lambda me, memory: actions.memory_reject(me, memory.pk), "gone"),
            (purge, "gone"),
        ],
    )
    @pytest.mark.parametrize("which", [0, 1])
    def test_an_item_whose_source_changed_is_skipped_and_says_so(self, me, owner, two, pair, what, reason, which):
        what(me, now(pair[which]))
        assert actions.optimize_apply(me, two.pk).state == "applied"
        assert outcome(two) == [("skipped", reason), ("applied", "")]
        assert not Memory.objects.filter(content=BOTH).exists()
        assert now(pair[1 - which]).state == "active"
        assert counted(owner) == recount(owner)

    def test_what_was_only_filed_under_other_topics_is_merged(self, me, plan, pair):
        actions.memory_amend(me, pair[0].pk, topics=["insects"], importance=5)
        actions.optimize_apply(me, plan.pk)
        assert outcome(plan) == [("applied", "")]

    def test_what_is_remembered_elsewhere_by_now_is_skipped(self, me, owner, add, plan):
        add(me, BOTH)
        actions.optimize_apply(me, plan.pk)
        assert outcome(plan) == [("skipped", "similar_exists")]
        check(owner)

    def test_what_was_rejected_meanwhile_is_skipped(self, me, owner, add, plan):
        actions.memory_reject(me, add(me, BOTH).memory.pk)
        actions.optimize_apply(me, plan.pk)
        assert outcome(plan) == [("skipped", "rejected_before")]
        check(owner)

    def test_a_plan_of_which_nothing_is_left_is_over_too(self, me, plan, pair):
        actions.memory_archive(me, pair[0].pk)
        actions.optimize_apply(me, plan.pk)
        with pytest.raises(Conflict) as refused:
            actions.optimize_revert(me, plan.pk)
        assert (refused.value.code, refused.value.extra["reasons"]) == ("nothing_to_revert", [])


class TestReverting:
    def test_it_is_as_it_was(self, me, owner, two, bot, add):
        add(bot, "The user rows a boat.")
        before = standing(owner)
        actions.optimize_apply(me, two.pk)
        assert standing(owner) != before
        assert actions.optimize_revert(me, two.pk).state == "reverted"
        assert outcome(two) == [("reverted", "")] * 2
        assert standing(owner) == before
        new = Memory.objects.get(content=BOTH)
        assert (new.state, new.deleted_why) == ("archived", "replaced")
        assert not Suppression.objects.exists()
        check(owner)

    def test_it_can_be_done_again_in_another_plan(self, me, owner, plan):
        for _ in range(2):
            made = actions.optimize_plan(me, "scripted")
            actions.optimize_apply(me, made.pk)
            actions.optimize_revert(me, made.pk)
        assert Memory.objects.filter(content=BOTH).count() == 2
        check(owner)

    @pytest.mark.parametrize(
        ("what", "reason"),
        [
            (lambda me, new, old: actions.memory_update(me, new.pk, "The user keeps wasps."), "merged_changed"),
            (lambda me, new, old: actions.memory_amend(me, new.pk, subject="Insects"), "merged_changed"),
            (lambda me, new, old: actions.memory_archive(me, new.pk), "merged_changed"),
            (lambda me, new, old: purge(me, new), "merged_changed"),
            (lambda me, new, old: purge(me, old), "gone"),
            (lambda me, new, old: actions.memory_restore(me, old.pk), "changed"),
            (lambda me, new, old: actions.memory_add(me, NewMemory(BEES, "context")), "similar_exists"),
        ],
    )
    def test_what_can_not_be_taken_back_is_kept_and_says_why(self, me, owner, two, pair, what, reason):
        actions.optimize_apply(me, two.pk)
        what(me, items(two)[0].merged, now(pair[0]))
        untouched = {memory.pk: now(memory).state for memory in pair if Memory.objects.filter(pk=memory.pk).exists()}
        assert actions.optimize_revert(me, two.pk).state == "reverted"
        assert outcome(two) == [("kept", reason), ("reverted", "")]
        assert {pk: now(pk).state for pk in untouched} == untouched
        assert counted(owner) == recount(owner)

    def test_when_nothing_can_be_taken_back_nothing_changes(self, me, owner, plan):
        actions.optimize_apply(me, plan.pk)
        actions.memory_update(me, merged(plan).pk, "The user keeps wasps.")
        before = standing(owner)
        with pytest.raises(Conflict) as refused:
            actions.optimize_revert(me, plan.pk)
        assert (refused.value.code, refused.value.extra["reasons"]) == ("nothing_to_revert", ["merged_changed"])
        assert standing(owner) == before
        assert outcome(plan) == [("applied", "")]

    @pytest.mark.parametrize(
        "what",
        [
            lambda me, new: actions.memory_pin(me, new.pk, True),
            lambda me, new: actions.memory_add(me, NewMemory(BOTH, "context")),
            lambda me, new: actions.memory_approve(me, new.pk),
        ],
    )
    def test_what_is_no_change_of_it_does_not_keep_it(self, me, owner, plan, what):
        before = standing(owner)
        actions.optimize_apply(me, plan.pk)
        what(me, merged(plan))
        actions.optimize_revert(me, plan.pk)
        assert standing(owner) == before

    def test_what_has_no_room_any_more_stays_as_it_is(self, me, owner, plan, settings):
        actions.optimize_apply(me, plan.pk)
        actions.memory_pin(me, merged(plan).pk, True)
        before = standing(owner)
        settings.MEMORY_BLOCK_TOKENS = 1
        with pytest.raises(Gated) as refused:
            actions.optimize_revert(me, plan.pk)
        assert refused.value.code == "budget"
        assert standing(owner) == before

    def test_what_made_room_for_it_is_not_put_away_again(self, me, owner, two, pair, settings):
        actions.optimize_apply(me, two.pk)
        settings.MEMORY_BLOCK_TOKENS = max(source.tokens for source in pair) + 1
        actions.optimize_revert(me, two.pk)
        assert outcome(two) == [("reverted", ""), ("kept", "merged_changed")]
        assert counted(owner) == recount(owner)

    @pytest.mark.parametrize("state", ["preview", "discarded"])
    def test_what_was_not_carried_out_is_not_taken_back(self, me, plan, state):
        if state == "discarded":
            actions.optimize_discard(me, plan.pk)
        with pytest.raises(Conflict) as refused:
            actions.optimize_revert(me, plan.pk)
        assert refused.value.extra == {"state": state}

    def test_a_source_is_fetched_back_alone_like_anything_archived(self, me, owner, plan, pair):
        actions.optimize_apply(me, plan.pk)
        assert actions.memory_restore(me, pair[0].pk).state == "active"
        assert actions.memory_restore(me, pair[1].pk).state == "active"
        check(owner)

    def test_one_that_was_put_away_before_it_was_merged_comes_back_active(self, me, owner, cautious, add, way):
        """What it was when it went is read from the last time that it went."""
        bees, hens = add(cautious, BEES).memory, add(me, HENS).memory
        actions.memory_archive(me, bees.pk)
        actions.memory_restore(me, bees.pk)
        actions.memory_approve(me, bees.pk)
        way.say(BOTH, bees, hens)
        plan = actions.optimize_plan(me, "scripted")
        actions.optimize_apply(me, plan.pk)
        service = replace(cautious, review="after")
        assert not service.may_decide
        with pytest.raises(NotYoursToDecide):
            actions.memory_restore(service, bees.pk)
        assert actions.memory_restore(me, bees.pk).state == "active"
        check(owner)


WORDS = st.sampled_from(["bees", "hens", "geese", "ducks", "goats"])
ROW = st.fixed_dictionaries(
    {
        "pinned": st.booleans(),
        "importance": st.integers(1, 5),
        "topics": st.lists(WORDS, max_size=3, unique=True),
        "kind": st.sampled_from(["semantic", "episodic"]),
        "category": st.sampled_from(["context", "goals", "event"]),
        "reviewed": st.booleans(),
        "subject": st.sampled_from(["", "Alec", "Rosa"]),
    }
)


@given(rows=st.lists(ROW, min_size=2, max_size=12), cut=st.integers(2, 4), chosen=st.data())
@how(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_applying_and_reverting_gives_back_exactly_what_was_there(way, rows, cut, chosen):
    person = factories.UserFactory()
    me = principal_for_person(person.pk)
    contents = [
        {
            "content": f"The user keeps animal number {number} at home.",
            "reviewed_at": timezone.now() if row["reviewed"] else None,
            **{name: value for name, value in row.items() if name != "reviewed"},
        }
        for number, row in enumerate(rows)
    ]
    memories = remember(person, *contents)
    way.groups.clear()
    shelves = {}
    for memory in memories:
        shelves.setdefault((memory.kind, memory.category), []).append(memory)
    for (_, category), shelf in shelves.items():
        for at in range(0, len(shelf) - 1, cut):
            group = shelf[at : at + cut]
            if len(group) > 1:
                way.say(f"The user keeps {memories.index(group[0])} etc.", *group, category=category)
    before = standing(person)
    plan = actions.optimize_plan(me, "scripted", pinned=True)
    ids = [item.pk for item in items(plan)]
    wanted = chosen.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    actions.optimize_apply(me, plan.pk, wanted or None)
    check(person)
    assert counted(person)["block_tokens"] <= before[-1]["block_tokens"]
    if ids:
        assert {state for state, _ in outcome(plan)} == {"applied"}
        assert counted(person)["memories"] < before[-1]["memories"]
        actions.optimize_revert(me, plan.pk)
    assert standing(person) == before
    check(person)


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    def test_applying_while_a_source_is_edited_loses_neither(self, me, owner, two, pair, at_once):
        def act(number):
            if number == 0:
                return actions.optimize_apply(me, two.pk)
            return actions.memory_update(me, pair[0].pk, f"The user keeps {number} wasps.")

        results = at_once(act, 6)
        assert not [each for each in results if isinstance(each, Exception) and not isinstance(each, Conflict)]
        first, second = outcome(two)
        assert second == ("applied", "")
        source = now(pair[0])
        if first == ("applied", ""):
            assert (source.state, source.version) == ("archived", 1)
            assert all(isinstance(each, Conflict) for each in results[1:])
        else:
            assert first == ("skipped", "changed")
            assert source.state == "active"
            assert source.version == 6 - sum(isinstance(each, Conflict) for each in results[1:])
        check(owner)

    def test_eight_who_apply_one_plan_apply_it_once(self, me, owner, two, at_once):
        results = at_once(lambda _: actions.optimize_apply(me, two.pk), 8)
        assert sum(isinstance(each, MemoryPlan) for each in results) == 1
        assert {each.code for each in results if isinstance(each, Exception)} == {"wrong_state"}
        assert Memory.objects.filter(state="active").count() == 2
        check(owner)

    def test_eight_who_revert_it_revert_it_once(self, me, owner, two, at_once):
        before = standing(owner)
        actions.optimize_apply(me, two.pk)
        results = at_once(lambda _: actions.optimize_revert(me, two.pk), 8)
        assert sum(isinstance(each, MemoryPlan) for each in results) == 1
        assert standing(owner) == before
        check(owner)

    def test_eight_who_plan_leave_one_open_plan(self, me, owner, way, pair, at_once):
        way.say(BOTH, *pair)
        results = at_once(lambda _: actions.optimize_plan(me, "scripted"), 8)
        assert not [each for each in results if isinstance(each, Exception)]
        assert MemoryPlan.objects.filter(state="preview").count() == 1
        assert MemoryPlanItem.objects.count() == 1

    def test_eight_workers_make_a_plan_once(self, me, way, pair, at_once):
        way.slow = True
        way.say(BOTH, *pair)
        plan = actions.optimize_plan(me, "scripted")
        job = JobRun.objects.get(subject_id=str(plan.pk))
        at_once(lambda _: actions.plan_make(job.pk), 8)
        plan.refresh_from_db()
        assert (plan.state, len(way.shown), len(items(plan))) == ("preview", 1, 1)
