"""What axe-core finds on each page, in light and dark, on a phone and on a desktop: nothing."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone

from accounts.queries import principal_for_person
from facts import actions
from facts.models import LegacyFact
from memories.actions import optimize_plan
from tests.factories import LegacyFactFactory, MemoryFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
SIZES = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1440, "height": 900}}


def found_on(tab):
    """The rules that a page breaks, each with the elements that break it."""
    broken = Axe().run(tab, options=RULES).response["violations"]
    return [(rule["id"], [node["html"][:160] for node in rule["nodes"]]) for rule in broken]


@pytest.fixture
def facts(owner, member, legacy, told):
    """Facts that show everything that can be shown: links, history, hidden, held back, shared by others, removed."""
    principal = principal_for_person(owner.pk)
    said = ["My grandmother Rosa was a midwife.", "She was patient.", "She hated waste.", "She kept bees."]
    facts = told(owner, legacy, *said)
    shared = LegacyFactFactory(legacy=legacy, user=member, content="Rosa was a nurse.", visibility="shared")
    facts[0].links_from.create(to_fact=shared, kind="contradicts", strength=0.9)
    actions.fact_edit(principal, facts[1].pk, content="She was very patient.")
    actions.fact_set_visibility(principal, facts[1].pk, "shared")
    actions.fact_reject(principal, facts[2].pk, "No")
    LegacyFact.objects.filter(pk=facts[3].pk).update(
        state="quarantined", active_since=None, quarantined_at=timezone.now(), state_reason="An order"
    )
    return facts


@pytest.fixture
def plan(owner):
    """A plan that would merge two memories."""
    for content in ("The user's dog is called Rufus.", "The user has a dog named Rufus."):
        MemoryFactory(user=owner, content=content)
    return optimize_plan(principal_for_person(owner.pk))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_pages_keep_nobody_out(tab, owner, legacy, facts, plan, scheme, size):
    tab.emulate_media(color_scheme=scheme)
    tab.set_viewport_size(SIZES[size])
    found = {"/sign-in/": tab.goto("/sign-in/") and found_on(tab)}
    tab.sign_in(owner)
    for path in (
        "/",
        "/review/",
        f"/review/?item=fact-{facts[3].pk}",
        "/review/?item=end",
        "/facts/",
        "/facts/?search=nothing+like+it",
        f"/legacies/{legacy.pk}/?show=waiting",
        f"/legacies/{legacy.pk}/?show=shared",
        f"/legacies/{legacy.pk}/?show=gone",
        f"/facts/{facts[1].pk}/",
        "/preferences/",
        "/memories/tidy/",
        f"/memories/tidy/{plan.pk}/",
        "/nothing/here/",
    ):
        tab.goto(path)
        found[path] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


def test_what_opens_keeps_nobody_out(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto("/review/")
    tab.get_by_role("button", name="Keys").wait_for()
    tab.keyboard.press("e")
    found = {"edit": found_on(tab)}
    tab.keyboard.press("Escape")
    tab.keyboard.press("?")
    found["keys"] = found_on(tab)
    tab.keyboard.press("Escape")
    tab.keyboard.press("a")
    tab.get_by_role("heading", name="Just decided").wait_for()
    found["decided"] = found_on(tab)
    tab.goto("/facts/")
    tab.get_by_text("Filters and order").click()
    found["filters"] = found_on(tab)
    tab.locator(".pick input").first.check()
    tab.get_by_role("button", name="Reject …").click()
    tab.get_by_role("heading", name="Reject 1 fact?").wait_for()
    found["bulk"] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}
