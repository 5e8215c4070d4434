"""The sidebar: groups named by what staff do."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from .dashboard import count_waiting

# Title, icon, the list's name and its query; what waits there shows as a badge.
Entry = tuple[str, str, str, str]
GROUPS: list[tuple[str, list[Entry]]] = [
    (
        "Moderation",
        [
            ("Quarantined facts", "gpp_maybe", "facts_legacyfact", "state__exact=quarantined"),
            ("Hidden facts", "visibility_off", "facts_legacyfact", "state__exact=hidden"),
            ("Quarantined memories", "gpp_maybe", "memories_memory", "state__exact=quarantined"),
            ("All facts", "format_quote", "facts_legacyfact", ""),
            ("Duplicates, contradictions", "compare_arrows", "facts_factlink", ""),
            ("Wordings", "history", "facts_factversion", ""),
            ("Evidence", "fact_check", "facts_factevidence", ""),
            ("Perhaps out of date", "update", "statements_doubt", ""),
            ("Over a cap", "hourglass_empty", "statements_candidate", ""),
            ("Kept from coming back", "do_not_disturb_on", "statements_suppression", ""),
        ],
    ),
    (
        "Memories",
        [
            ("All memories", "psychology", "memories_memory", ""),
            ("Versions", "history", "memories_memoryversion", ""),
            ("Borne out by", "fact_check", "memories_memoryevidence", ""),
            ("Uses", "bar_chart", "memories_memoryuse", ""),
            ("Relations", "account_tree", "memories_relation", ""),
            ("Shown to agents", "visibility", "memories_disclosure", ""),
            ("Proposals", "rate_review", "memories_proposal", ""),
            ("Proposed because of", "quick_reference", "memories_proposalevidence", ""),
            ("Tones and goals given", "campaign", "memories_fieldsignal", ""),
            ("Plans to merge", "merge", "memories_memoryplan", ""),
            ("Merges planned", "call_merge", "memories_memoryplanitem", ""),
            ("Memories to merge", "account_tree", "memories_memoryplansource", ""),
            ("Pairs compared", "compare_arrows", "memories_comparedpair", ""),
            ("Places", "place", "memories_place", ""),
            ("Place names", "edit_location", "memories_placeversion", ""),
            ("Mentions of places", "pin_drop", "memories_placemention", ""),
        ],
    ),
    (
        "People and legacies",
        [
            ("People", "person", "accounts_user", ""),
            ("Legacies", "diversity_1", "accounts_legacy", ""),
            ("Members", "group", "accounts_member", ""),
            ("Invitations", "mail", "accounts_invitation", ""),
            ("Preferences", "tune", "accounts_preferences", ""),
            ("Names elsewhere", "badge", "accounts_externalidentity", ""),
        ],
    ),
    (
        "Agents and keys",
        [
            ("Agents", "smart_toy", "accounts_agent", ""),
            ("Keys", "key", "accounts_agentkey", ""),
            ("Grants", "verified_user", "accounts_grant", ""),
        ],
    ),
    (
        "Conversations",
        [
            ("Conversations", "forum", "conversations_conversation", ""),
            ("Messages", "chat", "conversations_message", ""),
            ("Withheld words", "content_cut", "conversations_withheld", ""),
            ("Summaries", "summarize", "conversations_conversationchunk", ""),
            ("Replies", "smart_toy", "assistant_reply", ""),
            ("Imports", "upload_file", "conversations_conversationimport", ""),
            ("Uploads", "attach_file", "conversations_importpart", ""),
            ("States of agents", "save", "conversations_checkpoint", ""),
            ("Writes between states", "edit_note", "conversations_checkpointwrite", ""),
        ],
    ),
    (
        "Jobs",
        [
            ("Failing", "error", "journal_jobrun", "is=failing"),
            ("Running", "progress_activity", "journal_jobrun", "is=running"),
            ("All jobs", "work_history", "journal_jobrun", ""),
        ],
    ),
    (
        "Log",
        [
            ("Changes", "receipt_long", "journal_change", ""),
            ("Undo steps", "undo", "journal_undostep", ""),
            ("Exports", "folder_zip", "journal_export", ""),
            ("Pieces of exports", "attach_file", "journal_exportpart", ""),
            ("Erasures", "delete_forever", "journal_erasure", ""),
            ("Erased", "scan_delete", "journal_erased", ""),
            ("Operations", "monitoring", "journal_operationevent", ""),
            ("Use of models", "token", "journal_modeluse", ""),
            ("Ledgers", "menu_book", "journal_ledger", ""),
            ("Repeated requests", "repeat", "journal_idempotencyrecord", ""),
        ],
    ),
]
BADGES = {
    ("facts_legacyfact", "state__exact=quarantined"): ("quarantined", "danger"),
    ("facts_legacyfact", "state__exact=hidden"): ("hidden", "warning"),
    ("memories_memory", "state__exact=quarantined"): ("memories", "danger"),
    ("journal_jobrun", "is=failing"): ("failing", "danger"),
    ("journal_jobrun", "is=running"): ("running", "info"),
}


def groups(request: HttpRequest) -> list[dict[str, Any]]:
    """The sidebar's groups in the form that the theme draws, with what waits as badges."""
    first = reverse("admin:index")
    home = {"title": "What waits", "icon": "inbox", "link": first, "active": request.path == first}
    drawn: list[dict[str, Any]] = [{"items": [home]}]
    for title, entries in GROUPS:
        items = [_draw(request, entry) for entry in entries]
        drawn.append({"title": title, "separator": True, "items": items})
    return drawn


def _draw(request: HttpRequest, entry: Entry) -> dict[str, Any]:
    title, icon, name, query = entry
    queues = [narrowed for listed, narrowed in BADGES if listed == name]
    path = reverse(f"admin:{name}_changelist")
    drawn: dict[str, Any] = {"title": title, "icon": icon, "link": f"{path}?{query}" if query else path}
    here = request.path.startswith(path)
    if query:
        drawn["active"] = here and request.path == path and _asks(request, query)
        what, variant = BADGES[name, query]
        drawn["badge"], drawn["badge_variant"] = count_waiting(request)[what], variant
    else:
        drawn["active"] = here and not (request.path == path and any(_asks(request, each) for each in queues))
    return drawn


def _asks(request: HttpRequest, query: str) -> bool:
    return all(request.GET.get(key) == value for key, value in parse_qsl(query))


def environment(request: HttpRequest) -> list[str] | None:
    """A label beside the page's name on anything but a deployment that serves people."""
    return ["Development", "info"] if settings.DEBUG else None
