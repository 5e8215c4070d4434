"""The admin site: access, content security policy, extra pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from csp.decorators import csp
from django import template
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import LogoutView, redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, resolve_url
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString
from unfold.sites import UnfoldAdminSite

from accounts.models import User
from accounts.queries import principal_for_staff
from accounts.scope import enter

from .dashboard import read_dashboard
from .sidebar import tables

# Everything is loaded from this server. Alpine compiles attributes to functions, which needs 'unsafe-eval', and sets
# widths in style attributes. Inline scripts and style sheets are still blocked.
POLICY = {
    "default-src": ["'none'"],
    "script-src": ["'self'", "'unsafe-eval'"],
    "style-src": ["'self'"],
    "style-src-attr": ["'unsafe-inline'"],
    "img-src": ["'self'", "data:"],
    "font-src": ["'self'"],
    "connect-src": ["'self'"],
    "form-action": ["'self'"],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
}

register = template.Library()
"""Template tags of the admin pages; settings register this module."""
_MARKED = {
    '<div id="main" ': '<div id="main" role="main" ',
    '<div id="nav-sidebar-apps" ': '<div id="nav-sidebar-apps" data-simplebar-aria-label="Pages" ',
}


@register.filter
def landmarks(page: SafeString) -> SafeString:
    """Add the accessibility markup that the theme lacks: a main landmark, and a label of the scrollable sidebar."""
    for plain, marked in _MARKED.items():
        page = SafeString(page.replace(plain, marked, 1))
    return page


class StaffSite(UnfoldAdminSite):
    """Django's admin for moderators, with the common sign-in page."""

    index_title = "Board"

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Raise Http404: the theme would search the names of models, which the Records page lists."""
        raise Http404

    def get_urls(self) -> list[Any]:
        """Return the theme's URLs with the moderation queue and the Records page."""
        from .waiting import waiting  # noqa: PLC0415 - the rooms' admins need this site first

        return [
            path("waiting/", self.admin_view(waiting), name="waiting"),
            path("records/", self.admin_view(self.records), name="records"),
            *super().get_urls(),
        ]

    def records(self, request: HttpRequest) -> TemplateResponse:
        """Render the Records page."""
        context = {**self.each_context(request), "title": "Records", "groups": tables()}
        return TemplateResponse(request, "admin/records.html", context)

    def admin_view(
        self, view: Callable[..., HttpResponseBase], cacheable: bool = False
    ) -> Callable[..., HttpResponseBase]:
        """Wrap an admin view: set the content security policy and enter the moderator's access scope."""

        @wraps(view)
        def entered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            enter(principal_for_staff(cast(User, request.user)))
            return view(request, *args, **kwargs)

        guarded: Callable[..., HttpResponseBase] = csp(POLICY)(super().admin_view(entered, cacheable))
        return guarded

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Redirect moderators to the wanted page, other signed-in users home, and everybody else to sign in."""
        wanted = request.GET.get(REDIRECT_FIELD_NAME, "")
        if not url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
            wanted = reverse("admin:index")
        if self.has_permission(request):
            return redirect(wanted)
        if request.user.is_authenticated:
            messages.info(request, "These pages are for staff.")
            return redirect(settings.LOGIN_REDIRECT_URL)
        return redirect_to_login(wanted)

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Sign out and redirect to the sign-in page."""
        return LogoutView.as_view(next_page=resolve_url(settings.LOGOUT_REDIRECT_URL))(request)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return the context of every page. Colours are in the style sheet, since the policy forbids inline ones."""
        return {**super().each_context(request), "colors": None}

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[dict[str, Any]]:
        """Return the models of one application, for its page.

        Of all applications no page shows a list, and making one takes a fifth of each page's time: the sidebar has its
        own entries, and the Records page its own lists.
        """
        return super().get_app_list(request, app_label) if app_label else []

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Render the dashboard."""
        return super().index(request, {**read_dashboard(request), **(extra_context or {})})
