"""How people are named: one spelling for each name, none that is taken for another, and nobody made by a read."""

import re
import uuid

import pytest
from django.contrib.auth import authenticate

from accounts import actions, policy
from accounts.models import ExternalIdentity, Grant, User
from tests import factories
from tests.conftest import with_key
from tests.openapi import contract

LEGACIES = "/api/v1/legacies/"


@pytest.mark.parametrize("spelled", ["olga", "Olga", " OLGA ", "ｏｌｇａ", "Ｏlga", "𝐎𝐥𝐠𝐚"])
@pytest.mark.parametrize("issuer", ["backend", "local"])
def test_every_case_and_width_of_a_name_is_one_person(service, api, spelled, issuer):
    service.issuer = issuer
    service.save()
    first = api(service, "olga").post(LEGACIES, {"name": "Rosa"}).json()
    assert [each["id"] for each in api(service, spelled).get(LEGACIES).json()["results"]] == [first["id"]]
    api(service, spelled).post(LEGACIES, {"name": "Karl"})
    assert api(service, "olga").get(LEGACIES).json()["count"] == 2
    assert User.objects.exclude(pk=service.owner_id).count() == 1


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("m\u0430ria", "one script"),  # Cyrillic а
        ("\u03bfwner", "one script"),  # Greek ο
        ("ma\u0555", "one script"),  # Armenian Օ
        ("mar\u200bia", "invisible"),  # zero width space
        ("maria\u2060", "invisible"),  # word joiner
        ("\ufeffmaria", "invisible"),  # byte order mark
        ("maria\u202e", "invisible"),  # right to left override
        ("\u2066maria\u2069", "invisible"),  # isolates
        ("ma\u00adria", "invisible"),  # soft hyphen
        ("maria\ufe0f", "invisible"),  # variation selector
        ("maria\u3164", "invisible"),  # Hangul filler
        ("maria\u2800", "invisible"),  # blank Braille
        ("ma\u034fria", "invisible"),  # grapheme joiner
        ("maria\U000e0041", "invisible"),  # tag
        ("ma\tria", "invisible"),
        ("ma\x07ria", "invisible"),
        ("ma\x00ria", "invisible"),
        ("maria\ue000", "invisible"),  # private use
        ("maria\u2028x", "invisible"),  # line separator
        ("ol\u0261a", "U\\+0261 for g"),  # Latin ɡ
        ("m\u0251ria", "U\\+0251 for a"),  # Latin ɑ
        ("user\u201042", "U\\+2010 for -"),  # another hyphen
        ("\u0441\u043e\u0441\u043e", "look-alikes"),  # Cyrillic сосо
        ("\u0422\u041e\u041c", "look-alikes"),  # Cyrillic ТОМ, in capitals only
        ("\u03bf\u03c5", "look-alikes"),  # Greek ου
    ],
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_name_that_reads_as_another_one_is_refused(service, api, name, why, method):
    before = User.objects.count()
    answer = getattr(api(service, name), method)(LEGACIES, {"name": "Rosa"} if method == "post" else None)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_user")
    assert re.search(why, answer.json()["detail"])
    assert User.objects.count() == before


@pytest.mark.parametrize(
    "name",
    ["Ülkü 二", "Мария", "Ольга", "Παύλος", "Işık", "名前ひらカタ", "김 maria", "user|42:a@b.example", "אבג", "नमिता"],
)
def test_a_name_in_the_scripts_that_are_written_together_is_taken(service, api, name):
    assert api(service, name).post(LEGACIES, {"name": "Rosa"}).status_code == 201
    person = ExternalIdentity.objects.get(external_id=policy.normal_name(name)).user
    assert person.get_full_name() == name


def test_members_of_a_legacy_are_named_under_the_same_rules(service, api):
    answer = api(service, "42").post(LEGACIES, {"name": "Rosa", "members": ["m\u0430ria"]})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_user")
    assert not ExternalIdentity.objects.exclude(external_id="42").exists()


def reads():
    for template, operations in contract().document["paths"].items():
        if "get" in operations:
            path = template.replace("{index}", "0").replace("{name}", "search_memory").replace("{version}", "1")
            yield re.sub(r"\{\w+\}", str(uuid.UUID(int=7)), path)


def test_a_get_never_makes_a_person(service, api, django_assert_num_queries):
    """Reproduction: every GET under a new name made one more person. Each read has no rows, or nothing to show."""
    client, before = api(service, "nobody yet"), User.objects.count()
    paths = [path for path in reads() if path.startswith("/api/v1/")]
    assert len(paths) > 30
    answers = {path: client.get(path) for path in paths}
    assert {
        path: answer.status_code for path, answer in answers.items() if answer.status_code not in {200, 400, 404}
    } == {}
    assert answers["/api/v1/memories/"].json()["results"] == []
    assert answers["/api/v1/changes/"].status_code == 200
    assert User.objects.count() == before
    assert not Grant.objects.exists()


def test_a_call_that_only_reads_makes_no_person_either(service, api):
    before = User.objects.count()
    answer = api(service, "nobody yet").post("/api/v1/memories/query/", {"query": "What do I drink?"})
    assert (answer.status_code, answer.json()["results"]) == (200, [])
    assert User.objects.count() == before
    assert api(service, "nobody yet").post(LEGACIES, {"name": "Rosa"}).status_code == 201
    assert User.objects.count() == before + 1


def test_people_sign_in_in_any_case_and_width(db):
    user = actions.user_create("Olga", password="a long enough secret")
    assert user.username == "olga"
    for typed in ("olga", "OLGA", "ｏｌｇａ"):
        assert authenticate(username=typed, password="a long enough secret") == user
    assert authenticate(username="ol\u0261a", password="a long enough secret") is None
    assert User.objects.create_user("KARL").username == "karl"


@pytest.mark.django_db
def test_a_member_s_name_that_gets_long_in_its_normal_form_is_refused(api):
    key = with_key(factories.AgentFactory(kind="service", owner=factories.UserFactory()), ("read", "write", "admin"))
    body = {"name": "Rosa", "members": ["\ufdfa" * 100]}
    answer = api(key, "bob").post("/api/v1/legacies/", body, format="json")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_user")
