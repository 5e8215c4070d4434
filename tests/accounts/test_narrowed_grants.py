"""Grants that were narrowed before narrowing took the sources: the migration takes them."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from accounts.models import Grant
from tests.factories import AgentFactory, GrantFactory

narrowed = import_module("accounts.migrations.0007_narrowed_grants")

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("batch", [1, 1_000])
def test_only_what_was_narrowed_to_categories_alone_loses_the_sources(owner, monkeypatch, batch):
    monkeypatch.setattr(narrowed, "BATCH", batch)
    before = {
        "whole": (None, None, ""),
        "narrowed": (["goals"], None, ""),
        "narrowed, too": (["tone"], None, ""),
        "given": (["goals"], ["facts"], ""),
        "role": (["goals"], None, "planner"),
    }
    for name, (categories, sources, role) in before.items():
        agent = AgentFactory(owner=owner, name=name, role=role)
        GrantFactory(user=owner, agent=agent, categories=categories, sources=sources)
    with connection.schema_editor() as editor:
        narrowed.take_sources(apps, editor)
    after = dict(Grant.objects.filter(user=owner).values_list("agent__name", "sources"))
    assert after == {"whole": None, "narrowed": [], "narrowed, too": [], "given": ["facts"], "role": None}
