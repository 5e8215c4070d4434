"""Light, dark or as the device; the headings' serif; and what was typed when a session ended."""

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import expect

from accounts.queries import principal_for_person
from memories.actions import memory_add
from memories.models import Memory
from memories.records import NewMemory

from .conftest import DESKTOP, PHONE, text

DARK = 'href="/static/dark.css"'


@pytest.mark.django_db
class TestTheTheme:
    """A cookie says which, so that a page comes in its colours at once."""

    def test_without_a_choice_pages_follow_the_device(self, visit, owner):
        page = text(visit(owner).get("/"))
        assert f'{DARK} media="(prefers-color-scheme: dark)"' in page
        assert 'content="light dark"' in page

    @pytest.mark.parametrize(("theme", "is_dark"), [("light", False), ("dark", True)])
    def test_a_choice_is_remembered_on_every_page(self, visit, owner, theme, is_dark):
        client = visit(owner)
        answer = client.post("/theme/", {"theme": theme}, headers={"Referer": "http://testserver/facts/?sort=newest"})
        assert answer.url == "/facts/?sort=newest"
        for path in ("/facts/", "/", "/preferences/"):
            page = text(client.get(path))
            assert f'content="{theme}"' in page
            assert (f"{DARK}>" in page, DARK in page) == (is_dark, is_dark)
            assert f'value="{theme}" class="quiet" aria-pressed="true"' in page
        client.post("/theme/", {"theme": ""})
        assert "prefers-color-scheme" in text(client.get("/"))

    def test_before_signing_in_too(self, visit, db):
        client = visit()
        client.post("/theme/", {"theme": "dark"})
        assert f"{DARK}>" in text(client.get("/sign-in/"))

    @pytest.mark.parametrize(
        "headers",
        [
            {"Referer": "http://testserver//evil.example/"},
            {"HX-Request": "true", "HX-Current-URL": "http://testserver//evil.example/"},
            {"Referer": "http://evil.example/facts/"},
        ],
    )
    def test_nobody_is_led_away(self, visit, owner, headers):
        assert visit(owner).post("/theme/", {"theme": "dark"}, headers=headers).url == "/"

    @pytest.mark.parametrize("theme", ["<b>", "purple", "light dark"])
    def test_other_words_are_no_theme(self, visit, owner, theme):
        client = visit(owner)
        client.post("/theme/", {"theme": theme})
        client.cookies["keepsake_session_theme"] = theme
        assert "prefers-color-scheme" in text(client.get("/"))

    def test_it_leads_to_no_other_site(self, visit, owner):
        for elsewhere in ("https://elsewhere.example/facts/", "//elsewhere.example/", "no address", ""):
            answer = visit(owner).post("/theme/", {"theme": "dark"}, headers={"Referer": elsewhere})
            assert answer.url == "/"


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
class TestInABrowser:
    """What only a browser shows."""

    def test_headings_have_the_bundled_serif_and_buttons_one_line(self, browse, owner):
        memory_add(principal_for_person(owner.pk), NewMemory("The user rows.", "interests"))
        page = browse(owner)
        page.goto("/memories/")
        assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('600 20px \"Source Serif Pro\"'))")
        assert page.evaluate("[...document.fonts].map((font) => font.status)") == ["loaded"]
        page.locator(".opens > summary").first.click()
        row = page.locator(".opens[open]").first
        row.locator("summary.button").first.wait_for()
        buttons = row.locator("button:visible, summary.button:visible, a.button:visible").all()
        boxes = [button.bounding_box() for button in buttons]
        first = [box for box in boxes if abs(box["y"] - boxes[0]["y"]) < box["height"]]
        assert len(first) >= 2
        assert {(round(box["y"]), round(box["height"])) for box in first} == {
            (round(first[0]["y"]), round(first[0]["height"]))
        }

    def test_a_dark_page_is_dark_at_once(self, browse, owner):
        page = browse(owner, color_scheme="light")
        page.goto("/")
        page.get_by_role("button", name="Dark").click()
        page.wait_for_load_state()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 22, 20)"
        expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")

    def sign_in_again(self, page, owner):
        page.get_by_label("User name").fill(owner.get_username())
        page.get_by_label("Password").fill("a good long one")
        page.get_by_role("button", name="Sign in").click()

    @pytest.fixture
    def known(self, owner):
        owner.set_password("a good long one")
        owner.save()
        return owner

    def test_a_form_sent_after_the_session_ended_comes_back_filled_in(self, browse, known):
        page = browse(known)
        page.goto("/memories/?sort=oldest")
        page.get_by_text("Add a memory").click()
        page.get_by_label("What should be remembered?").fill("I row on Tuesdays.")
        Session.objects.all().delete()
        page.get_by_role("button", name="Save", exact=True).first.click()
        self.sign_in_again(page, known)
        page.wait_for_url("**/memories/?sort=oldest")
        page.wait_for_load_state()
        expect(page.get_by_label("What should be remembered?")).to_have_value("I row on Tuesdays.")
        expect(page.locator("#trouble")).to_contain_text("You had been signed out")
        page.get_by_role("button", name="Save", exact=True).first.click()
        page.get_by_text("I row on Tuesdays.").first.wait_for()
        assert Memory.objects.get(user=known).content == "I row on Tuesdays."
        assert page.evaluate("sessionStorage.getItem('keepsake:typed')") is None

    def test_so_does_one_opened_before_signing_in_anew_in_another_tab(self, browse, known):
        page = browse(known)
        page.goto("/memories/?sort=oldest")
        page.get_by_text("Add a memory").click()
        page.get_by_label("What should be remembered?").fill("I row on Tuesdays.")
        page.context.add_cookies(
            [{**each, "value": "z" * 32} for each in page.context.cookies() if each["name"].endswith("_csrf")]
        )
        page.get_by_role("button", name="Save", exact=True).first.click()
        page.get_by_role("link", name="Back to the form").click()
        expect(page.get_by_label("What should be remembered?")).to_have_value("I row on Tuesdays.")
        page.get_by_role("button", name="Save", exact=True).first.click()
        page.get_by_text("I row on Tuesdays.").first.wait_for()
        assert Memory.objects.get(user=known).content == "I row on Tuesdays."

    def test_so_does_what_htmx_sent_from_a_part_that_is_gone(self, browse, known):
        memory_add(principal_for_person(known.pk), NewMemory("The user rows.", "interests"))
        page = browse(known)
        page.goto("/memories/")
        page.locator(".opens > summary").first.click()
        page.locator("summary", has_text="Edit").first.click()
        field = page.locator(".opens[open] .edit-fields textarea").first
        field.fill("The user rows on Mondays.")
        Session.objects.all().delete()
        page.keyboard.press("Control+Enter")
        self.sign_in_again(page, known)
        page.wait_for_url("**/memories/")
        expect(page.locator("#trouble")).to_contain_text("You had been signed out")
        kept = page.locator("#trouble").inner_text() + "".join(
            each.input_value() for each in page.locator("textarea").all()
        )
        assert "The user rows on Mondays." in kept

    def test_nobody_else_gets_to_see_it(self, browse, known, stranger):
        stranger.set_password("a good long one")
        stranger.save()
        page = browse(known)
        page.goto("/memories/")
        page.get_by_text("Add a memory").click()
        page.get_by_label("What should be remembered?").fill("I row on Tuesdays.")
        Session.objects.all().delete()
        page.get_by_role("button", name="Save", exact=True).first.click()
        self.sign_in_again(page, stranger)
        page.wait_for_url("**/memories/")
        page.wait_for_load_state()
        assert "Tuesdays" not in page.content()
        assert page.evaluate("sessionStorage.getItem('keepsake:typed')") is None

    @pytest.mark.parametrize("address", ["/", "/preferences/", "/memories/"])
    @pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
    def test_a_hint_stands_off_its_field(self, browse, owner, address, viewport):
        page = browse(owner, viewport)
        page.goto(address)
        for part in page.locator("details.add > summary").all():
            part.click()
        field = ":is(input:not([type=hidden]), select, textarea)"
        below = page.locator(f".fields p + {field}, .fields {field} + p")
        assert below.count()
        gap = "each => each.getBoundingClientRect().top - each.previousElementSibling.getBoundingClientRect().bottom"
        gaps = [each.evaluate(gap) for each in below.all()]
        assert min(gaps) >= 4

    @pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
    def test_the_bar_of_the_review_covers_nothing_that_has_the_focus(self, browse, owner, legacy, told, viewport):
        told(owner, legacy, "Grandmother Rosa was a midwife.")
        page = browse(owner, viewport)
        page.goto("/review/")
        last = page.get_by_role("button", name="As the device")
        last.focus()
        at = last.bounding_box()
        assert at["y"] + at["height"] <= page.locator("#review .fact-foot").bounding_box()["y"]
