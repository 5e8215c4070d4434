"""Chats of Telegram on the page of preferences: the code, shown once, what is linked, and its end."""

import re

import pytest

from accounts import actions, policy
from accounts.models import ExternalIdentity, LinkCode
from accounts.policy import TELEGRAM_ISSUER
from accounts.queries import principal_for_person
from journal.models import Change
from tests import factories
from tests.factories import rev_of

from .conftest import text, words
from .test_accessibility import found_on

PAGE, CODE = "/preferences/", "/preferences/telegram/"


def stored(code):
    return policy.fingerprint(policy.LINK_CODE, policy.clean_code(code, policy.LINK_CODE_CHARACTERS))


@pytest.fixture(autouse=True)
def _a_bot(settings):
    settings.TELEGRAM_SECRET_TOKEN = "a-secret"
    settings.TELEGRAM_BOT_NAME = "keepsake_bot"


@pytest.fixture
def chat(owner):
    """The linked chat of ``owner``."""
    code = actions.link_code_create(principal_for_person(owner.pk), TELEGRAM_ISSUER)
    actions.identity_link(TELEGRAM_ISSUER, "70001", code)
    return ExternalIdentity.objects.get()


def unlink(chat):
    return f"{CODE}{chat.pk}/unlink/"


class TestTheCode:
    def test_it_is_shown_once_with_the_way_to_send_it(self, visit, owner):
        client = visit(owner)
        assert f'action="{CODE}"' in text(client.get(PAGE))
        answer = client.post(CODE)
        page = text(answer)
        (code,) = set(re.findall(r"/link ([0-9A-Z]{5}-[0-9A-Z]{5})<", page))
        assert f'href="https://t.me/keepsake_bot?start={code}"' in page
        assert LinkCode.objects.get().code_hmac == stored(code)
        assert "no-store" in answer["Cache-Control"]
        assert "10 minutes" in words(answer)
        assert code not in text(client.get(PAGE))
        assert client.get(CODE).url == PAGE
        assert actions.identity_link(TELEGRAM_ISSUER, "70001", code) == owner

    def test_another_one_takes_its_place(self, visit, owner):
        client = visit(owner)
        made = [re.search(r"/link ([0-9A-Z-]{11})<", text(client.post(CODE)))[1] for _ in range(2)]
        assert made[0] != made[1]
        assert LinkCode.objects.get().code_hmac == stored(made[1])

    def test_without_a_bot_s_name_there_is_no_address(self, visit, owner, settings):
        settings.TELEGRAM_BOT_NAME = ""
        page = text(visit(owner).post(CODE))
        assert "t.me" not in page
        assert "/link " in page

    def test_the_sessions_of_others_and_nobody_get_none(self, visit, owner):
        assert visit().post(CODE).url == "/sign-in/?next=/"
        assert visit(owner, enforce_csrf_checks=True).post(CODE).status_code == 403
        assert not LinkCode.objects.exists()


class TestTheSection:
    def test_a_chat_is_listed_by_when_it_was_linked(self, visit, chat, owner):
        ExternalIdentity.objects.update(created_at="2026-05-03T22:30:00Z")
        factories.PreferencesFactory(user=owner, time_zone="Europe/Lisbon")
        page = visit(owner).get(PAGE)
        assert "Linked 3 May 2026, 23:30" in words(page)
        assert "Link another chat" in words(page)
        assert chat.external_id not in text(page)

    def test_the_person_ends_a_link(self, visit, chat, owner):
        client = visit(owner)
        assert f'action="{unlink(chat)}"' in text(client.get(PAGE))
        answer = client.post(unlink(chat), follow=True)
        assert "That chat is no longer linked." in words(answer)
        assert not ExternalIdentity.objects.exists()
        change = Change.objects.of_owner(owner.pk).last()
        assert (change.event, change.object_type, change.actor_id) == ("DELETE", "identity", str(owner.pk))
        assert client.post(unlink(chat)).status_code == 404

    def test_nobody_ends_the_link_of_another(self, visit, chat, owner, stranger, staff):
        before = rev_of(owner)
        for person in (stranger, staff):
            client = visit(person)
            assert unlink(chat) not in text(client.get(PAGE))
            assert client.post(unlink(chat)).status_code == 404
        assert visit().post(unlink(chat)).status_code == 302
        assert visit(owner).get(unlink(chat)).status_code == 405
        assert visit(owner).post(f"{CODE}{10**30}/unlink/").status_code == 404
        assert rev_of(owner) == before
        assert ExternalIdentity.objects.exists()

    def test_what_a_backend_calls_the_person_is_not_among_the_chats(self, visit, owner):
        identity = factories.ExternalIdentityFactory(user=owner)
        client = visit(owner)
        assert "Linked" not in words(client.get(PAGE))
        assert client.post(unlink(identity)).status_code == 404

    def test_without_a_bot_there_is_none(self, visit, owner, settings):
        settings.TELEGRAM_SECRET_TOKEN = ""
        client = visit(owner)
        assert "Telegram" not in words(client.get(PAGE))
        for answer in (client.post(CODE), client.get(CODE)):
            assert answer.status_code == 404
        assert not LinkCode.objects.exists()

    def test_without_a_bot_a_link_can_still_be_ended(self, visit, chat, owner, settings):
        settings.TELEGRAM_SECRET_TOKEN = ""
        client = visit(owner)
        page = words(client.get(PAGE))
        assert "Unlink" in page
        assert "Link another" not in page
        assert client.post(unlink(chat)).url == PAGE
        assert "Telegram" not in words(client.get("/"))

    def test_it_stays_when_the_form_above_it_is_wrong(self, visit, chat, owner):
        answer = visit(owner).post(PAGE, {"review": "never"})
        assert answer.status_code == 400
        assert "Unlink" in words(answer)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_it_keeps_nobody_out(tab, chat, owner):
    tab.sign_in(owner)
    tab.goto(PAGE)
    assert found_on(tab) == []
    tab.get_by_role("button", name="Link another chat").press("Enter")
    tab.get_by_role("heading", name="Link a Telegram chat").wait_for()
    assert found_on(tab) == []
    tab.get_by_role("link", name="Back to your preferences").press("Enter")
    tab.get_by_role("button", name="Unlink the chat of").press("Enter")
    tab.get_by_text("That chat is no longer linked.").wait_for()
    assert not ExternalIdentity.objects.exists()
    assert tab.faults == []
