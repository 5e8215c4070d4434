"""Import of an export into an empty account, in one transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, cast
from uuid import UUID, uuid4

from django.db import DataError, IntegrityError, ProgrammingError, connection, models
from django.db.models import Exists, OuterRef
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.models import Agent, Grant, Legacy, Member, Preferences, User
from accounts.policy import clean_shown_name
from accounts.principals import Principal
from conversations.imports import ImportFileError
from conversations.imports.sources import ArchiveMember
from conversations.models import Conversation, Withheld
from facts.models import FACT, FactVersion, LegacyFact
from journal.actions import LedgerWrite
from journal.exceptions import Conflict, NotYoursToDecide, Refused
from journal.holdings import Holding
from journal.models import Ledger
from language.backends import get_embedder
from language.gates import first_sensitive
from language.gates.rules import COMMAND
from memories.models import MEMORY, Kind, Memory, MemoryVersion, Place, new_memory_id
from memories.policy.writing import Why
from statements.actions.earlier import earlier_wordings
from statements.models import StatementKind, Suppression
from statements.policy import HELD_BACK, reason_to_hold_back
from statements.wording import Embedded

from .archive import member_of
from .reading import Row, check_manifest, read_raw, read_rows, tables_of
from .recount import recount

BATCH = 500
_STATEMENT_IN: dict[type[models.Model], tuple[type[Memory | LegacyFact], str]] = {
    Memory: (Memory, "id"),
    MemoryVersion: (Memory, "memory_id"),
    LegacyFact: (LegacyFact, "id"),
    FactVersion: (LegacyFact, "fact_id"),
}
"""Of each table that has words of statements: what these are, and the column that names one."""
_SENSITIVE = gettext_noop("holds sensitive data")
_MADE_ANEW = (Preferences, Grant, Member)
"""What the account may have a row of already: the one of the export takes its place, or says the same."""


def must_take_back(principal: Principal, user_id: UUID) -> None:
    """Raise NotYoursToDecide unless the person imports it themselves, since it counts as their own word.

    Raises Conflict (409 ``not_empty``) if the account is not empty.
    """
    if not principal.speaks_as_person:
        raise NotYoursToDecide
    if holds_something(user_id):
        raise Conflict(_("This account holds something already. An export goes into an empty one."), code="not_empty")


def holds_something(user_id: UUID) -> bool:
    """Whether the account has any data that an import could conflict with."""
    tables = (Conversation, Memory, LegacyFact, Place, Suppression)
    return any(model._base_manager.filter(user_id=user_id).exists() for model in tables)


def export_check(members: Sequence[ArchiveMember], progress: Callable[[int], object]) -> dict[str, int]:
    """Validate a whole export, and return the row counts. Raises ImportFileError."""
    check_manifest(members)
    embedder, counts = get_embedder(), dict[str, int]()
    for holding, member in tables_of(members):
        counts[holding.kind] = 0
        for number, _row in enumerate(read_rows(holding, member, embedder), start=1):
            counts[holding.kind] = number
            progress(number)
    return counts


def statements_to_hold_back(members: Sequence[ArchiveMember]) -> dict[str, str]:
    """Return by id why a gate stops statements: their wordings, earlier versions, subjects and topics.

    A file proves neither authorship nor review. Takes about a millisecond per text: call it before the lock, on a
    checked export.
    """
    judged, reasons = cache(_reason_to_hold_back), dict[str, str]()
    procedures = set[str]()
    for holding, member in tables_of(members):
        if holding.model not in _STATEMENT_IN:
            continue
        kind, column = _STATEMENT_IN[holding.model]
        for row in read_raw(member):
            key = str(kind._meta.pk.to_python(row[column]))
            if row.get("kind") == Kind.PROCEDURAL:
                procedures.add(key)  # Its versions come later.
            steps = kind is Memory and key in procedures
            said = [judged(row["content"], steps), *map(judged, (row.get("subject", ""), *row.get("topics", ())))]
            if reason := next(filter(None, said), ""):
                reasons[key] = reason
    return reasons


def export_restore(
    write: LedgerWrite, principal: Principal, members: Sequence[ArchiveMember], reasons: Mapping[str, str]
) -> dict[str, int]:
    """Import a checked export, in a transaction that holds the person's ledger lock.

    Returns the row counts, and as ``quarantined`` the number of statements stopped for ``reasons`` (by id in the file).
    Ids that are taken are replaced in every reference. Revisions continue from the account's. Raises ImportFileError
    for inconsistent rows, a refused legacy name, and if the account is not empty any more.
    """
    user_id = cast(UUID, principal.user_id)
    if holds_something(user_id):
        raise ImportFileError("", "is imported into an empty account, and this one holds something by now")
    try:
        counts = _Restoring(write, principal, user_id, reasons).run(members)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    except (IntegrityError, DataError, ProgrammingError) as error:  # The last one is raised by triggers.
        constraint = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
        raise ImportFileError(
            "", f"holds rows that don't fit together{f' ({constraint})' * bool(constraint)}"
        ) from error
    return counts


class _Restoring:
    """State of an import. ``ids``: new ids by table and old id."""

    def __init__(self, write: LedgerWrite, principal: Principal, user_id: UUID, reasons: Mapping[str, str]) -> None:
        self.write = write
        self.user_id = user_id
        self.language = principal.language
        self.before = write.ledgers[user_id].rev
        self.last = self.before
        self.ids: dict[type[models.Model], dict[str, Any]] = defaultdict(dict)
        self.given: dict[str, str] = {}
        self.reasons = reasons
        self.held_back = 0
        self.known_agents = dict(Agent.objects.filter(owner_id=user_id).values_list("name", "pk"))

    def run(self, members: Sequence[ArchiveMember]) -> dict[str, int]:
        """Store all tables. Returns the row counts."""
        counts, embedder, tables = dict[str, int](), get_embedder(), tables_of(members)
        for holding, member in tables:  # All ids first, since rows can reference any other row.
            for raw in _batches(read_raw(member)):
                self._give_ids(holding.model, raw)
        for holding, member in tables:
            counts[holding.kind] = sum(
                self._store(holding, batch) for batch in _batches(read_rows(holding, member, embedder))
            )
        # The importer becomes the owner of the legacies.
        kept = [Member(legacy_id=pk, user_id=self.user_id, role=Member.Role.OWNER) for pk in self.ids[Legacy].values()]
        Member.objects.bulk_create(kept, ignore_conflicts=True)
        self._suppress()
        if self.held_back:
            counts["quarantined"] = self.held_back
        # The person's revision must exceed those of all rows.
        self.write.ledgers[self.user_id].rev = self.last
        recount(self.write, self.user_id, self.ids[Legacy].values())
        return counts

    def _store(self, holding: Holding, rows: list[Row]) -> int:
        """Store rows of one table. Returns how many; rows with a missing reference are skipped."""
        model, made = holding.model, list[models.Model]()
        for row in rows:
            instance = self._instance(holding, row)
            if instance is not None:
                made.append(instance)
        model._base_manager.bulk_create(made, ignore_conflicts=model in _MADE_ANEW)
        if isinstance(model._meta.pk, models.AutoField):
            self.ids[model] |= {str(each.kept_id): each.pk for each in made if each.pk}  # type: ignore[attr-defined]
        for legacy in made if model is Legacy else ():
            self.write.add_ledger(cast(UUID, legacy.pk))
        return len(made)

    def _give_ids(self, model: type[models.Model], rows: Sequence[Row]) -> None:
        """Choose the new ids. An existing agent of the same name is reused."""
        key = model._meta.pk
        if isinstance(key, models.AutoField | models.ForeignKey):
            return
        read = key.to_python
        taken = {
            str(each)
            for each in model._base_manager.filter(pk__in=[row["id"] for row in rows]).values_list("pk", flat=True)
        }
        for row in rows:
            old = row["id"]
            new: UUID | str | None = self.known_agents.get(row["name"]) if model is Agent else None
            if new is None and old in taken:
                new = uuid4() if isinstance(key, models.UUIDField) else new_memory_id()
            if new is not None:
                self.given[old] = str(new)
            self.ids[model][old] = read(old) if new is None else new

    def _instance(self, holding: Holding, row: Row) -> models.Model | None:
        """Return the new row, or None if a reference is missing."""
        model, values, kept_id = holding.model, dict[str, Any](), None
        for column in holding.written:
            value = row[column.attname]
            if isinstance(column, models.AutoField):
                kept_id, value = value, None
            elif column.primary_key and not isinstance(column, models.ForeignKey):
                value = self.ids[model][str(value)]
            elif isinstance(column, models.ForeignKey):
                value = self._referred(column, value)
                if value is None and not column.null:
                    return None
            elif column.name in holding.revs and value is not None:
                value += self.before
                self.last = max(self.last, value)
            elif column.name in holding.refers:
                value = self._with_given_ids(value)
            values[column.attname] = value
        if model is Withheld:
            values["keyed_by"] = values["keyed_by"] or row["user_id"]
        return self._made(holding, model(**values), kept_id, self.reasons.get(str(row.get("id")), ""))

    def _made(self, holding: Holding, instance: models.Model, kept_id: Any, reason: str) -> models.Model | None:
        if isinstance(instance, Member):
            instance.role = Member.Role.OWNER
        elif isinstance(instance, Preferences):
            Preferences.objects.filter(user_id=self.user_id).delete()
        elif isinstance(instance, Agent):
            if instance.name in self.known_agents:
                return None
            # A file proves nothing: an imported service could act for other people.
            instance.kind, instance.issuer = Agent.Kind.PERSONAL, f"agent:{instance.pk}"
        elif isinstance(instance, Legacy):
            _check_name(instance, member_of(holding.kind))
        elif isinstance(instance, Memory | LegacyFact) and reason:
            self._hold_back(instance, reason)
        if holding.remake is not None:
            holding.remake(instance, self.language)
        instance.kept_id = kept_id  # type: ignore[attr-defined]
        return instance

    def _hold_back(self, statement: Memory | LegacyFact, reason: str) -> None:
        """Quarantine an active or proposed statement."""
        state = type(statement).State
        if statement.state not in {state.ACTIVE, state.PROPOSED}:
            return
        self.held_back += 1
        statement.state, statement.state_reason = state.QUARANTINED, reason
        if isinstance(statement, Memory):
            statement.active_rev = None
        else:
            statement.active_since, statement.quarantined_at = None, timezone.now()
            statement.visibility, statement.shared_since = LegacyFact.Visibility.PRIVATE, None

    def _referred(self, key: models.ForeignKey[Any, Any], value: Any) -> Any:
        """Resolve a reference: the person, a row of the export, or a service agent."""
        if value is None:
            return None
        if key.related_model in (User, Ledger):
            self.given[str(value)] = str(self.user_id)
            return self.user_id
        known = self.ids[key.related_model].get(str(value))
        if known is None and key.related_model is Agent and Agent.objects.filter(pk=value, kind="service").exists():
            return value
        return known

    def _with_given_ids(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._with_given_ids(each) for each in value]
        if isinstance(value, dict):
            return {name: self._with_given_ids(each) for name, each in value.items()}
        if isinstance(value, UUID):
            return UUID(self.given.get(str(value), str(value)))
        return self.given.get(value, value) if isinstance(value, str) else value

    def _suppress(self) -> None:
        """Hash the suppressions of statements again, with the person's id."""
        kinds: Sequence[StatementKind[Any]] = (MEMORY, FACT)
        for kind in kinds:
            own = Suppression.objects.filter(user_id=self.user_id)
            suppressed = Exists(own.filter(object_id=Cast(OuterRef("pk"), models.CharField())))
            rows = list(kind.rows.filter(suppressed, user_id=self.user_id).without_vectors())
            refused = [row for row in rows if _is_refused(row)]
            told = [(kind.legacy_of(row), row.fingerprint, row) for row in refused]
            replaced = earlier_wordings(kind, [row for row in rows if not _is_refused(row)], replaced_only=True)
            told += [(*held, row) for held, row in {**replaced, **earlier_wordings(kind, refused)}.items()]
            # The suppression with a vector is that of the current wording.
            stand = defaultdict(list)
            for each in own.order_by(models.F("embedding_model").desc(), "created_at", "pk"):
                stand[each.object_id].append(each)
            again: dict[tuple[UUID | None, str], Suppression] = {}
            for legacy_id, words, row in told:
                if stand[str(row.pk)] and (legacy_id, words) not in again:
                    again[legacy_id, words] = each = stand[str(row.pk)].pop(0)
                    each.fingerprint = words
            Suppression.objects.bulk_update(again.values(), ["fingerprint"])


def _is_refused(row: Memory | LegacyFact) -> bool:
    """Whether its person rejected or deleted it."""
    return row.deleted_at is not None and (isinstance(row, LegacyFact) or row.deleted_why in {Why.REJECTED, Why.PERSON})


def _reason_to_hold_back(text: str, steps: bool = False) -> str:
    if first_sensitive(text):
        return f"{HELD_BACK}{_SENSITIVE}."
    if reason := reason_to_hold_back(text, steps=steps):
        return reason
    return f"{HELD_BACK}{COMMAND}." if steps and Embedded.of(text).as_steps().review_reason else ""


def _check_name(legacy: Legacy, member: str) -> None:
    try:
        clean_shown_name(legacy.name)
    except Refused as error:
        raise ImportFileError(member, "holds a name of a legacy that can't be taken") from error


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while batch := list(islice(rows, BATCH)):
        yield batch
