"""Detection of rejected statements in other texts: names, notes, subjects, topics, metadata."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import CharField, Exists, OuterRef, QuerySet
from django.db.models.functions import Cast

from accounts.policy import rejected_before, sees_everything
from accounts.principals import Principal
from accounts.scope import acting_name
from conversations.echoes import (
    RejectedText,
    Repetition,
    rejected_causes,
    rejected_texts,
    repeat_withheld,
    repeats_withheld,
)
from conversations.models import Withheld
from conversations.withheld_words import WithheldWords
from journal.models import Change
from language.gates.passages import pieces_of
from language.gates.unwrapped import unwrapped
from language.third_person import OF_THE_USER, SHORT_CHARACTERS, about_the_user
from retrieval.text import list_words

from ..models import RejectionReason, Statement, StatementKind, Suppression
from ..policy import fingerprint, fingerprints, gist_fingerprints
from ..policy.naming import as_of_user
from ..policy.resembling import RESEMBLES
from ..policy.restated import RejectedWords
from ..querysets import Row, StatementQuerySet
from ..wording import Embedded

_MOST_COMPARED, _MOST_WORDINGS = 200, 10
_FEW_WORDS = 2
"""So many words are a label or a name, and say nothing of the user."""
_MOST_BESIDE = 20
_WHERE = re.compile(r"^(?:(?:this|it|that) is |it['’]s )?(?:the place |here )?where (?=\w+ \w)", re.IGNORECASE)
"""How notes begin that tell what somebody does at a place: "Where I meet Ida"."""


def rejected_statements(kind: StatementKind[Any], user_id: UUID, not_kept: bool) -> list[RejectedText]:
    """Return the latest 200 suppressed statements of a kind, with as many of their earlier wordings.

    ``not_kept``: only those not to be kept, without those that are merely not true.
    """
    known = Suppression.objects.filter(user_id=user_id, fingerprint=OuterRef("fingerprint"))
    stands_for = known.filter(object_id=Cast(OuterRef("pk"), CharField()))
    rows = kind.rows.filter(Exists(stands_for), user_id=user_id)
    rows = rows.exclude(state_reason=RejectionReason.NOT_TRUE.label) if not_kept else rows
    latest = list(rows.order_by("-updated_at").values_list("content", "pk", "version")[:_MOST_COMPARED])
    earlier = _suppressed_wordings(kind, user_id, [pk for _, pk, version in latest if version > 1])
    said = [*((content, pk) for content, pk, _ in latest), *earlier]
    return [RejectedText(content, kind.name, str(pk)) for content, pk in dict.fromkeys(said)]


def _suppressed_wordings(kind: StatementKind[Any], user_id: UUID, ids: Sequence[Any]) -> list[tuple[str, Any]]:
    """Return the earlier wordings of refused statements with their ids, but those that the person said again since."""
    if not ids:
        return []
    versions: QuerySet[Any] = kind.versions._default_manager.filter(**{f"{kind.name}_id__in": ids})
    found = list(
        versions.exclude(content="").order_by("-pk").values_list("content", f"{kind.name}_id")[:_MOST_COMPARED]
    )
    prints = [fingerprint(user_id, content) for content, _ in found]
    stand = Suppression.objects.filter(user_id=user_id, fingerprint__in=prints).values_list("fingerprint", flat=True)
    suppressed = set(stand)
    return [each for each, words in zip(found, prints, strict=True) if words in suppressed]


def wordings(kind: StatementKind[Row], row: Row) -> list[str]:
    """Return the wordings of a statement to look for elsewhere, the current one first; at most ten."""
    if row.version == 1:
        return [row.content]
    versions: QuerySet[Any] = kind.versions._default_manager.filter(**{f"{kind.name}_id": row.pk})
    earlier = versions.exclude(content="").order_by("-number").values_list("content", flat=True)[:_MOST_WORDINGS]
    return [*dict.fromkeys([row.content, *earlier])]


def said_again_for(reason: str, found: Iterable[Repetition]) -> list[Repetition]:
    """Return what is offered of repetitions: of what is only not true the statements, since the record stays."""
    return [each for each in found if reason == RejectionReason.DONT_KEEP or each.object_type in {"memory", "fact"}]


def active_statements(kind: StatementKind[Any], user_id: UUID, said: WithheldWords) -> list[str]:
    """Return the latest 200 active statements of a kind that share a word with ``said``."""
    rows = said.in_part(kind.rows.filter(user_id=user_id, state="active"))
    return list(rows.order_by("-updated_at").values_list("content", flat=True)[:_MOST_COMPARED])


def refused_search(user_id: UUID, gists: Callable[[], Collection[str]]) -> tuple[list[RejectedText], Mapping[str, str]]:
    """Return the stored statements not to be kept, and of these gists those of texts that are gone, with their ids."""
    if not has_rejected(user_id):
        return [], {}
    # Content words have no vector. Reading those of all sentences takes longest.
    gone = Suppression.objects.filter(user_id=user_id, embedding__isnull=True)
    by_print = {each: gist for gist in gists() for each in gist_fingerprints(user_id, gist)} if gone.exists() else {}
    known = gone.filter(fingerprint__in=by_print).values_list("fingerprint", "object_id")
    return rejected_causes(user_id, not_kept=True), {by_print[words]: pk for words, pk in known}


def repeats_rejected(user_id: UUID, texts: Sequence[str]) -> bool:
    """Whether a text equals a rejected one, contains all its words, or repeats withheld words."""
    texts = [said for text in texts if text.strip() for said in (text, *unwrapped(text))]
    if not texts or not has_rejected(user_id):
        return False
    name = acting_name()
    said = [
        each
        for text in texts
        for as_said in (text, f"The user {text}", as_of_user(text, name))
        for each in fingerprints(user_id, as_said)
    ]
    if Suppression.objects.filter(user_id=user_id, fingerprint__in=said).exists() or repeats_withheld(user_id, texts):
        return True
    rejected = rejected_texts(user_id)
    if not rejected:
        return False
    if {_as_words(text) for text in texts} & {_as_words(text) for text in rejected}:
        return True
    if any(map(RejectedWords(rejected).are_in, texts)):
        return True
    compared = WithheldWords(rejected, ["user"])
    return any(map(compared.is_held_by, compared.stems(texts)))


def are_rejected(user_id: UUID, sentences: Sequence[str]) -> list[bool]:
    """Return of each sentence whether it says of the person what they rejected or withheld: by words, in any tense."""
    if not sentences or not has_rejected(user_id):
        return [False] * len(sentences)
    of_user = [as_of_user(sentence, acting_name()) for sentence in sentences]
    prints = [
        {*fingerprints(user_id, sentence), *fingerprints(user_id, about_the_user(sentence))} for sentence in of_user
    ]
    known = Suppression.objects.filter(user_id=user_id, fingerprint__in=set().union(*prints))
    refused, rejected = set(known.values_list("fingerprint", flat=True)), rejected_texts(user_id)
    # "The user" counts as a word: what Karl does is not said of the person.
    compared = WithheldWords([as_of_user(text, acting_name()) for text in rejected]) if rejected else None
    held = [compared.is_held_by(words) for words in compared.stems(of_user)] if compared else [False] * len(of_user)
    repeats = repeat_withheld(user_id, of_user)
    return [bool(each & refused) or stated or again for each, stated, again in zip(prints, held, repeats, strict=True)]


def completes_rejected(user_id: UUID, content: str, beside: Sequence[str]) -> bool:
    """Whether a statement has all words of a rejected one only together with the short texts beside it."""
    short = [text for text in beside if len(text) <= SHORT_CHARACTERS]
    rejected = rejected_texts(user_id) if short and has_rejected(user_id) else []
    if not rejected:
        return False
    compared = WithheldWords(rejected, ["user"])
    alone, together = compared.stems([content, " ".join([content, *short])])
    return any(len(each) > 1 and each <= together and not each <= alone for each in compared.each)


def knows_rejected(principal: Principal, user_id: UUID, suppressions: Collection[int]) -> bool:
    """Whether a principal may know of one of these suppressions: it sees everything, what is suppressed, or wrote it.

    Others must not learn by a refusal that there is such a statement, so what they write waits instead.
    """
    if sees_everything(principal):
        return True
    known = Suppression.objects.filter(pk__in=suppressions)
    ids = list(known.values_list("object_id", flat=True))
    own = Change.objects.of_owner(user_id).filter(actor_id=principal.actor.id, object_id__in=ids)
    kinds: list[StatementQuerySet[Any]] = [kind._default_manager.all() for kind in Statement.__subclasses__()]  # type: ignore[misc]
    seen = (rows.visible_to(principal).alias(key=Cast("pk", CharField())).filter(key__in=ids) for rows in kinds)
    return own.exists() or any(rows.exists() for rows in seen)


def read_beside(user_id: UUID, texts: Iterable[str], document: Sequence[Embedded] = ()) -> list[Embedded]:
    """Embed the sentences of texts beside a statement for ``words_check``: those about the user as statements.

    They and the sentences of a ``document`` are compared once, so that nothing slow is left to do under the lock. Call
    it before that; not for what the person says. Empty if they never rejected anything.
    """
    told = told_beside(texts)
    if not (told or document) or not has_rejected(user_id):
        return []
    read = [*document, *Embedded.of_each(told)]
    Suppression.objects.matches(user_id, read)
    return read


def told_beside(texts: Iterable[str]) -> list[str]:
    """Return the sentences of texts beside a statement, those about the user as statements; at most twenty."""
    pieces = (_WHERE.sub("", piece.strip()) for text in texts for piece in pieces_of(text))
    said = (piece for piece in pieces if len(piece.split()) > _FEW_WORDS)
    return [*dict.fromkeys(about_the_user(each) if OF_THE_USER.search(each) else each for each in said)][:_MOST_BESIDE]


def words_check(
    principal: Principal, user_id: UUID, texts: Sequence[str], content: str = "", read: Sequence[Embedded] = ()
) -> str:
    """Raise Gated (422 ``rejected_before``) if texts beside a statement repeat a rejected one, alone or with it.

    One word alone repeats nothing. To a principal that does not see everything, it returns the reason to wait instead,
    since a refusal would tell that there is such a statement, and to all if what is ``read`` of the texts resembles
    one; otherwise "".
    """
    if not repeats_rejected(user_id, [text for text in texts if " " in text]) and not (
        content and completes_rejected(user_id, content, texts)
    ):
        return RESEMBLES if any(Suppression.objects.matches(user_id, read)) else ""
    if sees_everything(principal):
        raise rejected_before()
    return RESEMBLES


def has_rejected(user_id: UUID) -> bool:
    """Whether the person ever rejected or withheld anything: for most, nothing has to be compared."""
    suppressed, withheld = (
        model._default_manager.filter(user_id=user_id).order_by().values_list("user_id")
        for model in (Suppression, Withheld)
    )
    return suppressed.union(withheld, all=True).exists()


def _as_words(text: str) -> tuple[str, ...]:
    return tuple(list_words(text))
