"""The admin's sidebar, and the tables on the Records page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from .dashboard import count_waiting

# Title, icon, the page's URL name, the counts added up in its badge, and the badge's variant.
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

# The Records page: each group's title with the title and model of its lists.
RECORDS: list[tuple[str, list[tuple[str, str]]]] = [
    (
        "Facts",
        [
            ("Facts", "facts_legacyfact"),
            ("Duplicates, contradictions", "facts_factlink"),
            ("Wordings", "facts_factversion"),
            ("Evidence", "facts_factevidence"),
            ("Perhaps out of date", "statements_doubt"),
            ("Over a cap", "statements_candidate"),
            ("Kept from coming back", "statements_suppression"),
        ],
    ),
    (
        "Memories",
        [
            ("Memories", "memories_memory"),
            ("Versions", "memories_memoryversion"),
            ("Borne out by", "memories_memoryevidence"),
            ("Uses", "memories_memoryuse"),
            ("Relations", "memories_relation"),
            ("Shown to agents", "memories_disclosure"),
            ("Proposals", "memories_proposal"),
            ("Proposed because of", "memories_proposalevidence"),
            ("Tones and goals given", "memories_fieldsignal"),
            ("Plans to merge", "memories_memoryplan"),
            ("Merges planned", "memories_memoryplanitem"),
            ("Memories to merge", "memories_memoryplansource"),
            ("Pairs compared", "memories_comparedpair"),
            ("Places", "memories_place"),
            ("Place names", "memories_placeversion"),
            ("Mentions of places", "memories_placemention"),
        ],
    ),
    (
        "People and legacies",
        [
            ("People", "accounts_user"),
            ("Legacies", "accounts_legacy"),
            ("Members", "accounts_member"),
            ("Invitations", "accounts_invitation"),
            ("Preferences", "accounts_preferences"),
            ("Names elsewhere", "accounts_externalidentity"),
        ],
    ),
    (
        "Agents and keys",
        [
            ("Agents", "accounts_agent"),
            ("Keys", "accounts_agentkey"),
            ("Grants", "accounts_grant"),
            ("Webhooks", "memories_webhook"),
            ("Deliveries", "memories_webhookdelivery"),
        ],
    ),
    (
        "Conversations",
        [
            ("Conversations", "conversations_conversation"),
            ("Messages", "conversations_message"),
            ("Withheld words", "conversations_withheld"),
            ("Summaries", "conversations_conversationchunk"),
            ("Replies", "assistant_reply"),
            ("Imports", "conversations_conversationimport"),
            ("Uploads", "conversations_importpart"),
            ("States of agents", "conversations_checkpoint"),
            ("Writes between states", "conversations_checkpointwrite"),
        ],
    ),
    (
        "Log",
        [
            ("Jobs", "journal_jobrun"),
            ("Changes", "journal_change"),
            ("Undo steps", "journal_undostep"),
            ("Exports", "journal_export"),
            ("Pieces of exports", "journal_exportpart"),
            ("Erasures", "journal_erasure"),
            ("Erased", "journal_erased"),
            ("Operations", "journal_operationevent"),
            ("Use of models", "journal_modeluse"),
            ("Ledgers", "journal_ledger"),
            ("Repeated requests", "journal_idempotencyrecord"),
        ],
    ),
]


def groups(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar's only group for the theme, with badges."""
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
    """Return the label and colour that mark a development deployment; None otherwise."""
    return ["Development", "info"] if settings.DEBUG else None


@dataclass(frozen=True, slots=True)
class Table:
    """A list of records with a one-sentence description."""

    title: str
    about: str
    link: str


def tables() -> list[tuple[str, list[Table]]]:
    """Return all lists by group."""
    return [(title, [_table(*entry) for entry in entries]) for title, entries in RECORDS]


def _table(title: str, name: str) -> Table:
    app, model = name.split("_", 1)
    registered = admin.site.get_model_admin(apps.get_model(app, model))
    about = (registered.__doc__ or "").strip().split("\n", maxsplit=1)[0]
    return Table(title, about, reverse(f"admin:{name}_changelist"))
