"""Who may register which webhook, and what is shown of it."""

import pytest
from django.db import connection

from journal.models import Change
from memories.models import Webhook
from memories.webhooks import secret_of
from tests import factories
from tests.conftest import with_key

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("private")]
URL = "/api/v1/webhooks/"
ADDRESS = "https://agent.example/hook"


def test_an_agent_does_for_itself_and_sees_the_secret_once(api, agent, owner):
    made = api(agent).post(URL, {"url": ADDRESS})
    assert made.status_code == 201
    shown = made.json()
    assert (shown["agent"], shown["url"]) == (str(agent.pk), ADDRESS)
    assert shown["secret"].startswith("whsec_")
    assert shown["reached"] == Change.objects.of_owner(owner.pk).last().rev
    listed = api(agent).get(URL).json()["results"]
    assert [each.keys() & {"secret"} for each in listed] == [set()]
    assert "secret" not in api(agent).get(f"{URL}{shown['id']}/").json()


def test_a_person_does_for_their_agents(api, agent, owner, stranger):
    made = api(owner).post(URL, {"url": ADDRESS, "agent": str(agent.pk)})
    assert made.status_code == 201
    assert api(stranger).post(URL, {"url": ADDRESS, "agent": str(agent.pk)}).status_code == 404
    assert api(owner).post(URL, {"url": ADDRESS}).json().keys() == {"agent"}


def test_nobody_does_for_another_agent(api, agent, owner):
    other = with_key(factories.AgentFactory(name="other", owner=owner))
    made = api(other).post(URL, {"url": ADDRESS}).json()
    assert api(agent).post(URL, {"url": ADDRESS, "agent": str(other.pk)}).status_code == 404
    assert api(agent).get(URL).json()["count"] == 0
    for address in (f"{URL}{made['id']}/", f"{URL}{made['id']}/deliveries/"):
        assert api(agent).get(address).status_code == 404
    assert api(agent).delete(f"{URL}{made['id']}/").status_code == 404
    assert api(agent).post(f"{URL}{made['id']}/resume/").status_code == 404
    assert Webhook.objects.count() == 1


@pytest.mark.parametrize("scopes", [["read"], ["write"]])
def test_it_takes_reading_and_writing(api, owner, scopes):
    keyed = with_key(factories.AgentFactory(name="half", owner=owner), scopes)
    assert api(keyed).post(URL, {"url": ADDRESS}).json()["code"] == "missing_scope"
    assert not Webhook.objects.exists()


def test_the_same_address_once_and_so_many_at_most(api, agent, settings):
    settings.WEBHOOKS_PER_AGENT = 2
    assert api(agent).post(URL, {"url": ADDRESS}).status_code == 201
    assert api(agent).post(URL, {"url": ADDRESS}).json()["code"] == "webhook_exists"
    assert api(agent).post(URL, {"url": f"{ADDRESS}/2"}).status_code == 201
    assert api(agent).post(URL, {"url": f"{ADDRESS}/3"}).json()["code"] == "too_many_webhooks"


def test_a_repeated_request_answers_the_same(api, agent):
    first, again = (api(agent).post(URL, {"url": ADDRESS}, headers={"Idempotency-Key": "1"}).json() for _ in range(2))
    assert first == again
    assert Webhook.objects.count() == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://agent.example/hook",
        "ftp://agent.example/",
        "https://",
        "agent.example/hook",
        "https://user:word@agent.example/",
        "https://agent.example/#part",
        "https://agent.example:0/",
        "https://agent.example:99999/",
        "https://agent.example\\@10.0.0.1/",
        "https://agent.example/a\nb",
        f"https://agent.example/{'x' * 500}",
    ],
)
def test_what_is_no_address_is_refused(api, agent, settings, url):
    settings.WEBHOOKS_PRIVATE = False
    assert api(agent).post(URL, {"url": url}).status_code == 400
    assert not Webhook.objects.exists()


def test_no_table_holds_the_secret(hook):
    secret = secret_of(hook).removeprefix("whsec_")
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_jsonb(w)::text FROM memories_webhook w")
        assert secret not in cursor.fetchone()[0]
    assert secret_of(Webhook()) != secret_of(hook)
