"""Procedures on pages: their steps as a list, edited one a line."""

import re

import pytest
from playwright.sync_api import expect

from accounts.queries import principal_for_person
from memories.actions import memory_add
from memories.models import Memory
from memories.records import NewMemory

from .conftest import DESKTOP, PHONE, opened, text, words

STEPS = "1. Open the valve. 2. Wait a minute. 3. Close the valve."


@pytest.fixture
def procedure(owner):
    new = NewMemory(STEPS, "procedural", subject="Bleeding a radiator", kind="procedural")
    return memory_add(principal_for_person(owner.pk), new).memory


def send(client, memory, **typed):
    address = f"/memories/{memory.pk}/"
    return client.post(f"{address}edit/", {"next": address, "version": memory.version, **typed}, follow=True)


def test_its_page_and_its_row_show_the_steps(visit, owner, procedure):
    page = visit(owner).get(f"/memories/{procedure.pk}/")
    row = opened(visit(owner), procedure, "/memories/")
    for answer in (page, row):
        assert '<ol class="steps"><li>Open the valve.</li><li>Wait a minute.</li><li>Close the valve.</li></ol>' in (
            text(answer)
        )
    assert "Open the valve.&#10;Wait a minute.&#10;Close the valve.</textarea>" in text(page)


def test_steps_and_nothing_else_are_filed_under_their_category(visit, owner, procedure):
    """Any other choice was refused on saving."""
    page = text(visit(owner).get(f"/memories/{procedure.pk}/"))
    assert re.findall(r'<option value="([a-z_]+)"', page.partition('id="category"')[2].partition("</select>")[0]) == [
        "procedural"
    ]
    assert page.count('<span class="tag">Procedural</span>') <= 1
    me = principal_for_person(owner.pk)
    free = memory_add(me, NewMemory("Ask Ana how she does it.", "procedural", kind="procedural")).memory
    page = text(visit(owner).get(f"/memories/{free.pk}/"))
    assert '<option value="procedural" selected>' in page.partition('id="category"')[2].partition("</select>")[0]
    plain = memory_add(me, NewMemory("The user keeps bees.", "interests")).memory
    page = text(visit(owner).get(f"/memories/{plain.pk}/"))
    chosen = page.partition('id="category"')[2].partition("</select>")[0]
    assert '"interests"' in chosen
    assert '"procedural"' not in chosen


@pytest.mark.parametrize(
    "typed",
    [
        "Open the valve.\nClose the valve.",
        " 1. Open the valve.\r\n\r\n2) Close the valve. \r\n",
        "- Open the valve.\n- \n* 2. Close the valve.",
    ],
)
def test_they_are_edited_one_a_line_with_numbers_or_without(visit, owner, procedure, typed):
    answer = send(visit(owner), procedure, steps=typed)
    assert "Saved in your words." in words(answer)
    after = Memory.objects.get(pk=procedure.pk)
    assert (after.content, after.version, after.kind) == ("1. Open the valve. 2. Close the valve.", 2, "procedural")


def test_the_same_steps_change_nothing(visit, owner, procedure):
    answer = send(visit(owner), procedure, steps="Open the valve.\nWait a minute.\nClose the valve.")
    assert "Nothing was different" in words(answer)
    assert Memory.objects.get(pk=procedure.pk).version == 1


def test_what_is_refused_comes_back_as_it_was_typed(visit, owner, procedure):
    typed = "Open the valve.\n" + "x" * 4_000
    answer = visit(owner).post(f"/memories/{procedure.pk}/edit/", {"next": f"/memories/{procedure.pk}/",
                                                                    "version": 1, "steps": typed})  # fmt: skip
    assert answer.status_code in {400, 422}
    assert "x" * 4_000 in text(answer)
    assert Memory.objects.get(pk=procedure.pk).version == 1


def test_steps_are_escaped(visit, owner):
    new = NewMemory("1. Open <b>it</b> now. 2. Close it again.", "procedural", kind="procedural")
    memory = memory_add(principal_for_person(owner.pk), new).memory
    page = text(visit(owner).get(f"/memories/{memory.pk}/"))
    assert "<li>Open &lt;b&gt;it&lt;/b&gt; now.</li>" in page
    assert "<b>it</b>" not in page


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["390", "1440"])
def test_in_a_browser_a_step_is_added(browse, owner, procedure, viewport):
    page = browse(owner, viewport)
    page.goto(f"/memories/{procedure.pk}/")
    page.locator("summary", has_text="Edit").first.click()
    steps = page.get_by_label("Steps")
    expect(steps).to_have_value("Open the valve.\nWait a minute.\nClose the valve.")
    steps.fill("Open the valve.\nWait a minute.\nClose the valve.\nWipe the floor.")
    page.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.locator(".steps li")).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
