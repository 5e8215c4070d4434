"""Pictures of the pages on the demo's data: ``python -m tests.screens [--out DIRECTORY] [--readme]``.

Loads the demo into the database that the environment names, which has to be empty, and takes each page at two widths,
in light and dark. ``make screens`` runs it on throw-away servers. Add a line to ``PAGES`` for another page.
``--readme`` writes the few that the README shows to ``docs/screens/``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import django

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "docs" / "screens"
WIDTHS = {"phone": (390, 844), "desktop": (1440, 900)}
SCHEMES = ("light", "dark")
DESKTOP, PHONE = "desktop-light", "phone-dark"
PERSON, OTHER, STAFF = "maria", "tom", "admin"


@dataclass(frozen=True)
class Page:
    """A page to take: its address, who looks at it, what they do on it first, and the looks that the README shows.

    Names in braces in an address stand for things of the demo; ``places`` says for which.
    """

    name: str
    path: str
    person: str = PERSON
    act: Callable[[Any], object] | None = None
    readme: Sequence[str] = ()


def open_editor(page: Any) -> None:
    """Open the form that rewords the item of the queue."""
    page.keyboard.press("e")


def open_keys(page: Any) -> None:
    """Open the list of keys where there is a keyboard."""
    if page.locator("#keys-open").is_visible():
        page.keyboard.press("?")


def approve(page: Any) -> None:
    """Approve the item of the queue, and see it among what was just decided."""
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("heading", name="Latest decisions").wait_for()
    page.locator("form[action*='/undo/'] button").first.click()
    page.get_by_role("heading", name="Latest decisions").wait_for(state="detached")


def keep_out(page: Any) -> None:
    """Decide not to keep the item of the queue, nor its words."""
    page.get_by_role("button", name="Don’t keep").click()
    page.get_by_role("heading", name="Latest decisions").wait_for()


def keep_out_and_look(page: Any) -> None:
    """The same, and look at what is withheld then."""
    keep_out(page)
    page.goto(page.url.split("/review/")[0] + "/withheld/")


def tick_two(page: Any) -> None:
    """Choose the first two facts of a list, and ask what rejecting them comes to."""
    for box in page.locator(".pick input").all()[:2]:
        box.check()
    page.get_by_role("button", name="Reject …").click()


def say_something(page: Any) -> None:
    """Begin a talk with the assistant, and look at its answer."""
    page.get_by_label("What you want to say").fill("What do you know about Tom?")
    page.keyboard.press("Enter")
    page.wait_for_url("**/conversations/**")


def open_adding(page: Any) -> None:
    """Open the form for something more to remember, and the filters."""
    page.get_by_text("Add a memory").click()
    page.get_by_text("Filters and order").click()


def tick_two_memories(page: Any) -> None:
    """Choose the first two memories of a list, and ask what putting them away comes to."""
    for box in page.locator(".pick input").all()[:2]:
        box.check()
    page.get_by_role("button", name="Put away …").click()


def plan_tidying(page: Any) -> None:
    """Have memories looked through, of which some say the same."""
    say_it_twice()
    page.reload()
    page.get_by_role("button", name="Make a plan").click()


def tidy_and_look(page: Any) -> None:
    """Have memories looked through, and merge what is ticked."""
    plan_tidying(page)
    page.get_by_role("button", name="Merge selected").click()
    page.get_by_role("button", name="Undo all of it").wait_for()


def open_filing(page: Any) -> None:
    """Open the form that files a memory otherwise."""
    page.get_by_text("Change category").click()


def link_a_chat(page: Any) -> None:
    """Ask for the code that links a chat of Telegram."""
    page.get_by_role("button", name="Link a").click()


def collect_my_data(page: Any) -> None:
    """Have everything written into one file, as a worker does."""
    from assistant.takeout.export_actions import run_export
    from journal.models import JobRun

    page.get_by_role("button", name="Collect").click()
    for job in JobRun.objects.filter(kind="export", state="waiting"):
        run_export(job.pk)
    page.reload()


def open_blocking(page: Any) -> None:
    """Open what blocking comes to."""
    page.get_by_text("Block …").first.click()


def decline_and_look(page: Any) -> None:
    """Decline an invitation unless it was declined, and open its link again."""
    shown = page.url
    if page.get_by_role("button", name="Decline").count():
        page.get_by_role("button", name="Decline").click()
        page.goto(shown)


def wait_for_the_rest(page: Any) -> None:
    """Wait until what is looked for after the page is there."""
    page.get_by_text("Look for it").wait_for(state="detached")


def open_writing(page: Any) -> None:
    """Open the form that writes a fact down by hand."""
    page.get_by_text("Write down a fact").click()


def open_menu(page: Any) -> None:
    """Open what of the menu does not fit in its row."""
    page.get_by_text("More", exact=True).click()


def connect_an_agent(page: Any) -> None:
    """Make an agent of another name for each picture, and see its key."""
    from accounts.models import Agent

    page.get_by_label("Name").fill(f"Notebook {Agent.objects.count()}")
    page.get_by_role("button", name="Make a key").click()
    page.get_by_text("Waiting for its first call").wait_for()


def invite_somebody(page: Any) -> None:
    """Make an invitation, and see its link."""
    page.get_by_label("User name").fill("grandson")
    page.get_by_role("button", name="Make an invitation").click()
    page.get_by_role("heading", name="The invitation is made").wait_for()


def invite_and_look(page: Any) -> None:
    """Make an invitation, and see it among those that nobody has accepted; open what removing a member comes to."""
    invite_somebody(page)
    page.get_by_role("link", name="Back to").click()
    page.get_by_text("Remove …").first.click()


def erase_everything(page: Any) -> None:
    """Ask for everything to be erased, which waits a day."""
    if (keep := page.get_by_role("button", name="Keep everything")).is_visible():
        keep.click()  # From the picture before.
    page.locator("summary").filter(has_text="Erase everything").click()
    page.get_by_label("Type your name").fill("Maria Almeida")
    page.get_by_role("button", name="Erase everything in").click()
    page.get_by_role("button", name="Keep everything").wait_for()


def open_text(page: Any) -> None:
    """Open what a fact says, for a reason, with what can be decided about it."""
    more = page.locator("#header-inner a").filter(has_text="more_horiz")
    if more.is_visible():
        more.click()
    page.get_by_role("link", name="Open the text").click()
    page.get_by_label("Reason").fill("Judging what was held back")
    page.get_by_role("button", name="Open").click()
    page.get_by_role("dialog").wait_for()


PAGES = [
    Page("home", "/"),
    Page("review", "/review/"),
    Page("review-fact", "/review/?kind=facts", readme=[DESKTOP, PHONE]),
    Page("review-edit", "/review/", act=open_editor),
    Page("review-keys", "/review/", act=open_keys),
    Page("review-end", "/review/?item=end"),
    Page("review-change", "/review/", person=OTHER),
    Page("review-place", "/review/?item={place_proposal}", person=OTHER),
    Page("review-forget", "/review/?item={archive_proposal}", person=OTHER, act=approve),
    Page("review-memory", "/review/?item=memory-{double}"),
    Page("places", "/places/"),
    Page("places-removed", "/places/?show=removed"),
    Page("place", "/places/{place}/"),
    Page("home-before", "/", person=OTHER),
    Page("memories", "/memories/", readme=[PHONE]),
    Page("memories-to-approve", "/memories/?state=proposed"),
    Page("memories-archived", "/memories/?state=archived"),
    Page("memories-add", "/memories/", act=open_adding),
    Page("tidy", "/memories/tidy/"),
    Page("tidy-plan", "/memories/tidy/", act=plan_tidying),
    Page("tidy-done", "/memories/tidy/", act=tidy_and_look),
    Page("memories-bulk", "/memories/", act=tick_two_memories),
    Page("memory", "/memories/{memory}/"),
    Page("memory-filing", "/memories/{memory}/", act=open_filing),
    Page("memory-seen", "/memories/{memory}/seen/"),
    Page("memory-erase", "/memories/{memory}/erase/", act=wait_for_the_rest),
    Page("memory-unseen", "/memories/{double}/"),
    Page("facts", "/facts/?sort=changed", readme=[PHONE]),
    Page("legacy-waiting", "/legacies/{legacy}/?show=waiting"),
    Page("legacy-removed", "/legacies/{legacy}/?show=gone"),
    Page("legacy-write-down", "/legacies/{legacy}/", act=open_writing),
    Page("bulk", "/facts/", act=tick_two),
    Page("home-invited", "/", person=STAFF),
    Page("invitations", "/invitations/", person=STAFF, act=open_blocking),
    Page("invitation", "/invitations/{invitation}/", person=STAFF),
    Page("invitation-declined", "/invitations/{invitation}/", person=STAFF, act=decline_and_look),
    Page("legacy-members", "/legacies/{legacy}/members/", act=invite_and_look),
    Page("legacy-invited", "/legacies/{legacy}/members/", act=invite_somebody),
    Page("legacy-end", "/legacies/{legacy}/end/"),
    Page("fact", "/facts/{fact}/", readme=[PHONE]),
    Page("fact-erase", "/facts/{fact}/erase/", act=wait_for_the_rest),
    Page("conversations", "/conversations/"),
    Page("conversations-found", "/conversations/?search=kitchen"),
    Page("conversation", "/conversations/{conversation}/"),
    Page("timeline", "/timeline/"),
    Page("pictures", "/timeline/pictures/"),
    Page("talk", "/talk/"),
    Page("chat", "/talk/", act=say_something),
    Page("conversation-menu", "/conversations/{conversation}/", act=open_menu),
    Page("message-remove", "/conversations/{conversation}/1/remove/", act=wait_for_the_rest),
    Page("conversation-remove", "/conversations/{conversation}/remove/", act=wait_for_the_rest),
    Page("agents", "/agents/"),
    Page("agent", "/agents/{agent}/"),
    Page("agent-shown", "/agents/{agent}/shown/"),
    Page("agent-connect", "/agents/connect/"),
    Page("agent-connected", "/agents/connect/", act=connect_an_agent),
    Page("preferences", "/preferences/"),
    Page("my-data", "/data/"),
    Page("my-data-erase", "/data/", act=erase_everything),
    Page("my-data-ready", "/data/", act=collect_my_data),
    Page("telegram", "/preferences/", act=link_a_chat),
    Page("sign-in", "/sign-in/", person=""),
    # These change what waits, so they come after whatever shows it.
    Page("review-kept-out", "/review/?kind=facts", act=keep_out),
    Page("withheld", "/review/?kind=facts", act=keep_out_and_look),
    Page("staff", "/admin/", person=STAFF, readme=[DESKTOP, PHONE]),
    Page("staff-queue", "/admin/facts/legacyfact/?state__exact=quarantined", person=STAFF),
    Page("staff-fact", "/admin/facts/legacyfact/{held_back}/change/", person=STAFF),
    Page("staff-opened", "/admin/facts/legacyfact/{held_back}/change/", person=STAFF, act=open_text),
    Page("staff-jobs", "/admin/journal/jobrun/", person=STAFF),
    Page("staff-agents", "/admin/accounts/agent/", person=STAFF),
]


def main() -> None:
    """Load the demo, serve it, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "var" / "screens", help="where all pictures go")
    parser.add_argument("--readme", action="store_true", help="write the README's pictures too")
    parser.add_argument("--only", help="a page's name")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_project.settings")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright runs an event loop in this thread.
    django.setup()
    with demo_served() as address:
        take(address, options.out, [page for page in PAGES if options.only in {None, page.name}], options.readme)


@contextmanager
def demo_served() -> Iterator[str]:
    """The demo behind a web server of this process; gives its address."""
    from django.conf import settings
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.core.management import call_command
    from django.test import override_settings
    from django.test.testcases import LiveServerThread

    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    call_command("migrate", database="owner", verbosity=0)
    call_command("seed_demo", if_empty=True, stdout=sys.stderr)
    give_staff_work()
    ask_staff()
    show_agents()
    with override_settings(
        STORAGES={**settings.STORAGES, "staticfiles": plain},
        ALLOWED_HOSTS=["*"],
        WHITENOISE_AUTOREFRESH=True,
        TELEGRAM_SECRET_TOKEN="pictures",
        TELEGRAM_BOT_NAME="keepsake_bot",
    ):
        server = LiveServerThread("127.0.0.1", StaticFilesHandler)
        server.daemon = True
        server.start()
        server.is_ready.wait()
        if server.error:
            raise server.error
        yield f"http://127.0.0.1:{server.port}"
        server.terminate()


def give_staff_work() -> None:
    """Facts that are held back, a job that runs and two that fail, if there is nothing of it yet."""
    from accounts.models import User
    from accounts.queries import principal_for_staff
    from conversations.models import Conversation
    from facts.actions import fact_quarantine
    from facts.models import LegacyFact
    from journal.leases import (
        claim_job,
        fail_job,
        open_job,
        renew_lease,
        retry_job_later,
    )

    if LegacyFact.objects.filter(state="quarantined").exists():
        return
    staff = principal_for_staff(User.objects.get(username=STAFF))
    for fact in LegacyFact.objects.filter(user__username=OTHER, state__in=["active", "proposed"]).order_by("pk")[:3]:
        fact_quarantine(staff, fact.pk, "Reads like an order to a model.")
    talks = list(Conversation.objects.order_by("pk"))
    for talk, (done, fault) in zip(talks, ((9, ""), (0, "model_away"), (0, "bad_answer")), strict=False):
        job = claim_job(open_job("summarize", talk.pk, user_id=talk.user_id, total=20).pk, lease_seconds=600)
        if job is None:
            continue
        renew_lease(job, lease_seconds=600, done=done)
        if fault:
            (fail_job if fault == "bad_answer" else retry_job_later)(job, fault)


def show_agents() -> None:
    """Let the demo's agent, and one of the person's own, have seen a memory over the last days, unless they have."""
    from datetime import timedelta

    from django.utils import timezone

    from accounts.actions import agent_create
    from accounts.models import Agent, User
    from accounts.queries import principal_for_person
    from memories.actions import memories_used
    from memories.models import Disclosure

    person = User.objects.get(username=PERSON)
    if Disclosure.objects.filter(user=person).exists():
        return
    agent_create(principal_for_person(person.pk), "Editor")
    agents, ways = list(Agent.objects.order_by("name")), ("turn", "query", "turn", "context")
    for number in range(60):
        at = timezone.now() - timedelta(hours=7 * number)
        agent, by = agents[number % 5 % len(agents)], ways[number % len(ways)]
        Disclosure.objects.create(user=person, agent=agent, by=by, memories=[places()["memory"]], at=at)
        memories_used([places()["memory"]], at)


def say_it_twice() -> None:
    """Memories of which one says what another says; what was merged of them for an earlier picture is taken back."""
    from accounts.models import User
    from accounts.queries import principal_for_person
    from memories.actions import memory_add, optimize_revert
    from memories.models import Memory, MemoryPlan
    from memories.records import NewMemory

    person = principal_for_person(User.objects.get(username=PERSON).pk)
    for plan in MemoryPlan.objects.visible_to(person).filter(state="applied"):
        optimize_revert(person, plan.pk)
    for content, category in (
        ("Maria speaks Portuguese.", "profile"),
        ("Maria speaks English.", "profile"),
        ("Maria never drinks coffee.", "preference"),
        ("Maria doesn’t drink coffee.", "preference"),
    ):
        if not Memory.objects.visible_to(person).filter(content=content).exists():
            memory_add(person, NewMemory(content, category), insist=True)


def ask_staff() -> None:
    """Staff are asked to keep one legacy, and have blocked whoever asked them about another."""
    from accounts.actions import invitation_block, legacy_create
    from accounts.models import Invitation, User
    from accounts.queries import principal_for_person

    if Invitation.objects.filter(inviter__username="ines").exists():
        return
    staff, other, third = (principal_for_person(User.objects.get(username=name).pk) for name in (STAFF, OTHER, "ines"))
    _, (blocked,) = legacy_create(other, "Somebody else", [STAFF])
    invitation_block(staff, blocked.code)
    legacy_create(third, "Great-uncle Bento, the clockmaker of Braga", [STAFF])


def take(address: str, out: Path, pages: list[Page], readme: bool) -> None:
    """Write a picture of each page for each width and scheme."""
    from playwright.sync_api import sync_playwright

    from tests.conftest import chromium_program

    out.mkdir(parents=True, exist_ok=True)
    names = places()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_program(), args=["--no-sandbox"])
        # Page by page: what is done on one may change those after it in all looks.
        for page in pages:
            for width, (across, down) in WIDTHS.items():
                for scheme in SCHEMES:
                    context = browser.new_context(
                        base_url=address, viewport={"width": across, "height": down}, color_scheme=scheme
                    )
                    if page.person:
                        context.add_cookies([session_of(page.person, address)])
                    tab = context.new_page()
                    tab.goto(page.path.format(**names))
                    if page.act:
                        page.act(tab)
                    tab.wait_for_load_state("networkidle")
                    look = f"{width}-{scheme}"
                    tab.screenshot(path=out / f"{page.name}-{look}.png", full_page=True)
                    if readme and look in page.readme:
                        keep(tab, README / f"{page.name}-{look}.jpg")
                    context.close()
        browser.close()


def keep(tab: Any, file: Path) -> None:
    """Write a picture small enough for the repository: what fits the window, as JPEG."""
    file.parent.mkdir(parents=True, exist_ok=True)
    tab.screenshot(path=file, type="jpeg", quality=72)


def places() -> dict[str, str]:
    """What the placeholders in addresses stand for."""
    from accounts.models import Agent, Invitation, Legacy
    from conversations.models import Conversation
    from facts.models import LegacyFact
    from memories.models import Memory, Place, Proposal

    waiting = {each.kind: f"proposal-{each.pk}" for each in Proposal.objects.waiting().filter(user__username=OTHER)}
    unreviewed = Memory.objects.filter(user__username=PERSON, state="active", reviewed_at=None)
    double = unreviewed.order_by("-needs_check", "pk")
    memory = Memory.objects.filter(user__username=PERSON, state="active").order_by("-version", "id").first()
    fact = LegacyFact.objects.filter(user__username=PERSON, state="active").order_by("-version", "id").first()
    held_back = LegacyFact.objects.filter(state="quarantined").order_by("pk").first()
    return {
        "agent": str(Agent.objects.get(name="Editor").pk),
        "conversation": str(Conversation.objects.filter(user__username=PERSON).order_by("title")[0].pk),
        "legacy": str(Legacy.objects.get(memberships__user__username=PERSON).pk),
        "invitation": str(Invitation.objects.filter(inviter__username="ines")[0].pk),
        "fact": str(fact.pk) if fact else "",
        "held_back": str(held_back.pk) if held_back else "",
        "memory": memory.pk if memory else "",
        "double": double[0].pk if double else "",
        "place": str(Place.objects.filter(user__username=PERSON).present().order_by("name")[0].pk),
        "place_proposal": waiting["place"],
        "archive_proposal": waiting["archive"],
    }


def session_of(username: str, address: str) -> dict[str, str]:
    """The cookie of somebody who is signed in."""
    from django.conf import settings
    from django.test import Client

    from accounts.models import User

    client = Client()
    client.force_login(User.objects.get(username=username))
    session = client.cookies[settings.SESSION_COOKIE_NAME]
    return {"name": session.key, "value": session.value, "url": address}


if __name__ == "__main__":
    main()
