"""Other places with the same words, named and linked for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.principals import Principal, shape_for
from conversations.echoes import Repetition
from conversations.models import Conversation
from retrieval.search import read_columns
from statements.policy.naming import fact_in_words, in_second_person

from .page import page_address
from .quotations import cut, name_in_sentence

QUOTE_CHARACTERS = 200
"""The most characters that are shown of what is said in a place."""
A_STATEMENT = {
    "memory": gettext_noop("a memory"),
    "fact": gettext_noop("a fact"),
    "place": gettext_noop("a place"),
}


def said_elsewhere(principal: Principal, found: Sequence[Repetition]) -> list[tuple[Repetition, str, str]]:
    """Return each place with its URL and label."""
    if not found:
        return []
    talks = shape_for(principal, "talks", Conversation.objects.visible_to)
    ids = list({each.conversation_id for each in found if each.conversation_id is not None})
    rows = read_columns(talks, ids, ("title", "channel", "created_at")) if ids else []
    names = {pk: name_in_sentence(title, channel, begun) for pk, title, channel, begun in rows}
    return [_where(_as_told(each), names) for each in found]


def _as_told(each: Repetition) -> Repetition:
    tell = {"memory": in_second_person, "fact": fact_in_words}.get(each.object_type, str)
    quote = tell(each.quote)
    return replace(each, quote=cut(quote, QUOTE_CHARACTERS))


def _where(each: Repetition, names: Mapping[UUID, str]) -> tuple[Repetition, str, str]:
    if each.conversation_id is not None:
        address = page_address("conversation-page", each.conversation_id)
        named = names.get(each.conversation_id) or _("a conversation")
        if each.index is None:
            return each, address, _("the title of a conversation")
        return (
            each,
            f"{address}?at={each.index + 1}#m{each.index + 1}",
            _("in %(named)s, message %(value)s") % {"named": named, "value": each.index + 1},
        )
    return each, page_address(f"{each.object_type}-page", each.object_id), _(A_STATEMENT[each.object_type])


def places_in_words(count: int) -> str:
    """Return how many other places there are."""
    return _("one other place") if count == 1 else _("%(count)s other places") % {"count": count}
