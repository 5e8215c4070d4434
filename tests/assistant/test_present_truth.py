"""The invariant of the net difference for all that changes: facts, grants, roles, reviewing and withheld words."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.actions import grant_set, preferences_set
from accounts.policy import principal_of_key
from accounts.queries import principal_for_person, read_key
from assistant.recall.turn import FORMATS, prepare_turn
from conversations.actions import NewMessage, messages_append
from conversations.models import Conversation
from facts.actions import fact_add, fact_approve, fact_edit, fact_reject, fact_set_visibility
from facts.models import LegacyFact
from journal.exceptions import Refused
from memories.actions import memory_add, memory_approve, memory_reject, memory_update
from memories.block import memory_block
from memories.models import Memory, MemoryEvidence
from memories.records import NewMemory
from tests import factories

from .test_difference import told_by

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

STEPS = [
    *("add", "add", "agent adds", "reword", "reject", "approve", "reply", "turn", "turn", "save", "grant", "review"),
    *("fact", "fact", "agent's fact", "their fact", "edit", "refuse", "approve fact", "share"),
]
IN_BLOCK = ("context", "tone", "profile")
FACT = re.compile(r"^- (new: |now: )?\[\w+\] (Rosa .*?\.) \((?:personal|shared)[^)]*\)(?:, in place of: (.*))?$")


def strings(value):
    """Every text in what is sent to a model."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


def facts_told(text):
    """The facts that a prompt leaves standing, read from the top."""
    told = []
    for new, content, old in (match.groups() for match in map(FACT.match, text.splitlines()) if match):
        told = [each for each in told if each != old]
        told.append(content)
        assert new or not old
    return sorted(told)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 5), st.integers(0, 3)), min_size=5, max_size=16))
def test_every_format_tells_what_is_active_and_visible_now(api, steps):
    owner, member = factories.UserFactory(), factories.UserFactory()
    legacy = factories.LegacyFactory(owner=owner)
    factories.MemberFactory(legacy=legacy, user=member)
    keys = [
        factories.AgentKeyFactory(agent=factories.AgentFactory(owner=owner, role=role)) for role in ("", "", "stylist")
    ]
    grant_set(principal_for_person(owner.pk), keys[2].agent_id, sources=["facts", "turns"])
    talk = factories.ConversationFactory(user=owner, agent=keys[0].agent, legacy=legacy)

    def me():
        return principal_for_person(owner.pk)

    def callers():
        return [*(principal_of_key(read_key(key.public, "")) for key in keys), me()]

    def take(number, step, which, who):
        memories = list(Memory.objects.filter(user=owner).order_by("created_at", "pk"))
        facts = list(LegacyFact.objects.filter(user=owner).order_by("extracted_at", "pk"))
        memory, fact = (rows[which % len(rows)] if rows else None for rows in (memories, facts))
        caller = callers()[who]
        match step:
            case "add" | "agent adds":
                content, category = f"The user owns {number} bows.", IN_BLOCK[which % 3]
                by = me() if step == "add" else callers()[which % 2]
                made = memory_add(by, NewMemory(content, category), insist=step == "add").memory
                said = messages_append(me(), talk.pk, [NewMessage("user", f"I own {number} bows. I am well.")])[0]
                MemoryEvidence.objects.create(version=made.versions.get(), message=said, quote=f"I own {number} bows.")
            case "reword" if memory:
                memory_update(me(), memory.pk, f"The user sold {number} bows.")
            case "reject" if memory:
                memory_reject(me(), memory.pk, ("dont_keep", "not_true")[which % 2])
            case "approve" if memory:
                memory_approve(me(), memory.pk)
            case "fact" | "agent's fact":
                fact_add(me() if step == "fact" else callers()[0], legacy.pk, f"Rosa kept {number} hens.", "hobby")
            case "their fact":
                theirs = principal_for_person(member.pk)
                fact_add(theirs, legacy.pk, f"Rosa sold {number} hens.", "hobby", ("shared", "private")[which % 2])
            case "edit" if fact:
                fact_edit(me(), fact.pk, content=f"Rosa bought {number} hens.")
            case "refuse" if fact:
                fact_reject(me(), fact.pk)
            case "approve fact" if fact:
                fact_approve(me(), fact.pk)
            case "share" if fact:
                fact_set_visibility(me(), fact.pk, ("shared", "private")[which % 2])
            case "grant":
                seen = (None, ["tone", "context"], ["profile"])[which % 3]
                sources = (["facts", "turns"], ["turns"], None)[who % 3]
                grant_set(me(), keys[which % 2].agent_id, categories=seen, sources=sources)
            case "review":
                preferences_set(me(), review=("before", "after")[which % 2], recall_record=True)
            case "reply":
                messages_append(me(), talk.pk, [NewMessage("assistant", "I see.")])
            case "turn" | "save" if sees(caller):
                prepare_turn(caller, talk.pk, "Hello.", save=step == "save" and caller.kind == "person")

    def sees(caller):
        return Conversation.objects.visible_to(caller).filter(pk=talk.pk).exists()

    for number, (step, which, who) in enumerate(steps, 2):
        try:
            take(number, step, which, who)
        except Refused:
            continue  # A state, a gate or a suppression that says no.
    for caller, key in zip(callers(), [*keys, owner], strict=True):
        if not sees(caller):
            continue
        now = memory_block(caller)
        visible = Memory.objects.visible_to(caller).filter(state="active", in_block=True)
        assert set(now.ids) == set(visible.values_list("pk", flat=True))
        facts = LegacyFact.objects.visible_to(caller).filter(state="active", legacy=legacy)
        expected = (
            sorted(facts.values_list("content", flat=True))
            if caller.kind == "person" or "facts" in caller.sources
            else []
        )
        context = api(key).get(f"/api/v1/memories/context/?conversation={talk.pk}").json()
        assert told_by(f"{context['text']}\n{context['difference'] or ''}") == told_by(now.text)
        for form in FORMATS:
            made = prepare_turn(caller, talk.pk, "Hello.", format=form)
            for text in (made.text, "\n".join(strings([made.system, made.messages]))):
                assert told_by(text) == told_by(now.text), form
                assert sorted(set(facts_told(text))) == expected, form
