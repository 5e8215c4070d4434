"""The sidebar: eight entries, named by what staff do; every table of records is behind the last of them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from .dashboard import count_waiting

# Title, icon, the page's name, and what counts on its badge with the badge's kind.
ENTRIES: list[tuple[str, str, str, tuple[str, ...], str]] = [
    ("Board", "monitoring", "index", (), ""),
    ("Moderation", "gpp_maybe", "waiting", ("quarantined", "memories"), "danger"),
    ("Jobs", "work_history", "journal_jobrun_changelist", ("failing",), "danger"),
    ("People", "person", "accounts_user_changelist", (), ""),
    ("Legacies", "diversity_1", "accounts_legacy_changelist", (), ""),
    ("Agents", "smart_toy", "accounts_agent_changelist", (), ""),
    ("Log", "receipt_long", "journal_change_changelist", (), ""),
    ("Records", "folder_open", "records", (), ""),
]


def groups(request: HttpRequest) -> list[dict[str, Any]]:
    """The sidebar's one group in the form that the theme draws, with what waits as badges."""
    paths = [reverse(f"admin:{name}") for _, _, name, _, _ in ENTRIES]
    first, *others, records = paths
    here = first if request.path == first else next((path for path in others if request.path.startswith(path)), records)
    items = []
    for (title, icon, _, counted, variant), path in zip(ENTRIES, paths, strict=True):
        drawn: dict[str, Any] = {"title": title, "icon": icon, "link": path, "active": path == here}
        if counted:
            waiting = count_waiting(request)
            drawn["badge"], drawn["badge_variant"] = sum(waiting[each] for each in counted), variant
        items.append(drawn)
    return [{"items": items}]


def environment(request: HttpRequest) -> list[str] | None:
    """A label beside the page's name on anything but a deployment that serves people."""
    return ["Development", "info"] if settings.DEBUG else None
