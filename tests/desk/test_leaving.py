"""What is announced on the list of memories before it goes for good."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.memories.rows import remember

from .conftest import words

pytestmark = pytest.mark.django_db


def test_important_memories_that_made_room_are_announced_before_they_are_purged(visit, owner):
    now = timezone.now()
    gone = {"state": "archived", "deleted_why": "evicted", "deleted_at": now, "importance": 4}
    remember(owner, {"content": "Is allergic to nuts.", "purge_at": now + timedelta(days=20), **gone})
    assert "deleted for good" not in words(visit(owner).get("/memories/"))
    remember(owner, {"content": "Is allergic to bees.", "purge_at": now + timedelta(days=10), **gone})
    assert "1 important memory that made room in your prompts is deleted for good" in words(
        visit(owner).get("/memories/")
    )
