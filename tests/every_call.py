"""Every page and every call of the API, with what one person has for each of them to be tried on."""

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import URLPattern, get_resolver
from PIL import Image

from accounts.actions import member_invite
from accounts.models import InvitationBlock, LegacyPicture
from accounts.queries import principal_for_person
from assistant.imports.run import run_import
from assistant.takeout.export_actions import run_export
from journal.models import JobRun
from tests import factories
from tests.conversations.exports import chatgpt_talk

API = "/api/v1/"
# Pages that show nothing of a person, or that their rooms' tests count.
NOT_COUNTED = {"telegram", "sign-in", "sign-out", "register", "password", "schema", "docs", "live", "ready"}


def upload(*talks):
    return {"file": SimpleUploadedFile("conversations.json", json.dumps(talks).encode(), "application/json")}


def picture():
    drawn = io.BytesIO()
    Image.new("RGB", (40, 30), "teal").save(drawn, "PNG")
    return {"picture": SimpleUploadedFile("rosa.png", drawn.getvalue(), "image/png")}


# What is sent, by method and route. Where a route is not here, it takes no body.
BODIES = {
    "POST legacies": {"name": "Uncle Jo"},
    "PATCH legacy": {"name": "Grandma Rosa"},
    "PUT legacies-picture": picture,
    "POST members": {"name": "somebody"},
    "PATCH member": {"role": "owner"},
    "PATCH preferences": {"review": "before"},
    "POST agents": {"name": "a new one"},
    "PATCH agent-grant": {"revoked": True},
    "POST messages": {"messages": [{"role": "user", "content": "She kept bees."}]},
    "PATCH message-marks": {"held": True},
    "POST replies": {"content": "What did she keep?"},
    "POST turn": {"content": "What did she keep?"},
    "POST memories": {"content": "Likes it short.", "category": "tone"},
    "POST memory-bulk": {"items": [{"content": f"The user owns {n} spoons.", "category": "context"} for n in (3, 4)]},
    "POST memory-bulk-delete": {"ids": ["{memory_id}", "{archived}"]},
    "PUT memory": {"content": "The user keeps seven hens."},
    "PATCH memory": {"importance": 5},
    "POST memory-revert": {"number": 1},
    "POST memory-query": {"query": "hens"},
    "PUT thread": {"state": {"step": 2}},
    "PUT graph-states": {"thread": "t1", "checkpoint_id": "2", "blob": {"type": "json", "base64": "e30="}},
    "PUT graph-writes": {
        "thread": "t1",
        "checkpoint_id": "1",
        "task_id": "task",
        "writes": [{"index": 0, "channel": "c", "blob": {"type": "json", "base64": "e30="}}],
    },
    "POST graph-copy": {"thread": "t1", "to": "t2"},
    "POST graphs-prune": {"threads": ["t1"]},
    "POST graphs-delete-runs": {"runs": ["r1"]},
    "POST places": {"place_id": "gym", "name": "Gym"},
    "PATCH place": {"name": "Old home"},
    "POST place-mentions": {"message": "{message}"},
    "POST facts": {"content": "Rosa sang.", "category": "hobby"},
    "PATCH fact": {"content": "Rosa kept ten hives."},
    "PATCH fact-visibility": {"visibility": "shared"},
    "POST withheld": {"passages": [{"conversation": "{conversation_id}", "index": 0}]},
    "POST changes-undo": {"first": 1, "last": 1},
    "POST webhooks": {"url": "https://agent.example/another", "agent": "{agent_id}"},
    "GET api-erase": {"scope": "memory", "id": "{memory_id}"},
    "POST api-erase": {"scope": "memory", "id": "{memory_id}", "confirm": True},
    "POST command": {"text": "/memory"},
    "POST tool": {"arguments": {"content": "Likes trains.", "category": "context"}},
    "POST api-imports": lambda: upload(chatgpt_talk("I sold the bees.", name="second")),
}
# What a route is tried on, where it is not what the others are.
TRIED_ON = {
    "memory-restore": {"memory_id": "archived"},
    "place-restore": {"place_id": "removed_place"},
    "legacies-restore": {"legacy_id": "ended_legacy"},
    "fact-restore": {"fact_id": "archived_fact"},
    "memory-plan-revert": {"plan_id": "applied_plan"},
    "api-export-file": {"job_id": "export"},
    "export-file-page": {"job_id": "export"},
    "chat-shown": {"number": "answered"},
}
_KEYS_ONLY = "The Model Context Protocol is for keys, not for who is signed in; tests/interop/mcp asks with one."
REFUSED = {
    "POST job-cancel": "What runs could be cancelled, and then no other import could begin.",
    **{f"{method} mcp": _KEYS_ONLY for method in ("GET", "POST", "DELETE")},
}


@pytest.fixture
def rows(api, owner, member, stranger, legacy, agent):
    """Ids of what ``owner`` has, several of each kind, by the names that addresses give them."""
    client = api(owner)

    def made(path, **body):
        answer = client.post(API + path, body, format="json")
        assert answer.status_code < 300, (path, answer.content)
        return answer.json()

    def removed(path, pk):
        assert client.delete(f"{API}{path}/{pk}/").status_code == 204
        return pk

    # The numbers in their texts decide what says the same elsewhere, and so how many statements a page takes.
    for each in (factories.LegacyFactFactory, factories.MemoryFactory, factories.MessageFactory):
        each.reset_sequence(0)
    facts = factories.LegacyFactFactory.create_batch(4, legacy=legacy, user=owner)
    memories = factories.MemoryFactory.create_batch(4, user=owner)
    for content in ("The user's dog is called Rufus.", "The user has a dog named Rufus."):
        factories.MemoryFactory(user=owner, content=content)
    applied = made("memories/optimize/")
    made(f"memories/optimize/{applied['id']}/apply/")
    plan = made("memories/optimize/")
    client.put(f"{API}memories/{memories[0].pk}/", {"content": "The user keeps nine hens."}, format="json")
    places = [made("places/", place_id=name, name=name.title())["id"] for name in ("home", "office", "attic")]
    talk = factories.ConversationFactory(user=owner, legacy=legacy)
    messages = factories.MessageFactory.create_batch(4, conversation=talk)
    said = {"conversation": str(talk.pk), "index": 1}
    withheld = made("withheld/", passages=[said])["withheld"][0]["id"]
    talked = upload(chatgpt_talk("I kept bees.", name="first"))
    brought = client.post(f"{API}import/", talked, format="multipart").json()
    run_import(JobRun.objects.get(kind="import").pk)
    export = client.get(f"{API}export/").json()["job"]
    run_export(export)
    client.patch(f"{API}me/preferences/", {"review": "before"}, format="json")
    waiting = factories.MemoryFactory(user=owner, agent=agent, content="The user hates fog.")
    client.patch(f"{API}me/preferences/", {"review": "after"}, format="json")
    asked = member_invite(principal_for_person(stranger.pk), factories.LegacyFactory(owner=stranger).pk, "owner")
    ended = factories.LegacyFactory(owner=owner)
    made(f"legacies/{ended.pk}/end/")
    LegacyPicture.objects.create(legacy=legacy, added_by=owner, content=b"")
    client.put(f"{API}checkpoints/t1/", {"state": {"step": 1}}, format="json")
    blob = {"type": "json", "base64": "e30="}
    for number in ("1", "2"):
        client.put(f"{API}graph-checkpoints/", {"thread": "t1", "checkpoint_id": number, "blob": blob}, format="json")
    hook = factories.WebhookFactory(user=owner, agent=agent)
    return {
        "thread": "t1",
        "legacy_id": legacy.pk,
        "ended_legacy": ended.pk,
        "invitation_id": member_invite(principal_for_person(owner.pk), legacy.pk, "nobody").invitation.pk,
        "code": asked.code,
        "block_id": InvitationBlock.objects.create(user=owner, inviter=member).pk,
        "member_id": legacy.memberships.get(user=member).pk,
        "agent_id": agent.pk,
        "key_id": factories.AgentKeyFactory(agent=agent).pk,
        "fact_id": facts[0].pk,
        "archived_fact": removed("facts", facts[1].pk),
        "memory_id": memories[0].pk,
        "archived": removed("memories", memories[1].pk),
        "applied_plan": applied["id"],
        "plan_id": plan["id"],
        "proposal_id": waiting.proposals.get().pk,
        "place_id": places[0],
        "removed_place": removed("places", places[1]),
        "conversation_id": talk.pk,
        "message": str(messages[0].pk),
        "index": 0,
        "number": 1,
        "import_id": brought["id"],
        "export": export,
        "receipt": made("erase/", scope="memory", id=memories[3].pk, confirm=True, grace_hours=24)["receipt"],
        "job_id": JobRun.objects.get(kind="import").pk,
        "identity_id": factories.ExternalIdentityFactory(user=owner).pk,
        "withheld_id": withheld,
        "answered": factories.ReplyFactory(message=messages[0], answer_index=1, state="done").answer_index + 1,
        "reply_id": factories.ReplyFactory(message=messages[-1]).pk,
        "name": "add_to_memory",
        "operation_id": "memories_create",
        "key": f"memory-{waiting.pk}",
        "webhook_id": hook.pk,
        "delivery_id": factories.DeliveryFactory(webhook=hook, state="dead").pk,
    }


def routes(patterns=None, prefix="/"):
    """Every route with its address, without those of the admin."""
    for each in get_resolver().url_patterns if patterns is None else patterns:
        address = prefix + str(each.pattern)
        if isinstance(each, URLPattern):
            if each.name and each.name not in NOT_COUNTED:
                yield each, address
        elif each.namespace != "admin":
            yield from routes(each.url_patterns, address)


def filled(value, rows):
    """What is sent, with the ids of the rows that it names."""
    if callable(value):
        return value()
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        made = {key: filled(each, rows) for key, each in pairs}
        return made if isinstance(value, dict) else list(made.values())
    return str(rows[value[1:-1]]) if isinstance(value, str) and value.startswith("{") else value


def methods(route):
    """The methods of a route: pages are only read, since what is posted to them redirects to others."""
    view = getattr(route.callback, "cls", None)
    return [name for name in ("get", "post", "put", "patch", "delete") if hasattr(view, name)] if view else ["get"]
