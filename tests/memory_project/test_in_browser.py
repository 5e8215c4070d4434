"""The documentation and the admin in real Chromium, under the content security policy, with no other server."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from accounts.queries import principal_for_staff
from facts.actions import fact_quarantine
from tests import factories
from tests.desk.conftest import DESKTOP
from tests.desk.test_accessibility import END_ANIMATIONS, LOOKS, found_on

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_documentation_lists_every_room_and_keeps_nobody_out(tab, owner):
    tab.sign_in(owner)
    tab.goto("/api/docs/")
    tab.get_by_role("heading", name="The API").wait_for()
    for path in ("/api/v1/legacies/", "/api/v1/conversations/", "/api/v1/me/preferences/"):
        assert tab.get_by_text(path, exact=True).count() >= 1
    found = {"all": found_on(tab)}
    tab.get_by_label("Search").fill("prepare the next model call")
    tab.keyboard.press("Enter")
    tab.get_by_role("link", name="/api/v1/conversations/{conversation_id}/turn/").click()
    tab.get_by_role("heading", name="Call it").wait_for()
    found["one"] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}
    assert tab.faults == []


STAFF_PAGES = [
    "/admin/",
    "/admin/waiting/",
    "/admin/records/",
    "/admin/journal/change/?event__exact=PURGE",
    "/admin/facts/legacyfact/",
    "/admin/journal/jobrun/",
    "/admin/accounts/agent/",
]


def test_staff_pages_keep_nobody_out_fit_and_load_from_this_server_alone(tab, staff, owner, legacy):
    fact = factories.LegacyFactFactory(legacy=legacy)
    factories.JobRunFactory(subject_id="x" * 64, total=8)
    tab.sign_in(staff)
    change = f"/admin/facts/legacyfact/{fact.pk}/change/"

    def found(context=None):
        broken = set()
        tab.evaluate(Axe().axe_script)
        for size, scheme, rules in LOOKS:
            tab.set_viewport_size(size)
            tab.emulate_media(color_scheme=scheme)
            tab.evaluate(END_ANIMATIONS)
            checked = tab.evaluate("([context, rules]) => axe.run(context || document, rules)", [context, rules])
            broken |= {(each["id"], node["html"][:200]) for each in checked["violations"] for node in each["nodes"]}
            assert tab.evaluate("document.documentElement.scrollWidth") == size["width"], tab.url
        return broken

    talk = factories.ConversationFactory(user=owner)
    memory, bot = factories.MemoryFactory(user=owner), factories.AgentFactory(owner=owner)
    rows = [talk, factories.MessageFactory(conversation=talk), memory, bot, owner, legacy, factories.JobRunFactory()]
    pages = [f"/admin/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/change/" for row in rows]
    for path in [*STAFF_PAGES, "/admin/accounts/user/", *pages, change]:
        tab.goto(path)
        tab.get_by_role("heading", level=1).wait_for()
        assert found() == set(), path
    tab.set_viewport_size(DESKTOP)
    tab.get_by_role("link", name="Open the text").click()
    tab.get_by_label("Reason").fill("A complaint came in.")
    tab.get_by_role("button", name="Open").click()
    tab.get_by_role("dialog").get_by_text(fact.content).wait_for()
    assert found("#modal-content") == set()
    assert tab.faults == []


def test_staff_work_through_the_queue_by_keys(tab, staff, owner, legacy):
    held = factories.LegacyFactFactory.create_batch(3, legacy=legacy, user=owner)
    for fact in held:
        fact_quarantine(principal_for_staff(staff), fact.pk, "An order")
    tab.sign_in(staff)
    tab.goto("/admin/waiting/")
    tab.get_by_label("Your reason").fill("Looking through the queue, f and r.")
    tab.keyboard.press("Enter")
    decision = tab.get_by_role("region", name="Decision")
    for key, fact, done in zip("rf", held, ("released", "refused"), strict=False):
        decision.get_by_text(fact.content).wait_for()
        tab.keyboard.press(key)
        decision.get_by_text(f"The fact is {done}.").wait_for()
    decision.get_by_text(held[2].content).wait_for()
    expect(tab.locator("#nav-sidebar-apps a.active")).to_contain_text(re.compile(r"Moderation\s*1\s*$"))
    tab.keyboard.press("u")
    decision.get_by_text("Held back again.").wait_for()
    decision.get_by_text(held[1].content).wait_for()
    states = [type(fact).objects.get(pk=fact.pk).state for fact in held]
    assert states == ["active", "quarantined", "quarantined"]
    assert tab.evaluate(f"{Axe().axe_script}; axe.run(document).then(each => each.violations.map(v => v.id))") == []
    assert tab.faults == []


def test_staff_open_a_fact_and_decide_in_one_dialog(tab, staff, owner, legacy):
    fact = factories.LegacyFactFactory(legacy=legacy)
    tab.sign_in(staff)
    tab.goto(f"/admin/facts/legacyfact/{fact.pk}/change/")
    tab.set_viewport_size(DESKTOP)
    tab.get_by_role("link", name="Open the text").click()
    tab.get_by_role("button", name="Open").click()
    tab.get_by_text("This field is required").wait_for()
    assert tab.get_by_text(fact.content).count() == 0
    tab.get_by_label("Reason").fill("A complaint came in.")
    tab.get_by_role("button", name="Open").click()
    opened = tab.get_by_role("dialog")
    opened.get_by_text(fact.content).wait_for()
    opened.get_by_label("Reason").fill("It names a living person.")
    opened.get_by_role("button", name="Hide").click()
    tab.get_by_text("The fact is hidden.").wait_for()
    tab.wait_for_load_state()
    assert tab.get_by_text(fact.content).count() == 0
    history = tab.get_by_role("region", name="What happened to it")
    expect(history.get_by_text("A complaint came in.")).to_be_visible()
    fact.refresh_from_db()
    assert (fact.state, fact.state_reason) == ("hidden", "It names a living person.")
    assert tab.faults == []


def test_what_was_opened_is_gone_when_its_dialog_is_closed(tab, staff, owner, legacy):
    fact = factories.LegacyFactFactory(legacy=legacy)
    tab.sign_in(staff)
    tab.goto("/admin/facts/legacyfact/")
    tab.get_by_text("more_horiz").click()
    tab.set_viewport_size(DESKTOP)
    tab.get_by_role("link", name="Open the text").click()
    tab.get_by_label("Reason").fill("A complaint came in.")
    tab.get_by_role("button", name="Open").click()
    tab.get_by_role("dialog").get_by_text(fact.content).wait_for()
    tab.get_by_role("button", name="Close").click()
    tab.get_by_role("dialog").wait_for(state="detached")
    assert fact.content not in tab.content()
    assert tab.evaluate("JSON.stringify([localStorage, sessionStorage])").count("bee") == 0
    assert tab.faults == []


def test_staff_make_an_agent_and_a_key_that_works(tab, api, staff, owner):
    tab.sign_in(staff)
    tab.goto("/admin/accounts/agent/")
    tab.get_by_role("link", name="New agent").click()
    tab.get_by_label("Owner").fill("owner")
    tab.get_by_label("Name").fill("garden bot")
    tab.get_by_role("button", name="Make").click()
    tab.get_by_text("garden bot is made.").wait_for()
    tab.wait_for_load_state()
    tab.get_by_role("link", name="New key").click()
    tab.get_by_role("button", name="Make").click()
    credential = tab.get_by_label("The key").input_value()
    assert api(credential).get("/api/v1/agents/").json()["results"][0]["name"] == "garden bot"
    tab.goto("/admin/accounts/agentkey/")
    assert credential not in tab.content()
    assert tab.faults == []


def test_staff_revoke_keys_with_the_mouse(tab, staff, agent):
    tab.sign_in(staff)
    tab.goto("/admin/accounts/agentkey/")
    tab.locator("input.action-select").check()
    tab.locator("select[name=action]").select_option(label="Revoke")
    tab.get_by_role("button", name="Run").click()
    tab.get_by_text("1 of 1 revoked").wait_for()
    assert agent.keys.get().revoked_at
    assert tab.faults == []


def test_reasons_stand_at_the_left_of_the_decision(tab, staff, owner, legacy):
    for fact, why in zip(
        factories.LegacyFactFactory.create_batch(2, legacy=legacy, user=owner), ("An order", "A complaint"), strict=True
    ):
        fact_quarantine(principal_for_staff(staff), fact.pk, why)
    tab.sign_in(staff)
    tab.set_viewport_size(DESKTOP)
    tab.goto("/admin/waiting/")
    reasons, decision = tab.get_by_role("navigation", name="Reasons"), tab.get_by_role("region", name="Decision")
    left, right = reasons.bounding_box(), decision.bounding_box()
    assert left["x"] + left["width"] <= right["x"]
    assert left["y"] == right["y"]
    for why in ("An order", "A complaint"):
        expect(reasons.get_by_role("link", name=why)).to_be_visible()
