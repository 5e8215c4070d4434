"""Memories and places as rows, many at once and with every column open, so that a block can be given any past.

Counts, revisions and versions are right: they are written under the ledger lock, as the actions do it.
"""

from contextlib import nullcontext
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Sum
from django.utils import timezone

from accounts.categories import load as load_categories
from journal.actions import ledger_write
from journal.models import Ledger
from journal.records import Actor
from memories.lines import line_tokens, memory_line, place_line
from memories.models import Memory, MemoryVersion, Place, PlaceMention, PlaceVersion
from retrieval.text import prepare
from statements.policy import fingerprint

TEST = Actor("person", "test")
_COLUMNS = {field.attname for field in Memory._meta.concrete_fields if not field.generated} - {
    "id",
    "created_at",
    "actor_id",
}
MIRRORED = sorted(_COLUMNS & {field.attname for field in MemoryVersion._meta.concrete_fields})


def remember(person, *contents, write=None, actor_kind="person", **columns):
    """Give a person memories, active unless ``state`` says otherwise. A content may be a dict of columns.

    In a transaction of its own, or in that of ``write``.
    """
    made, versions = [], []
    with nullcontext(write) if write else ledger_write(TEST, person.pk) as write:
        for each in contents:
            own = {"content": each} if isinstance(each, str) else each
            memory = Memory(user=person, **{"category": "context", "index_not_before": timezone.now()} | columns | own)
            rev = write.change(person.pk, "ADD", "memory", memory.pk, new_version=1)
            category = load_categories().by_name.get(memory.category)
            memory.in_block = memory.kind == "semantic" and bool(category) and category.context == "all"
            memory.active_rev = rev if memory.state == "active" else None
            memory.fingerprint = fingerprint(person.pk, memory.content)
            prepared = prepare(memory.content, heading=memory.subject)
            memory.search_text, memory.search_config = prepared.text, prepared.config
            memory.search_length = prepared.length
            line = memory_line(memory.pk, memory.created_at, memory.subject, memory.content)
            memory.tokens = memory.tokens or line_tokens(line)
            count(write, memory, 1)
            made.append(memory)
            versions.append(version_of(memory, rev, actor_kind=actor_kind))
        Memory.objects.bulk_create(made, batch_size=500)
        MemoryVersion.objects.bulk_create(versions, batch_size=500)
    return made


def version_of(memory, rev, at=None, actor_kind="person"):
    return MemoryVersion(
        memory_id=memory.pk,
        number=memory.version,
        recorded_from=at or memory.created_at,
        recorded_from_rev=rev,
        actor_kind=actor_kind,
        actor_id="test",
        **{name: getattr(memory, name) for name in MIRRORED},
    )


def reword(memory, content, **columns):
    """Give a memory another version."""
    now = timezone.now()
    with ledger_write(TEST, memory.user_id) as write:
        rev = write.change(memory.user_id, "UPDATE", "memory", memory.pk)
        MemoryVersion.objects.filter(memory=memory, recorded_to=None).update(
            recorded_to=now, recorded_to_rev=rev, valid_to=now
        )
        count(write, memory, -1)
        for name, value in {"content": content, **columns}.items():
            setattr(memory, name, value)
        memory.version += 1
        memory.tokens = line_tokens(memory_line(memory.pk, now, memory.subject, content))
        count(write, memory, 1)
        memory.save()
        version_of(memory, rev, now).save()
    return memory


def change(memory, **columns):
    """Change columns of a memory under a revision of its own."""
    with ledger_write(TEST, memory.user_id) as write:
        memory.refresh_from_db()
        count(write, memory, -1)
        rev = write.change(memory.user_id, "UPDATE", "memory", memory.pk)
        for name, value in columns.items():
            setattr(memory, name, value)
        memory.active_rev = (memory.active_rev or rev) if memory.state == "active" else None
        count(write, memory, 1)
        memory.save()
    return memory


def archive(memory, why="person"):
    """Take a memory out of what is remembered."""
    now = timezone.now()
    return change(memory, state="archived", deleted_at=now, deleted_why=why, purge_at=now + timedelta(days=30))


def restore(memory):
    """Remember an archived memory again."""
    return change(memory, state="active", deleted_at=None, deleted_why="", purge_at=None)


def purge(memory):
    """Delete a memory that was archived, with its versions."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL keepsake.purge = on")
        memory.delete()


def place(person, place_id, name, notes="", mentioned_in=()):
    """Give a person a place that messages mention."""
    talks = {message.conversation_id for message in mentioned_in}
    with ledger_write(TEST, person.pk) as write:
        made = Place(user=person, place_id=place_id, name=name, notes=notes)
        made.tokens = line_tokens(place_line(name, notes, len(talks)))
        made.active_rev = rev = write.change(person.pk, "ADD", "place", made.pk)
        made.save()
        PlaceVersion.objects.create(
            place=made, number=1, name=name, notes=notes, written_by="notebook", recorded_from_rev=rev
        )
        for message in mentioned_in:
            rev = write.change(person.pk, "MENTION", "place", made.pk)
            PlaceMention.objects.create(place=made, message=message, rev=rev)
        write.count(person.pk, block_tokens=made.tokens)
    return made


def count(write, memory, sign):
    if memory.state == "active":
        write.count(
            memory.user_id,
            memories=sign,
            memory_terms=sign * memory.search_length,
            block_tokens=sign * memory.tokens * memory.in_block,
        )


def recount(person):
    """What the person's ledger has to say of memories, summed up from the rows."""
    active = Memory.objects.filter(user=person, state="active").aggregate(terms=Sum("search_length"))
    block = Memory.objects.filter(user=person, state="active", in_block=True).aggregate(tokens=Sum("tokens"))
    places = Place.objects.filter(user=person, deleted_at=None).aggregate(tokens=Sum("tokens"))
    return {
        "memories": Memory.objects.filter(user=person, state="active").count(),
        "memory_terms": active["terms"] or 0,
        "block_tokens": (block["tokens"] or 0) + (places["tokens"] or 0),
    }


def counted(person):
    """What the person's ledger does say."""
    return Ledger.objects.values("memories", "memory_terms", "block_tokens").get(pk=person.pk)
