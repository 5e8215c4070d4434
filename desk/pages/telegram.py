"""Linking chats of Telegram: a code to send to the bot, the chats that are linked, and the end of a link."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST

from accounts.actions import identity_unlink, link_code_create
from accounts.models import ExternalIdentity
from accounts.policy import TELEGRAM_ISSUER
from accounts.principals import Principal
from journal.exceptions import NotFound

from .frame import PageRequest, for_person


@dataclass(frozen=True, slots=True)
class TelegramSection:
    """What the preferences say of Telegram: the linked chats, and whether more can be linked."""

    chats: list[ExternalIdentity]
    takes_more: bool


def telegram_section(principal: Principal) -> TelegramSection | None:
    """The section of the preferences; None where there is no bot and nothing is linked."""
    identities = ExternalIdentity.objects.visible_to(principal).filter(issuer=TELEGRAM_ISSUER)
    chats = list(identities.order_by("created_at", "pk"))
    there_is_a_bot = bool(settings.TELEGRAM_SECRET_TOKEN)
    return TelegramSection(chats, there_is_a_bot) if chats or there_is_a_bot else None


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def telegram_code(request: PageRequest, principal: Principal) -> HttpResponse:
    """Make a code and show it, this once. Whoever comes back to the address sees their preferences."""
    if not settings.TELEGRAM_SECRET_TOKEN:
        raise NotFound("There is no bot.")
    if request.method != "POST":
        return redirect("preferences")
    code = link_code_create(principal, TELEGRAM_ISSUER)
    bot = settings.TELEGRAM_BOT_NAME
    shown = {"code": code, "bot": bot, "minutes": settings.LINK_CODE_MINUTES}
    return render(request, "desk/telegram.html", {"principal": principal, **shown})


@require_POST
@for_person
def telegram_unlink(request: PageRequest, principal: Principal, identity_id: int) -> HttpResponse:
    """End the link of a chat."""
    identity_unlink(principal, TELEGRAM_ISSUER, identity_id)
    messages.success(request, "That chat is no longer linked.")
    return redirect("preferences")


urlpatterns = [
    path("preferences/telegram/", telegram_code, name="telegram-code"),
    path("preferences/telegram/<int:identity_id>/unlink/", telegram_unlink, name="telegram-unlink"),
]
