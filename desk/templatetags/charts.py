"""Filters that render many small parts of a chart: ``{{ part|rectangle }}``, ``{{ numbers|cells }}``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString

if TYPE_CHECKING:
    from desk.timeline.pictures import ChartPart

register = template.Library()


@register.filter
def rectangle(part: ChartPart, when: str = "") -> SafeString:
    """Return a part as an SVG rectangle; with ``when``, its label and number as a tooltip."""
    box = f'class="series-{part.series}" x="{part.x}" y="{part.y}" width="{part.width}" height="{part.height}"'
    title = escape(f"{when}: {part.label}, {part.number}")
    return SafeString(f"<rect {box}><title>{title}</title></rect>" if when else f"<rect {box}/>")


@register.filter
def cells(numbers: Iterable[int]) -> SafeString:
    """Return numbers as cells of a table's row."""
    return SafeString("".join(f"<td>{number}</td>" for number in numbers))
