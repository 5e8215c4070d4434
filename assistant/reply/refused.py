"""What is answered to a refusal: what went, what stays, and where else it is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from django.db.models import Q

from accounts.principals import Principal
from conversations.actions import said_elsewhere
from conversations.models import Message, Withheld
from journal.models import Change
from language.heard import Heard
from language.reading.refusals import (
    Turn,
    asks_for_rule,
    asks_to_forget_all,
    find_refusal,
    lemmas,
    names_what_was_said,
)
from language.reading.revising import OWN_WORDS
from language.reading.sentences import split_sentences
from language.shown import quoted
from memories.models import Memory
from statements.policy.naming import as_of_user, in_second_person

if TYPE_CHECKING:
    from .actions import Begun

_MOST_STAYING = 3
"""The most memories that a refusal named in part and that are told."""


def heard_refusal(begun: Begun, principal: Principal | None = None) -> Heard:
    """What to answer to a refusal: ``not_found`` if it names something said before, or is a rule for later, and only
    itself was withheld.

    ``principal``: who may be told which memories stay; None tells nobody. ``awaits``: an agent relayed it, and
    something that the person decided about waits for them. ``along``: of the memories that went for something named,
    some have no word of the refusal. ``elsewhere``: whether what it names went from other conversations, or stays.
    """
    indices = {index for each in begun.turn.refusals for index in each["withheld"]}
    said = Message.objects.without_vectors().get(pk=begun.message_id)
    removed = Q(event="DELETE", object_type__in=["memory", "fact"])
    asked = Q(event="PROPOSE", object_type="proposal", conversation_id=begun.conversation_id)
    since = Change.objects.filter(removed | asked, ledger_id=begun.user_id, at__gte=said.created_at)
    changes = list(since.values_list("event", "object_id"))
    own = Withheld.objects.because_of(Withheld.Cause.MESSAGE, [str(said.pk)]).passages().filter(message=said)
    sentences = [each.text for text in own.values_list("text", flat=True) for each in split_sentences(text)]
    of_all = any(map(asks_to_forget_all, sentences))
    for_later = any(map(asks_for_rule, [*sentences, said.content]))
    request = " ".join(sentences)
    took = Withheld.objects.because_of(Withheld.Cause.MESSAGE, [str(said.pk)]).passages()
    elsewhere: Literal["", "gone", "stays"] = ""
    if took.exclude(message__conversation=begun.conversation_id).exists():
        elsewhere = "gone"
    elif principal is not None and said_elsewhere(principal, begun.conversation_id, request):
        elsewhere = "stays"
    if indices == {said.index} and not changes:
        stays = () if principal is None or of_all else _saying_more(principal, sentences)
        return Heard(
            refused=True,
            not_found=for_later or (all(map(names_what_was_said, sentences)) and not of_all and elsewhere == ""),
            of_all=of_all,
            for_later=for_later,
            stays=stays,
            elsewhere=elsewhere,
        )
    gone = Memory.objects.filter(pk__in=[pk for event, pk in changes if event == "DELETE"])
    words = lemmas(request) if len(changes) > 1 else frozenset()
    named = {not words.isdisjoint(lemmas(each)) for each in gone.values_list("content", flat=True) if words}
    awaits = any(each[0] == "PROPOSE" for each in changes)
    along = named == {True, False}
    return Heard(refused=True, along=along, awaits=awaits, of_all=of_all, for_later=for_later, elsewhere=elsewhere)


def _saying_more(principal: Principal, sentences: Sequence[str]) -> tuple[str, ...]:
    """Return the memories in use that have all words of what a refusal names: they say more, so it took none away."""
    refusal = find_refusal([Turn(Message.Role.USER, " ".join(sentences))], 0)
    named = refusal.named_lemmas if refusal is not None else frozenset()
    rows = Memory.objects.visible_to(principal).in_use(principal).naming(named) if named else Memory.objects.none()
    found = [
        content
        for content in rows.values_list("content", flat=True)
        if named <= lemmas(as_of_user(content, principal.name))
    ]
    return tuple(map(as_told, found[:_MOST_STAYING]))


def as_told(content: str) -> str:
    """Format a memory for the person. Their own words in the first person are quoted."""
    return quoted(content) if OWN_WORDS.match(content) else in_second_person(content)
