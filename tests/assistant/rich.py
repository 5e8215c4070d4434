"""A person of whom every table holds something, and the rows that an export has of somebody."""

import io
import json
import zipfile
from datetime import timedelta

from django.utils import timezone

from accounts.actions import preferences_set
from accounts.models import ExternalIdentity, LegacyPicture
from accounts.queries import principal_for_person
from assistant.takeout.export_actions import export_begin, export_parts, run_export
from conversations.actions import (
    Blob,
    GraphState,
    GraphWrite,
    PassagePlace,
    checkpoint_save,
    chunk_write,
    graph_save,
    graph_write,
    passages_withhold,
)
from conversations.models import ConversationImport
from facts.actions import fact_edit, fact_set_visibility
from facts.models import FactEvidence, FactLink
from journal.actions import ledger_write
from journal.holdings import holdings
from journal.operation_actions import note_operation
from memories.actions import (
    memory_archive,
    memory_reject,
    memory_update,
    place_add,
    place_edit,
)
from memories.models import (
    Disclosure,
    MemoryEvidence,
    MemoryPlan,
    MemoryPlanItem,
    MemoryPlanSource,
    MemoryUse,
    Proposal,
    ProposalEvidence,
    Relation,
)
from statements.models import Candidate, Doubt
from statements.wording import Embedded
from tests.factories import (
    AgentFactory,
    AgentKeyFactory,
    ConversationFactory,
    DeliveryFactory,
    GrantFactory,
    LegacyFactFactory,
    LegacyFactory,
    MemoryFactory,
    MessageFactory,
    ReplyFactory,
    UserFactory,
    WebhookFactory,
)


def rich_person(marker="marker", **values):
    """A person of whom every kind of an export holds rows, ``marker`` being said in all that is said."""
    person = UserFactory(display_name=f"Rich {marker}", email=f"{marker}@example.org", **values)
    me = principal_for_person(person.pk)
    preferences_set(me, time_zone="Europe/Zurich", recall_record=False)
    checkpoint_save(me, f"thread {marker}", {"step": marker})
    kept = Blob("text", marker.encode())
    graph_save(me, GraphState(marker, "", "first", "", {"said": marker}, [marker], kept))
    graph_write(me, marker, [GraphWrite(0, marker, kept)], namespace="", checkpoint_id="first", task_id="task")
    ExternalIdentity.objects.create(user=person, issuer="backend", external_id=f"{marker}-{person.username}")
    agent = AgentKeyFactory(agent=AgentFactory(owner=person, name=f"Agent {marker}")).agent
    GrantFactory(user=person, agent=agent, sources=["facts"])
    legacy = LegacyFactory(owner=person, name=f"Grandmother {marker}")
    LegacyPicture.objects.create(legacy=legacy, added_by=person, content=marker.encode())
    brought = ConversationImport.objects.create(
        user=person, title=f"Import {marker}", file_name=f"{marker}.zip", form="chatgpt", size=9, digest="0" * 64,
        state="done", notes=[f"Note {marker}"], ended_at=timezone.now(),
    )  # fmt: skip
    talk = ConversationFactory(user=person, legacy=legacy, agent=agent, title=f"Talk {marker}", brought_by=brought)
    first, second = (
        MessageFactory(conversation=talk, content=f"{said} {marker}.", speaker=f"Rich {marker}")
        for said in ("I play the cello, said the", "Rosa kept bees, the")
    )
    ReplyFactory(message=second)
    secret = MessageFactory(conversation=talk, content=f"Between us, our neighbour drinks {marker} rum.")
    passages_withhold(me, [PassagePlace(talk.pk, secret.index, "rum")])
    summarise(me, talk, f"They talked of a cello and the {marker}.")
    kept = MemoryFactory(
        user=person, agent=agent, content=f"The user plays the {marker} cello.", subject=f"music {marker}",
        topics=(f"cello {marker}",), external_id=f"id-{marker}", run_id=f"run-{marker}", actor_id=f"actor-{marker}",
    )  # fmt: skip
    MemoryEvidence.objects.create(version=kept.versions.get(), message=first, quote=f"I play the cello, {marker}")
    memory_update(me, kept.pk, f"The user plays the {marker} viola.")
    other = MemoryFactory(user=person, content=f"The user grows {marker} tomatoes.", category="event")
    memory_archive(me, MemoryFactory(user=person, content=f"The user sold the {marker} boat.").pk)
    memory_reject(me, MemoryFactory(user=person, agent=agent, content=f"The user fears the {marker} dark.").pk)
    Relation.objects.get_or_create(
        user=person, from_memory=kept, to_memory=other, type="related_to", defaults={"strength": 0.7}
    )
    MemoryUse.objects.create(memory=kept, uses=3)
    Disclosure.objects.create(user=person, agent=agent, conversation=talk, by="turn", memories=[kept.pk, other.pk])
    added = place_add(me, f"place-{marker}", f"Café {marker}", message_id=second.pk, conversation_id=talk.pk)
    place_edit(me, added.place.pk, notes=f"Good {marker} cake.")
    _plan(person, kept, other, marker)
    hook = WebhookFactory(user=person, agent=agent, url=f"https://{marker}.example/hook")
    DeliveryFactory(webhook=hook, state="dead")
    now = timezone.now()
    proposal = Proposal.objects.create(
        user=person, agent=agent, kind="update", memory=other, memory_version=1, source_conversation=talk,
        values={"content": f"The user grows {marker} beans."}, expires_at=now + timedelta(days=7),
    )  # fmt: skip
    ProposalEvidence.objects.create(proposal=proposal, message=first, quote=f"the {marker} beans")
    fact, like = (LegacyFactFactory(legacy=legacy, content=f"She kept {marker} {what}.") for what in ("bees", "hives"))
    FactEvidence.objects.create(fact=fact, message=second, quote=f"Rosa kept bees, the {marker}")
    fact_edit(me, fact.pk, content=f"She kept the {marker} bees of the village.")
    fact_set_visibility(me, like.pk, "shared")
    FactLink.objects.get_or_create(from_fact=fact, to_fact=like, kind="duplicate", defaults={"strength": 0.9})
    Doubt.objects.create(user=person, object_type="memory", object_id=other.pk, rev=2)
    Candidate.objects.create(
        user=person, message=second, is_fact=False, content=f"The user has a {marker}.", quote=f"a {marker}",
        category="context", rank=23, written_by="rules",
    )  # fmt: skip
    note_operation("recall", "search", user_id=person.pk)
    return person


def summarise(me, talk, content, *, end=2):
    text = Embedded.of(content)
    with ledger_write(me.actor, me.user_id) as write:
        chunk_write(
            write, talk, content=content, written_by="rules", start=0, end=end,
            embedding=text.vector, embedding_model=text.embedding_model,
        )  # fmt: skip


def _plan(person, kept, other, marker):
    now = timezone.now()
    plan = MemoryPlan.objects.create(
        user=person, strategy="condense", state="preview", looked_at=[kept.pk, other.pk], expires_at=now
    )
    item = MemoryPlanItem.objects.create(
        user=person, plan=plan, position=0, kind="semantic", category="context", content=f"Both, {marker}.",
        importance=2, tokens_before=9, tokens_after=5,
    )  # fmt: skip
    MemoryPlanSource.objects.create(user=person, item=item, position=0, memory=kept, version=2)


def exported(person):
    """The file of an export of everything about a person."""
    me = principal_for_person(person.pk)
    job = export_begin(me)
    run_export(job.pk)
    return b"".join(export_parts(me, job.pk)[1])


def rows_in(archive):
    """What the file of an export holds: rows by kind."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {
            each.kind: [json.loads(line) for line in opened.read(f"data/{each.kind}.jsonl").splitlines()]
            for each in holdings()
            if each.kind
        }
