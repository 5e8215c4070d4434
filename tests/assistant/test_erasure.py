"""Erasing: what goes with what, who may, that it can be checked, and that a killed worker leaves nothing half done."""

import gc
import sys
from datetime import timedelta
from io import StringIO
from uuid import UUID, uuid4

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from accounts.actions import preferences_set, principal_for_key
from accounts.actions.legacies import note_member
from accounts.models import ExternalIdentity, Legacy, LinkAttempts, Member, User
from accounts.queries import principal_for_agent, principal_for_person
from assistant.erasure import part_actions, whole_actions
from assistant.erasure.actions import erasure_request, erasure_withdraw, erasures_sweep, run_erasure
from assistant.erasure.extent import SCOPES
from assistant.learn.actions import message_decline
from assistant.learn.rewriting import rewrite_chunks
from assistant.recall.search import QueryVector
from conversations.actions import (
    Cause,
    NewMessage,
    PassagePlace,
    messages_append,
    passages_withhold,
    withholding,
)
from conversations.models import Conversation, ConversationChunk, ConversationImport, Message, Withheld
from facts.actions import fact_set_visibility
from facts.models import LegacyFact
from journal.actions import ledger_write, trim
from journal.cache import valkey
from journal.exceptions import Conflict, Gated
from journal.holdings import ERASED_TEXT, holdings
from journal.models import Change, Erased, Erasure, ExportPart, JobRun, Ledger, OperationEvent, UndoStep
from journal.operation_actions import count_operation
from memories.actions import memory_reject, memory_update, place_add, place_edit
from memories.cache import CachedValue, Family, read_through
from memories.models import Memory, MemoryEvidence, MemoryVersion, Place, Relation
from statements.models import Suppression
from tests.conftest import with_key
from tests.factories import (
    AgentFactory,
    AgentKeyFactory,
    ConversationFactory,
    GrantFactory,
    LegacyFactFactory,
    LegacyFactory,
    MemoryFactory,
    MessageFactory,
    PreferencesFactory,
    UserFactory,
)
from tests.memories.state import check, check_log

from .rich import exported, rich_person, summarise

pytestmark = pytest.mark.django_db


SWAN = "I shot a swan in Laxenburg."
TRACES = "ndeadbeef !cafe0123"


def erase(person, scope, pk="", **more):
    """Erase something, to its end."""
    erasure, job = erasure_request(principal_for_person(person.pk), scope, str(pk), **more)
    run_erasure(job.pk)
    erasure.refresh_from_db()
    assert erasure.state == "done"
    return erasure


def dumped():
    """Every row of every table, as text: what a dump of the database holds."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        for table in tables:
            cursor.execute(f'SELECT row::text FROM "{table}" AS row')
            for (row,) in cursor.fetchall():
                yield table, row


def holding(text):
    """The tables in whose rows a text stands, in whatever case."""
    return {table for table, row in dumped() if text.lower() in row.lower()}


def verified(erasure):
    out = StringIO()
    call_command("verify_erasure", str(erasure.pk), stdout=out, stderr=sys.stderr)
    return out.getvalue()


# --- Everything ------------------------------------------------------------------------------------------------------


def test_a_dump_holds_nothing_of_a_person_who_erased_everything(client):
    person, other = rich_person("zanzibar"), rich_person("stranger")
    client.force_login(person)
    exported(person)
    LogEntry.objects.create(
        user=other, action_flag=CHANGE, object_id=str(person.pk), object_repr="zanzibar", change_message="zanzibar",
        content_type=ContentType.objects.get_for_model(User),
    )  # fmt: skip
    LinkAttempts.objects.create(issuer="backend", external_id=f"zanzibar-{person.username}", begun_at=timezone.now())
    assert len(holding("zanzibar")) > 15
    before = {each.kind: each.of_person(other.pk).count() for each in holdings()}
    erasure = erase(person, "everything")
    assert holding("zanzibar") == set()
    assert holding(str(person.pk)) == {"journal_erasure"}
    assert not User.objects.filter(pk=person.pk).exists()
    assert client.get("/").status_code == 302
    assert erasure.removed["memory"] == 4
    assert verified(erasure).startswith("Gone since ")
    assert {each.kind: each.of_person(other.pk).count() for each in holdings()} == before


def test_erasing_everything_reaches_the_cache(owner, api):
    MemoryFactory(user=owner, content="The user keeps seven hens.")
    key = AgentKeyFactory(agent__owner=owner)
    api(key.credential).get("/api/v1/memories/")
    valkey().set(f"memory:{owner.pk}:1:list:x", "hens", 60)
    erase(owner, "everything")
    assert valkey().get(f"memory:{owner.pk}:1:list:x") is None


def test_no_process_keeps_a_question_after_an_erasure(owner, api):
    """What is kept of recall for a minute has the question beside it."""
    hens = MemoryFactory(user=owner, content="The user keeps seven hens.")
    api(AgentKeyFactory(agent__owner=owner).credential).post(
        "/api/v1/memories/query/", {"query": "seven zanzibar hens"}
    )

    def kept():
        gc.collect()
        return [each for each in gc.get_objects() if type(each) is QueryVector and "zanzibar" in each.text]

    assert kept()
    erase(owner, "memory", hens.pk)
    assert not kept()


@pytest.mark.django_db(transaction=True)
def test_a_read_that_an_erasure_overtakes_is_kept_nowhere(owner):
    hens = MemoryFactory(user=owner, content="The user keeps seven hens.")
    before = principal_for_person(owner.pk)

    def read():
        erase(owner, "memory", hens.pk)
        return CachedValue("seven hens")

    assert read_through(before, Family.LIST, read) == "seven hens"
    assert read_through(before, Family.LIST, lambda: CachedValue("none")) == "none"
    after = principal_for_person(owner.pk)
    assert read_through(after, Family.LIST, lambda: CachedValue("nothing")) == "nothing"
    assert read_through(after, Family.LIST, lambda: CachedValue("read anew")) == "nothing"


def test_other_members_keep_what_is_theirs(owner, member, legacy):
    shared = LegacyFactFactory(legacy=legacy, user=owner)
    fact_set_visibility(principal_for_person(owner.pk), shared.pk, "shared")
    theirs = LegacyFactFactory(legacy=legacy, user=member)
    alone = LegacyFactory(owner=owner)
    erase(owner, "everything")
    assert [*LegacyFact.objects.filter(legacy=legacy)] == [theirs]
    assert Member.objects.get(legacy=legacy).role == "owner"
    assert not Legacy.objects.filter(pk=alone.pk).exists()
    assert Ledger.objects.get(pk=legacy.pk).facts == 1
    assert not Change.objects.filter(ledger_id=legacy.pk, actor_id=str(owner.pk)).exists()


def test_a_membership_accepted_by_an_agent_is_not_in_the_log_of_the_legacy(owner, member, legacy):
    """The log says then that the agent acted, and only in its details for whom; also of a legacy since left."""
    agent = AgentFactory(owner=member)
    for event in ("JOIN", "LEAVE"):
        with ledger_write(principal_for_agent(agent.pk, member.pk).actor, member.pk, legacy.pk) as write:
            note_member(write, event, Member.objects.get(user=member, legacy=legacy))
    Member.objects.filter(user=member, legacy=legacy).delete()
    erasure = erase(member, "everything")
    assert holding(str(member.pk)) == {"journal_erasure"}
    assert verified(erasure).startswith("Gone since ")
    assert Change.objects.filter(ledger_id=legacy.pk, actor_id=str(agent.pk), meta={}).count() == 2


def test_what_is_counted_while_or_after_everything_goes_leaves_no_row(owner, monkeypatch):
    def counted():
        at = timezone.now()
        count_operation("hotpath", "search", "ok", user_id=owner.pk, thread_id="t", at=at)

    close = whole_actions._close
    monkeypatch.setattr(whole_actions, "_close", lambda *given: (counted(), close(*given)))
    counted()
    assert OperationEvent.objects.filter(user_id=owner.pk).exists()
    erasure = erase(owner, "everything")
    counted()
    assert not OperationEvent.objects.filter(user_id=owner.pk).exists()
    assert verified(erasure).startswith("Gone since ")


def test_a_killed_worker_is_followed_by_another_wherever_it_was(monkeypatch):
    person = rich_person("zanzibar")
    monkeypatch.setattr(whole_actions, "BATCH", 1)
    erasure, job = erasure_request(principal_for_person(person.pk), "everything")
    really, turns = whole_actions._delete, []

    def killed(*args):
        turns.append(args)
        if len(turns) % 7 == 0:
            raise SystemExit
        return really(*args)

    monkeypatch.setattr(whole_actions, "_delete", killed)
    for _ in range(40):
        try:
            run_erasure(job.pk)
        except SystemExit:
            JobRun.objects.filter(pk=job.pk).update(lease_until=timezone.now())
            assert erasures_sweep() == 1
        else:
            break
    erasure.refresh_from_db()
    assert erasure.state == "done"
    assert len(turns) > 30
    assert holding("zanzibar") == set()
    assert erasure.removed["message"] == 3
    run_erasure(job.pk)


def test_it_waits_and_can_be_taken_back_until_it_begins(owner, api):
    MemoryFactory(user=owner)
    client = api(owner)
    answer = client.post("/api/v1/erase/", {"scope": "everything", "confirm": True, "grace_hours": 24})
    receipt, job = answer.json()["receipt"], answer.json()["job"]
    run_erasure(job)
    assert Memory.objects.filter(user=owner).exists()
    waiting = api().get(f"/api/v1/erase/{receipt}/").json()
    assert (waiting["state"], waiting["done"]) == ("waiting", False)
    assert client.delete(f"/api/v1/erase/{receipt}/").json()["state"] == "withdrawn"
    again = client.delete(f"/api/v1/erase/{receipt}/")
    assert (again.status_code, again.json()["code"], again.json()["state"]) == (409, "wrong_state", "withdrawn")
    JobRun.objects.update(not_before=timezone.now())
    run_erasure(job)
    assert Memory.objects.filter(user=owner).exists()
    again = client.post("/api/v1/erase/", {"scope": "everything", "confirm": True}).json()
    run_erasure(again["job"])
    assert not User.objects.filter(pk=owner.pk).exists()
    assert api().get(f"/api/v1/erase/{again['receipt']}/").json()["done"]


def test_who_serves_others_hands_that_over_first(service):
    with pytest.raises(Conflict) as refused:
        erasure_request(principal_for_person(service.owner_id), "everything")
    assert refused.value.code == "owns_services"


def test_agents_that_knew_the_person_are_told_for_90_days(api, owner, service):
    ExternalIdentity.objects.create(user=owner, issuer=service.issuer, external_id="42")
    key, mine = AgentKeyFactory(agent=service), AgentKeyFactory(agent__owner=owner)
    assert api(key.credential, acts_for="42").get("/api/v1/memories/").status_code == 200
    erase(owner, "everything")
    for method in ("get", "post"):
        call = getattr(api(key.credential, acts_for="42"), method)
        answer = call("/api/v1/memories/")
        assert (answer.status_code, answer.json()["code"]) == (410, "erased")
    assert api(mine.credential).get("/api/v1/memories/").status_code == 410
    receipt = f"/api/v1/erase/{Erasure.objects.get().pk}/"
    assert api(mine.credential).get(receipt).json()["done"]
    assert api(mine.credential).delete(receipt).status_code == 410
    assert api(key.credential, acts_for="43").get("/api/v1/memories/").status_code == 200
    assert not holding("mine.credential")
    Erasure.objects.update(done_at=timezone.now() - timedelta(days=91))
    assert trim()["erased"] == 2
    assert api(key.credential, acts_for="42").get("/api/v1/memories/").status_code == 200


# --- A part ----------------------------------------------------------------------------------------------------------


def test_one_sentence_is_gone_from_everywhere():
    """A message that is erased takes along all that was made of it, and nothing else."""
    person = rich_person("plain")
    me = principal_for_person(person.pk)
    talk = ConversationFactory(user=person, title="My zanzibar secret")
    said = MessageFactory(conversation=talk, content="My zanzibar secret is that I collect spoons.")
    MessageFactory(conversation=talk, role="assistant", content="So your zanzibar secret is that I collect spoons?")
    kept = MessageFactory(conversation=talk, content="Otherwise I like to read about trains.")
    talk.refresh_from_db()
    summarise(me, talk, "They talked of a zanzibar secret.", end=3)
    alone = MemoryFactory(user=person, content="The user has a zanzibar secret.", external_id="zanzibar")
    MemoryEvidence.objects.create(version=alone.versions.get(), message=said, quote="My zanzibar secret")
    corrected = MemoryFactory(user=person, content="The user hides zanzibar spoons.", category="event")
    MemoryEvidence.objects.create(version=corrected.versions.get(), message=said, quote="zanzibar")
    memory_update(me, corrected.pk, "The user collects nothing.")
    insight = MemoryFactory(user=person, content="The user likes zanzibar things.", category="goals")
    Relation.objects.create(user=person, from_memory=insight, to_memory=alone, type="derived_from", strength=1)
    Memory.objects.filter(pk=insight.pk).update(kind="insight")
    other = Memory.objects.filter(user=person).exclude(pk__in=[alone.pk, corrected.pk, insight.pk]).count()
    erasure = erase(person, "message", said.pk)
    assert holding("zanzibar") == set()
    assert Memory.objects.filter(user=person).count() == other + 1
    first, second = MemoryVersion.objects.filter(memory=corrected).order_by("number")
    assert (first.content, second.content) == (ERASED_TEXT, "The user collects nothing.")
    said.refresh_from_db()
    assert (said.content, said.index) == ("[withheld]", 0)
    assert Message.objects.get(pk=kept.pk).content == "Otherwise I like to read about trains."
    rewrite_chunks(talk.pk)
    (chunk,) = talk.chunks.all()
    assert (chunk.message_range_start, chunk.message_range_end, chunk.hidden_since) == (0, 3, None)
    assert "trains" in chunk.content
    assert holding("zanzibar") == set()
    assert verified(erasure).startswith("Gone since ")
    check(person)


def test_echoes_of_an_erased_message_are_looked_for_before_the_lock(owner, monkeypatch):
    talk = ConversationFactory(user=owner)
    said = MessageFactory(conversation=talk, content="I hide a zanzibar letter.")
    echo = MessageFactory(conversation=talk, role="assistant", content="So you hide a zanzibar letter. It rains.")
    planned, locked = [], []
    plan, lock = withholding._make_plan, part_actions.ledger_write
    monkeypatch.setattr(
        withholding, "_make_plan", lambda *args, **kwargs: planned.append(bool(locked)) or plan(*args, **kwargs)
    )
    monkeypatch.setattr(part_actions, "ledger_write", lambda *args: locked.append(1) or lock(*args))
    erase(owner, "message", said.pk)
    assert (planned, locked) == ([False], [1])
    echo.refresh_from_db()
    assert echo.content == "[withheld] It rains."


def test_over_rest_a_memory_and_its_messages_leave_no_word(api, owner):
    """Erasing the memory alone leaves the message that says it; with its messages every table is free of the words."""
    talk = ConversationFactory(user=owner)
    said = MessageFactory(conversation=talk, content="I hide a zanzibar letter.")
    memory = MemoryFactory(user=owner, content="The user hides a zanzibar letter.")
    MemoryEvidence.objects.create(version=memory.versions.get(), message=said, quote="a zanzibar letter")
    for scope, pk, left in (("memory", memory.pk, {Message._meta.db_table}), ("message", said.pk, set())):
        asked = {"scope": scope, "id": str(pk), "confirm": True}
        answer = api(owner).post("/api/v1/erase/", asked, format="json")
        assert answer.status_code == 202, answer.json()
        run_erasure(JobRun.objects.get(kind="erase", state="waiting").pk)
        assert holding("zanzibar") == left
    check(owner)


def test_what_is_said_elsewhere_too_stays(owner):
    talk = ConversationFactory(user=owner)
    one, two = MessageFactory.create_batch(2, conversation=talk)
    memory = MemoryFactory(user=owner)
    for message in (one, two):
        MemoryEvidence.objects.create(version=memory.versions.get(), message=message, quote="x")
    erase(owner, "message", one.pk)
    assert [each.message for each in memory.versions.get().evidence.all()] == [two]
    check(owner)


def test_a_memory_goes_with_its_versions_and_leaves_a_tombstone(api, owner):
    agent = AgentKeyFactory(agent__owner=owner)
    memory = MemoryFactory(user=owner, content="The user keeps a zanzibar parrot.")
    memory_update(principal_for_person(owner.pk), memory.pk, "The user keeps a zanzibar budgie.")
    after = Ledger.objects.get(pk=owner.pk).rev
    erase(owner, "memory", memory.pk)
    assert holding("zanzibar") == set()
    assert not UndoStep.objects.filter(object_id=memory.pk).exists()
    answer = api(agent.credential).get(f"/api/v1/changes/?after={after}")
    told = [row for row in answer.json()["results"] if row["object"] == memory.pk]
    assert [row["event"] for row in told] == ["ERASE"]
    gone = api(agent.credential).get(f"/api/v1/memories/{memory.pk}/")
    assert (gone.status_code, gone.json()["code"]) == (410, "erased")
    assert api(UserFactory()).get(f"/api/v1/memories/{memory.pk}/").status_code == 404
    check(owner)


def test_no_call_tells_more_of_an_erased_memory_than_that_it_is_erased(api, owner, stranger):
    agent = with_key(AgentFactory(owner=owner))
    memory = MemoryFactory(user=owner, content="The user keeps a zanzibar parrot.")
    path = f"/api/v1/memories/{memory.pk}/"
    known = api(agent).get(path)["ETag"]
    erase(owner, "memory", memory.pk)
    client, another = api(agent), api(stranger)
    calls = [
        ("get", path, {"headers": {"If-None-Match": known}}),
        ("get", f"{path}history/", {}),
        ("get", f"{path}relations/", {}),
        ("put", path, {"data": {"content": "The user keeps a budgie."}, "headers": {"If-Match": known}}),
        ("patch", path, {"data": {"importance": 5}}),
        ("delete", path, {}),
        ("post", f"{path}restore/", {"data": {}}),
    ]
    for method, address, sent in calls:
        answers = [getattr(each, method)(address, format="json", **sent) for each in (client, another)]
        assert [answer.status_code for answer in answers] == [410, 404], (method, address)
        assert not any("zanzibar" in str(answer.content) for answer in answers)


def test_a_narrowed_agent_is_not_told_that_what_it_does_not_see_existed(api, owner, legacy):
    """410 is for who may have known of it; whoever sees neither category nor source gets a 404, as always."""
    whole, narrow = AgentFactory(owner=owner), AgentFactory(owner=owner)
    GrantFactory(user=owner, agent=narrow, categories=["tone"], sources=[])
    clients = [api(AgentKeyFactory(agent=agent).credential) for agent in (whole, narrow)]
    me = principal_for_person(owner.pk)
    hidden, seen = MemoryFactory(user=owner, category="event"), MemoryFactory(user=owner, category="tone")
    fact, said = LegacyFactFactory(user=owner, legacy=legacy), MessageFactory(conversation__user=owner)
    place = place_add(me, "pool", "Pool", "").place
    erased = [("memory", hidden.pk, "memories"), ("memory", seen.pk, "memories"), ("fact", fact.pk, "facts"),
              ("place", place.pk, "places"), ("conversation", said.conversation_id, "conversations")]  # fmt: skip
    answers = []
    for scope, pk, path in erased:
        erase(owner, scope, pk)
        answers.append([client.get(f"/api/v1/{path}/{pk}/").status_code for client in clients])
    assert answers == [[410, 404], [410, 410], [410, 404], [410, 404], [410, 404]]
    assert api(owner).get(f"/api/v1/memories/{hidden.pk}/").status_code == 410


def test_a_receipt_is_found_by_no_other_id(api, owner):
    """Neither by the job's, the person's or the erased thing's, nor by one that is near."""
    memory = MemoryFactory(user=owner)
    erasure, job = erasure_request(principal_for_person(owner.pk), "memory", memory.pk)
    near = UUID(int=erasure.pk.int ^ 1)
    for guessed in (job.pk, owner.pk, near):
        assert api().get(f"/api/v1/erase/{guessed}/").status_code == 404
        assert api().delete(f"/api/v1/erase/{guessed}/").status_code == 401
    assert erasure.pk.version == 4, "122 random bits"
    assert api().get(f"/api/v1/erase/{erasure.pk}/").status_code == 200


def test_a_place_goes_with_its_versions_and_what_waits_about_it(api, owner):
    agent = AgentKeyFactory(agent__owner=owner)
    me, them = principal_for_person(owner.pk), principal_for_key(*agent.credential.removeprefix("ks_").split("."))
    place = place_add(me, "stone-town", "The zanzibar house", notes="The zanzibar key is under the mat.").place
    place_edit(me, place.pk, notes="Nothing of note.")
    kept = place_add(me, "home", "Home", notes="Blue door.").place
    place_edit(them, place.pk, notes="The zanzibar neighbours are loud.")
    after = Ledger.objects.get(pk=owner.pk).rev
    answer = api(owner).post("/api/v1/erase/", {"scope": "place", "id": str(place.pk), "confirm": True})
    assert answer.status_code == 202
    run_erasure(JobRun.objects.get(kind="erase", state="waiting").pk)
    assert holding("zanzibar") == set()
    assert Place.objects.get(user=owner) == kept
    told = api(agent.credential).get(f"/api/v1/changes/?after={after}").json()["results"]
    assert ("ERASE", str(place.pk)) in {(row["event"], row["object"]) for row in told}
    assert verified(Erasure.objects.get(pk=answer.json()["receipt"])).startswith("Gone since ")
    with pytest.raises(Gated):
        place_add(them, "stone-town", "The house")
    check(owner)


def test_of_what_was_rejected_only_the_fingerprint_stays(owner):
    memory = MemoryFactory(user=owner, agent=AgentFactory(owner=owner), content="The user fears the dark.")
    memory_reject(principal_for_person(owner.pk), memory.pk)
    assert Suppression.objects.get(user=owner).embedding is not None
    Suppression.objects.update(traces=TRACES)
    erasure = erase(owner, "memory", memory.pk)
    suppression = Suppression.objects.get(user=owner)
    assert (suppression.embedding, suppression.embedding_model, suppression.traces) == (None, "", "")
    assert suppression.object_id == memory.pk
    Suppression.objects.update(traces=TRACES)
    with pytest.raises(CommandError):
        verified(erasure)


def test_of_what_was_refused_in_talk_only_the_fingerprint_stays_with_its_message(owner):
    """Reproduction: the vector of what was asked and refused outlived the message."""
    message = MessageFactory(conversation__user=owner, content="I fear the dark.")
    message_decline(principal_for_person(owner.pk), message.conversation_id, message.index, "The user fears the dark.")
    refused = Suppression.objects.get(user=owner)
    assert refused.embedding is not None
    assert refused.traces
    assert verified(erase(owner, "message", message.pk)).startswith("Gone since ")
    refused.refresh_from_db()
    assert (refused.embedding, refused.embedding_model, refused.traces) == (None, "", "")


def test_a_shared_fact_leaves_the_other_members_too(owner, member, legacy):
    fact = LegacyFactFactory(legacy=legacy, user=owner, content="She hid a zanzibar letter.")
    fact_set_visibility(principal_for_person(owner.pk), fact.pk, "shared")
    erase(owner, "fact", fact.pk)
    assert holding("zanzibar") == set()
    assert Ledger.objects.get(pk=legacy.pk).facts == 0
    assert Change.objects.of_owner(legacy.pk).last().event == "UNSHARE"
    check_log(owner)


def test_a_conversation_goes_with_all_that_was_learned_from_it():
    person = rich_person("zanzibar")
    talk = Conversation.objects.get(user=person)
    Message.objects.filter(conversation=talk).update(content="Of the quagga I say much.")
    erasure = erase(person, "conversation", talk.pk)
    assert holding("quagga") == set()
    assert not ConversationChunk.objects.filter(user=person).exists()
    assert not Place.objects.filter(user=person).exists()
    # The person has worded it anew themselves since.
    viola = Memory.objects.get(user=person, content__contains="viola")
    assert viola.versions.get(number=1).content == ERASED_TEXT
    assert (erasure.removed["conversations"], erasure.removed["messages"]) == (1, 3)
    assert verified(erasure).startswith("Gone since ")
    check(person)


def test_the_name_of_an_imported_file_goes_with_the_last_conversation_that_it_brought(owner):
    told = {"form": "chatgpt", "size": 9, "digest": "0" * 64, "state": "done", "title": "About the quagga"}
    files = [{"name": "quagga.json", "size": 9}]
    upload = ConversationImport.objects.create(user=owner, file_name="quagga.json", files=files, **told)
    talks = [ConversationFactory(user=owner, brought_by=upload) for _ in range(2)]
    erase(owner, "conversation", talks[0].pk)
    upload.refresh_from_db()
    assert (upload.file_name, upload.files) == ("quagga.json", files)
    erase(owner, "conversation", talks[1].pk)
    assert holding("quagga") == set()


def test_the_record_of_a_failed_import_goes_with_its_file_name_and_its_error(api, owner):
    upload = ConversationImport.objects.create(
        user=owner, form="chatgpt", size=9, digest="0" * 64, state="failed", title="quagga", file_name="quagga.json",
        files=[{"name": "quagga.json", "size": 9}], notes=["quagga: empty"], error="quagga.json is no JSON.",
    )  # fmt: skip
    talk = ConversationFactory(user=owner, brought_by=upload, brought_messages=1)
    begun = api(owner).delete(f"/api/v1/import/{upload.pk}/")
    assert begun.status_code == 202
    run_erasure(UUID(begun.json()["job"]))
    assert holding("quagga") == set()
    receipt = Erasure.objects.get(pk=begun.json()["receipt"])
    assert (receipt.scope, receipt.removed) == ("import", {"conversationimport": 1})
    assert verified(receipt).startswith("Gone since ")
    assert api(owner).get(f"/api/v1/import/{upload.pk}/").status_code == 410
    assert Conversation.objects.get().pk == talk.pk


@pytest.mark.parametrize("state", ["storing", "waiting", "checking", "writing", "reading", "undoing"])
def test_an_import_that_has_not_ended_keeps_its_record(api, owner, state):
    upload = ConversationImport.objects.create(user=owner, form="chatgpt", size=9, digest="0" * 64, state=state)
    answer = api(owner).delete(f"/api/v1/import/{upload.pk}/")
    assert (answer.status_code, answer.json()["code"]) == (409, "import_open")
    assert not Erasure.objects.exists()


def test_a_membership_goes_with_all_that_was_said_about_the_legacy(owner, member, legacy):
    LegacyFactFactory(legacy=legacy, user=member, content="She had a zanzibar hat.")
    talk = ConversationFactory(user=member, legacy=legacy)
    MessageFactory(conversation=talk, content="Her zanzibar hat was green.")
    kept = LegacyFactFactory(legacy=legacy, user=owner)
    with pytest.raises(Conflict):
        erasure_request(principal_for_person(owner.pk), "membership", str(legacy.pk))
    erase(member, "membership", legacy.pk)
    assert holding("zanzibar") == set()
    assert [each.user for each in legacy.memberships.all()] == [owner]
    assert [*LegacyFact.objects.filter(legacy=legacy)] == [kept]


def test_the_membership_of_the_only_member_goes_with_the_legacy(member):
    """It logged that the member left in the ledger that went with the legacy, so the commit failed each time."""
    legacy = LegacyFactory(owner=member)
    LegacyFactFactory(legacy=legacy, user=member, content="She had a zanzibar hat.")
    erasure = erase(member, "membership", legacy.pk)
    connection.check_constraints()
    assert not Legacy.objects.filter(pk=legacy.pk).exists()
    assert holding("zanzibar") == set()
    assert verified(erasure).startswith("Gone since ")


def test_a_verification_finds_what_is_left(owner):
    memory = MemoryFactory(user=owner)
    erasure = erase(owner, "memory", memory.pk)
    Suppression.objects.filter(user=owner).update(embedding=[0.5] * 384, embedding_model="x")
    with pytest.raises(CommandError, match="1 findings"):
        verified(erasure)
    other = UserFactory()
    erasure = erase(other, "everything")
    Change.objects.filter(ledger_id=owner.pk).update(actor_id=str(other.pk))
    with pytest.raises(CommandError, match="Not everything is gone"):
        verified(erasure)
    with pytest.raises(CommandError, match="no such receipt"):
        call_command("verify_erasure", str(uuid4()))


def test_a_failure_leaves_everything_as_it_was(monkeypatch, owner):
    talk = ConversationFactory(user=owner)
    message = MessageFactory(conversation=talk)
    before = sorted(dumped())
    _, job = erasure_request(principal_for_person(owner.pk), "message", str(message.pk))
    monkeypatch.setattr("assistant.erasure.part_actions.recount", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run_erasure(job.pk)
    after = sorted(row for row in dumped() if row[0] not in {"journal_jobrun", "journal_erasure"})
    assert [row for row in after if row[0] == "conversations_message"] == [
        row for row in before if row[0] == "conversations_message"
    ]
    monkeypatch.undo()
    JobRun.objects.update(not_before=timezone.now())
    run_erasure(job.pk)
    message.refresh_from_db()
    assert message.content == "[withheld]"


# --- Who may, and the receipt ----------------------------------------------------------------------------------------


def test_only_who_decides_for_the_person_erases(api, owner, stranger):
    memory = MemoryFactory(user=owner)
    body = {"scope": "memory", "id": memory.pk, "confirm": True}
    for scopes in (["read"], ["read", "write"]):
        key = AgentKeyFactory(agent__owner=owner, scopes=scopes)
        assert api(key.credential).post("/api/v1/erase/", body).status_code == 403
    assert api(stranger).post("/api/v1/erase/", body).status_code == 404
    assert api().post("/api/v1/erase/", body).status_code == 401
    key = AgentKeyFactory(agent__owner=owner, scopes=["read", "write", "admin"])
    GrantFactory(user=owner, agent=key.agent, categories=["goals"])
    assert api(key.credential).post("/api/v1/erase/", {"scope": "everything", "confirm": True}).status_code == 403
    assert api(owner).post("/api/v1/erase/", body).status_code == 202
    receipt = Erasure.objects.get()
    assert api(stranger).delete(f"/api/v1/erase/{receipt.pk}/").status_code == 404
    assert api().delete(f"/api/v1/erase/{receipt.pk}/").status_code == 401


@pytest.mark.parametrize("scope", ["message", "conversation"])
@pytest.mark.parametrize("private", [False, True])
def test_the_person_s_admin_key_erases_what_was_said_with_another_agent(api, owner, member, scope, private):
    """Reproduction: it was a 404, although the key decides for the person."""
    preferences_set(principal_for_person(owner.pk), recall_record=False)
    talk = ConversationFactory(user=owner, agent=AgentFactory(owner=owner), private=private)
    rows = {"message": MessageFactory(conversation=talk), "conversation": talk}
    body = {"scope": scope, "id": str(rows[scope].pk), "confirm": True}
    narrowed, theirs, whole = (
        AgentKeyFactory(agent__owner=person, scopes=["read", "write", "admin"]) for person in (owner, member, owner)
    )
    GrantFactory(user=owner, agent=narrowed.agent, categories=["goals"])
    asked = [api(key.credential).post("/api/v1/erase/", body).status_code for key in (narrowed, theirs, whole)]
    assert asked == [404, 404, 202]


def test_a_narrowed_key_neither_erases_a_membership_nor_takes_back_that_everything_goes(api, owner, legacy):
    key = AgentKeyFactory(agent__owner=owner, scopes=["read", "write", "admin"])
    GrantFactory(user=owner, agent=key.agent, categories=["goals"])
    body = {"scope": "membership", "id": str(legacy.pk), "confirm": True}
    assert api(key.credential).post("/api/v1/erase/", body).status_code == 403
    waiting, _ = erasure_request(principal_for_person(owner.pk), "everything", grace_hours=24)
    assert api(key.credential).delete(f"/api/v1/erase/{waiting.pk}/").status_code == 403
    assert api(owner).delete(f"/api/v1/erase/{waiting.pk}/").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"scope": "memory", "id": "12345678"},
        {"scope": "memory", "id": "12345678", "confirm": False},
        {"scope": "memory", "confirm": True},
        {"scope": "everything", "id": "12345678", "confirm": True},
        {"scope": "all", "confirm": True},
        {"scope": "everything", "confirm": True, "grace_hours": -1},
        {"scope": "everything", "confirm": True, "sure": True},
    ],
)
def test_what_is_not_meant_so_is_refused(api, owner, body):
    assert api(owner).post("/api/v1/erase/", body).status_code == 400
    assert not Erasure.objects.exists()


def test_a_preview_of_everything_counts_all_that_is_the_person_s(api, owner, stranger):
    MemoryFactory(user=stranger)
    MemoryFactory(user=owner)
    talk = ConversationFactory(user=owner)
    MessageFactory(conversation=talk)
    preview = api(owner).get("/api/v1/erase/", {"scope": "everything"})
    assert preview.json() == {"counts": {"conversations": 1, "messages": 1, "memories": 1}, "also_said": []}
    for asked in ({"scope": "everything", "id": str(talk.pk)}, {"scope": "conversation"}):
        assert api(owner).get("/api/v1/erase/", asked).status_code == 400


@pytest.mark.parametrize("scope", [each for each in SCOPES if each != "everything"])
def test_what_there_is_not_is_a_404(api, owner, scope):
    for pk in (str(uuid4()), "nonsense"):
        answer = api(owner).post("/api/v1/erase/", {"scope": scope, "id": pk, "confirm": True})
        assert answer.status_code == 404
    assert not Erasure.objects.exists()


def test_the_receipt_needs_no_sign_in_and_holds_no_text(api, owner):
    memory = MemoryFactory(user=owner, content="The user keeps a zanzibar parrot.")
    receipt = erase(owner, "memory", memory.pk)
    told = api().get(f"/api/v1/erase/{receipt.pk}/").json()
    assert (told["scope"], told["done"], told["removed"]["memory"]) == ("memory", True, 1)
    assert "verify_erasure" in told["verify"]
    assert all(any(word in line for line in told["not_reached"]) for word in ("Backups", "an imported file"))
    assert memory.pk not in str(told)
    assert str(owner.pk) not in str(told)
    assert api().get(f"/api/v1/erase/{uuid4()}/").status_code == 404


def test_asking_again_is_the_same_erasure(api, owner):
    memory = MemoryFactory(user=owner)
    body = {"scope": "memory", "id": memory.pk, "confirm": True}
    first = api(owner).post("/api/v1/erase/", body).json()
    assert api(owner).post("/api/v1/erase/", body).json() == first
    assert Erased.objects.count() == 0


def test_at_once_runs_now_also_while_the_same_waits(api, owner):
    memory = MemoryFactory(user=owner, content="The user shot a swan in Laxenburg.")
    body = {"scope": "memory", "id": memory.pk, "confirm": True}
    waiting = api(owner).post("/api/v1/erase/", {**body, "grace_hours": 24}).json()
    assert api(owner).post("/api/v1/erase/", {**body, "grace_hours": 48}).json() == waiting
    assert api(owner).post("/api/v1/erase/", body).json() == waiting  # Not shortened unless they say so.
    run_erasure(waiting["job"])
    assert Memory.objects.exists()
    assert api(owner).post("/api/v1/erase/", {**body, "grace_hours": 0}).json() == waiting
    run_erasure(waiting["job"])
    assert api().get(f"/api/v1/erase/{waiting['receipt']}/").json()["done"]
    assert not Memory.objects.exists()


@pytest.mark.parametrize("scope", ["message", "conversation"])
def test_an_import_that_is_run_again_keeps_nothing_of_erased_words(owner, scope):
    me, said = principal_for_person(owner.pk), [NewMessage("user", f"Good morning. {SWAN} It was Sunday.")]
    talk = ConversationFactory(user=owner)
    message = messages_append(me, talk.pk, said, brought=True)[0]
    passages_withhold(me, [PassagePlace(talk.pk, 0, SWAN)])
    memory = MemoryFactory(user=owner, content="The user shot a swan.")
    passages_withhold(me, [PassagePlace(talk.pk, 0, SWAN)], Cause("memory", memory.pk))
    erase(owner, scope, message.pk if scope == "message" else talk.pk)
    for _again in range(2):
        again = messages_append(me, ConversationFactory(user=owner).pk, said, brought=True)[0]
        assert list(Withheld.objects.filter(message=again).values_list("text", flat=True)) == [""]
    assert holding("Laxenburg") == set()


def test_staff_see_receipts_and_exports_in_numbers(client, staff, owner):
    memory = MemoryFactory(user=owner, content="The user keeps a zanzibar parrot.")
    erasure = erase(owner, "memory", memory.pk)
    exported(owner)
    client.force_login(staff)
    export = ExportPart.objects.values_list("export_id", "pk").first()
    shown = {"export": export[0], "exportpart": export[1], "erasure": erasure.pk, "erased": Erased.objects.get().pk}
    for model, pk in shown.items():
        for path in (f"/admin/journal/{model}/", f"/admin/journal/{model}/{pk}/change/"):
            assert client.get(path).status_code == 200, path


def test_while_everything_waits_agents_are_told_nothing(api, owner, legacy, agent):
    """From the request on, and again as before once it is taken back."""
    memory = MemoryFactory(user=owner, content="The user keeps bees.")
    fact = LegacyFactFactory(user=owner, legacy=legacy, content="Rosa kept bees.")
    talk = ConversationFactory(user=owner)
    MessageFactory(conversation=talk, content="I keep bees.")
    own = ConversationFactory(user=owner, agent=agent)
    other = api(AgentKeyFactory(agent__owner=owner).credential)
    client = api(AgentKeyFactory(agent=agent).credential)

    def told():
        paths = ("memories/", f"memories/{memory.pk}/", f"facts/{fact.pk}/", f"conversations/{talk.pk}/messages/")
        answers = [client.get(f"/api/v1/{path}") for path in (*paths, "memories/context/", "memories/document/")]
        answers.append(client.post("/api/v1/memories/query/", {"query": "bees"}))
        answers.append(client.get("/api/v1/changes/", {"after": 0}))
        return ["bees" in each.content.decode() or memory.pk in each.content.decode() for each in answers]

    assert told() == [True] * 8
    receipt, _job = erasure_request(principal_for_person(owner.pk), "everything", grace_hours=24)
    assert told() == [False] * 8
    assert client.get("/api/v1/changes/", {"after": 3}).json() == {"results": [], "next_after": 3}
    assert not principal_for_agent(agent.pk, owner.pk).has_memory
    client.post(f"/api/v1/conversations/{own.pk}/messages/", {"role": "user", "content": "I keep goats."})
    assert (own.messages.get().reading_due, other.get(f"/api/v1/conversations/{own.pk}/").status_code) == (None, 404)
    assert api(owner).get(f"/api/v1/memories/{memory.pk}/").status_code == 200
    erasure_withdraw(principal_for_person(owner.pk), receipt.pk)
    assert told() == [True] * 8
    assert not own.messages.get().memory_off
    assert other.get(f"/api/v1/conversations/{own.pk}/").status_code == 200


def test_where_memory_is_off_while_everything_waits_it_stays_off(api, owner, agent):
    PreferencesFactory(user=owner, has_memory=False)
    erasure_request(principal_for_person(owner.pk), "everything", grace_hours=24)
    own = ConversationFactory(user=owner, agent=agent)
    api(agent).post(f"/api/v1/conversations/{own.pk}/messages/", {"role": "user", "content": "I keep goats."})
    assert own.messages.get().memory_off
