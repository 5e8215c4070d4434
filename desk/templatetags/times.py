"""Filters that format times: ``{{ row.at|when }}``, or ``{{ row.at|when:"soft small" }}`` with classes.

They return a ``time`` element in the person's time zone and language; '' for None. Date formats are translatable.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from functools import lru_cache

from django import template
from django.utils import dateformat
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

register = template.Library()


@register.filter(expects_localtime=True)
def when(at: datetime | None, style: str = "") -> SafeString:
    """Day, month, year and time of day."""
    return _element(at, _("j F Y, H:i"), style)


@register.filter(expects_localtime=True)
def day(at: datetime | None, style: str = "") -> SafeString:
    """Day, month and year."""
    return _element(at, _("j F Y"), style, _date)


@register.filter(expects_localtime=True)
def short_day(at: datetime | None, style: str = "") -> SafeString:
    """Day, month and year, for rows of a list."""
    return _element(at, _("j M Y"), style, _date)


@register.filter(expects_localtime=True)
def day_month(at: datetime | None, style: str = "") -> SafeString:
    """Day and month, for what is near."""
    return _element(at, _("j F"), style, _date)


@register.filter(expects_localtime=True)
def moment(at: datetime | None, style: str = "") -> SafeString:
    """Day, month and time of day, for what is near."""
    return _element(at, _("j F, H:i"), style)


@register.filter(expects_localtime=True)
def weekday(at: datetime | None, style: str = "") -> SafeString:
    """Day of the week, day and month."""
    return _element(at, _("l, j F"), style, _date)


@register.filter(expects_localtime=True)
def clock(at: datetime | None, style: str = "") -> SafeString:
    """The time of day."""
    return _element(at, _("H:i"), style, _clock)


def _moment(at: datetime, how: str) -> str:
    return dateformat.format(at, how)


def _date(at: datetime | date, how: str) -> str:
    return _formatted(at.date() if isinstance(at, datetime) else at, how, get_language())


def _clock(at: datetime, how: str) -> str:
    return _formatted(at.time().replace(second=0, microsecond=0), how, get_language())


@lru_cache(maxsize=4_096)
def _formatted(at: date | time, how: str, _language: str | None) -> str:
    """Format a date or a time to the minute, once for all that share it."""
    return dateformat.format(at, how) if isinstance(at, date) else dateformat.time_format(at, how)


def _element(at: datetime | None, how: str, style: str, shown: Callable[[datetime, str], str] = _moment) -> SafeString:
    if not at:
        return SafeString()
    exact = SafeString(at.isoformat())
    if style:
        return format_html('<time class="{}" datetime="{}">{}</time>', style, exact, shown(at, how))
    return format_html('<time datetime="{}">{}</time>', exact, shown(at, how))
