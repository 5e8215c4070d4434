"""The pages of agents: what each sees, what it was shown, narrowing, revoking, keys, and connecting another."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone

from accounts.actions import grant_set
from accounts.models import Agent, AgentKey, Grant
from accounts.queries import principal_for_person
from conversations.actions import NewMessage, checkpoint_save, conversation_create, messages_append
from conversations.models import Checkpoint
from facts.actions import fact_add
from memories.actions import memory_add, memory_archive, memory_update, webhook_create, webhook_remove
from memories.models import Disclosure, Webhook, WebhookDelivery
from memories.records import NewMemory
from memories.webhooks import secret_of
from tests.factories import (
    AgentFactory,
    AgentKeyFactory,
    DeliveryFactory,
    GrantFactory,
    MemoryFactory,
    WebhookFactory,
    agent_principal,
)

from .conftest import text, words

LIST_QUERIES = 7
AGENT_QUERIES = 9
API = "/api/v1/memories/"


def page(agent, what=""):
    return f"/agents/{agent.pk}/{what}"


def call(client, agent):
    return client.get(API, headers={"Authorization": f"Bearer {agent.credential}"})


def given(owner, agent, *memories, by="turn", ago=timedelta()):
    ids = [each.pk for each in memories]
    return Disclosure.objects.create(user=owner, agent=agent, by=by, memories=ids, at=timezone.now() - ago)


def test_what_it_saved_to_resume_from_is_listed_and_deleted(visit, owner, stranger, agent):
    """A state may hold words that were refused, and no page showed that there is one."""
    bot, other = (agent_principal(each, owner) for each in (agent, AgentFactory(owner=owner)))
    for thread in ("trip", "diet"):
        checkpoint_save(bot, thread, {"said": "I had a vasectomy in Brno."})
    checkpoint_save(other, "trip", {})
    client = visit(owner)
    shown = words(client.get(page(agent)))
    assert re.search(r"diet ?Saved", shown)
    assert "vasectomy" not in shown
    assert visit(stranger).post(page(agent, "threads/forget/"), {"thread": "trip"}).status_code == 404
    told = words(client.post(page(agent, "threads/forget/"), {"thread": "trip"}, follow=True))
    assert "Deleted for good: the agent begins that thread anew." in told
    assert "trip" not in told
    left = Checkpoint.objects.values_list("agent", "thread")
    assert set(left) == {(agent.pk, "diet"), (other.agent_id, "trip")}
    assert client.post(page(agent, "threads/forget/"), {"thread": "trip"}).status_code == 404


def test_a_card_says_what_it_is_when_it_called_and_what_it_was_shown(visit, owner, agent, client):
    memory = MemoryFactory(user=owner)
    for ago in (timedelta(), timedelta(days=2), timedelta(days=8)):
        given(owner, agent, memory, ago=ago)
    planner = AgentFactory(name="Planner", owner=owner, role="planner")
    GrantFactory(user=owner, agent=AgentFactory(name="Clinic", service=True, issuer="clinic"))
    shown = words(visit(owner).get("/agents/"))
    assert (
        "agent Your own Has not called yet. Shown memories 2 times this week May see every category but procedures."
        in shown
    )
    assert "Clinic A service that acts for you Shown no memories this week." in shown
    assert "Planner Your own Planner Has not called yet." in shown
    assert "May see: Project, Goals, Tasks, Procedural" in shown
    assert call(client, agent).status_code == 200
    assert "agent Your own Last called on" in words(visit(owner).get("/agents/"))
    assert f'href="/agents/{planner.pk}/"' in text(visit(owner).get("/agents/"))


def test_without_agents_it_says_what_to_do_next(visit, owner):
    empty = visit(owner).get("/agents/")
    assert "No agent uses your memory yet." in words(empty)
    assert 'href="/agents/connect/"' in text(empty)


@pytest.mark.parametrize("who", ["stranger", "member", "staff"])
def test_others_see_and_change_nothing(visit, request, owner, agent, who):
    client = visit(request.getfixturevalue(who))
    key = AgentKey.objects.get(agent=agent)
    assert "No agent uses your memory yet." in words(client.get("/agents/"))
    for what in ("", "shown/", f"keys/{key.pk}/"):
        assert client.get(page(agent, what)).status_code == 404
    for what in ("may-see/", "revoke/", "let-in/", "keys/", f"keys/{key.pk}/end/"):
        assert client.post(page(agent, what), {"may": "read"}).status_code == 404
    assert not Grant.objects.filter(agent=agent, revoked_at__isnull=False).exists()
    assert AgentKey.objects.get().revoked_at is None


class TestWebhooks:
    ADDRESS = "https://agent.example/hook"

    def test_one_is_added_and_its_secret_shown_once(self, visit, owner, agent):
        client = visit(owner)
        made = client.post(page(agent, "webhooks/"), {"url": self.ADDRESS})
        secret = re.search(r"whsec_[A-Za-z0-9+/=]+", text(made))
        hook = Webhook.objects.get()
        assert (hook.url, hook.agent, secret[0]) == (self.ADDRESS, agent, secret_of(hook))
        shown = client.get(page(agent))
        assert self.ADDRESS in text(shown)
        assert secret[0] not in text(shown)
        assert client.get(page(agent, "webhooks/")).status_code == 302

    @pytest.mark.parametrize("url", ["", "http://agent.example/", "https://10.0.0.1/"])
    def test_an_address_that_can_not_be_is_refused_in_the_form(self, visit, owner, agent, url):
        answer = visit(owner).post(page(agent, "webhooks/"), {"url": url})
        assert answer.status_code == 400
        assert 'class="errorlist"' in text(answer)
        assert not Webhook.objects.exists()

    def test_what_could_not_be_delivered_is_listed_and_sent_again(self, visit, owner, agent):
        dead = DeliveryFactory(webhook__user=owner, webhook__agent=agent, state="dead", status_code=502, attempts=12)
        client = visit(owner)
        assert "1 message could not be delivered" in words(client.get(page(agent)))
        assert "It was answered with 502, 12 times." in words(client.get(page(agent)))
        address = page(agent, f"webhooks/{dead.webhook_id}/deliveries/{dead.pk}/resend/")
        assert "It is sent again in a moment." in words(client.post(address, follow=True))
        dead.refresh_from_db()
        assert dead.state == "waiting"
        assert "Only what was given up" in words(client.post(address, follow=True))

    @pytest.mark.parametrize("error", WebhookDelivery.Error.values)
    def test_it_says_why(self, visit, owner, agent, error):
        DeliveryFactory(webhook__user=owner, webhook__agent=agent, state="dead", status_code=None, error=error)
        told = {
            "private_address": "Its address is not on the public internet.",
            "timed_out": "There was no answer in time.",
        }
        assert told.get(error, "The server could not be reached.") in words(visit(owner).get(page(agent)))

    def test_one_that_was_switched_off_is_told_at_home_and_switched_on_again(self, visit, owner, agent):
        days_ago = timezone.now() - timedelta(days=3)
        hook = WebhookFactory(user=owner, agent=agent, failing_since=days_ago, disabled_at=timezone.now())
        client = visit(owner)
        assert "A webhook of agent is switched off" in words(client.get("/"))
        assert "Switched off Nothing came through since" in words(client.get(page(agent)))
        assert "What happened since is sent" in words(
            client.post(page(agent, f"webhooks/{hook.pk}/resume/"), follow=True)
        )
        assert "is switched off" not in words(client.get("/"))

    def test_it_is_given_another_secret_which_is_shown_once(self, visit, owner, agent):
        hook = WebhookFactory(user=owner, agent=agent)
        before, client = secret_of(hook), visit(owner)
        assert f"webhooks/{hook.pk}/rotate/" in text(client.get(page(agent)))
        shown = client.post(page(agent, f"webhooks/{hook.pk}/rotate/"))
        hook.refresh_from_db()
        assert secret_of(hook) in text(shown)
        assert before not in text(shown)
        assert "signed with the secret before as well" in words(shown)

    def test_one_is_removed(self, visit, owner, agent):
        hook = WebhookFactory(user=owner, agent=agent)
        answer = visit(owner).post(page(agent, f"webhooks/{hook.pk}/remove/"), follow=True)
        assert "That webhook is removed" in words(answer)
        assert not Webhook.objects.exists()

    def test_others_do_nothing_with_it(self, visit, owner, stranger, agent):
        dead = DeliveryFactory(webhook__user=owner, webhook__agent=agent, state="dead")
        hook = page(agent, f"webhooks/{dead.webhook_id}/")
        client = visit(stranger)
        for address in (
            page(agent, "webhooks/"),
            f"{hook}remove/",
            f"{hook}resume/",
            f"{hook}rotate/",
            f"{hook}deliveries/{dead.pk}/resend/",
        ):
            assert client.post(address, {"url": self.ADDRESS}).status_code == 404
        assert WebhookDelivery.objects.get().state == "dead"


def test_what_it_was_shown_opens_as_a_list(visit, owner, agent):
    me = principal_for_person(owner.pk)
    bees, hens = MemoryFactory(user=owner, content="I keep bees."), MemoryFactory(user=owner, content="I keep hens.")
    given(owner, agent, bees, hens, by="query")
    given(owner, agent, hens, ago=timedelta(days=1))
    given(owner, AgentFactory(owner=owner), bees)
    memory_archive(me, hens.pk)
    shown = visit(owner).get(page(agent, "shown/"))
    assert words(shown).count("It looked them up") == 1
    assert words(shown).count("It had them in a prompt") == 1
    assert f'<a href="/memories/{bees.pk}/">I keep bees.</a>' in text(shown)
    assert "Page 1 of 2" not in words(shown)


def test_what_is_shown_has_pages_and_names_a_few_of_many(visit, owner, agent):
    many = [MemoryFactory(user=owner) for _ in range(7)]
    for _ in range(21):
        given(owner, agent, *many)
    client = visit(owner)
    first = words(client.get(page(agent, "shown/")))
    assert "Page 1 of 2" in first
    assert first.count("And 2 more") == 20


def test_it_is_narrowed_and_sees_less_from_its_next_request_on(visit, owner, agent, client):
    MemoryFactory(user=owner, content="I keep bees.", category="context")
    MemoryFactory(user=owner, content="Keep it short.", category="tone")
    assert "bees" in call(client, agent).content.decode()
    answer = visit(owner).post(page(agent, "may-see/"), {"category": ["tone"], "source": ["facts"]}, follow=True)
    assert "Saved." in words(answer)
    grant = Grant.objects.get(agent=agent, user=owner)
    assert (grant.categories, grant.sources) == (["tone"], ["facts"])
    seen = call(client, agent).content.decode()
    assert "Keep it short." in seen
    assert "bees" not in seen
    shown = text(answer)
    assert 'value="tone" checked' in shown
    assert 'value="context">' in shown
    assert "May see: Tone, Facts about those whom you remember" in words(visit(owner).get("/agents/"))


def test_everything_ticked_is_all_that_its_role_has_also_later(visit, owner, agent):
    grant_set(principal_for_person(owner.pk), agent.pk, categories=["tone"], sources=[])
    client = visit(owner)
    names = re.findall(r'name="category" value="(\w+)"', text(client.get(page(agent))))
    client.post(page(agent, "may-see/"), {"category": names, "source": ["facts", "turns", "chunks"]})
    grant = Grant.objects.get(agent=agent, user=owner)
    assert (grant.categories, grant.sources) == (None, None)


def test_nothing_ticked_is_nothing(visit, owner, agent, client):
    MemoryFactory(user=owner, content="I keep bees.")
    visit(owner).post(page(agent, "may-see/"), {"category": ["nonsense"]})
    grant = Grant.objects.get(agent=agent, user=owner)
    assert (grant.categories, grant.sources) == ([], [])
    assert "bees" not in call(client, agent).content.decode()
    assert "May see: nothing" in words(visit(owner).get("/agents/"))


def test_with_htmx_the_form_alone_is_saved_in_place(visit, owner, agent):
    part = text(visit(owner, htmx=True).post(page(agent, "may-see/"), {"category": ["tone"]}))
    assert part.lstrip().startswith('<section class="panel fields" id="may-see"')
    assert "Saved. It holds from its next request on." in part


@pytest.mark.parametrize("htmx", [True, False])
def test_what_was_narrowed_is_undone_where_it_was_saved(visit, owner, agent, htmx):
    grant_set(principal_for_person(owner.pk), agent.pk, categories=["context", "tone"], sources=["turns"])
    client = visit(owner, htmx=htmx)
    saved = text(client.post(page(agent, "may-see/"), {"category": ["tone"]}, follow=True))
    client.post(unescape(re.search(r'action="([^"]*undo=[^"]*)"', saved)[1]))
    grant = Grant.objects.get(agent=agent, user=owner)
    assert (grant.categories, grant.sources) == (["context", "tone"], ["turns"])


def test_revoking_holds_at_once_and_is_undone(visit, owner, agent, client):
    mine = visit(owner)
    assert call(client, agent).status_code == 200
    answer = mine.post(page(agent, "revoke/"), follow=True)
    assert call(client, agent).status_code == 403
    assert "is kept out" in words(answer)
    assert "Kept out" in words(mine.get("/agents/"))
    undo = re.search(r'class="notice">.*?action="([^"]+)"', text(answer), re.S)[1]
    assert "is let in again." in words(mine.post(undo, follow=True))
    assert call(client, agent).status_code == 200


def test_an_agent_is_connected_with_a_key_that_is_shown_once(visit, owner, client):
    mine = visit(owner)
    made = mine.post("/agents/connect/", {"name": "Notebook", "role": "planner", "may": "read"})
    credential = re.search(r'id="credential">(ks_[^<]+)<', text(made))[1]
    key = AgentKey.objects.get()
    assert (key.agent.name, key.agent.role, key.agent.owner, key.scopes) == ("Notebook", "planner", owner, ["read"])
    assert f'curl -H "Authorization: Bearer {credential}" http://testserver/api/v1/memories/' in words(made)
    assert f'http://testserver/mcp --header "Authorization: Bearer {credential}"' in words(made)
    snippets = {
        name: json.loads(unescape(re.search(rf'<code id="with-{name}">(.*?)</code>', text(made), re.DOTALL)[1]))
        for name in ("cursor", "vscode", "desktop")
    }
    over_http = {"url": "http://testserver/mcp", "headers": {"Authorization": f"Bearer {credential}"}}
    assert snippets["cursor"]["mcpServers"]["keepsake"] == over_http
    assert snippets["vscode"]["servers"]["keepsake"] == {"type": "http", **over_http}
    assert snippets["desktop"]["mcpServers"]["keepsake"]["env"] == {"KEEPSAKE_KEY": credential}
    assert "Waiting for its first call" in words(made)
    assert credential not in text(mine.get(page(key.agent)))
    assert client.get(API, headers={"Authorization": f"Bearer {credential}"}).status_code == 200


def test_the_python_that_is_shown_makes_the_first_call(visit, owner, live_server):
    MemoryFactory(user=owner, content="I keep bees.")
    made = visit(owner).post(
        "/agents/connect/", {"name": "Notebook", "may": "write"}, HTTP_HOST=live_server.url.removeprefix("http://")
    )
    code = unescape(re.search(r'id="with-python">(.*?)</code>', text(made), re.S)[1])
    told = []
    exec(compile(code, "shown", "exec"), {"print": told.append})
    assert "I keep bees." in str(told[0]["results"])
    assert AgentKey.objects.get().last_used_at is not None


def test_waiting_for_the_first_call_ends_with_it_or_after_ten_minutes(visit, owner, agent, client):
    key = AgentKey.objects.get(agent=agent)
    polls, mine = visit(owner, htmx=True), page(agent, f"keys/{key.pk}/")
    assert 'hx-trigger="every 2s"' in text(polls.get(mine))
    AgentKey.objects.update(created_at=timezone.now() - timedelta(minutes=11))
    late = text(polls.get(mine))
    assert "hx-trigger" not in late
    assert "It has not called yet." in late
    AgentKey.objects.update(created_at=timezone.now())
    assert call(client, agent).status_code == 200
    called = text(polls.get(mine))
    assert "has-called" in called
    assert "hx-trigger" not in called
    assert visit(owner).get(mine).url == page(agent)


@pytest.mark.parametrize(
    ("sent", "status", "why"),
    [
        ({"name": "agent", "may": "read"}, 409, "There is an agent named agent already."),
        ({"name": "", "may": "read"}, 400, "This field is required."),
        ({"name": "x", "may": "everything"}, 400, "Select a valid choice."),
        ({"name": "x", "role": "king", "may": "read"}, 400, "Select a valid choice."),
        ({"name": "x" * 101, "may": "read"}, 400, "at most 100 characters"),
    ],
)
def test_what_can_not_be_connected_says_why(visit, owner, agent, sent, status, why):
    answer = visit(owner).post("/agents/connect/", sent)
    assert answer.status_code == status
    assert why in words(answer)
    assert (page(agent) in text(answer)) is (status == 409)
    assert Agent.objects.count() == 1


def test_another_key_is_made_and_one_is_ended(visit, owner, agent, client):
    mine, old = visit(owner), AgentKey.objects.get(agent=agent)
    assert "ks_" in words(mine.post(page(agent, "keys/"), {"may": "read"}))
    assert AgentKey.objects.filter(agent=agent).count() == 2
    assert mine.get(page(agent, "keys/")).url == page(agent)
    assert mine.post(page(agent, "keys/"), {"may": "x"}).url == page(agent)
    mine.post(page(agent, f"keys/{old.pk}/end/"))
    assert call(client, agent).status_code == 401
    assert "Ended" in words(mine.get(page(agent)))


def test_names_of_agents_lead_here(visit, owner, agent):
    memory = MemoryFactory(user=owner, agent=agent, content="Nina rows.")
    given(owner, agent, memory)
    link = f'href="/agents/{agent.pk}/"'
    client = visit(owner)
    assert link in text(client.get("/"))
    assert link in text(visit(owner, htmx=True).get(f"/memories/{memory.pk}/opened/"))  # A row of the list, opened.
    of_memory = text(client.get(f"/memories/{memory.pk}/"))
    assert of_memory.count(link) == 3  # Who wrote it, who saw it, and its history.
    assert link in text(client.get(f"/memories/{memory.pk}/seen/"))


def test_names_of_agents_lead_here_from_conversations_and_the_timeline(visit, owner, agent):
    talk = conversation_create(agent_principal(agent), title="With a helper")
    messages_append(agent_principal(agent), talk.pk, [NewMessage("user", "I row."), NewMessage("assistant", "Nice.")])
    memory_archive(agent_principal(agent), MemoryFactory(user=owner, agent=agent, principal=agent_principal(agent)).pk)
    client, link = visit(owner), f'href="/agents/{agent.pk}/"'
    pages = ("/conversations/", f"/conversations/{talk.pk}/", "/timeline/", "/agents/")
    assert [address for address in pages if link not in text(client.get(address))] == []
    turns = text(client.get(f"/conversations/{talk.pk}/"))
    assert turns.count(f"<strong><a {link}>agent</a></strong>") == 1
    assert f"<a {link}>agent</a>:</strong>" in text(client.get("/conversations/?search=nice"))


@pytest.mark.parametrize("proposed", [True, False])
def test_the_origin_of_what_waits_for_review_leads_here(visit, owner, agent, proposed):
    bot = agent_principal(agent)
    if proposed:
        own = MemoryFactory(user=owner, content="Nina rows.")
        memory_update(bot, own.pk, content="Nina rows at sea.")
    else:
        memory_add(bot, NewMemory("Nina rows.", "context"))
    told = "Proposed" if proposed else "Written"
    assert f'{told} by <a href="/agents/{agent.pk}/">agent</a> on' in text(visit(owner).get("/review/"))


def test_the_origin_of_a_fact_leads_here_and_a_name_is_no_markup(visit, owner, legacy):
    agent = AgentFactory(owner=owner, name="<i>Scribe</i>")
    fact = fact_add(agent_principal(agent), legacy.pk, "Nina rowed.", "hobby")
    link = f'Written by <a href="/agents/{agent.pk}/">&lt;i&gt;Scribe&lt;/i&gt;</a> on'
    client = visit(owner)
    assert link in text(client.get(f"/facts/{fact.pk}/"))
    agent.delete()
    assert "Written by &lt;i&gt;Scribe&lt;/i&gt; on" in text(client.get(f"/facts/{fact.pk}/"))


def test_pages_cost_the_same_with_many(visit, owner, agent, django_assert_num_queries):
    client = visit(owner)
    client.get("/agents/")
    with django_assert_num_queries(LIST_QUERIES):
        client.get("/agents/")
    for _ in range(8):
        other = AgentFactory(owner=owner)
        AgentKeyFactory(agent=other)
        given(owner, other, MemoryFactory(user=owner, principal=agent_principal(other)))
    with django_assert_num_queries(LIST_QUERIES):
        client.get("/agents/")
    with django_assert_num_queries(AGENT_QUERIES):
        client.get(page(agent))


def test_the_person_s_data_stands_at_one_address(visit, owner):
    client = visit(owner)
    assert client.get("/my-data/").url == "/data/"
    home = text(client.get("/"))
    assert [each for each in ("/conversations/", "/agents/", "/data/") if f'href="{each}"' not in home] == []


def test_the_timeline_tells_of_webhooks_beside_their_agent(visit, owner, agent):
    hook = webhook_create(principal_for_person(owner.pk), agent.pk, "https://agent.example/hook")
    webhook_remove(principal_for_person(owner.pk), hook.pk)
    shown = words(visit(owner).get("/timeline/?kind=access"))
    assert "added a webhook of it" in shown
    assert "removed a webhook of it" in shown
