"""Telegram: the webhook of a bot for ``/memory`` commands in private chats.

Telegram posts an update and executes the method in the answer's body (https://core.telegram.org/bots/api). A code from
the person's preferences links a chat to them. The update's id serves as an idempotency key, so that an update delivered
again takes effect once.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Annotated, Any, cast

import structlog
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseForbidden,
    HttpResponseNotAllowed,
    JsonResponse,
)
from django.urls import path
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from accounts.actions import identity_link, identity_unlink, link_code_withdraw
from accounts.authentication import principal_of_identity
from accounts.policy import TELEGRAM_ISSUER
from accounts.principals import Principal
from assistant.tools.command import (
    HELP,
    Spoken,
    read_words,
    repeat_answer,
    run_command,
    shortened,
)
from journal.exceptions import IdempotentReplay, NotFound, Refused
from journal.records import IdempotencyClaim

log = structlog.get_logger(__name__)

_HEADER = "HTTP_X_TELEGRAM_BOT_API_SECRET_TOKEN"
LARGEST_UPDATE_BYTES = 262_144
"""Far more than a text with its formatting takes: Telegram resends rejected updates, so real ones must fit."""
NOT_LINKED = (
    "This chat is not linked to anybody in Keepsake. "
    "Make a code there, under Preferences, Telegram, and send it here: /link <code>"
)
UNLINKED = "This chat is no longer linked. Nothing that is remembered is shown here any more."
IN_GROUPS = "Only in a private chat: here others would read what is remembered about you."
IN_GROUPS_CODE = f"{IN_GROUPS} That code is worth nothing now. Make another one, and send it in a private chat."
ALL_HELP = f"{HELP}\n/link <code> links this chat to you, /unlink ends that."
_COMMANDS = frozenset({"memory", "start", "link", "unlink"})


_Number = Annotated[int, Field(gt=-(2**63), lt=2**63)]


class _Part(BaseModel):
    """A part of an update, parsed strictly without conversions; unknown keys are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)


class _Chat(_Part):
    id: _Number
    type: str


class _Message(_Part):
    chat: _Chat
    text: str = ""


class _Update(_Part):
    """An update. Edited messages, channel posts and the like have other keys and no ``message``."""

    update_id: _Number
    message: _Message | None = None


@csrf_exempt
def webhook(request: HttpRequest) -> HttpResponse:
    """Handle an update: return 200 with the message to send, or an empty body.

    Returns 404 if TELEGRAM_SECRET_TOKEN is not set, 403 for a wrong token, 400 for a malformed update, 413 for one that
    is too large.
    """
    if not settings.TELEGRAM_SECRET_TOKEN:
        raise Http404
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    if not constant_time_compare(request.META.get(_HEADER, ""), settings.TELEGRAM_SECRET_TOKEN):
        log.warning("telegram_wrong_secret")
        return HttpResponseForbidden()
    if int(request.META.get("CONTENT_LENGTH") or 0) > LARGEST_UPDATE_BYTES:
        return HttpResponse(status=413)
    try:
        update = _Update.model_validate_json(request.body)
    except ValidationError:
        return HttpResponseBadRequest()
    message = update.message
    text = _answer(update.update_id, message) if message is not None and message.text else ""
    return _say(message.chat.id, text) if message is not None and text else HttpResponse()


def _say(chat_id: int, text: str) -> HttpResponse:
    """Return an answer that makes Telegram send a text: unparsed (no parse_mode), and without link previews."""
    options: dict[str, Any] = {"link_preview_options": {"is_disabled": True}}
    return JsonResponse({"method": "sendMessage", "chat_id": chat_id, "text": text, **options})


def _answer(update_id: int, message: _Message) -> str:
    """Return the reply to a message, or ''."""
    spoken = read_words(message.text) or Spoken("", "", ())
    if message.chat.type != "private":
        return _in_a_group(spoken) if _is_for_us(spoken) else ""
    try:
        return _do(spoken, update_id, str(message.chat.id), message.text)
    except _Stranger:
        return NOT_LINKED
    except Refused as error:
        return shortened(error.detail)


def _do(spoken: Spoken, update_id: int, chat: str, text: str) -> str:
    match spoken.name:
        case "start" | "link":
            return _link(chat, "".join(spoken.words))
        case "unlink":
            return _unlink(_claimed(chat, update_id, text))
        case "memory":
            return _memory(_claimed(chat, update_id, text), text)
        case _:
            return ALL_HELP


class _Stranger(Exception):
    """The chat is not linked to a person."""


def _principal(chat: str) -> Principal:
    try:
        return principal_of_identity(TELEGRAM_ISSUER, chat)
    except NotFound as error:
        raise _Stranger from error


def _claimed(chat: str, update_id: int, text: str) -> Principal:
    """Return the principal of a chat with the update's idempotency claim."""
    claim = IdempotencyClaim(f"{TELEGRAM_ISSUER}:{chat}", str(update_id), sha256(text.encode()).hexdigest())
    return _principal(chat).with_idempotency(claim)


def _memory(principal: Principal, text: str) -> str:
    try:
        return run_command(principal, text).text
    except IdempotentReplay as replay:
        return repeat_answer(principal, text, replay.record).text


def _link(chat: str, code: str) -> str:
    if not code:
        _principal(chat)
        return ALL_HELP
    person = identity_link(TELEGRAM_ISSUER, chat, code)
    name = person.get_full_name()
    return f"This chat is linked to {name} now. Whoever uses it sees what is remembered.\n\n{ALL_HELP}"


def _unlink(principal: Principal) -> str:
    try:
        identity_unlink(principal, TELEGRAM_ISSUER, cast(int, principal.identity_id))
    except NotFound as error:
        raise _Stranger from error
    except IdempotentReplay:
        return ""  # Unlinked and answered before; the chat has been linked again since.
    return UNLINKED


def _is_for_us(spoken: Spoken) -> bool:
    """Whether a command in a group is for this bot: a group may have several, and a command can name its bot."""
    meant = not spoken.bot or not settings.TELEGRAM_BOT_NAME
    return spoken.name in _COMMANDS and (meant or spoken.bot.lower() == settings.TELEGRAM_BOT_NAME.lower())


def _in_a_group(spoken: Spoken) -> str:
    if spoken.name in {"start", "link"} and spoken.words:
        link_code_withdraw(TELEGRAM_ISSUER, "".join(spoken.words))
        return IN_GROUPS_CODE
    return IN_GROUPS


@register()
def check_telegram(**_: Any) -> list[CheckMessage]:
    """Check the form of the bot's token (interop.E001) and name (interop.E002) as Django system checks."""
    faults: list[CheckMessage] = []
    if not re.fullmatch(r"[A-Za-z0-9_-]{0,256}", settings.TELEGRAM_SECRET_TOKEN):
        faults.append(Error("TELEGRAM_SECRET_TOKEN has 1 to 256 of A-Z, a-z, 0-9, _ and -.", id="interop.E001"))
    if not re.fullmatch(r"([A-Za-z0-9_]{4,32})?", settings.TELEGRAM_BOT_NAME):
        faults.append(
            Error("TELEGRAM_BOT_NAME is the bot's user name: letters, digits and _, without @.", id="interop.E002")
        )
    return faults


urlpatterns = [path("telegram/", webhook, name="telegram")]
