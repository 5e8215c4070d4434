"""The moderation queue: quarantined facts and memories, reviewed one by one.

The moderator's reason is kept in the session, so that the next text opens once the one before is decided. Each opening
and decision goes through the rooms' actions, which log it with that reason for the person to read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.cache import never_cache

from accounts.admin import moderator
from facts.models import LegacyFact
from journal.exceptions import Refused
from memories.models import Memory
from statements.admin import StatementAdmin
from web.admin import filter_by_id
from web.admin.dialogs import REASON_CHARACTERS

MOST_AT_ONCE = 100
MOST_UNDONE = 10
HELD_BACK = "Held back "
"""The prefix of the gates' reasons, cut because the heading says it already."""
REVIEW_SESSION = "staff_sitting"
_HELD = "quarantined"
_PAST_FORMS = {"release": "released", "refuse": "refused"}
_UNDO_ACTIONS = {"release": "quarantine", "refuse": "hold_again"}
"""The action that undoes each decision."""

Decision = tuple[str, str, str, str]
"""The kind and id of a row, the decision, and the reason of its quarantine."""


@dataclass(frozen=True, slots=True)
class ReasonGroup:
    """A reason of quarantine with the number of its rows."""

    reason: str
    count: int
    address: str
    is_shown: bool


@dataclass
class _ReviewSession:
    """The state of a moderator's review in their session."""

    request: HttpRequest
    reason: str = ""
    decided: list[list[Decision]] = field(default_factory=list)

    @classmethod
    def of(cls, request: HttpRequest) -> _ReviewSession:
        kept = request.session.get(REVIEW_SESSION, {})
        return cls(request, kept.get("reason", ""), kept.get("decided", []))

    def store(self) -> None:
        self.request.session[REVIEW_SESSION] = {"reason": self.reason, "decided": self.decided[-MOST_UNDONE:]}


@never_cache
def waiting(request: HttpRequest) -> HttpResponse:
    """Show a quarantined row. POST opens it, decides it or all rows of its reason, undoes, or ends the review."""
    why, wanted = request.GET.get("why"), request.GET.get("item", "")
    review = _ReviewSession.of(request)
    if request.method != "POST":
        return _show(request, review, why, _find(request, why, wanted), None)
    reason = request.POST.get("reason", "").strip()[:REASON_CHARACTERS]
    do, shown = request.POST.get("do", ""), _find(request, why, request.POST.get("item", ""), exactly=True)
    if do == "end":
        request.session.pop(REVIEW_SESSION, None)
        return redirect("admin:waiting")
    review.reason = reason or review.reason
    if not review.reason and do != "skip":
        messages.error(request, "Say why: the person whom it concerns reads it.")
        return _show(request, review, why, shown or _find(request, why), None)
    if do == "undo":
        shown = _undo(request, review) or shown
    elif do.endswith("-all") and why is not None:
        _decide(request, review, do.removesuffix("-all"), list(_rows(request, why))[:MOST_AT_ONCE])
        shown = None
    elif do in _PAST_FORMS:
        if shown is None:
            messages.warning(request, "That one does not wait any more.")
        else:
            _decide(request, review, do, [shown])
        shown = None
    elif do == "skip":
        shown = _find(request, why, after=request.POST.get("item", ""))
    elif do != "open":
        raise Http404
    review.store()
    shown = shown or _find(request, why) or _find(request, None)
    return _show(request, review, why, shown, _open(request, review, shown) if review.reason else None)


def _admins() -> dict[str, StatementAdmin]:
    made = [admin.site.get_model_admin(model) for model in (LegacyFact, Memory)]
    return {each.kind.name: each for each in cast(Sequence[StatementAdmin], made)}


def _rows(request: HttpRequest, why: str | None) -> list[Any]:
    """Return quarantined rows, optionally of one reason, the oldest first, at most ``MOST_AT_ONCE`` per kind."""
    found: list[Any] = []
    for each in _admins().values():
        rows = each.get_queryset(request).filter(state=_HELD).select_related("user")
        wanted = rows if why is None else rows.filter(state_reason=why)
        found += list(wanted.order_by("updated_at", "pk")[:MOST_AT_ONCE])
    return sorted(found, key=lambda row: row.updated_at)


def _find(
    request: HttpRequest, why: str | None, item: str = "", *, exactly: bool = False, after: str = ""
) -> Any | None:
    """Return the row ``item``, else the one after ``after``, else the first; with ``exactly`` only ``item`` or None."""
    kind, _, pk = item.partition("-")
    if item and kind in _admins():
        rows = _admins()[kind].get_queryset(request).filter(state=_HELD).select_related("user")
        named = filter_by_id(rows, pk).first()
        if named is not None:
            return named
    if exactly:
        return None
    held = _rows(request, why)
    names = [key_of(row) for row in held]
    place = names.index(after) + 1 if after in names else 0
    return held[place % len(held)] if held else None


def key_of(row: Any) -> str:
    """Return a row's key in the page: its kind and id."""
    return f"{row.noun}-{row.pk}"


def _decide(request: HttpRequest, review: _ReviewSession, do: str, rows: Sequence[Any]) -> None:
    """Release or refuse rows, each in its own transaction, and report how many succeeded."""
    if do not in _PAST_FORMS:
        raise Http404
    done: list[Decision] = []
    for row in rows:
        call = _admins()[row.noun].moderation[do]
        try:
            call(moderator(request), row.pk, review.reason)
        except Refused as refusal:
            messages.error(request, refusal.detail)
        else:
            done.append((row.noun, str(row.pk), do, row.state_reason))
    if done:
        review.decided.append(done)
        told = f"The {done[0][0]} is" if len(rows) == 1 else f"{len(done)} of {len(rows)} are"
        messages.success(request, f"{told} {_PAST_FORMS[do]}.")


def _undo(request: HttpRequest, review: _ReviewSession) -> Any | None:
    """Undo the last decision. Returns its first row, or None."""
    if not review.decided:
        messages.warning(request, "There is nothing to undo in this sitting.")
        return None
    back: list[str] = []
    for noun, pk, did, reason in (last := review.decided.pop()):
        call = _admins()[noun].moderation[_UNDO_ACTIONS[did]]
        try:
            # Quarantined for its earlier reason, so that it is in the same group again.
            call(moderator(request), pk, reason)
        except Refused as refusal:
            messages.error(request, refusal.detail)
        else:
            back.append(f"{noun}-{pk}")
    messages.info(request, f"{len(back)} of {len(last)} held back again." if len(last) > 1 else "Held back again.")
    return _find(request, None, back[0], exactly=True) if back else None


def _open(request: HttpRequest, review: _ReviewSession, row: Any | None) -> Any | None:
    """Return the row with its text and evidence, and log the access with the moderator's reason."""
    if row is None:
        return None
    try:
        return _admins()[row.noun].moderation["open"](moderator(request), row.pk, review.reason)
    except Refused as refusal:
        messages.error(request, refusal.detail)
        return None


def _show(
    request: HttpRequest, review: _ReviewSession, why: str | None, row: Any | None, opened: Any | None
) -> TemplateResponse:
    counts: Counter[str] = Counter()
    for each in _admins().values():
        held = each.model._default_manager.filter(state=_HELD).order_by().values_list("state_reason")
        counts.update(dict(held.annotate(count=Count("pk"))))
    here = reverse("admin:waiting")
    context = {
        **admin.site.each_context(request),
        "title": "Moderation",
        "whys": [_reason_group(reason, count, here, why) for reason, count in counts.most_common()],
        "why": why,
        "total": counts.total(),
        "of_this": min(counts[why], MOST_AT_ONCE) if why is not None else 0,
        "row": row,
        "key": key_of(row) if row is not None else "",
        "row_title": _admins()[row.noun].title_of(row) if row is not None else "",
        "opened": opened,
        "quotes": _quotes(opened),
        "sitting": review,
        "reason_characters": REASON_CHARACTERS,
    }
    return TemplateResponse(request, "admin/waiting.html", context)


def _reason_group(reason: str, count: int, here: str, why: str | None) -> ReasonGroup:
    told = capfirst(reason.removeprefix(HELD_BACK))
    return ReasonGroup(told, count, f"{here}?{urlencode({'why': reason})}", reason == why)


def _quotes(opened: Any | None) -> list[str]:
    """Return the quotations of the row's evidence."""
    if opened is None:
        return []
    versions = getattr(opened, "current", None)
    behind = opened if versions is None else versions[0] if versions else None
    return [] if behind is None else [each.quote for each in behind.evidence.all()]
