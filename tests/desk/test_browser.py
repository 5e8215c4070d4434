"""The main job in a real browser: by mouse, by keyboard, without JavaScript, on a phone."""

import re
from itertools import product

import pytest
from playwright.sync_api import expect

from accounts.models import Grant
from facts.models import LegacyFact

from .conftest import DESKTOP, PASSWORD, PHONE, fact_list, now, open_row

MENU = [
    *("Home", "Talk", "Review", "Memories", "Conversations", "Facts", "Agents", "Places"),
    *("Timeline", "Import", "Your data"),
]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def facts(owner, legacy, told):
    return told(owner, legacy, "Grandmother Rosa was a midwife. She was patient. She hated waste.")


def card(page, fact):
    return page.locator(f"#fact-{fact.pk}")


def tab_to(page, target):
    for _ in range(40):
        if target.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(target).to_be_focused()


def press(page, fact, name):
    card(page, fact).get_by_role("button", name=name, exact=True).click()


def test_a_fact_is_shared_and_unshared_by_mouse(browse, owner, member, legacy, facts):
    mine, theirs = browse(owner), browse(member)
    mine.goto("/")
    mine.get_by_role("link", name="Grandmother Rosa", exact=True).click()
    expect(mine.get_by_role("link", name="To review 3")).to_have_attribute("aria-current", "page")
    mine.wait_for_load_state()  # Before that nothing is loaded into a row.
    open_row(card(mine, facts[0]))
    expect(card(mine, facts[0]).locator("mark")).to_have_text("Grandmother Rosa was a midwife.")
    theirs.goto(fact_list(legacy, "shared"))
    expect(theirs.get_by_text("No other member has shared")).to_be_visible()

    press(mine, facts[0], "Share")
    expect(card(mine, facts[0]).get_by_role("button", name="Unshare")).to_be_visible()
    expect(mine.locator("#said")).to_have_text("Shared with the other members.")
    expect(mine.get_by_role("link", name="To review 2")).to_be_visible()
    theirs.reload()
    open_row(card(theirs, facts[0]))
    expect(card(theirs, facts[0])).to_contain_text("From Olga Owner")
    expect(card(theirs, facts[0]).get_by_role("button")).to_have_count(0)

    press(mine, facts[0], "Unshare")
    expect(card(mine, facts[0]).get_by_role("button", name="Share", exact=True)).to_be_visible()
    theirs.reload()
    expect(card(theirs, facts[0])).to_have_count(0)


def test_a_fact_is_rejected_and_brought_back_by_keyboard(browse, owner, legacy, facts):
    page = browse(owner)
    page.goto(fact_list(legacy, "waiting"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    row = card(page, facts[0]).locator("summary").first
    tab_to(page, row)
    page.keyboard.press("Enter")
    reject = card(page, facts[0]).get_by_role("button", name="Not true")
    expect(reject).to_be_visible()
    expect(card(page, facts[0]).locator("mark")).to_have_text("Grandmother Rosa was a midwife.")
    tab_to(page, reject)
    page.keyboard.press("Enter")
    undo = card(page, facts[0]).get_by_role("button", name="Undo")
    expect(undo).to_be_focused()
    fact = now(facts[0])
    assert (fact.state, fact.state_reason) == ("rejected", "Not true")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Undone: it is as it was before.")
    fact = now(facts[0])
    assert (fact.state, fact.state_reason, fact.reviewed_at) == ("active", "", None)
    expect(card(page, facts[0]).get_by_role("button", name="Approve")).to_be_visible()
    expect(row).to_be_focused()


def test_a_fact_is_edited_in_place(browse, owner, legacy, facts):
    page = browse(owner)
    page.goto(fact_list(legacy))
    fact = card(page, facts[0])
    open_row(fact)
    fact.locator("summary", has_text="Edit").click()
    fact.get_by_label("In your words").fill("     x     ")
    fact.get_by_role("button", name="Save").click()
    expect(fact.get_by_role("alert")).to_be_visible()
    expect(fact.get_by_label("In your words")).to_be_focused()
    expect(fact.get_by_label("In your words")).to_have_value("     x     ")
    fact.get_by_label("In your words").fill("Rosa delivered babies.")
    fact.get_by_label("Category").select_option("Milestone")
    fact.get_by_role("button", name="Save").click()
    expect(fact.locator(".claim")).to_have_text("Rosa delivered babies.")
    expect(fact).to_contain_text("In your own words")
    press(page, facts[0], "Undo")
    expect(fact.locator(".claim")).to_have_text(facts[0].content)


def test_everything_works_without_javascript(browse, owner, member, legacy, facts):
    page = browse(owner, java_script_enabled=False)
    tab = fact_list(legacy, "waiting")

    def to_page(fact):
        page.goto(tab)
        card(page, fact).locator("summary").click()
        card(page, fact).get_by_role("link", name="Its page").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(fact.content)

    to_page(facts[0])
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_role("status").get_by_text("Shared with the other members.")).to_be_in_viewport()
    theirs = browse(member, java_script_enabled=False)
    theirs.goto(fact_list(legacy, "shared"))
    expect(card(theirs, facts[0])).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    theirs.reload()
    expect(card(theirs, facts[0])).to_have_count(0)

    to_page(facts[1])
    page.get_by_role("button", name="Not true").click()
    page.goto(tab)
    expect(card(page, facts[1])).to_have_count(0)
    tab = fact_list(legacy, "gone")
    to_page(facts[1])
    expect(page.locator("main")).to_contain_text("Reason: Not true.")
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("status").get_by_text("Restored. Only you see it.")).to_be_visible()

    tab = fact_list(legacy)
    to_page(facts[2])
    page.locator("summary", has_text="Edit").click()
    page.get_by_label("In your words").fill("     x     ")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("In your words")).to_have_value("     x     ")


TOPS = "[...document.querySelectorAll('.fact')].map(each => Math.round(each.getBoundingClientRect().top + scrollY))"


def test_nothing_moves_when_a_fact_is_swapped(browse, owner, legacy, facts):
    page = browse(owner)
    for viewport, decision in product((PHONE, DESKTOP), ("Approve", "Share", "Don’t keep")):
        page.set_viewport_size(viewport)
        page.goto(fact_list(legacy, "waiting"))
        open_row(card(page, facts[0]))
        before = page.evaluate(TOPS)
        press(page, facts[0], decision)
        expect(card(page, facts[0]).get_by_role("button", name="Undo")).to_be_visible()
        assert page.evaluate(TOPS) == before, (viewport, decision)
        press(page, facts[0], "Undo")
        expect(card(page, facts[0]).get_by_role("button", name="Approve")).to_be_visible()


def test_a_row_closes_with_what_was_said_again_in_it(browse, owner, legacy, told):
    (fact,) = told(owner, legacy, "Grandmother Rosa was a midwife.")
    told(owner, legacy, "Grandmother Rosa was a midwife.", title="Monday talk")
    page = browse(owner)
    page.goto(fact_list(legacy))
    row = card(page, fact)
    open_row(row)
    closed = row.bounding_box()["height"]
    row.get_by_text("Said again elsewhere").click()
    expect(row.get_by_text("Monday talk")).to_be_visible()
    opened = row.bounding_box()["height"]
    press(page, fact, "Approve")
    expect(row.get_by_role("button", name="Undo")).to_be_visible()
    assert abs(row.bounding_box()["height"] - closed) < (opened - closed) / 2


def test_a_phone_shows_everything_without_scrolling_sideways(browse, owner, legacy, facts):
    LegacyFact.objects.filter(pk=facts[0].pk).update(content="x" * 500, written_by="w" * 80)
    page = browse(owner, PHONE, has_touch=True, is_mobile=True)
    for path in ("/", fact_list(legacy), fact_list(legacy, "shared"), "/nothing/here/"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.goto(fact_list(legacy))
    open_row(card(page, facts[0]))
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    for target in page.locator("button:visible, summary:visible, select:visible, input:visible, .tabs a").all():
        # A finger that means a box or a radio button presses its label.
        label = target.locator("xpath=ancestor::label")
        assert (label if label.count() else target).bounding_box()["height"] >= 44


def test_a_server_that_is_away_is_told(browse, owner, legacy, facts):
    page = browse(owner)
    page.goto(fact_list(legacy))
    open_row(card(page, facts[0]))
    page.route("**/facts/**", lambda route: route.fulfill(status=503, body="<p>Back in a moment</p>"))
    press(page, facts[0], "Approve")
    expect(page.locator("#trouble")).to_have_text("That did not work. Please reload the page and try again.")
    expect(card(page, facts[0]).get_by_role("button", name="Approve")).to_be_visible()
    page.unroute("**/facts/**")
    press(page, facts[0], "Approve")
    expect(page.locator("#trouble")).to_be_hidden()
    expect(page.locator("#said")).to_have_text("Approved.")


def test_a_session_that_ended_leads_to_sign_in_and_back(browse, owner, legacy, facts):
    page = browse(owner)
    page.goto(fact_list(legacy, "waiting"))
    open_row(card(page, facts[0]))
    owner.set_password(PASSWORD)
    owner.save()
    page.context.clear_cookies(name=re.compile("session$"))
    press(page, facts[0], "Approve")
    page.get_by_label("User name").fill(owner.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile(r"\?show=waiting"))
    assert now(facts[0]).reviewed_at is None


@pytest.mark.parametrize(("address", "name"), [("/talk/", "content"), ("/agents/connect/", "name"), ("/", "name")])
def test_what_was_typed_outlives_a_session_in_forms_that_load_a_page(browse, owner, address, name):
    owner.set_password(PASSWORD)
    owner.save()
    page = browse(owner)
    page.goto(address)
    field = page.locator(f"main form [name={name}]").last
    field.fill("Nora, of the hives")
    page.context.clear_cookies(name=re.compile("session$"))
    field.evaluate("field => field.form.requestSubmit()")
    page.get_by_label("User name").fill(owner.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile(f"{address}$"))
    expect(page.locator("#trouble")).to_contain_text("You had been signed out, so this was not saved.")
    expect(field).to_have_value("Nora, of the hives")


@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_s_menu_leads_to_every_page(browse, owner, staff, width):
    for who, pages in ((owner, MENU), (staff, [*MENU, "Admin"])):
        page = browse(who, {"width": width, "height": 844}, has_touch=True, is_mobile=True)
        page.goto("/")
        menu = page.get_by_role("navigation", name="Keepsake")
        links = menu.get_by_role("link")
        expect(links).to_have_count(4)
        row = {round(link.bounding_box()["y"]) for link in [*links.all(), menu.get_by_text("More")]}
        assert len(row) == 1 or width == 320
        menu.get_by_text("More").click()
        assert sorted(links.all_inner_texts()) == sorted(pages)
        for link in links.all():
            expect(link).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_an_agent_is_narrowed_in_place_and_its_key_is_copied(browse, owner, agent):
    page = browse(owner)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/agents/{agent.pk}/")
    page.get_by_label("Tone").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#may-see")).to_contain_text("Saved.")
    assert "tone" not in Grant.objects.get(agent=agent).categories
    page.clock.install()
    page.goto("/agents/connect/")
    page.get_by_label("Name").fill("Notebook")
    page.get_by_role("button", name="Make a key").click()
    page.get_by_role("button", name="Copy the key").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    credential = page.evaluate("navigator.clipboard.readText()")
    assert credential == page.locator("#credential").inner_text()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.clock.run_for(5_000)
    assert asked == []  # Nobody looks at it.
    page.evaluate("delete document.hidden")
    api = page.context.request.get("/api/v1/memories/", headers={"Authorization": f"Bearer {credential}"})
    assert api.ok
    page.clock.run_for(5_000)
    expect(page.locator(".first-call.has-called")).to_contain_text("It has called.")
