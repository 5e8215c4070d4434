"""The chat: start a conversation, send a message, stop or retry an answer.

With JavaScript the answer streams in (``static/chat.js``, over the API). Without it a form posts, and the page reloads
until the answer is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from rest_framework.exceptions import APIException

from accounts.models import Legacy
from accounts.policy import must_act_for
from accounts.principals import Principal
from accounts.queries import principal_for_person
from assistant.models import Reply
from assistant.reply.actions import Begun, Wanted, reply_begin, reply_retry, reply_stop
from assistant.reply.running import HEADERS, reply_stream
from assistant.tools.command import parse, run_command
from conversations.actions import NewMessage, check_messages, conversation_create
from conversations.models import Conversation, Message
from conversations.policy import ASSISTANT_CHANNEL
from conversations.searching import find_conversation
from journal.exceptions import NotFound, Refused, must_find
from language.backends import get_reply_model

from ..conversations.answers import mode_of, modes, shown_to, unread
from ..conversations.reader import read_turns
from ..conversations.views import show_conversation
from ..page import PageRequest, for_person, telling_refusals

MOST_TURNS = 40
"""Messages that are read at once of what has come since."""


class TalkForm(forms.Form):
    """The form that starts a conversation."""

    about = forms.ChoiceField(required=False, label=gettext_lazy("About"))
    private = forms.BooleanField(
        required=False, label=gettext_lazy("Private: nothing of it is remembered, nothing is recalled")
    )
    mode = forms.ChoiceField(required=False, label=gettext_lazy("How it answers"))
    content = forms.CharField(
        max_length=settings.MESSAGE_MAX_CHARACTERS,
        strip=False,
        label=gettext_lazy("What you want to say"),
        widget=forms.Textarea({"rows": 3, "data-composer": "", "autofocus": True}),
    )

    def __init__(self, principal: Principal, data: Any = None, *, begun: dict[str, Any] | None = None) -> None:
        super().__init__(data, label_suffix="", initial=begun)
        legacies = Legacy.objects.visible_to(principal).order_by("name").values_list("pk", "name")
        self.fields["about"].choices = [("", _("Myself")), *((str(pk), name) for pk, name in legacies)]  # type: ignore[attr-defined]
        self.fields["mode"].choices = modes()  # type: ignore[attr-defined]


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def talk(request: PageRequest, principal: Principal) -> HttpResponseBase:
    """Start a conversation with the assistant, about the person or a legacy."""
    if request.method != "POST":
        return _show_form(request, principal, TalkForm(principal, begun={"about": request.GET.get("about", "")}))
    form = TalkForm(principal, request.POST)
    if not form.is_valid():
        return _show_form(request, principal, form, status=400)
    asked = form.cleaned_data
    try:
        if parse(asked["content"]) is not None:
            told = run_command(principal, asked["content"]).text
            # Only the command is done with: a talk that was to be private still is.
            begun = TalkForm(principal, begun={**asked, "content": ""})
            return _show_form(request, principal, begun, command=asked["content"], told=told)
        check_messages([NewMessage(Message.Role.USER, asked["content"])])
        conversation = conversation_create(
            principal,
            legacy_id=UUID(asked["about"]) if asked["about"] else None,
            channel=ASSISTANT_CHANNEL,
            private=asked["private"],
        )
        return _say(principal, conversation, asked["content"], asked["mode"])
    except (Refused, APIException) as error:
        form.add_error("content", str(error.detail))
        return _show_form(request, principal, form, status=getattr(error, "status", 400))


def _show_form(
    request: PageRequest, principal: Principal, form: TalkForm, status: int = 200, *, command: str = "", told: str = ""
) -> HttpResponse:
    """Render the form, with the answer to a command that was typed there."""
    offline = get_reply_model().offline
    context = {
        "principal": principal,
        "form": form,
        "no_model": offline,
        "begins": list(_begins(offline)),
        "command": command,
        "told": told,
    }
    return render(request, "desk/talk.html", context, status=status)


def _begins(offline: bool) -> Iterator[tuple[str, str]]:
    """What a talk may begin with: of "me", or of a "legacy", whose name stands for ``{name}``, and the words."""
    yield "me", _("What do you know about me?")
    yield "legacy", _("What do you know about {name}?")
    if offline and not (get_language() or "en").startswith("en"):
        return  # What is told is understood in English only.
    yield "me", _("Remember that I …")
    yield "me", _("My sister is called …")
    yield "legacy", _("{name} was born in …")
    yield "legacy", _("{name} loved …")


@require_POST
@for_person
def say(request: PageRequest, principal: Principal, conversation_id: UUID) -> HttpResponseBase:
    """Send a message, or run a command, which is answered on the page and not saved."""
    conversation = find_conversation(principal, conversation_id)
    content = request.POST.get("content", "")
    if parse(content) is not None:
        try:
            told = run_command(principal, content).text
        except Refused as error:
            return show_conversation(request, principal, conversation, content, error)
        return show_conversation(request, principal, conversation, command=content, told=told)
    try:
        return _say(principal, conversation, content, request.POST.get("mode", ""))
    except NotFound:
        raise
    except Refused as error:
        return show_conversation(request, principal, conversation, content, error)
    except APIException as error:
        refused = Refused(str(error.detail), code="too_many_streams")
        return show_conversation(request, principal, conversation, content, refused)


def _say(principal: Principal, conversation: Conversation, content: str, mode: str) -> HttpResponseBase:
    reply_id = uuid4()
    begin = partial(reply_begin, principal, reply_id, conversation.pk, content, Wanted(mode_of(mode)))
    return _answered(principal, conversation.pk, reply_id, begin)


@require_POST
@for_person
def retry(request: PageRequest, principal: Principal, conversation_id: UUID, reply_id: UUID) -> HttpResponseBase:
    """Retry a failed answer."""
    try:
        begin = partial(reply_retry, principal, conversation_id, reply_id)
        return _answered(principal, conversation_id, reply_id, begin)
    except NotFound:
        raise
    except (Refused, APIException) as error:
        messages.error(request, str(error.detail))
        return redirect(_end_of(conversation_id))


@require_POST
@for_person
def stop(request: PageRequest, principal: Principal, conversation_id: UUID, reply_id: UUID) -> HttpResponseBase:
    """Stop an answer; its text so far is kept."""
    with telling_refusals(request):
        reply_stop(principal, conversation_id, reply_id)
    return redirect(_end_of(conversation_id))


@require_safe
@for_person
def latest(request: PageRequest, principal: Principal, conversation_id: UUID, number: int) -> HttpResponse:
    """Return the messages from ``number`` on as a fragment, for the script."""
    conversation = find_conversation(principal, conversation_id)
    first = max(1, number) - 1
    turns = read_turns(principal, conversation, first, first + MOST_TURNS - 1)
    context = {
        "talk": conversation,
        "turns": turns,
        "next": _end_of(conversation_id),
        "reading": unread(principal, conversation).filter(index__gte=first).exists(),
    }
    return render(request, "desk/_turns.html", context)


@require_safe
@for_person
def shown(request: PageRequest, principal: Principal, conversation_id: UUID, number: int) -> HttpResponse:
    """List the statements in an answer's prompt."""
    conversation = find_conversation(principal, conversation_id)
    reply = must_find(
        Reply.objects.visible_to(principal).filter(conversation=conversation, answer_index=number - 1).first(), "answer"
    )
    memories, facts, gone = shown_to(principal, reply)
    context = {
        "principal": principal,
        "talk": conversation,
        "number": number,
        "reply": reply,
        "memories": memories,
        "facts": facts,
        "gone": gone,
    }
    return render(request, "desk/chat_shown.html", context)


def _answered(
    principal: Principal, conversation_id: UUID, reply_id: UUID, begin: Callable[[], Begun | Reply]
) -> HttpResponseBase:
    """Redirect to the conversation. The body is the reply's stream: the event loop that sends it runs the reply.

    The body is not read; the redirected page follows the reply.
    """
    caller = partial(principal_for_person, must_act_for(principal))
    stream = reply_stream(principal, caller, reply_id, begin)
    headers = {**HEADERS, "Location": _end_of(conversation_id)}
    return StreamingHttpResponse(stream, status=303, headers=headers)


def _end_of(conversation_id: UUID) -> str:
    return f"{reverse('conversation-page', args=[conversation_id])}#end"


urlpatterns = [
    path("talk/", talk, name="talk"),
    path("conversations/<uuid:conversation_id>/say/", say, name="chat-say"),
    path("conversations/<uuid:conversation_id>/from/<int:number>/", latest, name="chat-latest"),
    path("conversations/<uuid:conversation_id>/<int:number>/shown/", shown, name="chat-shown"),
    path("conversations/<uuid:conversation_id>/reply/<uuid:reply_id>/stop/", stop, name="chat-stop"),
    path("conversations/<uuid:conversation_id>/reply/<uuid:reply_id>/retry/", retry, name="chat-retry"),
]
