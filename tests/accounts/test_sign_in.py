"""How many wrong passwords are checked, and that nobody keeps the person out."""

import concurrent.futures

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client, RequestFactory

from tests import factories
from web.throttling import address_of

PASSWORD = "a long enough secret"


@pytest.fixture(autouse=True)
def _nothing_counted(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    cache.clear()


@pytest.fixture
def olga(db):
    return factories.UserFactory(username="olga", password=PASSWORD)


def sign_in(password, *, username="olga", address="192.0.2.1", client=None, to="/sign-in/"):
    client = client or Client()
    return client.post(to, {"username": username, "password": password}, REMOTE_ADDR=address)


def fail(times, **how):
    return [sign_in(f"wrong {number}", **how).status_code for number in range(times)]


def test_after_five_wrong_passwords_no_more_are_checked(olga):
    assert fail(6) == [200] * 5 + [429]
    answer = sign_in(PASSWORD)
    assert (answer.status_code, answer["Retry-After"]) == (429, "900")
    assert "Too many passwords were wrong" in answer.content.decode()
    assert "_auth_user_id" not in answer.client.session


@pytest.mark.parametrize("spelled", ["OLGA", "ｏｌｇａ", " olga"])
def test_another_spelling_of_the_name_counts_as_the_same(olga, spelled):
    fail(5)
    assert sign_in(PASSWORD, username=spelled).status_code == 429


def test_somebody_elsewhere_does_not_keep_the_person_out(olga):
    for number in range(19):
        fail(6, address=f"198.51.100.{number}")
    assert sign_in(PASSWORD).status_code == 302


def test_many_addresses_together_have_so_many_attempts_at_one_account(olga, settings):
    settings.SIGN_IN_ATTEMPTS_PER_ACCOUNT = 12
    device = Client()
    assert sign_in(PASSWORD, client=device, address="192.0.2.1").status_code == 302
    device.post("/sign-out/")
    tried = [each for number in range(4) for each in fail(4, address=f"198.51.100.{number}")]
    assert tried == [200] * 12 + [429] * 4
    assert sign_in(PASSWORD, address="203.0.113.1").status_code == 429
    assert sign_in("wrong", username="karl", address="203.0.113.1").status_code == 200
    # Where the person signs in they are not kept waiting: on their device anywhere, and at their address on any.
    assert sign_in(PASSWORD, client=device, address="203.0.113.2").status_code == 302
    assert sign_in("mistyped", address="192.0.2.1").status_code == 200
    assert sign_in(PASSWORD, address="192.0.2.1").status_code == 302


def test_signing_in_takes_its_attempt_back(db, settings):
    settings.SIGN_IN_ATTEMPTS_PER_ADDRESS = settings.SIGN_IN_ATTEMPTS_PER_ACCOUNT = 3
    for number in range(6):
        factories.UserFactory(username=f"person{number}", password=PASSWORD)
        assert sign_in(PASSWORD, username=f"person{number}").status_code == 302
    answers = [sign_in("wrong", username=f"nobody{number}").status_code for number in range(5)]
    assert answers == [200] * 3 + [429] * 2


def test_a_device_that_is_known_signs_in_from_the_address_of_an_attacker(olga):
    device = Client()
    assert sign_in(PASSWORD, client=device).status_code == 302
    device.post("/sign-out/")
    fail(6)
    assert sign_in(PASSWORD).status_code == 429
    assert sign_in("mistyped", client=device).status_code == 200
    assert sign_in(PASSWORD, client=device).status_code == 302


def test_a_device_counts_by_itself_and_for_its_person_only(olga):
    factories.UserFactory(username="karl", password=PASSWORD)
    device = Client()
    sign_in(PASSWORD, client=device)
    device.post("/sign-out/")
    assert fail(6, client=device) == [200] * 5 + [429]
    fail(5, username="karl", address="198.51.100.1")
    assert sign_in(PASSWORD, username="karl", address="198.51.100.1", client=device).status_code == 429


def test_a_device_can_not_be_made_up(olga):
    device = Client()
    sign_in(PASSWORD, client=device)
    (name,) = (name for name in device.cookies if "_device_" in name)
    fail(5)
    forged = Client()
    forged.cookies[name] = device.cookies[name].value[:-1] + ("a" if device.cookies[name].value[-1] != "a" else "b")
    assert sign_in(PASSWORD, client=forged).status_code == 429
    assert device.cookies[name]["httponly"]


def test_the_right_password_begins_the_count_anew(olga):
    fail(4)
    assert sign_in(PASSWORD).status_code == 302
    assert fail(5) == [200] * 5


def test_one_address_does_not_try_many_accounts(db, settings):
    settings.SIGN_IN_ATTEMPTS_PER_ADDRESS = 7
    answers = [sign_in("wrong", username=f"person{number}").status_code for number in range(9)]
    assert answers == [200] * 7 + [429] * 2
    assert sign_in("wrong", username="person0", address="198.51.100.1").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_attempts_at_once_are_no_more(settings):
    factories.UserFactory(username="olga", password=PASSWORD)

    def attempt(number):
        try:
            return sign_in(f"wrong {number}").status_code
        finally:
            connection.close()

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(attempt, range(16)))
    assert sorted(answers) == [200] * 5 + [429] * 11


def test_the_admin_has_no_other_way_in(olga):
    olga.is_staff = True
    olga.save()
    answer = sign_in(PASSWORD, to="/admin/login/")
    assert (answer.status_code, answer.url) == (302, "/sign-in/?next=/admin/")
    assert "_auth_user_id" not in answer.client.session


def test_without_the_cache_people_still_sign_in(olga, monkeypatch):
    monkeypatch.setattr("journal.cache.ForgivingRedisCache._forgive", lambda self, call, otherwise: otherwise)
    assert sign_in("wrong").status_code == 200
    assert sign_in(PASSWORD).status_code == 302


@pytest.mark.parametrize(
    ("behind_proxy", "forwarded", "remote", "address"),
    [
        (False, "", "192.0.2.1", "192.0.2.1"),
        (False, "198.51.100.1", "192.0.2.1", "192.0.2.1"),
        (True, "1.1.1.1, 198.51.100.1", "192.0.2.1", "198.51.100.1"),
        (True, "", "192.0.2.1", "192.0.2.1"),
        (False, "", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (True, "nonsense", "192.0.2.1", "unknown"),
        (False, "", "", "unknown"),
    ],
)
def test_where_a_request_comes_from(settings, behind_proxy, forwarded, remote, address):
    settings.BEHIND_PROXY = behind_proxy
    request = RequestFactory().get("/", HTTP_X_FORWARDED_FOR=forwarded, REMOTE_ADDR=remote)
    assert address_of(request) == address
