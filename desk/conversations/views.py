"""Pages of conversations: list, reader, withholding and erasing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.principals import Principal, shape_for
from assistant.erasure.actions import erasure_withdraw
from assistant.learn.actions import message_release
from assistant.reply.told import count_poll
from conversations.models import Conversation, Message
from conversations.searching import find_conversation
from journal.exceptions import NotFound, Refused, must_find
from retrieval.prepared import PLACEHOLDER_INDEX, PLACEHOLDER_ROW, read_objects
from statements.querysets import SEARCHED

from ..erasures import Wanted, show_erasure
from ..outcomes import with_undo
from ..page import PageRequest, agent_link, came_from, for_person, neighbours_of, telling_refusals
from ..quotations import message_address, shorten, speaker_of
from .actions import MOST_WITHHELD, Removal, dont_keep, erase, refuse, summaries_with, waiting_erasure
from .answers import running_reply, unread, ways_of_answering
from .listing import ConversationView, choices, find_passages, page_of_conversations, titled
from .reader import ReaderDay, page_at, read_page

GLIMPSE_CHARACTERS = 400
_MESSAGE_COLUMNS = tuple(each.attname for each in Message._meta.concrete_fields if each.name not in SEARCHED)


@require_safe
@for_person
def conversations(request: PageRequest, principal: Principal) -> HttpResponse:
    """List or search the person's conversations."""
    view = ConversationView.of(request.GET)
    context: dict[str, Any] = {"principal": principal, "view": view, "everything": reverse("conversation-list")}
    if view.search:
        found, less_near = find_passages(principal, view)
        context |= {"found": found, "less_near": less_near, "titled": titled(principal, view)}
    else:
        page, rows = page_of_conversations(principal, view)
        context |= {"page": page, "rows": rows, **neighbours_of(page, lambda number: view.at(number).query)}
    return render(request, "desk/conversations.html", context | choices(principal))


@require_safe
@for_person
def conversation(request: PageRequest, principal: Principal, conversation_id: UUID) -> HttpResponse:
    """Show a page of a conversation: the last, the requested one, or that of a message."""
    talk = find_conversation(principal, conversation_id)
    return show_conversation(request, principal, talk)


def show_conversation(
    request: PageRequest,
    principal: Principal,
    talk: Conversation,
    composed: str = "",
    refused: Refused | None = None,
    *,
    command: str = "",
    told: str = "",
) -> HttpResponse:
    """Render the page; ``composed``: text in the composer; ``refused``: the error above it.

    ``command``: one that was typed and run, and ``told``, its answer. Neither is a message.
    """
    at = request.GET.get("at", "")
    page = page_at(talk, request.GET.get("page", ""), at)
    days = read_page(principal, talk, page, at)
    erasure = waiting_erasure(principal, "conversation", talk.pk)
    goes_on = talk.agent_id is None and erasure is None and not page.has_next()
    running = running_reply(principal, talk) if goes_on else None
    if running is not None:
        count_poll(running.pk)
    elif goes_on and _waits_for_an_answer(days) and _has_more(talk):
        # The answer ended between the two reads.
        page = page_at(talk, request.GET.get("page", ""), at)
        days = read_page(principal, talk, page, at)
    context = {
        "principal": principal,
        "talk": talk,
        "page": page,
        "days": days,
        "decides": any(
            learned.fresh or learned.waits for day in days for turn in day.turns for learned in turn.learned
        ),
        "erasure": erasure,
        "goes_on": goes_on,
        "running": running,
        "reading": goes_on and unread(principal, talk).exists(),
        "composed": composed,
        "refused": refused.detail if refused else "",
        "command": command,
        "told": told,
        "most": settings.MESSAGE_MAX_CHARACTERS,
        **(ways_of_answering(principal, talk) if goes_on else {}),
        "next": f"{reverse('conversation-page', args=[talk.pk])}?page={page.number}",
        **neighbours_of(page, lambda number: f"?page={number}"),
    }
    return render(request, "desk/conversation.html", context, status=refused.status if refused else 200)


def _waits_for_an_answer(days: Sequence[ReaderDay]) -> bool:
    last = days[-1].turns[-1] if days else None
    return last is not None and last.mine and last.missing is None


def _has_more(talk: Conversation) -> bool:
    known = talk.message_count
    talk.refresh_from_db(fields=["message_count"])
    return talk.message_count > known


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def remove(request: PageRequest, principal: Principal, conversation_id: UUID, number: int = 0) -> HttpResponse:
    """Preview withholding or erasing, or execute it."""
    talk = find_conversation(principal, conversation_id)
    message = _find_message(principal, talk, number) if number else None
    removal = Removal(talk, message)
    back = message_address(talk.pk, number) if number else reverse("conversation-page", args=[talk.pk])
    if request.method != "POST":
        return _show_removal(request, principal, removal, back)
    try:
        if request.POST.get("decision") == "dont_keep" and removal.can_be_withheld:
            done = with_undo(principal, lambda: dont_keep(principal, removal))
            messages.success(request, done.text, extra_tags=done.undo)
            return redirect(back)
        if request.POST.get("decision") == "erase":
            at_once = request.POST.get("at_once") == "yes"
            receipt = erase(principal, removal, at_once=at_once, also=request.POST.getlist("also"))
            if at_once:
                return redirect("receipt-page", receipt)
            told = _("It is erased in %(erase_grace_hours)s hours.") % {"erase_grace_hours": settings.ERASE_GRACE_HOURS}
            messages.success(request, told, extra_tags=reverse("erasure-withdraw", args=[receipt]))
            return redirect(back)
    except NotFound:
        raise
    except Refused as error:
        return _show_removal(request, principal, removal, back, error)
    return _show_removal(
        request, principal, removal, back, Refused(_("Choose what is to be done."), code="no_decision")
    )


@require_POST
@for_person
def answer(request: PageRequest, principal: Principal, conversation_id: UUID, number: int) -> HttpResponse:
    """Answer whether a message shall be remembered: it is read at once, or what was asked about is withheld."""
    talk = find_conversation(principal, conversation_id)
    message = _find_message(principal, talk, number)
    with telling_refusals(request):
        if request.POST.get("keep") == "yes":
            message_release(principal, talk.pk, message.index, agreed=True)
            messages.success(request, _("It is remembered in a moment."))
        else:
            done = with_undo(principal, lambda: refuse(principal, Removal(talk, message)))
            messages.success(request, done.text, extra_tags=done.undo)
    return redirect(message_address(talk.pk, number))


@require_POST
@for_person
def withdraw(request: PageRequest, principal: Principal, receipt: UUID) -> HttpResponse:
    """Cancel a waiting erasure."""
    with telling_refusals(request):
        erasure_withdraw(principal, receipt)
        messages.success(request, _("It is kept."))
    return redirect(came_from(request, reverse("conversation-list")))


def _find_message(principal: Principal, talk: Conversation, number: int) -> Message:
    said = shape_for(
        principal,
        "message at",
        lambda someone: Message.objects.visible_to(someone).filter(
            conversation=PLACEHOLDER_ROW, index=PLACEHOLDER_INDEX
        ),
        {PLACEHOLDER_ROW: talk.pk, PLACEHOLDER_INDEX: number - 1},
    )
    return must_find(next(iter(read_objects(Message, said, _MESSAGE_COLUMNS)), None), "message")


def _show_removal(
    request: PageRequest, principal: Principal, removal: Removal, back: str, refused: Refused | None = None
) -> HttpResponse:
    talk, message = removal.conversation, removal.message
    agent = agent_link(talk.agent_id, talk.agent.name if talk.agent else "")
    context = {
        "talk": talk,
        "message": message,
        "number": message.index + 1 if message else 0,
        "speaker": speaker_of(message.role, message.speaker, agent) if message else "",
        "glimpse": shorten(message.content, GLIMPSE_CHARACTERS) if message else "",
        "removal": removal,
        "most": MOST_WITHHELD,
        "back": back,
    }
    wanted = Wanted(removal.scope, str(removal.object_id), summaries_with(removal))
    return show_erasure(request, principal, wanted, refused, template="desk/conversation_remove.html", context=context)


urlpatterns = [
    path("conversations/", conversations, name="conversation-list"),
    path("conversations/kept/<uuid:receipt>/", withdraw, name="erasure-withdraw"),
    path("conversations/<uuid:conversation_id>/", conversation, name="conversation-page"),
    path("conversations/<uuid:conversation_id>/remove/", remove, name="conversation-remove"),
    path("conversations/<uuid:conversation_id>/<int:number>/answer/", answer, name="message-answer"),
    path("conversations/<uuid:conversation_id>/<int:number>/remove/", remove, name="message-remove"),
]
