"""Partial erasures: a memory, fact, place, message, conversation or membership, with everything derived from it.

One transaction, so a killed worker changes nothing, and the next one starts again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Legacy, Member
from accounts.principals import Principal
from conversations.actions import (
    Cause,
    conversation_remove,
    forget_erased_redactions,
    plan_withholding,
    words_erase,
    words_withhold,
)
from conversations.models import Conversation, ConversationChunk, ConversationImport, Message, Withheld
from conversations.passages import MARK
from conversations.querysets import WithheldQuerySet
from facts.actions import log_for_members
from facts.models import FACT, FactEvidence, FactVersion, LegacyFact
from journal.actions import LedgerWrite, delete_undo_steps, forget_results, ledger_write
from journal.holdings import ERASED_TEXT, holding_of
from journal.leases import Lease, revoke_leases
from journal.models import Change, Erased, Erasure, Export, Ledger
from language.backends import get_embedder
from language.base import Vectors
from language.brief_caches import empty_caches
from memories.actions.placing import suppress_noted, suppress_place
from memories.cache import cache_erase
from memories.models import (
    MEMORY,
    MemoryEvidence,
    MemoryPlanItem,
    MemoryVersion,
    Place,
    PlaceMention,
    Proposal,
    ProposalEvidence,
)
from memories.querysets import PLACES_CATEGORY
from statements.actions import (
    ChangedStatement,
    ErasedText,
    doubt_dependents,
    erased_words_suppress,
    fingerprints_of_erased,
    forget_replaced,
    purging,
    suppress_earlier,
)
from statements.models import Doubt, StatementKind, Suppression
from statements.policy import fingerprint

from ..reply.told import delete_events, latest_with_events
from ..takeout.recount import recount
from .extent import Extent, extent_of


def erase_part(lease: Lease, principal: Principal, erasure: Erasure) -> None:
    """Erase the extent, computed under the lock.

    Raises NotFound, LeaseLost, EmbedderUnavailable.
    """
    nothing = get_embedder().embed_passages([ERASED_TEXT])[0]
    delete_events(latest_with_events(erasure.user_id))  # Those of erased replies can't be named afterwards.
    while True:
        planned = extent_of(erasure)
        single = _by_themselves(planned)
        ahead = {_cause_of(pk): [(pk, "")] for pk in single}
        stated = fingerprints_of_erased(erasure.user_id, _texts_of(erasure.user_id, planned, single))
        with (
            plan_withholding(erasure.user_id, ahead),
            ledger_write(principal.actor, erasure.user_id, *planned.legacies) as write,
        ):
            lease.lock()
            extent = extent_of(erasure)
            if extent.legacies <= planned.legacies:
                before = write.ledgers[erasure.user_id].rev
                erasure_end(erasure, _Erasing(write, erasure, extent, nothing, stated).run())
                break
    _forget_cached(erasure.user_id, before)


def part_was_erased(user_id: UUID) -> None:
    """Empty the caches in place of a worker that was killed after the transaction of ``erase_part``."""
    for rev in Ledger.objects.filter(pk=user_id).values_list("rev", flat=True):
        _forget_cached(user_id, rev)


def _forget_cached(user_id: UUID, before: int) -> None:
    cache_erase(user_id, before)
    empty_caches()
    delete_events(latest_with_events(user_id))


def _by_themselves(extent: Extent) -> list[UUID]:
    """Return the messages that are erased without their conversations."""
    messages = Message.objects.filter(pk__in=extent.messages)
    return list(messages.exclude(conversation__in=extent.conversations).values_list("pk", flat=True))


def _withheld_of(user_id: UUID, extent: Extent, single: Collection[UUID]) -> list[WithheldQuerySet]:
    """Return what is withheld because of erased messages, memories and facts, and of these messages."""
    rows = Withheld.objects.filter(user_id=user_id)
    # Those in erased conversations go with them, and leave no fingerprints.
    elsewhere = rows.because_of("message", extent.messages).exclude(conversation__in=extent.conversations)
    because = [rows.because_of("memory", extent.memories), rows.because_of("fact", extent.facts)]
    return [elsewhere, *because, Withheld.objects.filter(message__in=single)]


def _texts_of(user_id: UUID, extent: Extent, single: Collection[UUID]) -> list[ErasedText]:
    """Return the person's texts of messages that are erased: by themselves, or withheld for what is erased."""
    withheld = [each for rows in _withheld_of(user_id, extent, ()) for each in ErasedText.of_withheld(rows)]
    return [*ErasedText.of_messages(Message.objects.filter(pk__in=single)), *withheld]


def _cause_of(message_id: UUID) -> Cause:
    return Cause(Withheld.Cause.MESSAGE, str(message_id))


def erasure_end(erasure: Erasure, removed: Counter[str]) -> None:
    """Store the counts of the receipt, in the transaction that deletes the last rows."""
    locked = Erasure.objects.select_for_update().get(pk=erasure.pk)
    locked.removed = dict(Counter(locked.removed) + removed)
    locked.state, locked.done_at = Erasure.State.DONE, timezone.now()
    locked.save(update_fields=["removed", "state", "done_at"])


_ONLY_MARKS = rf"^({re.escape(MARK)}\s*)+$"
_FINGERPRINT_ONLY = {"embedding": None, "embedding_model": "", "traces": "", "version": None}
"""What erasure leaves of a suppression: only the same words are refused then."""


class _Erasing:
    """State of one erasure in its transaction."""

    def __init__(
        self, write: LedgerWrite, erasure: Erasure, extent: Extent, nothing: Vectors, stated: Mapping[str, UUID | str]
    ) -> None:
        self.write = write
        self.erasure = erasure
        self.user_id = erasure.user_id
        self.extent = extent
        self.nothing = nothing
        self.stated = stated
        self.removed: Counter[str] = Counter()
        self.erased: list[tuple[str, object]] = []
        self.categories: dict[object, str] = dict.fromkeys(extent.places, PLACES_CATEGORY)

    def run(self) -> Counter[str]:
        """Erase, store tombstones, and count."""
        extent = self.extent
        self._note_private()
        self._said()
        self._statements(MEMORY, extent.memories)
        self._statements(FACT, extent.facts)
        versions = MemoryVersion.objects.filter(pk__in=extent.versions)
        told = versions.exclude(content="").values_list("content", "memory_id")
        words = {fingerprint(self.user_id, content): memory_id for content, memory_id in told}
        erased_words_suppress(self.write, self.user_id, words)
        forget_replaced(Suppression.objects.filter(user_id=self.user_id, fingerprint__in=words))
        self._blank(MemoryVersion, MemoryVersion.objects.filter(pk__in=extent.versions | extent.alike))
        self._blank(FactVersion, FactVersion.objects.filter(pk__in=extent.fact_versions))
        self._delete(Proposal.objects.filter(pk__in=extent.proposals))
        self._delete(MemoryPlanItem.objects.filter(pk__in=extent.plan_items))
        self._forget("proposal", extent.proposals)
        self._places()
        self._forget("place", extent.places)
        self._tell("place", extent.places)
        self._conversations()
        self._imports()
        if self.erasure.scope == "membership":
            self._leave()
        suppressed = Suppression.objects.filter(user_id=self.user_id, object_id__in=[str(pk) for _, pk in self.erased])
        suppressed.update(**_FINGERPRINT_ONLY)
        Erased.objects.bulk_create(
            [
                Erased(erasure=self.erasure, kind=kind, object_id=str(pk), category=self.categories.get(pk, ""))
                for kind, pk in self.erased
            ],
            ignore_conflicts=True,
        )
        Export.objects.of_user(self.user_id).whole(timezone.now()).delete()  # It still holds the words.
        self._no_way_back()
        recount(self.write, self.user_id, self.write.ledgers.keys() - {self.user_id})
        return self.removed

    def _note_private(self) -> None:
        """Note whose conversations and messages other agents never saw."""
        off = Message.objects.filter(Q(private=True) | Q(memory_off=True))
        talks = Conversation.objects.filter(pk__in=self.extent.conversations)
        talks = talks.filter(Q(private=True) | Q(pk__in=off.filter(conversation__in=talks).values("conversation")))
        single = off.filter(pk__in=_by_themselves(self.extent))
        held = [*talks.values_list("pk", "agent_id"), *single.values_list("pk", "conversation__agent_id")]
        self.categories |= {pk: str(agent_id or "-") for pk, agent_id in held}

    def _statements(self, kind: StatementKind[Any], ids: Collection[Any]) -> None:
        """Delete statements with all versions, and suppress their words."""
        if not ids:
            return
        rows = kind.rows.filter(pk__in=ids, user_id=self.user_id)
        standing = list(rows.values("pk", "version", "fingerprint", "category", *kind.owners))
        for row in standing:
            self.categories[row["pk"]] = row["category"]
            self._tell(kind.name, [row["pk"]], row["version"])
            behind: dict[str, Any] = {"fact": row["pk"]} if kind is FACT else {"version__memory": row["pk"]}
            evidence: type[models.Model] = FactEvidence if kind is FACT else MemoryEvidence
            said = evidence._default_manager.filter(**behind).values_list("message_id", flat=True)
            changed = ChangedStatement(kind.name, str(row["pk"]), list(said))
            doubt_dependents(self.write, self.user_id, changed, self.write.ledgers[self.user_id].rev)
        if kind is FACT:
            for fact in LegacyFact.objects.filter(pk__in=ids, visibility=LegacyFact.Visibility.SHARED):
                log_for_members(self.write, fact.legacy_id, "UNSHARE", fact.pk, (fact.version, None))
        Suppression.objects.bulk_create(
            [
                Suppression(
                    user_id=self.user_id,
                    legacy_id=row.get("legacy_id"),
                    fingerprint=row["fingerprint"],
                    object_id=str(row["pk"]),
                )
                for row in standing
            ],
            ignore_conflicts=True,
        )
        suppress_earlier(kind, rows.only("pk", "version", "content", "fingerprint", *kind.owners))
        Suppression.objects.filter(
            user_id=self.user_id, fingerprint__in=[row["fingerprint"] for row in standing]
        ).update(**_FINGERPRINT_ONLY)
        self._delete(rows)
        self._forget(kind.name, ids)

    def _said(self) -> None:
        """Withhold the words of messages permanently, and their quotations."""
        single = _by_themselves(self.extent)
        for pk in single:
            # Includes the assistant's echoes, titles and quotations; summaries are rewritten.
            words_withhold(self.write, self.user_id, _cause_of(pk), [(pk, "")])
        Message.objects.filter(pk__in=single).update(speaker="")
        for rows in _withheld_of(self.user_id, self.extent, single):
            ids = {pk for pk in rows.restorable().values_list("message_id", flat=True) if pk}
            self.removed["withheld"] += words_erase(rows)
            forget_erased_redactions(self.user_id, ids)
            # Of what only repeated it, the names of those of whom nothing is left.
            Message.objects.filter(pk__in=ids, content__regex=_ONLY_MARKS).update(speaker="")
        erased_words_suppress(self.write, self.user_id, self.stated)
        for evidence in (MemoryEvidence, FactEvidence, ProposalEvidence, PlaceMention):
            self._delete(evidence._base_manager.filter(message__in=self.extent.messages))
        self._forget("message", self.extent.messages)
        self._tell("message", single)
        self.removed["messages"] += len(single)
        messages = Message.objects.filter(pk__in=self.extent.messages)
        where = list(messages.values_list("conversation_id", flat=True).distinct())
        revoke_leases(where)
        hidden = ConversationChunk.objects.hidden().filter(conversation__in=where)
        vector = {"embedding": self.nothing, "embedding_model": get_embedder().name}
        self.removed["chunks"] += hidden.update(**{**holding_of(ConversationChunk).blank, **vector, "written_by": ""})

    def _places(self) -> None:
        """Delete places with all versions. Agents can't add an erased place again under its id, nor state its notes."""
        rows = Place.objects.filter(pk__in=self.extent.places)
        chosen = [self.erasure.object_id, *(pk for _, pk in self.erasure.also)]
        for place in rows:
            if str(place.pk) in chosen:
                with self.write.nested_change():
                    suppress_place(self.write, self.user_id, {"place_id": place.place_id}, object_id=place.pk)
                    suppress_noted(self.write, place, [])
        self._delete(rows)

    def _conversations(self) -> None:
        talks = Conversation.objects.filter(pk__in=self.extent.conversations)
        # Notes of imports name the conversation.
        brought = ConversationImport.objects.filter(pk__in=list(talks.values_list("brought_by", flat=True).distinct()))
        brought.update(notes=[])
        words_erase(Withheld.objects.filter(conversation__in=talks))
        for talk in talks.order_by("pk"):
            self.removed["messages"] += talk.messages.count()
            self.removed["chunks"] += talk.chunks.count()
            conversation_remove(self.write, talk)
            self.removed["conversations"] += 1
        # A file's name may tell what it is about; an import that failed or still runs may be about other conversations.
        ended = brought.filter(state__in=[ConversationImport.State.DONE, ConversationImport.State.UNDONE])
        ended.filter(conversations=None).update(title="", file_name="", files=[], error="")
        self._forget("conversation", self.extent.conversations)
        self._tell("conversation", self.extent.conversations)

    def _imports(self) -> None:
        """Delete records of imports. What an import brought stays, and can't be undone as a whole any more."""
        self._delete(ConversationImport.objects.filter(pk__in=self.extent.imports))
        self._forget("import", self.extent.imports)
        self._tell("import", self.extent.imports)

    def _leave(self) -> None:
        """End the membership, and delete suppressions about the legacy."""
        legacy_id = UUID(self.erasure.object_id)
        self._delete(Suppression.objects.filter(user_id=self.user_id, legacy_id=legacy_id))
        members = Member.objects.filter(legacy_id=legacy_id)
        for member in members.filter(user_id=self.user_id):
            self.write.change(legacy_id, "LEAVE", "member", member.pk)
            self.erased.append(("membership", legacy_id))
        self._delete(members.filter(user_id=self.user_id))
        if not members.exists() and not LegacyFact.objects.filter(legacy_id=legacy_id).exists():
            self.write.drop_ledger(legacy_id)
            self._delete(Legacy.objects.filter(pk=legacy_id))

    def _no_way_back(self) -> None:
        """Don't store reasons and undo steps in this transaction."""
        erased = {(kind, str(pk)) for kind, pk in self.erased}
        self.write.steps = [each for each in self.write.steps if (each.object_type, each.object_id) not in erased]
        for change in self.write.changes:
            if (change.object_type, change.object_id) in erased:
                change.meta = {}

    def _delete(self, rows: models.QuerySet[Any]) -> None:
        with purging():
            _, deleted = rows.delete()
        for label, count in deleted.items():
            self.removed[label.rpartition(".")[2].lower()] += count

    def _blank(self, model: type[models.Model], rows: models.QuerySet[Any], **more: Any) -> None:
        """Delete the text of rows that stay."""
        with purging():
            count = rows.update(**holding_of(model).blank, **more)
        if count:
            self.removed[f"{model._meta.model_name}_blanked"] += count

    def _forget(self, object_type: str, ids: Iterable[Any]) -> None:
        """Delete undo steps of objects, and reasons in their log entries."""
        named = [str(each) for each in ids]
        if named:
            delete_undo_steps(object_type, named)
            forget_results(self.user_id, named)
            Change.objects.filter(object_type=object_type, object_id__in=named).update(meta={})
            LogEntry.objects.filter(object_id__in=named).delete()
            Doubt.objects.filter(user_id=self.user_id, object_type=object_type, object_id__in=named).delete()

    def _tell(self, object_type: str, ids: Iterable[Any], version: int | None = None) -> None:
        """Add tombstones to the change feed."""
        for each in ids:
            self.write.change(self.user_id, "ERASE", object_type, each, old_version=version)
            self.erased.append((object_type, each))
