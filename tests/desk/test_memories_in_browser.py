"""What is remembered, in a real browser: by mouse, by keyboard, without JavaScript, on a phone."""

from itertools import product

import pytest
from playwright.sync_api import expect

from memories.models import Memory
from tests.factories import MemoryFactory

from .conftest import DESKTOP, PHONE, open_row
from .test_browser import TOPS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def memories(owner, agent):
    contents = ["Nina rows on Tuesdays.", "Nina keeps hens.", "Nina plays the cello."]
    return [MemoryFactory(user=owner, agent=agent, content=content) for content in contents]


def card(page, memory):
    return page.locator(f"#memory-{memory.pk}")


def press(page, memory, name):
    card(page, memory).get_by_role("button", name=name, exact=True).click()


def test_a_memory_is_archived_and_brought_back_in_place(browse, owner, memories):
    page = browse(owner)
    page.goto("/")
    page.get_by_role("link", name="Memories", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Memories")
    page.wait_for_load_state()  # Before that nothing is loaded into a row.
    open_row(card(page, memories[0]))
    before = page.locator("#block-says").inner_text()
    press(page, memories[0], "Don’t keep")
    expect(card(page, memories[0]).get_by_role("button", name="Undo")).to_be_focused()
    expect(page.locator("#said")).to_contain_text("Not kept: it is in no prompt")
    expect(page.get_by_role("link", name="Rejected 1")).to_be_visible()
    expect(page.locator("#rail")).to_contain_text("Context 2")
    expect(page.locator("#block-says")).not_to_have_text(before)
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Undone: it is as it was before.")
    expect(page.locator("#rail")).to_contain_text("Context 3")
    expect(page.locator("#block-says")).to_have_text(before)
    memory = Memory.objects.get(pk=memories[0].pk)
    assert (memory.state, memory.reviewed_at) == ("active", None)


def test_everything_works_without_javascript(browse, owner, memories):
    page = browse(owner, java_script_enabled=False)

    def to_page(memory):
        page.goto("/memories/")
        card(page, memory).locator("summary").click()
        card(page, memory).get_by_role("link", name="Its page").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(memory.content)

    to_page(memories[0])
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.locator(".tags")).to_contain_text("Pinned")
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.locator(".tags")).not_to_contain_text("Pinned")
    to_page(memories[1])
    page.locator("summary", has_text="Edit").click()
    page.get_by_label("In your words").fill("     x     ")
    page.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("In your words").fill("I keep white hens.")
    page.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("I keep white hens.")
    page.goto("/memories/")

    page.get_by_text("Add a memory").click()
    page.get_by_label("What should be remembered?").fill("I am allergic to penicillin.")
    page.locator("#new-category").select_option("Constraints")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("I am allergic to penicillin.")
    page.get_by_text("Change category").click()
    page.get_by_label("Topics").fill("health")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".tags")).to_contain_text("health")
    page.get_by_role("link", name="All memories").click()
    page.locator(".pick input").first.check()
    page.get_by_role("button", name="Put away …").click()
    page.get_by_role("button", name="Put away 1 memory").click()
    expect(page.get_by_role("status").get_by_text("Put away 1 memory.")).to_be_visible()


def test_nothing_moves_when_a_memory_is_swapped(browse, owner, memories):
    page = browse(owner)
    for viewport, decision in product((PHONE, DESKTOP), ("Approve", "Pin", "Don’t keep")):
        page.set_viewport_size(viewport)
        page.goto("/memories/")
        open_row(card(page, memories[0]))
        before = page.evaluate(TOPS)
        press(page, memories[0], decision)
        expect(card(page, memories[0]).get_by_role("button", name="Undo")).to_be_visible()
        assert page.evaluate(TOPS) == before, (viewport, decision)
        press(page, memories[0], "Undo")
        expect(card(page, memories[0]).get_by_role("button", name="Approve")).to_be_visible()


def test_a_row_closes_with_the_form_that_was_saved_in_it(browse, owner, memories):
    page = browse(owner)
    row = card(page, memories[0])
    for viewport, text in ((PHONE, "Nina rows daily."), (DESKTOP, "Nina rows weekly.")):
        page.set_viewport_size(viewport)
        page.goto("/memories/")
        open_row(row)
        closed = row.bounding_box()["height"]
        row.locator("summary", has_text="Edit").click()
        row.get_by_label("In your words").fill("     x     ")
        row.get_by_role("button", name="Save", exact=True).click()
        expect(row.get_by_role("alert")).to_be_visible()
        with_form = row.bounding_box()["height"]
        row.get_by_label("In your words").fill(text)
        row.get_by_role("button", name="Save", exact=True).click()
        expect(row.get_by_role("button", name="Undo")).to_be_visible()
        after = row.bounding_box()["height"]
        assert abs(after - closed) < (with_form - closed) / 2, viewport


def test_a_phone_shows_everything_without_scrolling_sideways(browse, owner, memories):
    Memory.objects.filter(pk=memories[0].pk).update(
        content="x" * 500, written_by="w" * 80, subject="s" * 200, topics=["t" * 50] * 5
    )
    page = browse(owner, PHONE, has_touch=True, is_mobile=True)
    for path in ("/memories/", "/memories/?state=archived", f"/memories/{memories[0].pk}/"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.goto("/memories/")
    page.get_by_text("Add a memory").click()
    open_row(card(page, memories[0]))
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    for target in page.locator("button:visible, summary:visible, select:visible, input:visible, .tabs a").all():
        # A finger that means a box or a radio button presses its label.
        label = target.locator("xpath=ancestor::label")
        assert (label if label.count() else target).bounding_box()["height"] >= 44
