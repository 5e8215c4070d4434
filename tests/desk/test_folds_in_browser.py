"""What folds open, in a real browser: Escape, a press elsewhere, and where the focus is then."""

import pytest
from playwright.sync_api import expect

from tests import factories

from .conftest import PHONE, open_row

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("viewport", [None, PHONE])
def test_the_menu_is_closed_by_escape_a_press_elsewhere_and_the_focus_moving_on(browse, owner, viewport):
    page = browse(owner, viewport)
    page.goto("/")
    menu = page.locator("details.further")
    opener = menu.locator("summary")
    opener.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(menu.get_by_role("link").locator("visible=true").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(opener).to_be_focused()
    opener.click()
    expect(menu).to_have_attribute("open", "")
    page.locator("main").click(position={"x": 2, "y": 2})
    expect(menu).not_to_have_attribute("open", "")
    expect(opener).to_be_focused()
    opener.click()
    field = page.locator("main [name=name]").last
    field.click()
    expect(menu).not_to_have_attribute("open", "")
    expect(field).to_be_focused()
    opener.click()
    page.keyboard.press("Shift+Tab")
    expect(menu).not_to_have_attribute("open", "")


def test_escape_folds_up_the_innermost_part_and_keeps_what_was_typed(browse, owner):
    memory = factories.MemoryFactory(user=owner)
    page = browse(owner)
    page.goto("/memories/")
    page.wait_for_load_state()
    row = page.locator(f"#memory-{memory.pk}")
    open_row(row)
    edit = row.locator("summary", has_text="Edit")
    edit.click()
    field = row.get_by_label("In your words")
    field.fill("The user keeps hens.")
    page.keyboard.press("Escape")
    expect(edit).to_be_focused()
    expect(field).to_be_hidden()
    page.keyboard.press("Enter")
    expect(field).to_have_value("The user keeps hens.")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(row.locator("summary").first).to_be_focused()
    expect(row.locator(".fact-foot")).to_be_hidden()
