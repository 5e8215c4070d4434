"""Making an account where that is let, and changing a password."""

import pytest
from django.core.cache import cache

from accounts.models import User

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
