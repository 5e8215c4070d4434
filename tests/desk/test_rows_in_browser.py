"""The lists of memories and facts as rows, in a real browser: their height, opening, searching, ticking several."""

import re

import pytest
from playwright.sync_api import expect

from tests.factories import LegacyFactFactory, MemoryFactory

from .conftest import DESKTOP, PHONE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ROW_HEIGHT = 48
HEIGHTS = "rows => rows.map(each => each.querySelector('summary').getBoundingClientRect().height)"


@pytest.fixture
def memories(owner, agent):
    long = "Nina keeps three dozen hens in the orchard behind the old mill, and sells their eggs every Saturday."
    contents = ["Nina rows on Tuesdays.", long, "Nina plays the cello.", "Nina owns a tandem.", "Nina hates fog."]
    return [MemoryFactory(user=owner, agent=agent, content=content) for content in contents]


@pytest.fixture
def facts(owner, member, legacy):
    LegacyFactFactory(user=owner, legacy=legacy, content="Rosa had a boat, and " + "rowed " * 60)
    LegacyFactFactory(user=member, legacy=legacy, visibility="shared")
    return [LegacyFactFactory(user=owner, legacy=legacy), LegacyFactFactory(user=owner, legacy=legacy)]


def row(page, memory):
    return page.locator(f"#memory-{memory.pk}")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_rows_are_48_pixels_high(browse, owner, memories, facts, viewport):
    page = browse(owner, viewport)
    for path in ("/memories/", "/facts/", "/facts/?show=shared"):
        page.goto(path)
        heights = page.locator(".line").evaluate_all(HEIGHTS)
        assert heights, path
        assert set(heights) == {ROW_HEIGHT}, path
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]


def test_a_row_opens_in_place_with_the_keyboard(browse, owner, memories):
    page = browse(owner)
    page.goto("/memories/")
    page.wait_for_load_state()
    row(page, memories[0]).locator("summary").focus()
    page.keyboard.press("Enter")
    expect(row(page, memories[0]).get_by_role("button", name="Don’t keep")).to_be_visible()
    expect(row(page, memories[0])).to_contain_text("Written by agent")
    expect(page).to_have_url(re.compile("/memories/$"))
    page.keyboard.press("Enter")
    expect(row(page, memories[0]).get_by_role("button", name="Don’t keep")).to_be_hidden()


def test_a_search_typed_fast_ends_with_what_its_last_words_find(browse, owner, memories):
    page, held = browse(owner), []
    page.goto("/memories/")
    page.wait_for_load_state()

    def hold(route):
        held.append(route)  # It is never answered.

    page.route(re.compile("search=Nina(&|$)"), hold)
    search = page.get_by_role("searchbox")
    with page.expect_request(re.compile("search=Nina(&|$)")):
        search.press_sequentially("Nina")
    with page.expect_event("requestfailed"):
        search.press_sequentially(" plays")
    found = page.locator("#found")
    expect(found).to_contain_text("1 found here.")
    expect(row(page, memories[2])).to_be_visible()
    expect(page.locator("#rail")).to_contain_text("All 1")
    expect(page).to_have_url(re.compile(r"search=Nina\+plays"))
    expect(search).to_be_focused()
    assert len(held) == 1
    # What is opened then leads back to that search.
    row(page, memories[2]).locator("summary").click()
    row(page, memories[2]).get_by_role("button", name="Pin", exact=True).click()
    row(page, memories[2]).get_by_role("button", name="Undo").click()
    expect(page.locator("#said")).to_have_text("Undone: it is as it was before.")
    expect(page.locator("#rail")).to_contain_text("All 1")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_several_are_ticked_with_shift_and_the_bar_comes_with_the_first(browse, owner, memories, viewport):
    page = browse(owner, viewport)
    page.goto("/memories/")
    boxes, bar = page.locator(".pick input"), page.locator("#bulk")
    expect(boxes).to_have_count(len(memories))
    expect(bar).to_be_hidden()
    boxes.nth(1).click()
    expect(bar).to_be_in_viewport(ratio=1)
    if viewport == PHONE:
        box = bar.bounding_box()
        assert (round(box["y"] + box["height"]), box["width"]) == (PHONE["height"], PHONE["width"])
    boxes.nth(4).click(modifiers=["Shift"])
    assert [box.is_checked() for box in boxes.all()] == [False, True, True, True, True]
    boxes.nth(3).click(modifiers=["Shift"])
    assert [box.is_checked() for box in boxes.all()] == [False, True, True, False, False]
    boxes.nth(1).click()
    boxes.nth(2).click()
    expect(bar).to_be_hidden()
    boxes.nth(0).click()
    page.get_by_role("button", name="Put away …").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Put away 1 memory?")


@pytest.mark.parametrize("path", ["/memories/", "/facts/"])
def test_categories_are_a_rail_beside_the_rows_and_chips_above_them_on_a_phone(browse, owner, memories, facts, path):
    for category in ("interests", "tasks", "person", "preference", "goals"):
        MemoryFactory(user=owner, content=f"Nina names {category}.", category=category)
    for category in ("hobby", "occupation", "personality", "milestone"):
        LegacyFactFactory(user=owner, legacy=facts[0].legacy, content=f"Rosa named {category}.", category=category)
    for viewport in (DESKTOP, PHONE):
        page = browse(owner, viewport)
        page.goto(path)
        chips = [each.bounding_box() for each in page.locator("#rail a").all()]
        rail, rows = page.locator("#rail").bounding_box(), page.locator("#found").bounding_box()
        assert len(chips) > 4
        assert all(each.inner_text().split()[-1].isdigit() for each in page.locator("#rail a").all())
        if viewport == PHONE:
            assert len({box["y"] for box in chips}) == 1
            assert rail["y"] + rail["height"] <= rows["y"]
            assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        else:
            assert len({box["x"] for box in chips}) == 1
            assert rail["x"] + rail["width"] <= rows["x"]


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["1440", "390"])
def test_facts_are_ticked_with_shift_too_and_the_bar_comes_with_the_first(browse, owner, facts, viewport):
    page = browse(owner, viewport)
    page.goto("/facts/")
    boxes, bar = page.locator(".pick input"), page.locator("#bulk")
    expect(bar).to_be_hidden()
    boxes.first.click()
    expect(bar).to_be_in_viewport(ratio=1)
    boxes.last.click(modifiers=["Shift"])
    assert all(box.is_checked() for box in boxes.all())
    if viewport == PHONE:
        assert bar.evaluate("each => getComputedStyle(each).position") == "fixed"
