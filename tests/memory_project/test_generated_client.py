"""A client that a maintained generator makes of the schema reads every answer that a walk over all operations gets."""

import enum
import importlib
import io
import subprocess
import sys
import typing
from uuid import uuid4

import httpx
import pytest
from django.core.management import call_command
from PIL import Image

from assistant.imports.run import run_import
from assistant.takeout.export_actions import run_export
from conversations.models import Message
from journal.models import JobRun
from tests import factories
from tests.conftest import collected
from tests.openapi import contract

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
HISTORY = b'{"conversation": "one", "role": "user", "content": "I live in Lisbon."}\n'


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The generated package, importable under its name; what the generator can't read of the schema fails it."""
    folder = tmp_path_factory.mktemp("generated")
    schema, config = folder / "schema.json", folder / "config.yml"
    call_command("spectacular", "--format", "openapi-json", "--file", str(schema))
    config.write_text("post_hooks: []\n")
    command = ["generate", "--path", schema, "--output-path", folder / "keepsake_client", "--meta", "none"]
    done = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", *map(str, command), "--config", str(config)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout, done.stdout
    assert "Unable" not in done.stdout, done.stdout
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("keepsake_client")


def through(caller):
    """Hand what the generated client sends on to a client of the tests, who is signed in or has a key."""

    def send(request):
        sent = {"data": request.content, "content_type": request.headers.get("content-type")}
        answer = caller.generic(request.method, request.url.raw_path.decode(), **sent)
        content = b"".join(collected(answer.streaming_content)) if answer.streaming else answer.content
        return httpx.Response(answer.status_code, headers=dict(answer.headers), content=content)

    return send


class Asker:
    """Calls operations by their ids through the generated functions, and keeps which answered well."""

    def __init__(self, package, answered, caller):
        self.root, self.answered = package.__name__, answered
        client = importlib.import_module(f"{self.root}.client")
        self.client = client.Client("http://testserver", httpx_args={"transport": httpx.MockTransport(through(caller))})

    def send(self, operation, body=None, **given):
        tag = TAGS[operation]
        module = importlib.import_module(f"{self.root}.api.{tag}.{operation}")
        if body is not None:
            given["body"] = body if not isinstance(body, dict) else self.model(module).from_dict(body)
        hints = typing.get_type_hints(module._get_kwargs)
        for name, value in given.items():
            hint = hints.get(name)
            choices = [each for each in (hint, *typing.get_args(hint)) if isinstance(each, enum.EnumType)]
            given[name] = choices[0](value) if choices else value
        return module.sync_detailed(client=self.client, **given)

    def __call__(self, operation, body=None, **given):
        answer = self.send(operation, body, **given)
        assert 200 <= answer.status_code < 300, (operation, answer.status_code, answer.content)
        assert (answer.parsed is None) == (not answer.content), operation
        self.answered.add(operation)
        return answer.parsed

    def model(self, module):
        """The class of the body that an operation takes."""
        wanted = typing.get_type_hints(module._get_kwargs)["body"]
        return next(each for each in (wanted, *typing.get_args(wanted)) if hasattr(each, "from_dict"))


TAGS = {
    operation["operationId"]: {"import": "import_"}.get(operation["tags"][0], operation["tags"][0].replace("-", "_"))
    for methods in contract().document["paths"].values()
    for operation in methods.values()
}


@pytest.fixture
def answered():
    return set()


@pytest.fixture
def ask(api, package, answered, agent):
    """As an agent that decides for its owner."""
    return Asker(package, answered, api(factories.AgentKeyFactory(agent=agent, scopes=["read", "write", "admin"])))


@pytest.fixture
def ask_as_agent(api, package, answered, agent):
    """As the same agent with a key for reading and writing: what it proposes waits."""
    return Asker(package, answered, api(agent))


@pytest.fixture
def ask_as_person(api, package, answered, owner):
    return Asker(package, answered, api(owner))


@pytest.fixture
def ask_as_member(api, package, answered, member):
    return Asker(package, answered, api(member))


def test_it_reads_every_answer(ask, ask_as_agent, ask_as_person, ask_as_member, answered, member, settings):
    settings.UPDATES_STREAM_SECONDS = 0
    walk_the_account(ask)
    legacy = walk_a_legacy(ask, member)
    walk_invitations(ask_as_person, ask_as_member, member.username)
    message = walk_a_conversation(ask, legacy)
    walk_what_is_withheld(ask, message)
    walk_memories(ask, ask_as_person)
    walk_plans(ask)
    walk_webhooks(ask)
    walk_places(ask, message)
    walk_proposals(ask, ask_as_agent)
    walk_checkpoints(ask)
    walk_imports(ask)
    walk_my_data(ask)
    assert sorted(TAGS.keys() - answered) == []


def walk_the_account(ask):
    assert ask("events_summary_retrieve")
    ask("me_preferences_partial_update", {"language": "en"})
    assert ask("me_preferences_retrieve").language == "en"
    made = ask("agents_create", {"name": "notebook"})
    key = ask("agents_keys_create", {}, agent_id=made.id)
    assert key.credential.startswith("ks_")
    assert [len(agent.keys) for agent in ask("agents_list").results if agent.id == made.id] == [1]
    ask("agents_keys_destroy", agent_id=made.id, key_id=key.id)
    assert ask("agents_grant_partial_update", {"categories": ["tone"]}, agent_id=made.id).categories == ["tone"]
    assert ask("agents_grant_retrieve", agent_id=made.id).revoked is False
    assert ask("tools_retrieve", format_="anthropic").tools
    assert ask("tools_create", {"arguments": {"query": "tea"}}, name="memory_query").ok
    assert ask("command_create", {"text": "/memory list"}).data.count == 0


def walk_a_legacy(ask, member):
    legacy = ask("legacies_create", {"name": "Rosa"})
    assert ask("legacies_partial_update", {"name": "Grandmother Rosa"}, legacy_id=legacy.id).role == "owner"
    assert ask("legacies_retrieve", legacy_id=legacy.id).name == "Grandmother Rosa"
    assert ask("legacies_list").count == 1
    let_in = factories.MemberFactory(legacy_id=legacy.id, user=member)
    ask("legacies_members_partial_update", {"role": "owner"}, legacy_id=legacy.id, member_id=let_in.pk)
    assert ask("legacies_members_list", legacy_id=legacy.id).count == 2
    ask("legacies_members_destroy", legacy_id=legacy.id, member_id=let_in.pk)
    stranger = factories.UserFactory(username="sam")
    ask("legacies_members_create", {"name": stranger.username}, legacy_id=legacy.id)
    fact = ask("legacies_facts_create", {"content": "Rosa kept bees.", "category": "hobby"}, legacy_id=legacy.id)
    of = {"fact_id": fact.id}
    ask("facts_partial_update", {"content": "Rosa kept forty bees."}, **of)
    ask("facts_approve_create", **of)
    assert ask("facts_visibility_partial_update", {"visibility": "shared"}, **of).visibility == "shared"
    ask("facts_reject_create", {}, **of)
    assert ask("facts_restore_create", **of).state == "active"
    assert ask("legacies_facts_list", legacy_id=legacy.id).results[0].version == 2
    assert [each.number for each in ask("facts_history_list", **of).versions] == [1, 2]
    assert ask("facts_retrieve", **of).content == "Rosa kept forty bees."
    ask("facts_destroy", **of)
    walk_a_picture(ask, legacy)
    ended = ask("legacies_end_create", legacy_id=legacy.id)
    assert ask("legacies_ended_list").results == [ended]
    assert ask("legacies_restore_create", legacy_id=legacy.id).name == ended.name
    return legacy


def walk_a_picture(ask, legacy):
    types, models = (importlib.import_module(f"{ask.root}.{name}") for name in ("types", "models"))
    drawn = io.BytesIO()
    Image.new("RGB", (40, 30), "teal").save(drawn, "PNG")
    file = types.File(payload=io.BytesIO(drawn.getvalue()), file_name="rosa.png", mime_type="image/png")
    ask("legacies_picture_update", models.PictureRequest(picture=file), legacy_id=legacy.id)
    # A file that is no JSON: the client hands its bytes on.
    assert ask.send("legacies_picture_retrieve", legacy_id=legacy.id).content.startswith(b"RIFF")
    ask.answered.add("legacies_picture_retrieve")
    ask("legacies_picture_destroy", legacy_id=legacy.id)


def walk_a_conversation(ask, legacy):
    talk = ask("conversations_create", {"legacy": str(legacy.id), "title": "Tea"})
    of = {"conversation_id": talk.id}
    (message,) = ask("conversations_messages_create", {"role": "user", "content": "I like tea."}, **of).messages
    assert ask("conversations_messages_partial_update", {"held": True}, **of, index=0).held_until
    for form in ("anthropic", "openai", "gemini", "text", "json"):
        turn = ask("conversations_turn_create", {"content": "And now?", "format": form}, **of)
        assert (turn.format_, turn.dropped) == (form, [])
    assert ask("conversations_messages_list", **of, per_page=1).results[0].id == message.id
    assert ask("conversations_retrieve", **of).message_count == 1
    assert ask("conversations_list").count == 1
    assert ask("conversations_chunks_list", **of).count == 0
    ask.answered.add("conversations_updates_retrieve")
    assert ask.send("conversations_updates_retrieve", **of).status_code == 200
    # Answers that are streams of events and nothing else are read in tests/assistant/test_reply.py.
    none = {**of, "reply_id": uuid4()}
    streams = (
        ("conversations_reply_create", {"content": ""}, of, 400),
        ("conversations_reply_retry_create", None, none, 404),
        ("conversations_reply_stop_create", None, none, 404),
        ("conversations_reply_retrieve", None, none, 404),
    )
    for operation, body, given, status in streams:
        assert ask.send(operation, body, **given).status_code == status
        ask.answered.add(operation)
    # What is held is not summarised; the rest is.
    assert ask("conversations_messages_partial_update", {"held": False}, **of, index=0).held_until is None
    job = ask("conversations_finish_create", **of)
    assert ask("jobs_retrieve", job_id=job.id).kind == job.kind
    return message


def walk_memories(ask, ask_as_person):
    made = ask("memories_create", {"content": "The user keeps bees.", "category": "context", "topics": ["bees"]})
    of = {"memory_id": made.id}
    assert made.outcome == "created"
    assert ask("memories_update", {"content": "The user keeps forty bees."}, **of).previous.version == 1
    assert ask("memories_partial_update", {"subject": "Bees"}, **of).subject == "Bees"
    assert ask("memories_pin_create", {}, **of).pinned
    assert ask("memories_approve_create", {}, **of).reviewed_at
    assert ask("memories_revert_create", {"number": 1}, **of).content == "The user keeps bees."
    assert [version.ended_at is None for version in ask("memories_retrieve", **of).versions] == [False, False, True]
    assert ask("memories_history_list", **of).next_ is None
    assert ask("memories_list", search="bees").count == 1
    assert ask("memories_topics_retrieve").topics == ["bees"]
    assert ask("memories_relations_list", **of).count == 0
    for form in ("bullets", "full"):
        found = ask("memories_query_create", {"query": "bees", "return": form, "sources": ["memories", "turns"]})
        assert found.results[0].id == made.id
    assert "keeps bees" in ask("memories_context_retrieve").text
    assert ask("memories_document_retrieve").metadata.total_active_facts == 1
    assert ask("changes_retrieve").results[0].rev == 1
    assert ask_as_person("memories_disclosures_list", **of).next_ is None
    many = {"items": [{"content": "The user sails.", "category": "context"}, {"content": "No", "category": "context"}]}
    added, refused = ask("memories_bulk_create", many).results
    assert (added.outcome, added.status, refused.status, refused.code) == ("created", 201, 422, "gate")
    ask("memories_destroy", memory_id=added.id)
    ask("memories_reject_create", {}, **of)
    ask("memories_restore_create", **of)
    last = ask("changes_retrieve").results[-1].rev
    assert ask("changes_undo_create", {"first": last, "last": last}).undone == 1
    ask("memories_restore_create", **of)
    ask("memories_destroy", **of)
    (deleted,) = ask("memories_bulk_delete_create", {"ids": [made.id]}).results
    assert deleted.outcome == "skipped"


def walk_webhooks(ask):
    made = ask("webhooks_create", {"url": "https://agent.example/hook"})
    of = {"webhook_id": made.id}
    assert made.secret.startswith("whsec_")
    assert ask("webhooks_list").results[0].id == made.id
    assert ask("webhooks_retrieve", **of).disabled_at is None
    assert ask("webhooks_rotate_create", **of).secret != made.secret
    assert ask("webhooks_resume_create", **of).id == made.id
    dead = factories.DeliveryFactory(webhook_id=made.id, state="dead")
    assert ask("webhooks_deliveries_list", **of, state="dead").results[0].attempts == dead.attempts
    assert ask("webhooks_deliveries_resend_create", **of, delivery_id=dead.pk).state == "waiting"
    ask("webhooks_destroy", **of)


def walk_plans(ask):
    for content in ("The user drinks green tea.", "The user drinks a green tea."):
        ask("memories_create", {"content": content, "category": "context", "insist": True})
    plan = ask("memories_optimize_create", {})
    assert len(plan.items[0].sources) == 2
    assert ask("memories_optimize_open").id == plan.id
    of = {"plan_id": plan.id}
    assert ask("memories_optimize_apply_create", {}, **of).items[0].merged.state == "active"
    assert ask("memories_optimize_revert_create", **of).state == "reverted"
    assert ask("memories_optimize_retrieve", **of).items[0].merged.state == "archived"
    ask("memories_optimize_destroy", plan_id=ask("memories_optimize_create", {}).id)


def walk_places(ask, message):
    place = ask("places_create", {"place_id": "home", "name": "Home"})
    of = {"place_id": place.id}
    assert ask("places_partial_update", {"notes": "123 Main St"}, **of).version == 2
    assert ask("places_mentions_create", {"message": str(message.id)}, **of).message == message.id
    assert ask("places_mentions_list", **of).count == 1
    ask("places_destroy", **of)
    assert ask("places_restore_create", **of).deleted_at is None
    assert ask("places_retrieve", **of).conversations == 1
    assert ask("places_list").count == 1


def walk_checkpoints(ask):
    for version in (0, 1):
        saved = ask("checkpoints_update", {"state": {"step": version}, "version": version}, thread="t1")
        assert saved.version == version + 1
    assert ask("checkpoints_retrieve", thread="t1").state == {"step": 1}
    assert len(ask("checkpoints_history_list", thread="t1")) == 2
    blob = {"type": "json", "base64": "e30="}
    ask("graph_checkpoints_update", {"thread": "t1", "checkpoint_id": "1", "blob": blob})
    wrote = {"thread": "t1", "checkpoint_id": "1", "task_id": "task"}
    ask("graph_checkpoints_writes_update", wrote | {"writes": [{"index": 0, "channel": "c", "blob": blob}]})
    ask("graph_checkpoints_copy_create", {"thread": "t1", "to": "t2"})
    states = ask("graph_checkpoints_list").results
    assert [(each.thread, each.writes[0].channel) for each in states] == [("t1", "c"), ("t2", "c")]
    ask("graph_checkpoints_prune_create", {"threads": ["t1"], "strategy": "keep_latest"})
    ask("graph_checkpoints_delete_runs_create", {"runs": ["run1"]})
    assert ask("checkpoints_list").count == 2
    ask("checkpoints_destroy", thread="t1")


def walk_proposals(ask, ask_as_agent):
    for city in ("Lisbon", "Porto"):
        body = {"content": f"The user lives in {city}.", "category": "profile", "field": "city", "insist": True}
        assert ask_as_agent("memories_create", body).outcome == "proposed"
    first, second = ask("proposals_list").results
    ask("proposals_reject_create", {"reason": "not_true"}, proposal_id=first.id)
    ask("proposals_approve_create", {"values": {"content": "The user lives by the sea."}}, proposal_id=second.id)
    assert ask("proposals_retrieve", proposal_id=second.id).memory.content == "The user lives by the sea."


def walk_invitations(ask, other, name):
    def invite():
        legacy = ask("legacies_create", {"name": "Uncle Jo"})
        return legacy.id, ask("legacies_members_create", {"name": name}, legacy_id=legacy.id).invitation.code

    _, code = invite()
    assert other("invitations_list").count == 1
    other("invitations_accept_create", code=code)
    _, code = invite()
    other("invitations_decline_create", code=code)
    legacy_id, _ = invite()
    (waiting,) = ask("legacies_invitations_list", legacy_id=legacy_id).results
    ask("legacies_invitations_destroy", legacy_id=legacy_id, invitation_id=waiting.id)
    _, code = invite()
    other("invitations_block_create", code=code)
    other("invitations_blocks_destroy", block_id=other("invitations_blocks_list").results[0].id)


def walk_what_is_withheld(ask, message):
    talk = Message.objects.get(pk=message.id).conversation_id
    (made,) = ask("withheld_create", {"passages": [{"conversation": str(talk), "index": message.index}]}).withheld
    assert ask("withheld_list").count == 1
    ask("withheld_destroy", withheld_id=made.id)


def walk_my_data(ask):
    job = ask("export_begin").job
    run_export(job)
    assert ask.send("export_file", job_id=job).content.startswith(
        b"PK"
    )  # No JSON, so the generator leaves it as it is.
    ask.answered.add("export_file")
    memory = ask("memories_create", {"content": "The user owns a kite.", "category": "context"})
    body = {"scope": "memory", "id": memory.id, "confirm": True, "grace_hours": 1}
    ask("erase_preview", scope="memory", id=memory.id)
    ask("erase_preview", scope="memory", id=memory.id)
    made = ask("erase_create", body)
    assert ask("erase_retrieve", receipt=made.receipt).done is False
    ask("erase_destroy", receipt=made.receipt)


def walk_imports(ask):
    types, models = (importlib.import_module(f"{ask.root}.{name}") for name in ("types", "models"))
    file = types.File(payload=io.BytesIO(HISTORY), file_name="talk.jsonl", mime_type="application/jsonl")
    made = ask("import_create", models.UploadRequest(file=file, title="Old talks"))
    assert ask("import_list").results[0].id == made.id
    assert ask("import_retrieve", import_id=made.id).survey is None
    assert ask("jobs_cancel_create", job_id=made.job).kind == "import"
    assert ask("import_undo_create", import_id=made.id).file_name == "talk.jsonl"
    run_import(JobRun.objects.get(kind="import_undo").pk)
    assert ask("import_destroy", import_id=made.id).receipt


def test_it_reads_errors(api, ask, ask_as_agent, package):
    short = ask.send("memories_create", {"content": "Tea", "category": "preference"})
    assert (short.status_code, short.parsed.code) == (422, "gate")
    bad = ask.send("memories_create", {"content": "The user likes tea.", "category": "preference", "importance": 9})
    assert (bad.status_code, list(bad.parsed.additional_properties)) == (400, ["importance"])
    missing = ask.send("memories_retrieve", memory_id="abcdefgh")
    assert (missing.status_code, missing.parsed.code) == (404, "not_found")
    unknown = Asker(package, set(), api("ks_0123456789ab.0123456789abcdef0123456789")).send("memories_list")
    assert (unknown.status_code, unknown.parsed.code) == (401, "bad_key")
    refused = ask_as_agent.send("me_preferences_partial_update", {"review": "before"})
    assert (refused.status_code, refused.parsed.code) == (403, "not_yours_to_decide")
    ask("memories_create", {"content": "Sarah rows.", "category": "person", "subject": "Sarah"})
    again = ask_as_agent.send("memories_create", {"content": "Sarah swims.", "category": "person", "subject": "Sarah"})
    assert (again.status_code, again.parsed.memory.content) == (409, "Sarah rows.")
