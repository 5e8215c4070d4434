"""The ``/memory`` command: list, delete and restore memories by typing, without a model.

Parsed and executed here for REST, the chat and messengers. Answers are plain text that fits into one message, in the
active language; stored text is one line each, without markup, in the second person where that is clear.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

import regex
from django.conf import settings
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from accounts import categories
from accounts.policy import must_act_for, must_read
from accounts.principals import Principal
from journal.exceptions import Conflict, NotFound, Refused
from journal.models import Change, IdempotencyRecord
from memories.actions import memory_archive, memory_restore
from memories.models import Memory, Proposal
from memories.models.memory import ID_CHARACTERS
from memories.policy import writing
from memories.querysets import MemoryQuerySet
from statements.policy.naming import in_second_person

LONGEST_ANSWER = 4_096
"""UTF-16 code units, which are at least as many as characters however a messenger counts."""
_HELP = gettext_noop("""\
/memory shows what is remembered about you.
/memory list <category> <page> shows a category, or a page of a long list.
/memory delete <id> removes a memory.
/memory restore <id> brings it back, for %(days)s days.
/memory help shows this.""")
HELP = _HELP % {"days": settings.ARCHIVE_DAYS}
"""In English."""

_OFF = gettext_noop("Memory is switched off: agents are shown nothing of what is remembered.")
_SHOWN = ("id", "category", "subject", "content", "state", "purge_at")
_LONGEST_LINE = 1_100
_AROUND_THE_LIST = 600
_BEGINNING = regex.compile(r"/(\w{1,32})(?:@(\w{1,64}))?", regex.ASCII)
# Characters that messengers and keyboards insert for blanks.
_BLANKS = regex.compile(r"[\s\u200b\u2060\ufeff]+")
_PAGE = regex.compile(r"[0-9]{1,6}")
_ID = regex.compile(rf"[A-Za-z0-9]{{{ID_CHARACTERS}}}")
_AROUND_AN_ID = "[](){}<>\"'`´‘’“”«».,;:!"


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message that starts with a command: its lower-case name, the addressed bot, the remaining words."""

    name: str
    bot: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A parsed ``/memory`` command. ``memory_id`` and ``category`` as typed; pages count from 1."""

    name: Literal["list", "delete", "restore", "help"]
    memory_id: str = ""
    category: str = ""
    page: int = 1


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """The result of a command: a ``text`` of at most ``LONGEST_ANSWER`` characters, and the same as ``data``.

    ``data`` has ``command``; a list also ``category`` ('' for all), ``page``, ``pages``, ``count`` of active memories,
    and ``memories`` of the page; a change also ``memory`` and ``outcome``: archived, restored, unchanged or waiting
    (for the person).
    """

    text: str
    data: dict[str, Any] = field(default_factory=dict)


def read_words(text: str) -> Spoken | None:
    """Parse a message that starts with a command such as ``/memory`` or ``/memory@some_bot``; None for others."""
    first, *words = [word for word in _BLANKS.split(text) if word] or [""]
    begins = _BEGINNING.fullmatch(first)
    return Spoken(begins[1].lower(), begins[2] or "", tuple(words)) if begins else None


def parse(text: str) -> Command | None:
    """Parse a ``/memory`` command; ``help`` if it is unclear; None for other messages."""
    spoken = read_words(text)
    if spoken is None or spoken.name != "memory":
        return None
    if not spoken.words:
        return Command("list")
    name, *rest = spoken.words
    match name.lower():
        case "list":
            page = int(rest.pop()) if rest and _PAGE.fullmatch(rest[-1]) else 1
            return Command("list", category="_".join(rest), page=page)
        case "delete":
            return Command("delete", memory_id=_bare_id(rest))
        case "restore":
            return Command("restore", memory_id=_bare_id(rest))
        case _:
            return Command("help")


def _bare_id(words: Iterable[str]) -> str:
    """Strip copied decoration such as ``[id:a1b2c3d4]`` from an id."""
    return "".join(words).strip(_AROUND_AN_ID).removeprefix("id:").strip(_AROUND_AN_ID)


def run_command(principal: Principal, text: str) -> CommandAnswer:
    """Execute a ``/memory`` command.

    A list needs the scope read, a change also write. A repeated change is reported as unchanged. Raises Refused (400
    ``no_command``, ``no_page``, ``bad_id``, ``unknown_category``), NotFound (``purged`` where the person had it once),
    NotAllowed, and what ``memory_archive`` and ``memory_restore`` raise.
    """
    must_read(principal)
    must_act_for(principal)
    match (command := _parsed(text)).name:
        case "list":
            return _list(principal, command)
        case "delete":
            return _delete(principal, _checked_id(command))
        case "restore":
            return _restore(principal, _checked_id(command))
        case "help":
            return CommandAnswer(_(_HELP) % {"days": settings.ARCHIVE_DAYS}, {"command": "help"})


def repeat_answer(principal: Principal, text: str, record: IdempotencyRecord) -> CommandAnswer:
    """Answer a repeated request with the current state of the memory."""
    command = _parsed(text)
    waits = record.object_type == "proposal"
    memory_id = record.object_ids[0]
    if waits:
        proposals = Proposal.objects.visible_to(principal).filter(pk=memory_id)
        memory_id = proposals.values_list("memory_id", flat=True).first()
    memory = _find(principal, memory_id)
    if command.name == "delete":
        return _deleted(memory, "waiting" if waits else "archived")
    return _restored(memory, _come_back(memory))


def _parsed(text: str) -> Command:
    command = parse(text)
    if command is None:
        raise Refused(_("A command begins with /memory. /memory help shows what it can do."), code="no_command")
    return command


# --- One memory -------------------------------------------------------------------------------------------------


def _delete(principal: Principal, memory_id: str) -> CommandAnswer:
    try:
        change = memory_archive(principal, memory_id)
    except NotFound as error:
        raise _no_such(principal, memory_id) from error
    except Conflict as error:
        if error.extra.get("state") != Memory.State.ARCHIVED:
            raise
        return _deleted(_find(principal, memory_id), "unchanged")
    return _deleted(change.memory, "archived" if change.proposal is None else "waiting")


def _deleted(memory: Memory, outcome: str) -> CommandAnswer:
    said = {
        "archived": _("Deleted: '%(content)s'"),
        "unchanged": _("Deleted already: '%(content)s'"),
        "waiting": _("To be deleted when you approve it: '%(content)s'"),
    }
    named = {"id": memory.pk, "days": settings.ARCHIVE_DAYS}
    back = "" if outcome == "waiting" else _("/memory restore %(id)s brings it back, for %(days)s days.") % named
    return _about(memory, "delete", outcome, said[outcome], back)


def _restore(principal: Principal, memory_id: str) -> CommandAnswer:
    try:
        memory = memory_restore(principal, memory_id)
    except NotFound as error:
        raise _no_such(principal, memory_id) from error
    except Conflict as error:
        if error.extra.get("state") != Memory.State.ACTIVE:
            raise
        return _restored(_find(principal, memory_id), "unchanged")
    return _restored(memory, _come_back(memory))


def _come_back(memory: Memory) -> str:
    return "waiting" if memory.state in {Memory.State.PROPOSED, Memory.State.QUARANTINED} else "restored"


def _restored(memory: Memory, outcome: str) -> CommandAnswer:
    said = {
        "restored": _("Restored: '%(content)s'"),
        "unchanged": _("It is there already: '%(content)s'"),
        "waiting": _("Restored, and waits to be reviewed: '%(content)s'"),
    }
    return _about(memory, "restore", outcome, said[outcome], "")


def _about(memory: Memory, command: str, outcome: str, said: str, after: str) -> CommandAnswer:
    content = shortened(in_second_person(memory.content), LONGEST_ANSWER - _AROUND_THE_LIST)
    text = "\n".join(filter(None, (said % {"content": content}, after)))
    shown = {name: getattr(memory, name) for name in _SHOWN}
    return CommandAnswer(text, {"command": command, "outcome": outcome, "memory": shown})


def _checked_id(command: Command) -> str:
    if not command.memory_id:
        which = _("Say which one: /memory %(command)s <id>. /memory list shows the ids.")
        raise Refused(which % {"command": command.name}, code="bad_id")
    if not _ID.fullmatch(command.memory_id):
        form = _("An id has %(count)s letters and digits, and one is named at a time. /memory list shows them.")
        raise Refused(form % {"count": ID_CHARACTERS}, code="bad_id")
    return command.memory_id


def _find(principal: Principal, memory_id: str) -> Memory:
    memory = Memory.objects.visible_to(principal).without_vectors().filter(pk=memory_id).first()
    if memory is None:
        raise _no_such(principal, memory_id)
    return memory


def _no_such(principal: Principal, memory_id: str) -> NotFound:
    """Return the error for a missing memory; only who decides for the person learns that it was purged."""
    if principal.decides_what_returns:
        log = Change.objects.of_owner(must_act_for(principal)).filter(object_type="memory", object_id=memory_id)
        purged_at = log.filter(event=Change.Event.PURGE).values_list("at", flat=True).last()
        if purged_at is not None:
            named = {"id": memory_id, "day": _day(principal, purged_at)}
            return NotFound(_("The memory %(id)s was purged on %(day)s. It can't come back.") % named, code="purged")
    return NotFound(_("There is no memory %(id)s. /memory list shows those that there are.") % {"id": memory_id})


# --- Lists ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a list with its heading."""

    heading: str
    text: str
    memory: Mapping[str, Any]


def _list(principal: Principal, command: Command) -> CommandAnswer:
    visible = Memory.objects.visible_to(principal)
    category = _canonical(principal, command.category) if command.category else ""
    if category:
        visible = visible.filter(category=category)
    active, archived = _rows(visible)
    lines = [
        *(_Line(_heading(memory["category"]), _line(memory), memory) for memory in active),
        *(_Line(_("Archived"), _line(memory, _day(principal, memory["purge_at"])), memory) for memory in archived),
    ]
    pages = list(_in_pages(lines, LONGEST_ANSWER - _AROUND_THE_LIST))
    if not 1 <= command.page <= len(pages):
        none = ngettext(
            "There is no page %(page)s: this list has %(pages)s page.",
            "There is no page %(page)s: this list has %(pages)s pages.",
            len(pages),
        )
        raise Refused(none % {"page": command.page, "pages": len(pages)}, code="no_page")
    page = pages[command.page - 1]
    data = {
        "command": "list",
        "category": category,
        "page": command.page,
        "pages": len(pages),
        "count": len(active),
        "memories": [line.memory for line in page],
    }
    if principal.kind == "agent" and not principal.has_memory:
        return CommandAnswer(_(_OFF), data)
    return CommandAnswer(_list_text(page, command.page, len(pages), category), data)


def _rows(visible: MemoryQuerySet) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return active memories by category, and restorable ones, latest first, with the shown columns."""
    active = visible.active().unexpired(timezone.now()).order_by("category", "created_at", "pk")
    archived = visible.filter(state=Memory.State.ARCHIVED).order_by("-deleted_at", "pk")
    return list(active.values(*_SHOWN)), list(archived.values(*_SHOWN))


def _canonical(principal: Principal, name: str) -> str:
    """Return the category of a typed name, also a translated one. Raises Refused with the names, NotAllowed."""
    known = categories.load()
    called = {_called(each).casefold(): each for each in known.by_name}
    found = known.canonical(name) or called.get(_words(name).casefold())
    if found is None:
        names = ", ".join(sorted(map(_called, known.by_name)))
        none = _("There is no category %(name)s. There are: %(names)s.")
        raise Refused(none % {"name": shortened(name, 50), "names": names}, code="unknown_category")
    return writing.must_file_under(principal, found)


def _in_pages(lines: Sequence[_Line], longest: int) -> Iterator[list[_Line]]:
    """Paginate whole lines with headings, at most ``longest`` units per page; one empty page without lines."""
    page: list[_Line] = []
    used = 0
    for line in lines:
        cost = _units(line.text) + 1
        heading = _units(line.heading) + 2
        begins = not page or page[-1].heading != line.heading
        if page and used + cost + begins * heading > longest:
            yield page
            page, used, begins = [], 0, True
        page.append(line)
        used += cost + begins * heading
    yield page


def _list_text(page: Sequence[_Line], number: int, pages: int, category: str) -> str:
    called = _called(category)
    named = {"category": _words(called), "page": number, "pages": pages}
    if not page and category:
        return _("Nothing is remembered under %(category)s.") % named
    if not page:
        return _("Nothing is remembered about you yet.")
    if category:
        some, all_of = (
            _("Your memories under %(category)s, page %(page)s of %(pages)s:"),
            _("Your memories under %(category)s:"),
        )
    else:
        some, all_of = _("Your memories, page %(page)s of %(pages)s:"), _("Your memories:")
    parts = [(some if pages > 1 else all_of) % named]
    heading = ""
    for line in page:
        if line.heading != heading:
            heading = line.heading
            parts += ["", heading]
        parts.append(line.text)
    parts += ["", _("Use /memory delete <id> to remove a memory.")]
    if any(line.memory["state"] == Memory.State.ARCHIVED for line in page):
        parts.append(_("Use /memory restore <id> to bring an archived one back."))
    if number < pages:
        named["where"] = f"{called} {number + 1}".strip()
        parts.append(_("Use /memory list %(where)s to see more.") % named)
    return "\n".join(parts)


def _line(memory: Mapping[str, Any], until: str = "") -> str:
    after = " " + _("(until %(day)s)") % {"day": until} if until else ""
    return f"• [{memory['id']}] {shortened(in_second_person(memory['content']), _LONGEST_LINE)}{after}"


def _heading(category: str) -> str:
    return _(_words(category).capitalize())


def _called(category: str) -> str:
    """Return the name of a category in the active language, or its own where that has none."""
    heading = _heading(category)
    return category if heading == _words(category).capitalize() else heading


def _words(category: str) -> str:
    return category.replace("_", " ")


# --- Text -------------------------------------------------------------------------------------------------------


def _day(principal: Principal, at: datetime | None) -> str:
    """Format a date in the person's time zone, as in ``3 May 2026``; '' for None."""
    return format_date(timezone.localtime(at, ZoneInfo(principal.time_zone)), _("j F Y")) if at else ""


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def shortened(text: str, longest: int = LONGEST_ANSWER) -> str:
    """Shorten a text to one line of ``longest`` UTF-16 code units, ending with …, splitting no character."""
    text = " ".join(text.split())
    if _units(text) <= longest:
        return text
    kept: list[str] = []
    left = longest - 1
    for character in regex.findall(r"\X", text):
        left -= _units(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"
