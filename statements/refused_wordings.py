"""Earlier wordings that say what their person refused since: agents that can't decide for the person don't read them.

This is found when they are read, so undo and restoring need no further steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import CharField
from django.db.models.functions import Cast

from accounts.principals import Principal
from accounts.scope import acting_name
from conversations.echoes import rejected_texts, withheld_sentences
from conversations.withheld_words import WithheldWords

from .actions.rejected import has_rejected
from .models import Statement, Suppression
from .policy import fingerprints
from .policy.naming import as_of_user
from .querysets import StatementQuerySet


def reads_all(principal: Principal) -> bool:
    """Whether a principal may read every earlier wording: it decides for the person, or nothing was ever refused."""
    if principal.kind != "agent" or principal.may_decide or principal.user_id is None:
        return True
    return not has_rejected(principal.user_id)


def are_refused(user_id: UUID, wordings: Sequence[str]) -> list[bool]:
    """Return of each earlier wording of a person's statements whether it says what the person withheld or rejected.

    That is by the words of withheld sentences and of statements not to be kept, or by a suppression of the same words
    whose statement is not present. A wording that was only replaced is not refused.
    """
    if not wordings:
        return []
    name = acting_name()
    of_user = [as_of_user(each, name) for each in wordings]
    prints = [
        {*fingerprints(user_id, each), *fingerprints(user_id, said)}
        for each, said in zip(wordings, of_user, strict=True)
    ]
    suppressed = _refused_prints(user_id, set().union(*prints))
    sentences = [*withheld_sentences(user_id), *rejected_texts(user_id, not_kept=True)]
    said = WithheldWords(sentences, ["user"]) if sentences else None
    stems = said.stems(of_user) if said else [frozenset[str]()] * len(of_user)
    return [
        bool(each & suppressed) or (said is not None and said.is_said_by(words, text))
        for each, words, text in zip(prints, stems, of_user, strict=True)
    ]


def _refused_prints(user_id: UUID, prints: set[str]) -> set[str]:
    """Return those of the fingerprints that are suppressed for something that is not a present statement."""
    rows = Suppression.objects.filter(user_id=user_id, fingerprint__in=prints)
    known = list(rows.values_list("fingerprint", "object_id"))
    ids = {object_id for _, object_id in known}
    kinds: list[StatementQuerySet[Any]] = [kind._default_manager.all() for kind in Statement.__subclasses__()]  # type: ignore[misc]
    key = Cast("pk", CharField())
    own = [rows.filter(user_id=user_id) for rows in kinds if ids]
    found = (rows.present().alias(key=key).filter(key__in=ids) for rows in own)
    present = {str(pk) for rows in found for pk in rows.values_list("pk", flat=True)}
    return {words for words, object_id in known if object_id not in present}
