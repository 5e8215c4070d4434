"""Judges by meaning whether a text beside a statement, or a note about a place, tells a personal field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from accounts.principals import Principal
from statements.actions import told_beside
from statements.wording import Embedded

from ..models import Memory
from ..policy.fields import MAY_SET_A_FIELD, field_of, names_the_user
from ..policy.labels import label_of

_NEED_NO_ANSWER = frozenset({"", Memory.Field.TONE, Memory.Field.GOAL})


def reason_by_meaning(principal: Principal, texts: Iterable[str]) -> str:
    """Return the reason of ``reasons_by_meaning`` for the texts beside one statement."""
    (reason,) = reasons_by_meaning(principal, [texts])
    return reason


def reasons_by_meaning(principal: Principal, beside: Sequence[Iterable[str]]) -> list[str]:
    """Why the texts beside each of several statements wait for the person, or "": a sentence may set a field.

    "" for what the person says. Only sentences that name the user are embedded, all in one call, and no labels such as
    "The user's home". While the embedder is unavailable they are judged by their words. Call it before the transaction.
    """
    if principal.speaks_as_person:
        return [""] * len(beside)
    told = [_naming_the_user(texts) for texts in beside]
    telling = {
        each.content: field_of(each.content, "", principal.name, each.statement) not in _NEED_NO_ANSWER
        for each in Embedded.of_each([*dict.fromkeys(chain.from_iterable(told))])
    }
    return [MAY_SET_A_FIELD if any(telling[each] for each in those) else "" for those in told]


def _naming_the_user(texts: Iterable[str]) -> list[str]:
    told = told_beside(text for text in texts if names_the_user(text))
    return [each for each in told if names_the_user(each) and label_of(each) is None]
