"""Translations of the scripts' texts. ``static/*.js`` contain the English ones."""

from __future__ import annotations

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, gettext_noop

register = template.Library()

TEXTS = [
    # keepsake.js
    gettext_noop("Keepsake could not be reached. Nothing was changed; please try again."),
    gettext_noop("That did not work. Please reload the page and try again."),
    gettext_noop("This file is larger than {size} MB."),
    gettext_noop("Copied."),
    gettext_noop("Copied"),
    # typed.js
    gettext_noop("You had been signed out, so this was not saved. What you typed is here again."),
    gettext_noop("You had been signed out, so this was not saved: {text}"),
    # chat.js
    gettext_noop("The answer could not be followed to its end. Reload the page to see what came of it."),
    gettext_noop("The answer is saved. Reload the page to see it with what was remembered."),
    gettext_noop("You are signed out. What you typed is kept here."),
    gettext_noop("Sign in again"),
    gettext_noop("That is too long to send."),
    gettext_noop("Too many answers are being written for you at once. Wait for one to end, or close another page."),
    gettext_noop("It is sent when this answer has come."),
    gettext_noop("An answer is still being written here. Wait for it, or reload the page to see it."),
    gettext_noop("Keepsake could not take it. Please try again in a moment."),
    gettext_noop("That is too long: a message has at most {most} characters, and this has {has}."),
    gettext_noop("Keepsake could not be reached. What you typed is still here; please try again."),
    gettext_noop("A command: neither it nor this answer is kept in the conversation."),
    gettext_noop("no answer"),
    gettext_noop("You"),
    gettext_noop("The assistant"),
    gettext_noop("It could not be stopped. Please try again."),
    gettext_noop("Keepsake could not be reached. Please try again."),
    gettext_noop("The answer could not be followed. Reload the page to see what came of it."),
]
"""The scripts' texts, with placeholders in braces. A test compares them with the scripts."""


@register.simple_tag
def script_texts() -> SafeString:
    """Return the scripts' translated texts as JSON; nothing for English."""
    if (get_language() or "en").startswith("en"):
        return SafeString()
    return json_script({text: gettext(text) for text in TEXTS}, "texts")
