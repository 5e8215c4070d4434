"""The root URL configuration."""

from django.contrib import admin
from django.templatetags.static import static
from django.urls import include, path
from django.utils.functional import lazy
from django.views.generic import RedirectView

from . import health, metrics, reference

urlpatterns = [
    path("api/v1/", include("accounts.api")),
    path("api/v1/", include("conversations.api")),
    path("api/v1/", include("memories.api")),
    path("api/v1/", include("facts.api")),
    path("api/v1/", include("assistant.api")),
    path("interop/", include("interop.telegram")),
    path("mem0/", include("interop.mem0.api")),
    path("", include("interop.mcp.http")),
    path("api/schema/", reference.Schema.as_view(), name="schema"),
    path("api/docs/", reference.index, name="docs"),
    path("api/docs/<slug:operation_id>/", reference.operation, name="docs-operation"),
    path("health/live", health.live, name="live"),
    path("health/ready", health.ready, name="ready"),
    path("metrics", metrics.metrics, name="metrics"),
    path("admin/", admin.site.urls),
    # Browsers request it on pages without an icon link, such as the admin's.
    path("favicon.ico", RedirectView.as_view(url=lazy(static, str)("favicon.svg"))),
    path("", include("desk.urls")),
]

handler400 = "memory_project.errors.bad_request"
handler403 = "memory_project.errors.permission_denied"
handler404 = "memory_project.errors.not_found"
handler500 = "memory_project.errors.server_error"
