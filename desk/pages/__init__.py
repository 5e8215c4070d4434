"""The person's pages. Each begins with the principal and reads what is visible to it.

Everything works without JavaScript: a form posts, the answer redirects back to the page as it was. With htmx the same
form gets the changed part alone. A module holds the pages of one kind and their addresses.
"""

from django.urls import include, path

urlpatterns = [
    path("", include("desk.pages.home")),
    path("", include("desk.pages.signing_in")),
    path("", include("desk.pages.review")),
    path("", include("desk.pages.judging")),
    path("", include("desk.pages.lists")),
    path("", include("desk.pages.bulk")),
    path("", include("desk.pages.fact")),
    path("", include("desk.pages.deciding")),
    path("", include("desk.pages.memories")),
    path("", include("desk.pages.tidying")),
    path("", include("desk.pages.memory")),
    path("", include("desk.pages.places")),
    path("", include("desk.pages.preferences")),
    path("", include("desk.pages.telegram")),
    path("", include("desk.pages.importing")),
]
