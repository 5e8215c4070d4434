"""Home: what waits for the person, and whom they remember."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import OuterRef, Subquery
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from accounts.actions import legacy_create
from accounts.models import Legacy
from accounts.principals import Principal
from assistant.demo import demo_sign_ins
from conversations.models import Conversation, Message
from journal.exceptions import Refused

from ..shelves import Numbers, numbers_by_legacy
from .frame import PageRequest, for_person, neighbours_of

LEGACIES_PER_PAGE = 24
LATEST_CONVERSATIONS = 5


class RememberForm(forms.Form):
    """Whom the person wants to remember."""

    name = forms.CharField(max_length=200, label="Remember somebody", widget=forms.TextInput({"autocomplete": "off"}))


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def home(request: PageRequest, principal: Principal) -> HttpResponse:
    """The person's legacies with what waits for them there and their latest conversations; or begin a legacy."""
    if request.method != "POST":
        return _show(request, principal, RememberForm(label_suffix=""))
    form = RememberForm(request.POST, label_suffix="")
    if form.is_valid():
        try:
            legacy = legacy_create(principal, form.cleaned_data["name"])
        except Refused as error:
            form.add_error("name", error.detail)
        else:
            messages.success(request, f"What is said about {legacy.name} is remembered from now on.")
            return redirect("legacy-page", legacy.pk)
    return _show(request, principal, form, status=400)


def _show(request: PageRequest, principal: Principal, form: RememberForm, status: int = 200) -> HttpResponse:
    legacies = Paginator(Legacy.objects.visible_to(principal).order_by("name", "pk"), LEGACIES_PER_PAGE)
    page = legacies.get_page(request.GET.get("page"))
    numbers = numbers_by_legacy(principal)
    last_said = Message.objects.visible_to(principal).filter(conversation=OuterRef("pk")).order_by("-index")
    conversations = Conversation.objects.visible_to(principal).annotate(said_at=Subquery(last_said.values("at")[:1]))
    latest = conversations.select_related("legacy").order_by("-created_at")
    guests = [] if legacies.count else demo_sign_ins()
    context = {
        "principal": principal,
        "form": form,
        "page": page,
        "shown": [(legacy, numbers.get(legacy.pk, Numbers())) for legacy in page],
        "waiting": sum(each.waiting for each in numbers.values()),
        "conversations": latest[:LATEST_CONVERSATIONS],
        "demo": [each for each in guests if each.name != request.user.get_username()],
        **neighbours_of(page, lambda number: f"?page={number}"),
    }
    return render(request, "desk/home.html", context, status=status)


urlpatterns = [path("", home, name="home")]
