"""Editing a memory: its wording, category, subject, topics, importance, expiry and metadata.

``version`` is the version that the caller saw. If it is outdated, functions raise Conflict (409 ``version_conflict``
with the current version).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import EllipsisType
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.exceptions import NotFound, NotYoursToDecide, Refused
from journal.verdicts import compares_unlocked
from statements.actions import read_beside, suppression_check, words_check
from statements.policy import clean_reason
from statements.wording import Embedded

from .. import queries
from ..models import Kind, Memory, MemoryVersion, Proposal
from ..policy import beside, writing
from ..policy.writing import State
from ..querysets import MemoryVersionQuerySet
from ..records import Changed, Updated
from .denying import Rewording
from .proposing import as_json, propose_instead, reason_to_keep
from .single import MemoryWrite, author, memory_write, relink
from .telling_fields import reason_by_meaning

_OF_A_VERSION = ("content", "written_by", "valid_from", "said_at", "embedding", "embedding_model")

_WORDS = {"subject", "topics", "category"}
"""Fields that readers see beside the content."""


@compares_unlocked
def memory_update(
    principal: Principal,
    memory_id: str,
    content: str,
    *,
    version: int | None = None,
    correction: bool = False,
    valid_from: datetime | None = None,
    conversation_id: UUID | None = None,
    message_id: UUID | None = None,
    reason: str = "",
    metadata: Mapping[str, Any] | None = None,
    verbatim: bool = False,
) -> Updated:
    """Change the wording, as a new version. The old one counts as true until now; with ``correction`` as never true.

    With ``verbatim``, or if the memory is verbatim, the content is stored byte for byte without the form gate.
    ``metadata`` replaces the existing metadata.

    The person's own wording is active and reviewed at once, and lifts a suppression. An agent's becomes a proposal if
    the person reviews before, and always for a ``field``. Raises NotAllowed, NotFound, Gated (422), Conflict (409
    ``version_conflict``, ``wrong_state``).
    """
    user_id = accounts_policy.must_remember(principal)
    own_word = principal.speaks_as_person
    filed = queries.filed_as(principal, memory_id)
    verbatim = verbatim or filed.verbatim
    content = writing.admitted(content, filed.kind, own_word=own_word, verbatim=verbatim)
    metadata = None if metadata is None else writing.clean_metadata(metadata, own_word=own_word)
    reason = clean_reason(reason)
    source = queries.read_source(principal, conversation_id, message_id)
    text = Embedded.of(content, verbatim=verbatim)
    text = text if own_word or filed.kind != Kind.PROCEDURAL else text.as_steps()
    noted_there = beside.texts_beside("", (), metadata, content if verbatim else "")
    read = [] if own_word else read_beside(user_id, [reason, *noted_there], text.beside)
    document = beside.reason_for_document(principal, content, "", verbatim)
    document = document or reason_by_meaning(principal, beside.texts_to_judge("", (), metadata))
    compares, new = not (own_word or verbatim), replace(filed, content=content)
    rewording = Rewording.of(principal, user_id, memory_id, new, text, compare=compares)
    with memory_write(principal, memory_id, State.ACTIVE, State.PROPOSED, version=version) as change:
        memory, around = change.memory, rewording.around(change.write)
        previous = memory.content, memory.version
        against = around.against
        resembles = suppression_check(
            change.write, user_id, text, own_word=own_word, principal=principal, against=against
        )
        said = [*filter(None, [reason]), *beside.said_beside("", (), metadata)]
        repeats = "" if own_word or not (said or read) else words_check(principal, user_id, said, content, read)
        values: dict[str, Any] = {"content": content}
        values |= {"correction": True} if correction else {}
        values |= {"valid_from": valid_from.isoformat()} if valid_from else {}
        values |= {} if metadata is None else {"metadata": metadata}
        values |= {"verbatim": True} if verbatim else {}
        noted = beside.reason_beside(principal, {"metadata": metadata or {}}, memory.subject)
        waits = resembles or repeats or document or noted
        reason_to_wait = waits or (reason_to_keep(principal, rewording.at_odds(around)) if compares else "")
        if proposal := propose_instead(
            change, principal, Proposal.Kind.UPDATE, values, source, text=text, reason=reason_to_wait
        ):
            return Updated(memory, *previous, proposal)
        memory.state_reason = reason_to_wait
        memory.metadata = memory.metadata if metadata is None else metadata
        memory.verbatim = verbatim
        change.reword(
            change.worded(principal, text),
            "UPDATE",
            written_by=author(principal),
            conversation_id=source.conversation_id,
            said=source.said,
            valid_from=valid_from,
            correction=correction,
            reason=reason,
        )
        settle_edit(change, own_word=own_word)
        change.relate(around.neighbours)
    return Updated(memory, *previous)


@compares_unlocked
def memory_revert(principal: Principal, memory_id: str, number: int, *, version: int | None = None) -> Updated:
    """Revert to the wording and validity of an earlier version, as a new version.

    An agent can revert only from its own version to its own version. Raises NotYoursToDecide, NotFound, Refused (400
    ``current_version``), Gated (422), Conflict (409).
    """
    user_id = accounts_policy.must_remember(principal)
    versions = MemoryVersion.objects.visible_to(principal).filter(memory_id=memory_id).told_to(principal)
    old = versions.filter(number=number).only(*_OF_A_VERSION).first()
    if old is None:
        what = "version" if Memory.objects.visible_to(principal).filter(pk=memory_id).exists() else "memory"
        raise NotFound(f"There is no such {what}.")
    own_word = principal.speaks_as_person
    text = Embedded.again(old.content, old.embedding, old.embedding_model)
    with memory_write(principal, memory_id, State.ACTIVE, State.PROPOSED, version=version) as change:
        memory = change.memory
        if number == memory.version:
            raise Refused(_("This is the current version."), code="current_version")
        text = replace(text, verbatim=memory.verbatim)
        if not principal.may_decide:
            _must_be_own(principal, versions.filter(number__in=[number, memory.version]))
        previous = memory.content, memory.version
        resembles = suppression_check(change.write, user_id, text, own_word=own_word, principal=principal)
        values = {"content": old.content, "correction": True}
        if proposal := propose_instead(change, principal, Proposal.Kind.UPDATE, values, text=text, reason=resembles):
            return Updated(memory, *previous, proposal)
        memory.state_reason, memory.said_at = resembles, old.said_at
        change.reword(
            change.worded(principal, text),
            "UPDATE",
            written_by=old.written_by,
            valid_from=old.valid_from,
            correction=True,
            reverted_to=number,
        )
        settle_edit(change, own_word=own_word)
        relink(change, principal, text)
    return Updated(memory, *previous)


@compares_unlocked
def memory_amend(
    principal: Principal,
    memory_id: str,
    *,
    subject: str | None = None,
    topics: Sequence[str] | None = None,
    category: str | None = None,
    importance: int | None = None,
    expires_at: datetime | EllipsisType | None = ...,
    metadata: Mapping[str, Any] | None = None,
    version: int | None = None,
) -> Changed:
    """Change fields other than the wording, without a new version. Arguments that are None or omitted stay unchanged.

    An agent's change may become a proposal, as in ``memory_update``. Raises NotAllowed (403 ``category_not_allowed``),
    NotFound, Refused (400), Gated (422), Conflict (409 ``version_conflict``, ``wrong_state``).
    """
    user_id = accounts_policy.must_remember(principal)
    own_word = principal.speaks_as_person
    filing: dict[str, Any] = {}
    if subject is not None:
        filing["subject"] = writing.clean_subject(subject, own_word=own_word)
    if topics is not None:
        filing["topics"] = list(writing.clean_topics(topics, own_word=own_word))
    if category is not None:
        filing["category"] = writing.must_file_under(principal, category)
    if importance is not None:
        writing.check_importance(importance)
        filing["importance"] = importance
    if not isinstance(expires_at, EllipsisType):
        writing.check_expiry(expires_at, timezone.now())
        filing["expires_at"] = expires_at
    if metadata is not None:
        filing["metadata"] = writing.clean_metadata(metadata, own_word=own_word)
    filed = filing.get("subject", ""), filing.get("topics", ()), filing.get("metadata")
    read = [] if own_word else read_beside(user_id, beside.texts_beside(*filed))
    tells = reason_by_meaning(principal, beside.texts_to_judge(*filed))
    with memory_write(principal, memory_id, State.ACTIVE, State.PROPOSED, version=version) as change:
        memory = change.memory
        filing = {name: value for name, value in filing.items() if getattr(memory, name) != value}
        if not filing:
            return Changed(memory)
        writing.check_no_guess(memory.kind, own_word=own_word)
        values = {name: as_json(value) for name, value in filing.items()}
        reason = check_beside(principal, memory, filing, read)
        reason = reason or beside.reason_beside(principal, filing, memory.subject) or tells
        if proposal := propose_instead(change, principal, Proposal.Kind.UPDATE, values, reason=reason):
            return Changed(memory, proposal)
        refile(change, principal, filing)
        if own_word or _WORDS & filing.keys():
            settle_edit(change, own_word=own_word)
    return Changed(memory)


def refile(change: MemoryWrite, principal: Principal, filing: Mapping[str, Any], **meta: Any) -> None:
    """Change fields of a locked memory and log it. Raises Refused (400) for a subject of a field."""
    memory, was = change.memory, change.memory.category
    set_filing(change, principal, filing)
    change.update_block_columns()
    if memory.category != was:
        meta["left"] = was  # Agents that see only the old category must delete their copy.
    change.log("UPDATE", old_version=memory.version, changed=sorted(filing), **meta)


def set_filing(change: MemoryWrite, principal: Principal, filing: Mapping[str, Any]) -> None:
    """Set fields of a locked memory, and update its search text. Raises Refused (400) as above."""
    memory = change.memory
    if memory.field and filing.get("subject"):
        raise Refused(_("A field is about the person: it has no subject."), code="bad_field")
    if "category" in filing and writing.bound(memory.kind, filing["category"]) != memory.kind:
        raise Refused(_("What is no list of steps can't become one by being filed otherwise."), code="bad_kind")
    memory.state_reason = check_beside(principal, memory, filing) or memory.state_reason
    for name, value in filing.items():
        setattr(memory, name, value)
    if "subject" in filing:
        change.update_search_text(principal.language)


def check_beside(
    principal: Principal, memory: Memory, filing: Mapping[str, Any] | None = None, read: Sequence[Embedded] = ()
) -> str:
    """Check an agent's subject, topics and metadata for rejected words, as ``words_check`` does; those of the memory.

    ``filing`` has only some of these, in place of the memory's; ``read`` is what they say.
    """
    if principal.speaks_as_person:
        return ""
    each = filing if filing is not None else {name: getattr(memory, name) for name in ("subject", "topics", "metadata")}
    said = beside.said_beside(each.get("subject", ""), each.get("topics", ()), each.get("metadata"))
    return words_check(principal, memory.user_id, said, memory.content, read)


def settle_edit(change: MemoryWrite, *, own_word: bool) -> None:
    """Mark an active memory as reviewed if the person edited it, else as unreviewed."""
    memory = change.memory
    memory.reviewed_at = change.now if own_word and memory.state == State.ACTIVE else None


def _must_be_own(principal: Principal, versions: MemoryVersionQuerySet) -> None:
    """Raise NotYoursToDecide unless the agent wrote all of these versions."""
    if any(version.actor_id != principal.actor_id for version in versions.only("actor_id")):
        raise NotYoursToDecide
