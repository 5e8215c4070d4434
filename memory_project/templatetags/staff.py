"""What the theme's pages lack: a main landmark, and names for what scrolls by itself."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

register = template.Library()

_MARKED = {
    '<div id="main" ': '<div id="main" role="main" ',
    '<div id="nav-sidebar-apps" ': '<div id="nav-sidebar-apps" data-simplebar-aria-label="Pages" ',
}


@register.filter
def landmarks(page: SafeString) -> SafeString:
    """A page of the theme on which a screen reader finds its way: each mark is put into the first such element."""
    for plain, marked in _MARKED.items():
        page = SafeString(page.replace(plain, marked, 1))
    return page
