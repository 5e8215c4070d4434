"""Undo on pages: one URL for every change, by its revisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import Http404, HttpResponseBase
from django.shortcuts import redirect
from django.urls import path, register_converter, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext
from django.views.decorators.http import require_POST

from accounts.policy import must_act_for
from accounts.principals import Principal
from journal.exceptions import NotFound, Refused
from journal.models import Change
from journal.steps import Span, Undone
from journal.undo import undo as undo_revisions

from . import decisions
from .outcomes import Done, Refusal
from .page import PageRequest, came_from, for_person, origin_of
from .review.queue import QueueItem
from .review.session import ReviewSession
from .review.views import answer_decision, answer_gone, queue_of

WHY_LEFT = {
    "built_on": gettext_noop("changed since"),
    "not_undoable": gettext_noop("not undoable"),
    "by_staff": gettext_noop("a moderator's decision"),
    "not_yours": gettext_noop("not yours to decide"),
    "not_there": gettext_noop("not there any more"),
    "wrong_state": gettext_noop("in a state that does not allow it by now"),
    "similar_exists": gettext_noop("already there in the same words"),
    "field_exists": gettext_noop("in a field that another memory has now"),
    "budget": gettext_noop("too large for what every prompt carries"),
    "not_a_member": gettext_noop("about a legacy that you have left"),
    "rejected_before": gettext_noop("something that you rejected since"),
    "cause_left": gettext_noop("put away for something that stays"),
}


class Spans:
    """Path converter: pairs of the first and the last revision of actions."""

    regex = r"[0-9]{1,18}/[0-9]{1,18}(?:/[0-9]{1,18}/[0-9]{1,18})*"

    def to_python(self, value: str) -> list[Span]:
        """Parse the pairs."""
        numbers = [int(each) for each in value.split("/")]
        return list(zip(numbers[::2], numbers[1::2], strict=True))

    def to_url(self, spans: Sequence[Span]) -> str:
        """Join the pairs."""
        return "/".join(str(each) for span in spans for each in span)


register_converter(Spans, "spans")


@require_POST
@for_person
def undo(request: PageRequest, principal: Principal, spans: Sequence[Span]) -> HttpResponseBase:
    """Undo these revisions, and return to the page that the form was sent from.

    Revisions of others between two of the spans, such as those of a worker, are not undone.
    """
    first, last = spans[0][0], spans[-1][1]
    # The decided object, which need not be that of the first revision: withheld words come before it.
    reviewed = ReviewSession(request.session).about(request.path)
    about = reviewed or _about(principal, first)
    try:
        between = [(one[1] + 1, other[0] - 1) for one, other in pairwise(spans)]
        undone = undo_revisions(principal, first, last, between=between)
    except NotFound as error:
        if request.htmx and origin_of(came_from(request, "/"), "/").url_name == "review":
            return answer_gone(request, principal, _("There is nothing to undo any more."))
        raise Http404 from error
    except Refused as error:
        return _answer(request, principal, about, Refusal("", error.detail, error.status))
    outcome = tell(undone)
    if isinstance(outcome, Done):
        ReviewSession(request.session).forget(request.path, queue=queue_of(request))
    alone = request.htmx or reviewed or len(_decided(undone)) + len(undone.left) == 1
    return _answer(request, principal, about if alone else None, outcome)


def tell(undone: Undone) -> Done | Refusal:
    """Describe the result of an undo."""
    counts = Counter(each.why for each in undone.left).most_common()
    why = "; ".join(f"{intcomma(count)} {_(WHY_LEFT.get(code, code))}" for code, count in counts)
    if not undone.objects:
        return Refusal("", _("There is nothing to undo: %(why)s.") % {"why": why}, 409)
    if not why and len(_decided(undone)) == 1:
        return Done(gettext_noop("Undone"), _("Undone: it is as it was before."))
    kinds = Counter(kind for kind, _key in undone.objects).most_common()
    said = _("Undone for %(whom)s.") % {"whom": ", ".join(_counted(count, kind) for kind, count in kinds)}
    return Done(gettext_noop("Undone"), f"{said} {_('Left as they were: %(why)s.') % {'why': why}}" if why else said)


def _decided(undone: Undone) -> Sequence[tuple[str, str]]:
    """Return the decided objects, ignoring messages unless there is nothing else."""
    return [each for each in undone.objects if each[0] != "message"] or undone.objects


def _counted(count: int, kind: str) -> str:
    texts = {
        "memory": ngettext("%(count)s memory", "%(count)s memories", count),
        "fact": ngettext("%(count)s fact", "%(count)s facts", count),
        "place": ngettext("%(count)s place", "%(count)s places", count),
        "message": ngettext("%(count)s message", "%(count)s messages", count),
        "proposal": ngettext("%(count)s proposal", "%(count)s proposals", count),
    }
    text = texts.get(kind) or (f"%(count)s {kind}" if count == 1 else f"%(count)s {kind}s")
    return text % {"count": intcomma(count)}


def _about(principal: Principal, first: int) -> QueueItem | None:
    """Return the object of the first revision as a queue item, or None."""
    log = Change.objects.of_owner(must_act_for(principal)).filter(rev=first)
    change = log.only("object_type", "object_id", "meta").first()
    if change is None:
        return None
    if "proposal" in change.meta:
        return QueueItem("proposal", str(change.meta["proposal"]))
    return QueueItem.of(f"{change.object_type}-{change.object_id}")


def _answer(
    request: PageRequest, principal: Principal, about: QueueItem | None, outcome: Done | Refusal
) -> HttpResponseBase:
    """Return the page that the form was sent from, or only the changed fragment for ``about``."""
    back = came_from(request, reverse("home"))
    if about is not None and about.kind in decisions.KINDS:
        kind = decisions.KINDS[about.kind]
        row = kind.rows(principal).filter(pk=about.pk).first()
        if row is not None:
            return decisions.answer(request, principal, kind, row, outcome)
    elif about is not None and origin_of(back, "/").url_name == "review":
        return answer_decision(request, principal, about, outcome)
    (messages.success if isinstance(outcome, Done) else messages.error)(request, outcome.text)
    return redirect(back)


urlpatterns = [path("undo/<spans:spans>/", undo, name="undo")]
