"""Making an account where that is let, and changing a password."""

import os
import re
import subprocess
import sys
from datetime import timedelta

import pytest
import time_machine
from django.core.cache import cache
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import get_language

from accounts.actions import email_set, preferences_set
from accounts.actions.people import MOST_NAMED_ALIKE
from accounts.models import User
from accounts.queries import principal_for_person
from accounts.tasks import mail_reset
from journal.models import Change
from tests import factories

from .conftest import text, words

OLD, NEW = "a good long one", "another quite good one"
NAMES = {"username": "jo", "display_name": "Jo March", "password1": NEW, "password2": NEW}


@pytest.fixture(autouse=True)
def _nothing_counted():
    cache.clear()


@pytest.fixture
def let_in(settings):
    settings.REGISTRATION = True


@pytest.fixture
def known(owner):
    owner.set_password(OLD)
    owner.save()
    return owner


def test_nobody_registers_unless_the_operator_lets_them(visit, db):
    assert visit().get("/register/").status_code == 404
    assert visit().post("/register/", NAMES).status_code == 404
    assert "/register/" not in text(visit().get("/sign-in/"))
    assert not User.objects.filter(username="jo").exists()


def test_who_registers_is_signed_in_and_begins(visit, db, let_in):
    client = visit()
    assert 'href="/register/"' in text(client.get("/sign-in/"))
    page = words(client.post("/register/", NAMES, follow=True))
    assert "Hello, Jo March" in page
    assert "Tell me about yourself" in page
    made = User.objects.get(username="jo")
    assert (made.check_password(NEW), made.is_staff, made.is_superuser) == (True, False, False)
    assert client.get("/register/").url == "/"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"username": "owner"}, "is taken"),
        ({"password2": "something else"}, "match"),
        ({"password1": "12345678", "password2": "12345678"}, "too common"),
        ({"username": "josephine", "password1": "josephine1", "password2": "josephine1"}, "too similar"),
        ({"username": "<b>"}, "user name"),
    ],
)
def test_what_can_not_be_an_account_is_told(visit, owner, let_in, wrong, told):
    answer = visit().post("/register/", NAMES | wrong)
    assert answer.status_code == 400
    assert told in words(answer).lower()
    assert list(User.objects.values_list("username", flat=True)) == ["owner"]


def test_one_address_makes_few_accounts(visit, db, let_in, settings):
    settings.REGISTRATIONS_PER_HOUR = 1
    assert visit().post("/register/", NAMES).status_code == 302
    answer = visit().post("/register/", NAMES | {"username": "meg"})
    assert answer.status_code == 429
    assert "Too many accounts were made from here." in words(answer)
    assert not User.objects.filter(username="meg").exists()


def test_a_password_is_changed_and_other_sessions_end(visit, known):
    here, elsewhere = visit(known), visit(known)
    assert 'href="/preferences/password/"' in text(here.get("/preferences/"))
    typed = {"old_password": OLD, "new_password1": NEW, "new_password2": NEW}
    assert "Your password is changed." in words(here.post("/preferences/password/", typed, follow=True))
    assert elsewhere.get("/").status_code == 302
    known.refresh_from_db()
    assert known.check_password(NEW)


def test_old_passwords_are_not_guessed(visit, known, settings):
    client = visit(known)
    typed = {"old_password": "wrong", "new_password1": NEW, "new_password2": NEW}
    for _ in range(settings.SIGN_IN_ATTEMPTS):
        assert client.post("/preferences/password/", typed).status_code == 400
    answer = client.post("/preferences/password/", typed | {"old_password": OLD})
    assert "Too many passwords were wrong." in words(answer)
    known.refresh_from_db()
    assert known.check_password(OLD)


def test_who_has_no_password_changes_none(visit, owner):
    owner.set_unusable_password()
    owner.save()
    client = visit(owner)
    assert "/preferences/password/" not in text(client.get("/preferences/"))
    assert client.get("/preferences/password/").status_code == 404


class TestAForgottenPassword:
    """A link by mail, for whoever has an address; the page never tells who has."""

    @pytest.fixture
    def reachable(self, known):
        known.email = "olga@example.org"
        known.save()
        return known

    def ask(self, visit, name):
        return visit().post("/sign-in/forgotten/", {"name": name})

    def link(self, mailoutbox):
        return re.search(r"https?://testserver(/\S+)", mailoutbox[-1].body)[1]

    @pytest.fixture(autouse=True)
    def _mailed_at_once(self, monkeypatch):
        """Tasks run where they are started."""
        monkeypatch.setattr("accounts.actions.people.enqueue", lambda task, *ids: mail_reset(*map(str, ids)))

    @pytest.mark.parametrize("name", ["owner", "Owner", "olga@example.org", "OLGA@example.org"])
    def test_a_link_comes_and_works_once(self, visit, reachable, mailoutbox, name):
        elsewhere = visit(reachable)
        assert 'href="/sign-in/forgotten/"' in text(visit().get("/sign-in/"))
        assert "a link is on its way" in words(self.ask(visit, name))
        assert mailoutbox[0].to == ["olga@example.org"]
        assert "Olga Owner" in mailoutbox[0].body
        client, address = visit(), self.link(mailoutbox)
        form = client.get(address, follow=True)
        assert "Choose a new password" in words(form)
        here = form.redirect_chain[-1][0]
        typed = {"new_password1": NEW, "new_password2": NEW}
        assert "Your password is changed. Sign in with it." in words(client.post(here, typed, follow=True))
        reachable.refresh_from_db()
        assert reachable.check_password(NEW)
        assert elsewhere.get("/").status_code == 302
        assert "This link was used already" in words(visit().get(address, follow=True))

    def test_nobody_learns_who_has_an_account(self, visit, reachable, stranger, mailoutbox):
        stranger.set_password(OLD)
        stranger.save()
        pages = {words(self.ask(visit, name)) for name in ("owner", "stranger", "nobody at all", "<b>")}
        assert len(pages) == 1
        assert len(mailoutbox) == 1

    def test_the_queue_gets_as_much_where_nobody_has_one(self, visit, reachable, monkeypatch):
        started = []
        monkeypatch.setattr("accounts.actions.people.enqueue", lambda task, *ids: started.append(task))
        for name in ("owner", "nobody at all"):
            self.ask(visit, name)
        assert started == ["accounts.mail_reset"] * 2

    def test_new_accounts_with_the_same_address_crowd_nobody_out(self, visit, db, mailoutbox):
        def account(**fields):
            person = factories.UserFactory(email="ana@example.org", **fields)
            person.set_password(OLD)
            person.save()

        for _ in range(MOST_NAMED_ALIKE):
            account(display_name="Somebody new")
        account(display_name="Ana", date_joined=timezone.now() - timedelta(days=1))
        self.ask(visit, "ana@example.org")
        assert len(mailoutbox) == MOST_NAMED_ALIKE
        assert "Ana" in mailoutbox[0].body

    def test_who_is_kept_out_or_has_no_password_gets_none(self, visit, reachable, mailoutbox):
        reachable.set_unusable_password()
        reachable.save()
        self.ask(visit, "owner")
        reachable.set_password(OLD)
        reachable.is_active = False
        reachable.save()
        self.ask(visit, "owner")
        mail_reset(str(reachable.pk), "http://testserver/")
        assert mailoutbox == []

    @pytest.mark.parametrize("behind_proxy", [False, True])
    def test_no_link_leads_to_a_forged_host(self, visit, reachable, mailoutbox, settings, behind_proxy):
        settings.BEHIND_PROXY = behind_proxy
        asked = {"path": "/sign-in/forgotten/", "data": {"name": "owner"}}
        assert visit().post(**asked, HTTP_HOST="evil.example").status_code == 400
        assert mailoutbox == []
        assert visit().post(**asked, HTTP_X_FORWARDED_HOST="evil.example").status_code == 200
        assert "evil" not in mailoutbox[0].body
        assert self.link(mailoutbox)

    def test_a_link_changes_nobody_else_s_password(self, visit, reachable, stranger, mailoutbox):
        stranger.set_password(OLD)
        stranger.save()
        self.ask(visit, "owner")
        own, whose = self.link(mailoutbox), urlsafe_base64_encode(force_bytes(str(stranger.pk)))
        theirs = own.replace(own.split("/")[-3], whose)
        assert "This link was used already" in words(visit().get(theirs, follow=True))

    def test_a_link_is_worth_nothing_once_the_address_has_changed(self, visit, reachable, mailoutbox):
        self.ask(visit, "owner")
        email_set(principal_for_person(reachable.pk), "new@example.org")
        assert "This link was used already" in words(visit().get(self.link(mailoutbox), follow=True))

    def test_a_link_is_old_after_a_while(self, visit, reachable, mailoutbox, settings):
        self.ask(visit, "owner")
        with time_machine.travel(timezone.now() + timedelta(minutes=settings.RESET_MINUTES + 1)):
            assert "it is too old" in words(visit().get(self.link(mailoutbox), follow=True))

    def test_only_a_few_mails_are_sent_within_the_hour(self, visit, reachable, mailoutbox, settings):
        for name in ("owner", "Owner", "OWNER", " owner", "ownER", "Owner "):
            assert self.ask(visit, name).status_code == 200
        assert len(mailoutbox) == settings.RESETS_PER_ACCOUNT_AND_HOUR

    def test_weak_passwords_are_refused(self, visit, reachable, mailoutbox):
        self.ask(visit, "owner")
        client = visit()
        here = client.get(self.link(mailoutbox), follow=True).redirect_chain[-1][0]
        assert "too common" in words(client.post(here, {"new_password1": "12345678", "new_password2": "12345678"}))
        reachable.refresh_from_db()
        assert reachable.check_password(OLD)

    def test_the_link_is_in_no_log(self, visit, reachable, mailoutbox, caplog):
        self.ask(visit, "owner")
        visit().get(self.link(mailoutbox), follow=True)
        assert self.link(mailoutbox).split("/")[-2] not in caplog.text

    def test_it_is_written_in_the_person_s_language(self, visit, reachable, mailoutbox, monkeypatch):
        monkeypatch.setattr("accounts.actions.people._", lambda text: get_language())
        preferences_set(principal_for_person(reachable.pk), language="de")
        self.ask(visit, "owner")
        assert mailoutbox[0].subject == "de"


class TestTheAddress:
    """It takes the password to say where such mails go."""

    def test_it_is_kept_and_logged_without_itself(self, visit, known):
        typed = {"email": "olga@example.org", "old_password": OLD}
        assert "Saved." in words(visit(known).post("/preferences/email/", typed, follow=True))
        known.refresh_from_db()
        assert known.email == "olga@example.org"
        change = Change.objects.of_owner(known.pk).latest("rev")
        assert (change.event, change.meta) == ("UPDATE", {"email": "changed"})

    @pytest.mark.parametrize(
        ("typed", "told"),
        [
            ({"email": "olga@example.org", "old_password": "wrong"}, "incorrectly"),
            ({"email": "no address", "old_password": OLD}, "valid email"),
        ],
    )
    def test_what_is_wrong_is_told_and_changes_nothing(self, visit, known, typed, told):
        answer = visit(known).post("/preferences/email/", typed)
        assert answer.status_code == 400
        assert told in words(answer)
        known.refresh_from_db()
        assert known.email == ""

    def test_who_has_no_password_has_no_use_for_it(self, visit, owner):
        owner.set_unusable_password()
        owner.save()
        assert visit(owner).post("/preferences/email/", {"email": "a@example.org"}).status_code == 404

    def test_it_can_be_told_with_the_account(self, visit, db, let_in):
        visit().post("/register/", NAMES | {"email": "jo@example.org"})
        assert User.objects.get(username="jo").email == "jo@example.org"


@pytest.mark.slow
def test_mails_are_printed_unless_a_server_is_named():
    environment = {name: value for name, value in os.environ.items() if name != "EMAIL_URL"}
    environment["DJANGO_SETTINGS_MODULE"] = "memory_project.settings"
    code = "from django.conf import settings; print(settings.EMAIL_BACKEND)"
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert said.stdout.strip() == "django.core.mail.backends.console.EmailBackend"
