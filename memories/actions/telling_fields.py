"""Judges by meaning whether a text beside a statement, or a note about a place, tells a personal field."""

from __future__ import annotations

from collections.abc import Iterable

from accounts.principals import Principal
from statements.actions import told_beside
from statements.wording import Embedded

from ..models import Memory
from ..policy.fields import MAY_SET_A_FIELD, field_of, names_the_user
from ..policy.labels import label_of

_NEED_NO_ANSWER = frozenset({"", Memory.Field.TONE, Memory.Field.GOAL})


def reason_by_meaning(principal: Principal, texts: Iterable[str]) -> str:
    """Why texts by somebody else than the person wait for them, or "": a sentence about the user may set a field.

    Only sentences that name the user are embedded, and no labels such as "The user's home". Call it before the
    transaction.
    """
    if principal.speaks_as_person:
        return ""
    told = told_beside(text for text in texts if names_the_user(text))
    told = [each for each in told if names_the_user(each) and label_of(each) is None]
    read = Embedded.of_each(told) if told else []
    fields = (field_of(each.content, "", principal.name, each.statement) for each in read)
    return MAY_SET_A_FIELD if any(field not in _NEED_NO_ANSWER for field in fields) else ""
