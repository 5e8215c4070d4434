"""Log disclosures and uses of memories after a response was sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import orjson
import structlog
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.models import Agent, User
from accounts.principals import Principal
from accounts.scope import working_for
from conversations.models import Conversation
from journal.cache import valkey
from journal.models import OperationEvent
from journal.operation_actions import count_operation

from ..models import Disclosure
from ..querysets import statement

log = structlog.get_logger(__name__)

WAITING = "memories:shown"
AT_ONCE = 200
NOTING_SECONDS = 60
NODE = "context"
OPERATIONS = {
    Disclosure.By.QUERY: "search",
    Disclosure.By.CONTEXT: "block",
    Disclosure.By.TURN: "turn",
}


def memories_show(
    principal: Principal,
    by: str,
    ids: Sequence[str],
    *,
    recalled: Sequence[str] = (),
    conversation_id: UUID | None = None,
) -> None:
    """Queue the disclosure of these memories for logging some seconds later; ``recalled`` ones were search results.

    If the cache is down they are logged at once: no disclosure to an agent may be lost.
    """
    shown = {
        "user": principal.user_id,
        "agent": principal.agent_id if principal.kind == "agent" else None,
        "conversation": conversation_id,
        "by": str(by),
        "at": timezone.now(),
        "block": [*ids],
        "recalled": [*recalled],
    }

    def push_shown() -> None:
        if not valkey().push(WAITING, orjson.dumps(shown).decode()):
            _note(_Shown.read(orjson.dumps(shown)))

    transaction.on_commit(push_shown, robust=True)


@dataclass(frozen=True, slots=True)
class _Shown:
    """Disclosures of one response: ids of memories in the block, and of recalled ones."""

    user: UUID
    agent: UUID | None
    conversation: UUID | None
    by: Disclosure.By
    at: datetime
    block: list[str]
    recalled: list[str]

    @classmethod
    def read(cls, written: str | bytes) -> _Shown:
        """Parse a queued entry."""
        read = orjson.loads(written)
        agent, conversation = (UUID(read[name]) if read[name] else None for name in ("agent", "conversation"))
        at = datetime.fromisoformat(read["at"])
        return cls(
            UUID(read["user"]), agent, conversation, Disclosure.By(read["by"]), at, read["block"], read["recalled"]
        )


def memories_note_shown() -> int:
    """Log the queued disclosures. Returns the number of responses.

    Entries that can't be stored (the person or agent was just erased, or another version of the program wrote them) are
    skipped with a log message. Each batch is one transaction, so that nothing is logged twice after a failure.
    """
    noted = 0
    while True:
        with valkey().consume(WAITING, AT_ONCE, seconds=NOTING_SECONDS) as written, transaction.atomic():
            for each in written:
                try:
                    shown = _Shown.read(each)
                    with working_for(shown.user, "memories.note_shown"), transaction.atomic():
                        _note(shown)
                        connection.check_constraints()  # Deferred ones would fail at commit, too late to skip.
                except (IntegrityError, LookupError, TypeError, ValueError) as error:
                    log.warning("shown_not_noted", error=type(error).__name__)
        noted += len(written)
        if len(written) < AT_ONCE:
            return noted


def _note(shown: _Shown) -> None:
    """Insert disclosures, count uses, and log the operation.

    Deleted memories are skipped. Only memories recalled by an agent count as used, not those in a block or searched by
    the person.
    """
    block = [memory_id for memory_id in shown.block if memory_id not in set(shown.recalled)]
    ids = [*block, *shown.recalled]
    agent = Agent.objects.filter(pk=shown.agent).first() if shown.agent else None
    conversation = Conversation.objects.filter(pk=shown.conversation).first() if shown.conversation else None
    if agent and ids and User.objects.filter(pk=shown.user).exists():
        Disclosure.objects.create(
            user_id=shown.user, agent=agent, conversation=conversation, by=shown.by, memories=ids, at=shown.at
        )
    if shown.agent:
        memories_used(shown.recalled, shown.at)
    status = OperationEvent.Status.OK if ids else OperationEvent.Status.SKIPPED
    count_operation(
        NODE, OPERATIONS[shown.by], status, user_id=shown.user, thread_id=shown.conversation or "", at=shown.at
    )


def memories_used(ids: Sequence[str], at: datetime) -> None:
    """Increment the use count of recalled memories: one statement, without revision and lock."""
    if ids:
        with connection.cursor() as cursor:
            cursor.execute(statement("use"), {"ids": list(ids), "at": at})


def disclosures_trim() -> int:
    """Delete disclosures older than the retention of operations. Returns how many."""
    long_ago = timezone.now() - timedelta(days=settings.OPERATION_EVENT_DAYS)
    deleted, _ = Disclosure.objects.filter(at__lt=long_ago).delete()
    return deleted
