"""Which address leads to which room."""

from __future__ import annotations

from importlib import import_module

from csp.decorators import csp_update
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from . import health


def _rooms(*modules: str) -> list[URLPattern | URLResolver]:
    found = []
    for name in modules:
        try:
            found.append(path("", include(import_module(name))))
        except ModuleNotFoundError:
            continue
    return found


# The documentation page writes style attributes; its scripts come from this server like every other page's.
_documentation = csp_update({"style-src": ["'self'", "'unsafe-inline'"]})(
    SpectacularSwaggerSplitView.as_view(url_name="schema")
)

urlpatterns = [
    path("api/v1/", include(_rooms("accounts.api", "conversations.api", "facts.api", "assistant.api"))),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", _documentation, name="docs"),
    path("health/live", health.live, name="live"),
    path("health/ready", health.ready, name="ready"),
    path("admin/", admin.site.urls),
    *_rooms("desk.pages"),
]

handler400 = "memory_project.errors.bad_request"
handler403 = "memory_project.errors.permission_denied"
handler404 = "memory_project.errors.not_found"
handler500 = "memory_project.errors.server_error"
