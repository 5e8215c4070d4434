"""Imports of files with memories of another service, in time slices of a worker.

The room that knows a file format registers its parser and writer; here files are checked, counted and reverted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from accounts.scope import current_principal
from conversations.imports import ImportFileError
from conversations.models import ConversationImport
from journal.exceptions import Refused
from journal.leases import Lease, LeaseLost
from memories.actions import memories_remove_imported
from memories.queries import unchanged_imported

from .actions import import_note, import_upload_remove
from .storing import stored_members

AT_ONCE = 100
"""So many memories are brought in, or removed, between two looks at the clock."""

State = ConversationImport.State


@dataclass(frozen=True, slots=True)
class MemoryForm:
    """A file format: its parser, which raises Refused, and its writer.

    ``bring`` gets the principal, the memories and the import's id, and returns counts of outcomes.
    """

    read: Callable[[bytes], Sequence[Any]]
    bring: Callable[..., Counter[str]]


MEMORY_FORMS: dict[str, MemoryForm] = {}
"""The forms by the names of ``conversations.imports``: the rooms that know them put them here when Django starts."""


def take_memories_in(lease: Lease, upload: ConversationImport) -> None:
    """Check the whole file, then import what is missing. Raises ImportFileError, with nothing written."""
    form = MEMORY_FORMS[upload.form]
    if upload.state in {State.WAITING, State.CHECKING}:
        _note(upload, state=State.CHECKING)
    rows = _read(form, upload)
    if upload.state == State.CHECKING:
        survey = {"conversations": 0, "messages": 0, "memories": len(rows), "skipped": {}}
        _note(upload, survey=survey, state=State.WRITING)
        lease.check_turn()
    while upload.state == State.WRITING and upload.position < len(rows):
        lease.renew(upload.position, len(rows))
        part = rows[upload.position : upload.position + AT_ONCE]
        counts = Counter(upload.outcome)
        counts.update(form.bring(current_principal(), part, upload.pk))
        _note(upload, position=upload.position + len(part), outcome=dict(counts))
        lease.check_turn()
    lease.renew(len(rows), len(rows))
    import_upload_remove(upload)


def delete_imported_memories(lease: Lease, upload: ConversationImport) -> None:
    """Delete the import's unchanged memories; those with decisions stay."""
    _note(upload, state=State.UNDOING)
    while removed := memories_remove_imported(current_principal(), upload.pk, AT_ONCE):
        counts = Counter(upload.outcome)
        counts["memories_removed"] += removed
        _note(upload, outcome=dict(counts))
        lease.renew()
        lease.check_turn()
    kept = unchanged_imported(upload.user_id, upload.pk, any_state=True).count()
    _note(upload, outcome={**upload.outcome, "memories_kept": kept})


def _read(form: MemoryForm, upload: ConversationImport) -> Sequence[Any]:
    (member,) = stored_members(upload)[:1]
    if member.size > settings.IMPORT_MAX_CONVERSATION_BYTES:
        most = settings.IMPORT_MAX_CONVERSATION_BYTES // 1_048_576
        raise ImportFileError("", f"a file of memories has at most {most} MB")
    with member.open() as stream:
        pieces = []
        while piece := stream.read(1_048_576):
            pieces.append(piece)
    try:
        rows = form.read(b"".join(pieces))
    except Refused as error:
        raise ImportFileError("", error.detail) from error
    if not rows:
        raise ImportFileError("", "the file holds no memory")
    return rows


def _note(upload: ConversationImport, **values: object) -> None:
    if not import_note(upload, **values):
        raise LeaseLost
