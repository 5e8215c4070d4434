"""``manage.py create_agent_key``."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import Agent, AgentKey, User

pytestmark = pytest.mark.django_db


def create(*arguments):
    out = io.StringIO()
    call_command("create_agent_key", *arguments, stdout=out)
    return out.getvalue()


def test_quiet_prints_the_key_alone_and_makes_the_user(api):
    printed = create("notes", "--user", "olga", "--quiet")
    assert printed.endswith("\n")
    assert api(printed.strip()).get("/api/v1/legacies/").status_code == 200
    user, key = User.objects.get(), AgentKey.objects.get()
    assert (user.username, user.has_usable_password()) == ("olga", False)
    assert (key.scopes, key.expires_at) == (["read", "write"], None)
    assert (key.agent.name, key.agent.kind, key.agent.role, key.agent.owner) == ("notes", "personal", "", user)


def test_without_quiet_it_says_what_was_made(owner):
    printed = create("notes", "--user", "owner", "--role", "planner", "--expires", "30")
    key = AgentKey.objects.get()
    assert f"ks_{key.public}." in printed
    assert f"personal agent notes of owner, read, write, until {key.expires_at:%Y-%m-%d}" in printed
    assert abs(key.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)
    assert key.agent.role == "planner"
    assert "until it is revoked" in create("other", "--user", "owner")


def test_a_service_reads_and_writes_and_has_names_of_its_own(api):
    printed = create("backend", "--user", "operator", "--service", "--quiet").strip()
    agent = Agent.objects.get()
    assert (agent.kind, agent.issuer) == ("service", f"agent:{agent.pk}")
    assert agent.keys.get().scopes == ["read", "write"]
    assert api(printed, "42").post("/api/v1/legacies/", {"name": "Rosa"}).status_code == 201


def test_an_issuer_is_shared_when_named():
    create("one", "--user", "operator", "--service", "--issuer", "shop")
    create("two", "--user", "operator", "--service", "--issuer", "shop")
    assert set(Agent.objects.values_list("name", "issuer")) == {("one", "shop"), ("two", "shop")}


def test_scopes_override(owner):
    create("notes", "--user", "owner", "--scopes", "admin,read")
    create("backend", "--user", "owner", "--service", "--scopes", "read")
    assert list(AgentKey.objects.order_by("created_at").values_list("scopes", flat=True)) == [
        ["admin", "read"],
        ["read"],
    ]


def test_again_it_makes_another_key_of_the_same_agent(owner):
    first, second = (create("notes", "--user", "owner", "--quiet") for _ in range(2))
    assert first != second
    assert Agent.objects.get().keys.count() == 2


def test_an_agent_does_not_change_under_its_keys(owner):
    create("notes", "--user", "owner", "--role", "planner")
    for different in (["--service", "--role", "planner"], [], ["--role", "planner", "--issuer", "shop"]):
        with pytest.raises(CommandError, match="notes is there already: personal, role planner"):
            create("notes", "--user", "owner", *different)
    assert AgentKey.objects.count() == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["notes", "--user", "not a name"], "is not a user name"),
        (["notes", "--user", "m\u0430ria"], "has letters of one script. This one mixes Cyrillic, Latin"),
        (["notes", "--user", "olga", "--role", "astronaut"], "The role astronaut is not known"),
        (["notes", "--user", "olga", "--scopes", "root"], "Scopes are read, write, admin; got root"),
        (["notes", "--user", "olga", "--expires", "0"], "can't expire in the past"),
        (["  ", "--user", "olga"], "A name has 1 to 100 characters"),
        (["notes"], "--user"),
    ],
)
def test_a_wrong_option_says_so(arguments, reason):
    with pytest.raises(CommandError, match=reason):
        create(*arguments)
    assert not User.objects.exists()
