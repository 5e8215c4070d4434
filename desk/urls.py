"""URLs of the pages for people.

Everything works without JavaScript: a form posts and the response redirects back. With htmx the same form receives only
the changed fragment.
"""

from django.urls import include, path

urlpatterns = [
    path("", include("desk.home")),
    path("", include("desk.account.views")),
    path("", include("desk.account.joining")),
    path("", include("desk.account.data_views")),
    path("", include("desk.account.erasing")),
    path("", include("desk.review.views")),
    path("", include("desk.legacies.views")),
    path("", include("desk.legacies.members")),
    path("", include("desk.legacies.owning")),
    path("", include("desk.legacies.invitations")),
    path("", include("desk.undo")),
    path("", include("desk.bulk")),
    path("", include("desk.memories.views")),
    path("", include("desk.memories.optimizing_views")),
    path("", include("desk.memories.detail_views")),
    path("", include("desk.decisions")),
    path("", include("desk.places.views")),
    path("", include("desk.importing.views")),
    path("", include("desk.withheld.views")),
    path("", include("desk.conversations.views")),
    path("", include("desk.chat.views")),
    path("", include("desk.agents.views")),
    path("", include("desk.timeline.views")),
]
