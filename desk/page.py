"""What all pages share: principal, language, time zone, and the page that a form was sent from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import Resolver404, ResolverMatch, get_script_prefix, resolve, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from accounts.authentication import principal_of
from accounts.principals import Principal
from journal.exceptions import NotFound, Refused

from .translation import use_language

Rest = ParamSpec("Rest")
View = TypeVar("View", bound=Callable[..., Any])


class PageRequest(HttpRequest):
    """A request after the middleware."""

    htmx: HtmxDetails


THEME_COOKIE = f"{settings.SESSION_COOKIE_NAME}_theme"
THEMES = ("light", "dark")


def periods(request: HttpRequest) -> dict[str, int | str]:
    """Template context: days of retention and of expiry of proposals, and the theme ('' follows the device)."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return {
        "archive_days": settings.ARCHIVE_DAYS,
        "proposal_days": settings.PROPOSAL_DAYS,
        "theme": theme if theme in THEMES else "",
    }


_ANY_ID = str(UUID(int=0))


@cache
def _around(route: str, any_value: Hashable, in_path: str, _prefix: str) -> tuple[str, str]:
    before, _, after = reverse(route, args=[any_value]).partition(in_path)
    return before, after


def page_address(route: str, key: object) -> str:
    """Return the URL of an object's page, given its id; as ``reverse`` does, which searches its route each time."""
    before, after = _around(route, _ANY_ID, _ANY_ID, get_script_prefix())
    return f"{before}{key}{after}"


def agent_link(agent_id: UUID | None, name: str | None) -> str:
    """Return the name of an agent as a link to its page; '' without an agent."""
    return format_html('<a href="{}">{}</a>', page_address("agent-page", agent_id), name) if agent_id else ""


def undo_address(first: int, last: int) -> str:
    """Return the URL that undoes an action, given its first and its last revision."""
    before, after = _around("undo", ((0, 0),), "0/0", get_script_prefix())
    return f"{before}{first}/{last}{after}"


def takes_uploads(view: View) -> View:
    """Mark a view as accepting uploads."""
    view.takes_uploads = True  # type: ignore[attr-defined]
    return view


def for_person(
    view: Callable[Concatenate[PageRequest, Principal, Rest], HttpResponseBase],
) -> Callable[Concatenate[PageRequest, Rest], HttpResponseBase]:
    """Decorate a view: pass the principal of the signed-in person, activate their language and time zone.

    Others are redirected to the sign-in and back. Invisible objects answer 404.
    """

    @never_cache
    @wraps(view)
    def page(request: PageRequest, /, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        principal = principal_of(request)
        use_language(principal.language)
        with timezone.override(principal.time_zone):
            try:
                return view(request, principal, *args, **kwargs)
            except NotFound as error:
                raise Http404 from error

    return page


@contextmanager
def telling_refusals(request: PageRequest) -> Iterator[None]:
    """Show a refusal as a message, and continue after the block. NotFound is raised."""
    try:
        yield
    except NotFound:
        raise
    except Refused as error:
        messages.error(request, error.detail)


def _to_sign_in(request: PageRequest) -> HttpResponseBase:
    # Return to a page, not to a form target or a fragment.
    shown = request.get_full_path() if request.method in {"GET", "HEAD"} else came_from(request, reverse("home"))
    page = page_of(request)
    back = page if page and urlsplit(page).path != reverse("sign-in") else shown
    answer = redirect_to_login(back)
    return HttpResponseClientRedirect(answer.url) if request.htmx else answer


def page_of(request: PageRequest) -> str:
    """Return our page that a form or fragment request came from, or ''."""
    if request.htmx:
        page = request.htmx.current_url_abs_path or ""
    else:
        told = urlsplit(request.headers.get("Referer", "")) if request.method == "POST" else urlsplit("")
        is_ours = told.netloc == request.get_host()
        page = f"{told.path}?{told.query}" if is_ours and told.query else told.path if is_ours else ""
    return page if _is_ours(page) else ""


def came_from(request: PageRequest, otherwise: str) -> str:
    """Return the URL of our page that a form was sent from."""
    back = request.POST.get("next", "")
    return back if _is_ours(back) else otherwise


def _is_ours(address: str) -> bool:
    """Whether a redirect stays on this site (``//host`` does not)."""
    return address.startswith("/") and url_has_allowed_host_and_scheme(address, allowed_hosts=None)


def origin_of(back: str, otherwise: str) -> ResolverMatch:
    """Return a URL if it is one of our pages, else the default."""
    try:
        return resolve(urlsplit(back).path)
    except Resolver404:
        return resolve(otherwise)


def neighbours_of(page: Page[Any], address: Callable[[int], str]) -> dict[str, str]:
    """Return the URLs of the previous and the next page, or ''."""
    return {
        "earlier": address(page.previous_page_number()) if page.has_previous() else "",
        "later": address(page.next_page_number()) if page.has_next() else "",
    }
