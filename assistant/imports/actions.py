"""Changes of imports: upload, progress, end, cancel, revert."""

from __future__ import annotations

import hashlib
import unicodedata
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any, BinaryIO
from uuid import UUID

from django.conf import settings
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Legacy
from accounts.policy import must_decide
from accounts.principals import Principal
from conversations.imports.forms import EXPORTS, FORMS, KEEPSAKE, detect_form
from conversations.imports.records import ImportFileError
from conversations.imports.sources import ArchiveMember, archives_within, members_of
from conversations.models import Conversation, ConversationImport, ImportPart
from conversations.policy import is_storable
from journal.actions import ledger_write
from journal.exceptions import Conflict, NotAllowed, NotFound, Refused, must_find
from journal.leases import cancel_job, open_job
from journal.models import JobRun
from journal.queue import enqueue

from ..takeout.reading import check_manifest
from ..takeout.restore_actions import must_take_back
from .storing import compressed

State = ConversationImport.State
ERROR_CHARACTERS = 600


JOB = "import"
UNDO_JOB = "import_undo"
RUN_TASK = "assistant.run_import"
TITLE_CHARACTERS = 200
_DIGEST_BYTES = 1_048_576
_HALF_STORED = timedelta(hours=1)


def import_cancel(principal: Principal, import_id: UUID) -> ConversationImport:
    """Cancel an import. Imported data stays and can be reverted; the upload is deleted.

    Raises NotYoursToDecide, NotFound, Conflict (409 ``import_ended``) if it has ended, or is being reverted.
    """
    user_id = must_decide(principal)
    with ledger_write(principal.actor, user_id) as write:
        upload = _mine(principal, import_id)
        if upload.state == State.UNDOING or not upload.is_open:
            raise Conflict(_("This import can't be cancelled any more."), code="import_ended")
        job = JobRun.objects.filter(kind=JOB, subject_id=str(upload.pk)).order_by("-created_at").first()
        if job is not None:
            cancel_job(job)
        import_end(upload.pk, State.CANCELLED)
        write.result("import", upload.pk)
    upload.refresh_from_db()
    return upload


def import_undo(principal: Principal, import_id: UUID) -> tuple[ConversationImport, JobRun]:
    """Revert an import in the background: delete its conversations, and what was extracted from them.

    Raises NotYoursToDecide, NotFound, Conflict (409: ``import_open`` while an import of the person runs,
    ``import_undone`` if it was reverted before).
    """
    user_id = must_decide(principal)
    with ledger_write(principal.actor, user_id) as write:
        upload = _mine(principal, import_id)
        import_reopen(upload)
        job = open_job(UNDO_JOB, upload.pk, user_id=user_id)
        write.result("import", upload.pk, status_code=202)
        enqueue(RUN_TASK, job.pk)
    return upload, job


def import_revert(principal: Principal, import_id: str) -> str:
    """Like ``import_undo``, for ``journal.undo``. Returns an error code, or ''."""
    try:
        import_undo(principal, UUID(import_id))
    except NotAllowed:
        return "not_yours"
    except NotFound:
        return "not_there"
    except Conflict:
        return "wrong_state"
    return ""


def conversations_of_import(import_id: str) -> QuerySet[Conversation, UUID]:
    """Return the ids of conversations that a revert deletes: those without other messages since."""
    brought = Conversation.objects.filter(brought_by_id=UUID(import_id), message_count=F("brought_messages"))
    return brought.values_list("pk", flat=True)


def _mine(principal: Principal, import_id: UUID) -> ConversationImport:
    return must_find(
        ConversationImport.objects.visible_to(principal).select_for_update().filter(pk=import_id).first(), "import"
    )


def sweep_imports() -> int:
    """Restart imports whose task or worker was lost, and end those whose job staff have ended.

    Returns how many were started.
    """
    imports_tidy()
    started = 0
    for upload in ConversationImport.objects.open():
        kind = UNDO_JOB if upload.state == State.UNDOING else JOB
        jobs = JobRun.objects.filter(kind=kind, subject_id=str(upload.pk))
        job = jobs.order_by("-created_at").first()
        if job is None or job.state in {JobRun.State.CANCELLED, JobRun.State.FAILED}:
            import_end(upload.pk, State.FAILED if job is None or job.state == JobRun.State.FAILED else State.CANCELLED)
        elif jobs.claimable(timezone.now()).exists():
            enqueue(RUN_TASK, job.pk)
            started += 1
    return started


def digest_of(file: BinaryIO) -> str:
    """The SHA-256 of a file's bytes, 64 hex digits."""
    file.seek(0)
    told = hashlib.sha256()
    while read := file.read(_DIGEST_BYTES):
        told.update(read)
    return told.hexdigest()


def import_create(
    principal: Principal,
    file: BinaryIO,
    *,
    file_name: str = "",
    legacy_id: UUID | None = None,
    title: str = "",
    form: str = "",
    digest: str = "",
) -> tuple[ConversationImport, JobRun]:
    """Store an uploaded file, and queue its import.

    ``form`` is one of EXPORTS, or '' to detect it. ``digest``: the file's, if known. Of an archive only the parts with
    conversations are stored. Here only the file's form is checked; the job checks its content.

    Raises Refused (400) for an unrecognised file, too long a name or an unknown form, Refused (413) for too large a
    file, NotFound for a legacy that is not the person's, NotYoursToDecide, Conflict (409 ``import_open``) while another
    import of the person runs.
    """
    user_id = must_decide(principal)
    _check_names(title, form)
    if principal.idempotency is None:  # A repeated request finds its own running import, which is no conflict.
        _check_free(user_id)
    if legacy_id and not Legacy.objects.visible_to(principal).filter(pk=legacy_id).exists():
        raise NotFound("There is no such legacy.")
    size = file.seek(0, 2)
    if size > settings.IMPORT_MAX_BYTES:
        raise too_large()
    try:
        members = members_of(file, _clean_name(file_name) or "the file")
        form = form or detect_form(members).name
        if form not in EXPORTS:
            raise ImportFileError("", f"is a {FORMS[form].title}, made to test programs, and holds nothing of your own")
        if form == KEEPSAKE:
            must_take_back(principal, user_id)
            check_manifest(members)
        upload = ConversationImport(
            user_id=user_id,
            legacy_id=legacy_id,
            title=title.strip(),
            file_name=_clean_name(file_name),
            form=form,
            size=size,
            digest=digest or digest_of(file),
            files=[{"name": member.name[:255], "size": member.size} for member in members],
            notes=archives_within(file),
            state=State.STORING,
        )
        with transaction.atomic():
            upload.save(force_insert=True)
            _store(upload, members)
    except ImportFileError as error:
        raise Refused(
            _("This file can't be imported: %(told)s.") % {"told": error.told}, code="bad_file", place=error.place
        ) from error
    try:
        with ledger_write(principal.actor, user_id) as write:
            _check_free(user_id)
            ConversationImport.objects.filter(pk=upload.pk).update(state=State.WAITING)
            upload.state = State.WAITING
            meta: dict[str, Any] = {JOB: str(upload.pk)}
            write.change(user_id, "ADD", "import", upload.pk, **meta)
            job = open_job(JOB, upload.pk, user_id=user_id)
            write.result("import", upload.pk, status_code=202)
            enqueue(RUN_TASK, job.pk)
    except BaseException:
        ConversationImport.objects.filter(pk=upload.pk, state=State.STORING).delete()
        raise
    return upload, job


def too_large() -> Refused:
    """Return the error for too large a file."""
    limit = settings.IMPORT_MAX_BYTES // 1_048_576
    refused = Refused(
        _(
            "The file is larger than %(limit)s MB. If it is an archive with pictures, unpack it and send "
            "its conversations.json alone."
        )
        % {"limit": intcomma(limit)},
        code="too_large",
    )
    refused.status = 413
    return refused


def _check_names(title: str, form: str) -> None:
    if len(title) > TITLE_CHARACTERS or not is_storable(title):
        raise Refused(
            _("A name has at most %(title_characters)s characters.") % {"title_characters": TITLE_CHARACTERS},
            code="bad_title",
        )
    if form and form not in EXPORTS:
        raise Refused(_("The form is one of %(exports)s.") % {"exports": ", ".join(EXPORTS)}, code="bad_form")


def _check_free(user_id: UUID) -> None:
    if ConversationImport.objects.filter(user_id=user_id).open().exists():
        raise Conflict(_("Another import is under way. Wait until it has ended, or cancel it."), code="import_open")


def _clean_name(name: str) -> str:
    """Return the base name of a file, without invisible characters."""
    name = PurePosixPath(name.replace("\\", "/")).name
    return "".join(character for character in name if unicodedata.category(character)[0] != "C")[:255]


def _store(upload: ConversationImport, members: list[ArchiveMember]) -> None:
    for file, member in enumerate(members):
        with member.open() as stream:
            for number, piece in enumerate(compressed(stream)):
                ImportPart.objects.create(upload=upload, file=file, number=number, data=piece)


def import_note(upload: ConversationImport, **values: Any) -> bool:
    """Store the progress of an open import. Returns False if it is not open any more."""
    for name, value in values.items():
        setattr(upload, name, value)
    return bool(ConversationImport.objects.filter(pk=upload.pk).open().update(**values))


def import_upload_remove(upload: ConversationImport) -> None:
    """Delete an upload that is not needed any more."""
    ImportPart.objects.filter(upload=upload).delete()


def import_reopen(upload: ConversationImport) -> None:
    """Reopen an ended import to revert it, in a transaction that holds the person's ledger lock.

    Raises Conflict (409: ``import_open``, ``import_undone``, ``no_undo`` for an export of Keepsake's own).
    """
    _check_free(upload.user_id)
    if upload.form == KEEPSAKE:
        raise Conflict(
            _("What an export brought back is everything there is. Erase what is not wanted."), code="no_undo"
        )
    if upload.state in {State.STORING, State.UNDONE}:
        raise Conflict(_("This import was taken back already."), code="import_undone")
    upload.state = State.UNDOING
    ConversationImport.objects.filter(pk=upload.pk).update(state=State.UNDOING)


def import_end(upload_id: UUID, state: str, **values: Any) -> bool:
    """End an open import and delete the upload. Returns False if it had ended."""
    with transaction.atomic():
        open_one = ConversationImport.objects.filter(pk=upload_id).open()
        ended = open_one.update(state=state, ended_at=timezone.now(), **values)
        if ended:
            ImportPart.objects.filter(upload=upload_id).delete()
    return bool(ended)


def imports_tidy() -> int:
    """Delete incomplete uploads of killed web servers. Returns how many."""
    long_ago = timezone.now() - _HALF_STORED
    _count, deleted = ConversationImport.objects.filter(state=State.STORING, created_at__lt=long_ago).delete()
    return deleted.get(ConversationImport._meta.label, 0)
