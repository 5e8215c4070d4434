"""The review queue in a real browser: by keyboard alone, for two people, in two tabs, without JavaScript."""

import re

import pytest
from playwright.sync_api import expect

from accounts.queries import principal_for_person
from facts import actions
from facts.models import LegacyFact
from tests.factories import LegacyFactFactory

from .conftest import DESKTOP, PHONE, fact_list, now, ready

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "hives-behind-the-house-9"
TOLD = [
    "Grandmother Rosa was a midwife.", "She was patient.", "She hated waste.", "She loved chess.",
    "She kept bees.", "She played the accordion.", "She grew up in Porto.", "She retired in 1998.",
    "She never learned to drive.", "She collected old maps.", "She sang in a choir.",
]  # fmt: skip


@pytest.fixture
def facts(owner, legacy, told):
    told(owner, legacy, *TOLD)
    facts = list(LegacyFact.objects.order_by("extracted_at", "id"))
    assert len(facts) == len(TOLD)
    return facts


def claim(tab, fact):
    return tab.locator(f"#claim-{fact.pk}")


def test_ten_facts_are_reviewed_by_keyboard_alone(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto("/")
    start = tab.get_by_role("link", name="Start reviewing")
    for _ in range(20):
        tab.keyboard.press("Tab")
        if start.evaluate("element => element === document.activeElement"):
            break
    tab.keyboard.press("Enter")
    expect(claim(tab, facts[0])).to_be_visible()
    ready(tab)

    def next_is(fact, said):
        expect(claim(tab, fact)).to_be_focused()
        expect(tab.locator("#said")).to_contain_text(said)

    tab.keyboard.press("a")
    next_is(facts[1], "Approved. 2 of 11.")
    tab.keyboard.press("s")
    next_is(facts[2], "Shared with the other members. 3 of 11.")
    tab.keyboard.press("r")
    next_is(facts[3], "Rejected as not true")
    tab.keyboard.press("e")
    tab.keyboard.press("Control+a")
    tab.keyboard.type("Rosa loved a good game of chess.")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    next_is(facts[4], "Saved in your words. 5 of 11.")
    tab.keyboard.press("a")
    next_is(facts[5], "6 of 11.")
    tab.keyboard.press("u")
    next_is(facts[4], "Undone: it is as it was before. 5 of 11.")
    tab.keyboard.press("Space")
    next_is(facts[5], "6 of 11.")
    tab.keyboard.press("k")
    next_is(facts[4], "5 of 11.")
    for place in range(4, 10):
        tab.keyboard.press("a")
        next_is(facts[place + 1], f"{place + 2} of 11.")
    tab.keyboard.press("j")
    expect(tab.get_by_role("heading", name="All done, except 1 left for later")).to_be_focused()
    kept, shared, gone = ("active", "private"), ("active", "shared"), ("rejected", "private")
    assert [(now(fact).state, now(fact).visibility) for fact in facts] == [kept, shared, gone, *[kept] * 8]
    assert [fact for fact in facts if now(fact).reviewed_at is None] == [facts[2], facts[10]]
    assert now(facts[2]).state == "rejected"
    assert now(facts[3]).content == "Rosa loved a good game of chess."
    assert tab.faults == []


def test_a_key_pressed_the_moment_the_next_item_comes_decides_on_it_without_a_new_page(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)
    tab.evaluate(
        """next => {
          const pressed = (_, watch) => {
            if (!document.getElementById(next)) return;
            watch.disconnect();
            document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "s", bubbles: true, cancelable: true}));
          };
          new MutationObserver(pressed).observe(document.body, {childList: true, subtree: true});
          window.samePage = true;
        }""",
        f"claim-{facts[1].pk}",
    )
    tab.keyboard.press("a")
    expect(claim(tab, facts[2])).to_be_focused()
    assert tab.evaluate("window.samePage") is True
    expect(tab.locator("#said")).to_contain_text("Shared with the other members. 3 of 11.")
    assert [now(fact).visibility for fact in facts[:3]] == ["private", "shared", "private"]


def test_the_list_of_keys_opens_and_the_keys_can_be_switched_off(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)
    tab.keyboard.press("?")
    keys = tab.get_by_role("dialog", name="Shortcuts")
    expect(keys).to_be_visible()
    tab.keyboard.press("a")
    assert now(facts[0]).reviewed_at is None
    keys.get_by_label("Use these keys in this browser").uncheck()
    keys.get_by_role("button", name="Close").click()
    expect(keys).to_be_hidden()
    tab.locator("body").press("a")
    tab.reload()
    ready(tab)
    tab.locator("body").press("a")
    tab.get_by_role("link", name="Later").click()
    expect(claim(tab, facts[1])).to_be_visible()
    assert now(facts[0]).reviewed_at is None
    tab.get_by_role("button", name="Shortcuts").click()
    keys.get_by_label("Use these keys in this browser").check()
    tab.keyboard.press("Escape")
    tab.locator("body").press("a")
    expect(tab.locator("#said")).to_contain_text("Approved. 3 of 11.")
    assert now(facts[1]).reviewed_at is not None
    assert tab.faults == []


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["390", "1440"])
def test_a_hurried_hand_decides_twenty_items_and_none_is_dropped(tab, owner, legacy, facts, viewport):
    tab.set_viewport_size(viewport)
    more = LegacyFactFactory.create_batch(9, legacy=legacy, user=owner)
    LegacyFact.objects.filter(pk__in=[fact.pk for fact in more]).update(reviewed_at=None)
    queue = [*facts, *sorted(more, key=lambda fact: (fact.extracted_at, str(fact.pk)))]
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)
    tab.keyboard.type("aaarasardaaasraaardu", delay=90)
    expect(tab.locator("#said")).to_contain_text("Undone: it is as it was before. 19 of 20.")
    expect(claim(tab, queue[18])).to_be_focused()
    rejected = [number for number, key in enumerate("aaarasardaaasraaar") if key in "rd"]
    assert [number for number, fact in enumerate(queue) if now(fact).state == "rejected"] == rejected
    assert [number for number, fact in enumerate(queue) if now(fact).visibility == "shared"] == [5, 12]
    left = [
        number for number, fact in enumerate(queue) if now(fact).reviewed_at is None and now(fact).state == "active"
    ]
    assert left == [18, 19]
    assert tab.faults == []


def test_who_leaves_while_decisions_are_on_their_way_loses_none(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)
    for _ in range(5):
        tab.keyboard.press("a")
    expect(tab.locator("#where strong")).to_have_text("6")
    tab.goto("/", wait_until="commit")
    for _ in range(100):
        if all(now(fact).reviewed_at for fact in facts[:5]):
            break
        tab.wait_for_timeout(100)
    assert all(now(fact).reviewed_at for fact in facts[:5])
    assert now(facts[5]).reviewed_at is None


def test_the_bar_stays_in_its_place_and_the_next_item_needs_no_server(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)
    tab.wait_for_load_state("networkidle")
    place = tab.get_by_role("button", name="Approve").bounding_box()
    tab.context.set_offline(True)
    tab.keyboard.press("a")
    expect(tab.locator("#trouble")).to_contain_text("Keepsake could not be reached.")
    expect(claim(tab, facts[0])).to_be_focused()  # What was not decided is shown again.
    tab.keyboard.press("j")
    expect(claim(tab, facts[1])).to_be_focused()
    assert tab.get_by_role("button", name="Approve").bounding_box() == place
    tab.context.set_offline(False)
    tab.keyboard.type("ka", delay=50)
    expect(tab.locator("#said")).to_contain_text("Approved. 2 of 11.")
    assert [now(fact).reviewed_at is not None for fact in facts[:3]] == [True, False, False]


def test_what_is_refused_comes_back_with_what_was_typed(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)
    tab.wait_for_load_state("networkidle")
    actions.fact_edit(principal_for_person(owner.pk), facts[0].pk, content="Rosa was a midwife in Basel.")
    LegacyFact.objects.filter(pk=facts[0].pk).update(reviewed_at=None)
    tab.keyboard.press("e")
    tab.get_by_label("In your words").fill("Rosa was a midwife in Bern.")
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_role("alert").first).to_contain_text("This fact was changed meanwhile.")
    expect(tab.get_by_label("In your words")).to_have_value("Rosa was a midwife in Bern.")
    assert now(facts[0]).content == "Rosa was a midwife in Basel."


def test_escape_leaves_a_form_without_saving(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)
    tab.keyboard.press("e")
    box = tab.get_by_label("In your words")
    expect(box).to_be_focused()
    tab.keyboard.type(" a s r")
    tab.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(tab.get_by_role("link", name="Edit")).to_be_focused()
    assert now(facts[0]).version == 1


def test_shared_in_the_queue_seen_by_the_member_and_unshared_again(tab, browse, owner, member, legacy, facts):
    tab.sign_in(owner)
    tab.goto("/review/")
    expect(tab.locator(".readers")).to_contain_text("Shared, it is seen by Mira Member too.")
    ready(tab)
    tab.keyboard.press("s")
    expect(claim(tab, facts[1])).to_be_visible()
    theirs = browse(member)
    theirs.goto(fact_list(legacy, "shared"))
    expect(claim(theirs, facts[0])).to_be_visible()
    tab.goto(f"/facts/{facts[0].pk}/")
    tab.get_by_role("button", name="Unshare").click()
    expect(tab.get_by_role("status").get_by_text("Not shared any more")).to_be_visible()
    theirs.reload()
    expect(claim(theirs, facts[0])).to_have_count(0)


def test_two_tabs_edit_one_fact_and_lose_nothing(tab, owner, facts):
    tab.sign_in(owner)
    other = tab.context.new_page()
    address = f"/facts/{facts[0].pk}/"
    for each in (tab, other):
        each.goto(address)
        each.locator("summary", has_text="Edit").click()
    tab.get_by_label("In your words").fill("Rosa was a midwife in Basel.")
    tab.get_by_role("button", name="Save").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Rosa was a midwife in Basel.")
    other.get_by_label("In your words").fill("Rosa was a midwife in Bern.")
    other.get_by_role("button", name="Save").click()
    expect(other.get_by_role("alert")).to_contain_text("This fact was changed meanwhile.")
    expect(other.locator("del")).to_contain_text("Basel")
    expect(other.get_by_label("In your words")).to_have_value("Rosa was a midwife in Bern.")
    assert now(facts[0]).content == "Rosa was a midwife in Basel."
    other.get_by_role("button", name="Save mine over it").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Rosa was a midwife in Bern.")
    expect(other.locator(".history")).to_contain_text("Basel")
    versions = now(facts[0]).versions.order_by("number").values_list("content", flat=True)
    assert list(versions)[1:] == ["Rosa was a midwife in Basel.", "Rosa was a midwife in Bern."]


def test_the_queue_works_without_javascript(browse, owner, facts):
    page = browse(owner, java_script_enabled=False)
    page.goto("/")
    page.get_by_role("link", name="Start reviewing").click()
    page.get_by_role("button", name="Approve").click()
    expect(claim(page, facts[1])).to_be_visible()
    expect(page.get_by_role("button", name="Shortcuts")).to_have_count(0)
    page.get_by_role("button", name="Not true").click()
    expect(claim(page, facts[2])).to_be_visible()
    expect(page.locator("#where")).to_have_text("3 of 11")
    page.get_by_role("link", name="Later").click()
    expect(claim(page, facts[3])).to_be_visible()
    page.locator(".decided").get_by_role("button", name=re.compile("Undo")).last.click()
    expect(claim(page, facts[0])).to_be_visible()
    assert (now(facts[0]).reviewed_at, now(facts[1]).state) == (None, "rejected")


def test_many_facts_are_shared_at_once_and_back(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto("/facts/?search=rosa")
    tab.locator(".pick input").first.check()
    tab.get_by_label(re.compile("All .* of this list")).check()
    tab.get_by_role("button", name="Share …", exact=True).click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Share 11 facts?")
    tab.get_by_role("button", name="Share 11 facts").click()
    expect(tab.get_by_role("status").get_by_text("Shared 11 facts.")).to_be_visible()
    assert LegacyFact.objects.filter(visibility="shared").count() == 11
    tab.get_by_role("button", name="Undo").first.click()
    expect(tab.get_by_role("status").get_by_text("Undone for 11 facts.")).to_be_visible()
    assert LegacyFact.objects.filter(visibility="private", reviewed_at=None).count() == 11
    assert tab.faults == []


def test_the_queue_on_a_phone_has_its_decisions_at_hand(browse, owner, facts):
    phone = {"width": 390, "height": 844}
    LegacyFact.objects.filter(pk=facts[0].pk).update(content="x" * 500, written_by="w" * 80)
    page = browse(owner, phone, has_touch=True, is_mobile=True)
    for path in ("/review/", f"/facts/{facts[0].pk}/", "/facts/", "/preferences/"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") == phone["width"]
    page.goto("/review/")
    assert page.locator(".top").bounding_box()["height"] < 100  # Two rows: who, and where.
    expect(page.get_by_role("button", name="Approve")).to_be_in_viewport()
    page.get_by_role("button", name="Approve").tap()
    expect(claim(page, facts[1])).to_be_visible()


def test_control_and_enter_save_what_is_being_written(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto(f"/facts/{facts[0].pk}/")
    tab.locator("summary", has_text="Edit").click()
    tab.get_by_label("In your words").fill("Rosa was a midwife in Basel.")
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_role("heading", level=1)).to_have_text("Rosa was a midwife in Basel.")


def test_what_was_decided_after_the_session_ended_is_done_once_the_person_has_signed_in(tab, owner, stranger, facts):
    for person in (owner, stranger):
        person.set_password(PASSWORD)
        person.save()
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)
    tab.context.clear_cookies(name=re.compile("session$"))
    tab.keyboard.type("ar")
    tab.get_by_label("User name").fill(owner.username)
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()
    expect(claim(tab, facts[2])).to_be_visible()
    expect(tab.locator("#where")).to_contain_text("3 of 11")
    assert now(facts[0]).reviewed_at is not None
    assert now(facts[1]).state == "rejected"
    ready(tab)
    tab.context.clear_cookies(name=re.compile("session$"))
    tab.keyboard.type("e")
    tab.keyboard.press("Control+a")
    tab.keyboard.type("Rosa hated all waste.")
    tab.keyboard.press("Control+Enter")
    tab.get_by_label("User name").fill(stranger.username)
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()
    tab.get_by_role("heading").first.wait_for()
    assert now(facts[2]).content == "Rosa hated waste."
    assert tab.evaluate("sessionStorage.getItem('keepsake:decided')") is None


def test_the_next_five_need_no_server(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)
    tab.wait_for_load_state("networkidle")
    tab.context.set_offline(True)
    for number in range(1, 6):
        tab.keyboard.press("j")
        expect(claim(tab, facts[number])).to_be_focused()


def test_the_last_decision_can_be_undone_from_a_bar_above_the_buttons(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)
    tab.get_by_role("button", name="Approve").click()
    snack = tab.locator(".snack")
    expect(snack).to_contain_text("Approved.")
    expect(snack).to_be_in_viewport(ratio=1)
    assert snack.evaluate("each => getComputedStyle(each).position") == "fixed"
    above = snack.bounding_box()
    assert above["y"] + above["height"] <= tab.locator("#review .fact-foot").bounding_box()["y"]
    snack.get_by_role("button", name="Undo").click()
    expect(claim(tab, facts[0])).to_be_visible()
    assert now(facts[0]).reviewed_at is None


def test_the_bar_of_every_item_stands_in_one_place_with_both_reasons(tab, owner, facts):
    LegacyFact.objects.filter(pk=facts[1].pk).update(content="Rosa kept bees. " * 30)
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)
    places = []
    for fact in facts[:3]:
        expect(claim(tab, fact)).to_be_visible()
        names = ("Approve", "Share", "Not true", "Don’t keep")
        places.append([tab.get_by_role("button", name=name).bounding_box() for name in names])
        tab.keyboard.press("j")
    assert places[0] == places[1] == places[2]


def test_on_a_phone_the_words_stand_under_the_claim_the_bar_stays_and_filters_fold_up(browse, owner, facts):
    page = browse(owner, PHONE, has_touch=True, is_mobile=True)
    page.goto("/review/")
    ready(page)
    panels = page.locator("#item > .panel")
    claimed, beside = panels.first.bounding_box(), panels.nth(1).bounding_box()
    assert 0 <= beside["y"] - claimed["y"] - claimed["height"] <= 24
    expect(panels.nth(1).locator(".evidence").first).to_be_in_viewport()
    bar = page.locator("#review .fact-foot")

    def bottom():
        box = bar.bounding_box()
        return round(box["y"] + box["height"])

    assert bottom() == PHONE["height"]
    page.evaluate("scrollTo(0, 400)")
    assert bottom() == PHONE["height"]
    filters = page.locator("details.filters")
    expect(filters.get_by_role("combobox")).to_have_count(0)  # Folded up: none of them is seen.
    filters.locator("summary").click()
    assert filters.get_by_role("combobox").count() >= 2


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["390", "1440"])
def test_two_that_contradict_each_other_stand_side_by_side_and_one_is_chosen(tab, owner, legacy, facts, viewport):
    other = LegacyFactFactory(legacy=legacy, user=owner, content="Grandmother Rosa was a nurse.")
    facts[0].links_from.create(to_fact=other, kind="contradicts", strength=0.9)
    tab.set_viewport_size(viewport)
    tab.sign_in(owner)
    tab.goto("/review/")
    ready(tab)
    this, that = (each.bounding_box() for each in tab.locator(".rival > div").all())
    assert this["y"] == that["y"]
    assert this["x"] + this["width"] <= that["x"]
    for name in ("Both are true", "This one", "That one"):
        expect(tab.get_by_role("button", name=name)).to_be_in_viewport()
    tab.get_by_role("button", name="This one").click()
    expect(claim(tab, facts[1])).to_be_visible()
    expect(tab.locator("#said")).not_to_be_empty()
    assert (now(facts[0]).state, now(other).state) == ("active", "rejected")
