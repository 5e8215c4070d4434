"""The job of an import, in time slices: check the file, write new conversations, extract; or revert.

Each slice continues from the state in the rows, so a killed worker loses nothing: the whole file is checked before the
first write, written conversations are found by their id in the file, and extracted ones are marked.
"""

from __future__ import annotations

from collections import Counter
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import CharField, Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Cast

from accounts.principals import Principal
from accounts.queries import principal_for_job
from accounts.scope import acting_as, current_principal
from conversations.actions import conversation_close, conversation_remove, messages_index
from conversations.imports import FORMS, KEEPSAKE, ImportFileError, ParsedConversation, iter_importable, survey_file
from conversations.imports.sources import counted
from conversations.models import Conversation, ConversationImport
from facts.actions import facts_delete_learned
from journal.actions import ledger_write
from journal.exceptions import Conflict, NotFound
from journal.leases import Lease, LeaseLost, claim_job, fail_job, finish_job, lock_job, working
from journal.models import JobRun
from memories.actions import memories_delete_learned
from statements.actions import erased_words_suppress, fingerprints_of_removed

from ..learn.summarizing import JOB as SUMMARIZE_JOB
from ..learn.summarizing import maybe_summarize
from ..takeout.reading import check_manifest
from ..takeout.restore_actions import export_check, export_restore, statements_to_hold_back
from .actions import ERROR_CHARACTERS, RUN_TASK, UNDO_JOB, import_end, import_note, import_upload_remove
from .loading import append_step, plan_step
from .memories import MEMORY_FORMS, delete_imported_memories, take_memories_in
from .storing import stored_members

NOTES = 100
UNREAD_IN_A_ROW = 3
_KILOBYTE = 1_024

State = ConversationImport.State


class ModelAway(Exception):
    """Several conversations in a row could not be extracted: the model is unavailable."""


def run_import(job_id: UUID) -> None:
    """Work on an import, or its revert, for one time slice, unless another worker does or it has ended.

    An invalid file ends the job, with nothing written. If the database or the model is unavailable, the job is retried
    later from its position.
    """
    job = claim_job(job_id, lease_seconds=settings.IMPORT_LEASE_SECONDS)
    if job is None:
        return
    upload = ConversationImport.objects.filter(pk=job.subject_id).first()
    if upload is None or not upload.is_open:
        fail_job(job, "gone")
        return
    with working(
        job,
        lease_seconds=settings.IMPORT_LEASE_SECONDS,
        task=RUN_TASK,
        turn_seconds=settings.IMPORT_SLICE_SECONDS,
        expected=(ModelAway,),
    ) as lease:
        try:
            with acting_as(principal_for_job(upload.user_id)):
                if job.kind == UNDO_JOB:
                    (delete_imported_memories if upload.form in MEMORY_FORMS else take_back)(lease, upload)
                else:
                    _work_through(lease, upload)
            _finish(job, upload, State.UNDONE if job.kind == UNDO_JOB else State.DONE)
        except ImportFileError as error:
            _fail(job, upload, "bad_file", f"This file can't be imported: {error.told}.")
        except NotFound:
            _fail(job, upload, "gone", "You are no longer a member of this legacy, or your account was closed.")


def _work_through(lease: Lease, upload: ConversationImport) -> None:
    if upload.form == KEEPSAKE:
        take_in(lease, upload)
        return
    if upload.form in MEMORY_FORMS:
        take_memories_in(lease, upload)
        return
    if upload.state in {State.WAITING, State.CHECKING}:
        check(lease, upload)
    if upload.state == State.WRITING:
        write(lease, upload)
    read(lease, upload)


def _finish(job: JobRun, upload: ConversationImport, state: str) -> None:
    with transaction.atomic():
        _hold(upload.pk)
        if lock_job(job):
            import_end(upload.pk, state)
            finish_job(job, **upload.outcome)


def _fail(job: JobRun, upload: ConversationImport, code: str, reason: str) -> None:
    with transaction.atomic():
        _hold(upload.pk)
        if fail_job(job, code):
            import_end(upload.pk, State.FAILED, error=reason[:ERROR_CHARACTERS])


def _hold(import_id: UUID) -> None:
    """Lock an import before its job, in the same order as cancelling, to prevent deadlocks."""
    ConversationImport.objects.select_for_update().filter(pk=import_id).first()


def check(lease: Lease, upload: ConversationImport) -> None:
    """Read the whole file and store its counts. Raises ImportFileError, with nothing written."""
    _enter(upload, State.CHECKING)
    total = sum(file["size"] for file in upload.files)
    lease.renew(0, total // _KILOBYTE)
    read = Counter[str]()
    members = counted(stored_members(upload), lambda size: read.update({"bytes": size}))
    survey = survey_file(FORMS[upload.form], members, lambda _: lease.report(read["bytes"] // _KILOBYTE))
    found = {"conversations": survey.conversations, "messages": survey.messages, "skipped": dict(survey.skipped)}
    notes = [
        *upload.notes,
        *survey.notes,
        *([f"and {survey.more_notes:,} more like these"] if survey.more_notes else []),
    ]
    _note(upload, survey=found, notes=notes, state=State.WRITING)
    lease.check_turn()


def write(lease: Lease, upload: ConversationImport) -> None:
    """Append what is missing, one conversation after the other. Raises NotFound if the legacy is not theirs."""
    principal = current_principal()
    lease.renew(upload.outcome.get("gone_through", 0), upload.survey["messages"])
    conversations = FORMS[upload.form].read(stored_members(upload), upload.position)
    for position, parsed in iter_importable(conversations, after=upload.position):
        _bring_in(lease, principal, upload, parsed)
        _note(upload, position=position, outcome=upload.outcome, notes=upload.notes)
        lease.check_turn()
    brought = upload.conversations.aggregate(messages=Sum("message_count", default=0))
    upload.outcome |= {"new": upload.conversations.count(), "new_messages": brought["messages"]}
    upload.outcome["to_read"] = _unread(upload).count()
    _note(upload, outcome=upload.outcome, state=State.READING)
    import_upload_remove(upload)


def _bring_in(lease: Lease, principal: Principal, upload: ConversationImport, parsed: ParsedConversation) -> None:
    channel, legacy_id = upload.form, upload.legacy_id
    done = upload.outcome.get("gone_through", 0)
    step = plan_step(principal, parsed, channel=channel, legacy_id=legacy_id)
    try:
        for count in append_step(principal, step, channel=channel, legacy_id=legacy_id, brought_by_id=upload.pk):
            done += count
            lease.report(done)
    except Conflict:
        # Somebody is appending to it: the missing messages come with the next import.
        step = plan_step(principal, parsed, channel=channel, legacy_id=legacy_id)
    outcome = Counter(upload.outcome)
    outcome["gone_through"] += len(parsed.messages)
    if step.objection:
        outcome["left_alone"] += 1
        title = f" (“{parsed.title}”)" if parsed.title else ""
        upload.notes = [*upload.notes, f"{parsed.place}{title}: left alone, {step.objection}"][:NOTES]
    elif not step.missing:
        outcome["unchanged"] += 1
    elif step.conversation_id and not upload.conversations.filter(pk=step.conversation_id).exists():
        outcome["continued"] += 1
        outcome["continued_messages"] += step.missing
    upload.outcome = dict(outcome)


def read(lease: Lease, upload: ConversationImport) -> None:
    """Index and summarise the imported conversations one after the other.

    Failing ones are left to the sweep. Raises ModelAway after three failures in a row.
    """
    principal = current_principal()
    total = upload.outcome["to_read"]
    lease.renew(max(0, total - _unread(upload).count()), total)
    in_a_row = 0
    while (conversation_id := _next_unread(upload)) is not None:
        _read_one(lease, principal, conversation_id)
        read_whole = not Conversation.objects.filter(
            pk=conversation_id, message_count__gt=F("summarized_upto")
        ).exists()
        in_a_row = 0 if read_whole else in_a_row + 1
        if in_a_row >= UNREAD_IN_A_ROW:
            raise ModelAway
        lease.report(max(0, total - _unread(upload).count()))
        lease.check_turn()
    unread = _unread(upload).count()
    lease.renew(max(0, total - unread), total)
    _note(upload, outcome={**upload.outcome, "unread": unread})


def _read_one(lease: Lease, principal: Principal, conversation_id: UUID) -> None:
    def go_on(count: int) -> None:
        lease.report(lease.job.done)

    messages_index(conversation_id, progress=go_on)
    conversation_close(principal, conversation_id, follow_up=False)
    maybe_summarize(conversation_id, progress=go_on)


def _unread(upload: ConversationImport) -> QuerySet[Conversation]:
    """Return conversations with messages that no chunk covers."""
    return Conversation.objects.filter(
        user_id=upload.user_id, channel=upload.form, message_count__gt=F("summarized_upto")
    )


def _next_unread(upload: ConversationImport) -> UUID | None:
    """Return the next one that was not tried yet and that no other worker has."""
    put_off = JobRun.objects.filter(kind=SUMMARIZE_JOB, subject_id=OuterRef("subject")).filter(
        Q(state__in=["waiting", "running"]) | Q(state="cancelled", finished_at__gte=OuterRef("last_message_at"))
    )
    rows = _unread(upload).annotate(subject=Cast("pk", CharField())).filter(~Exists(put_off))
    return rows.order_by("created_at", "pk").values_list("pk", flat=True).first()


def take_in(lease: Lease, upload: ConversationImport) -> None:
    """Import a Keepsake export. Raises ImportFileError, with nothing written."""
    members, principal = stored_members(upload), current_principal()
    if upload.state in {State.WAITING, State.CHECKING}:
        _enter(upload, State.CHECKING)
        lease.renew(0, check_manifest(members))
        counts = export_check(members, lease.report)
        found = {"conversations": counts.get("conversations", 0), "messages": counts.get("messages", 0), "skipped": {}}
        _note(upload, survey=found, state=State.WRITING)
        lease.check_turn()
    if upload.state == State.WRITING:
        reasons = statements_to_hold_back(members)
        with ledger_write(principal.actor, upload.user_id) as write:
            _hold(upload.pk)
            lease.lock()  # A lease long enough for the whole transaction.
            counts = export_restore(write, principal, members, reasons)
            _note(upload, outcome=counts, state=State.READING)


def take_back(lease: Lease, upload: ConversationImport) -> None:
    """Delete the import's conversations, and what was extracted only from them.

    Conversations with other messages, by the person or another import, stay.
    """
    _enter(upload, State.UNDOING)
    principal = current_principal()
    total = upload.outcome.setdefault("to_take_back", upload.conversations.count())
    lease.renew(total - upload.conversations.count(), total)
    as_brought = upload.conversations.filter(message_count=F("brought_messages")).order_by("pk")
    while (conversation := as_brought.first()) is not None:
        counts = _remove(principal, conversation)
        if counts is not None:
            outcome = Counter(upload.outcome)
            outcome.update({"taken_back": 1, **counts})
            _note(upload, outcome=dict(outcome))
            lease.report(upload.outcome["taken_back"])
        lease.check_turn()
    left = upload.conversations.count()
    lease.renew(total - left, total)
    _note(upload, outcome={**upload.outcome, "not_taken_back": left})


def _remove(principal: Principal, conversation: Conversation) -> dict[str, int] | None:
    """Return the numbers of deleted and kept statements; None if messages were added before the lock."""
    owners = [owner for owner in (conversation.user_id, conversation.legacy_id) if owner]
    withheld = fingerprints_of_removed(conversation)
    with ledger_write(principal.actor, *owners) as write:
        locked = Conversation.objects.select_for_update().get(pk=conversation.pk)
        if not locked.is_as_brought:
            return None
        facts = facts_delete_learned(write, locked)
        memories = memories_delete_learned(write, locked)
        erased_words_suppress(write, conversation.user_id, withheld)
        conversation_remove(write, locked)
    return {
        "facts_removed": facts[0],
        "facts_kept": facts[1],
        "memories_removed": memories[0],
        "memories_kept": memories[1],
    }


def _enter(upload: ConversationImport, state: str) -> None:
    if upload.state != state:
        _note(upload, state=state)


def _note(upload: ConversationImport, **values: object) -> None:
    if not import_note(upload, **values):
        raise LeaseLost
