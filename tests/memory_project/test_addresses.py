"""Every address of the deployment, found by walking the table of addresses: what holds for all of them."""

import re
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver

from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

PARTS = {"uuid": str(uuid4()), "int": "1"}
FOR_EVERYBODY = ("/.well-known/", "/api/schema/", "/health/", "/static/")


def addresses(patterns, before=""):
    for each in patterns:
        route = before + str(each.pattern)
        if route.startswith("admin/"):
            continue  # Staff's tables are alike, and their own tests look at them.
        if isinstance(each, URLResolver):
            yield from addresses(each.url_patterns, route)
        else:
            yield "/" + re.sub(r"<(?:(\w+):)?\w+>", lambda part: PARTS.get(part[1], "abc"), route)


@pytest.fixture
def all_addresses():
    found = list(dict.fromkeys(addresses(get_resolver().url_patterns)))
    assert len(found) > 200
    return found


def test_no_form_of_another_site_is_taken(all_addresses):
    """Whoever is signed in may be led to post anything anywhere; where a key is asked for, a cookie is no key."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(UserFactory())
    taken = {path: client.post(path, {"next": "//evil.example"}).status_code for path in all_addresses}
    assert {path: code for path, code in taken.items() if code not in {401, 403, 404, 405}} == {}


def test_what_depends_on_who_asks_is_kept_by_nobody_between(all_addresses, client):
    client.force_login(UserFactory())
    kept = {}
    for path in all_addresses:
        answer = client.get(path)
        told = answer.headers.get("Cache-Control", "")
        if answer.status_code == 200 and not path.startswith(FOR_EVERYBODY) and not re.search("private|no-store", told):
            kept[path] = told
    assert kept == {}
