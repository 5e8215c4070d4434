"""The overview of what is remembered: what it counts, and that a kept one is never behind."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from journal.cache import valkey
from memories import actions
from memories.models import Memory
from memories.overview import counts_by_state, read_overview

from .rows import remember

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_counts_by_state_and_category_and_names_what_a_list_is_narrowed_to(owner, stranger, agent):
    remember(
        owner,
        {"content": "Likes trains.", "category": "interests", "topics": ["rail", "travel"], "subject": "Otto"},
        {"content": "Likes boats.", "category": "interests", "topics": ["travel"], "agent": agent},
        {"content": "Is called Rosa.", "category": "profile", "subject": "Anna"},
    )
    remember(owner, "Waits for a word.", state="proposed", category="profile")
    remember(stranger, "Somebody else’s.", category="tasks")
    found = read_overview(principal_for_person(owner.pk))
    assert found.counts == {"active": {"interests": 2, "profile": 1}, "proposed": {"profile": 1}}
    assert found.states == {"active": 3, "proposed": 1}
    counted = counts_by_state(Memory.objects.filter(user=owner))
    assert counted == {"active": 3, "proposed": 1, "archived": 0, "rejected": 0, "quarantined": 0}
    assert (found.topics, found.subjects, found.agents) == (["rail", "travel"], ["Anna", "Otto"], [str(agent.pk)])


def test_a_kept_one_takes_one_statement_and_a_write_of_the_same_request_is_in_the_next(
    owner, django_assert_num_queries
):
    memory, _other = remember(owner, "Likes trains.", "Drinks green tea.")
    me = principal_for_person(owner.pk)
    first = read_overview(me)
    with django_assert_num_queries(1):
        assert read_overview(me) == first
    actions.memory_archive(me, memory.pk)
    assert read_overview(me).states == {"active": 1, "archived": 1}


def test_what_expires_is_counted_until_then_and_kept_no_longer(owner, monkeypatch):
    now = timezone.now()
    remember(owner, {"content": "Is at the sea.", "expires_at": now + timedelta(seconds=90)}, "Drinks green tea.")
    remember(owner, {"content": "Was in the hills.", "expires_at": now - timedelta(seconds=1)})
    kept = []
    monkeypatch.setattr(valkey(), "set_and_get", lambda key, value, seconds, other: kept.append(seconds))
    assert read_overview(principal_for_person(owner.pk)).states == {"active": 2}
    assert 80 < kept[0] <= 90
