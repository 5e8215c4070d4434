"""Idempotency-Key: the same request done twice does its work once."""

from hashlib import sha256

import pytest
from django.db import connection
from django.utils.crypto import salted_hmac

from accounts.models import Legacy
from journal.models import IdempotencyRecord
from tests.factories import rev_of

LEGACIES = "/api/v1/legacies/"


def post(client, body, key="k1"):
    return client.post(LEGACIES, body, headers={"Idempotency-Key": key})


def test_the_same_request_again_gets_the_same_answer_and_does_nothing(owner, api):
    body = {"name": "Rosa"}
    first, second = post(api(owner), body), post(api(owner), body)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert "Idempotent-Replay" not in first
    assert second["Idempotent-Replay"] == "true"
    assert Legacy.objects.count() == 1
    assert rev_of(owner) == 1


def test_a_replay_shows_the_object_as_it_is_now(owner, api):
    first = post(api(owner), {"name": "Rosa"}).json()
    api(owner).patch(f"{LEGACIES}{first['id']}/", {"name": "Maria"})
    assert post(api(owner), {"name": "Rosa"}).json() == {**first, "name": "Maria"}


def test_a_replay_of_what_is_gone_is_missing(owner, api):
    post(api(owner), {"name": "Rosa"})
    Legacy.objects.all().delete()
    answer = post(api(owner), {"name": "Rosa"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_another_body_under_the_same_key_is_refused(owner, api):
    post(api(owner), {"name": "Rosa"})
    answer = post(api(owner), {"name": "Maria"})
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_mismatch")
    assert Legacy.objects.count() == 1


def test_the_bytes_sent_decide_and_nothing_else(owner, api):
    sent = '{"name": "Rosa", "members": []}'
    client = api(owner)
    for _ in range(2):
        client.generic("POST", LEGACIES, sent, content_type="application/json", HTTP_IDEMPOTENCY_KEY="k1")
    stored = IdempotencyRecord.objects.get().request_hash
    plain = sha256(f"POST {LEGACIES}\n{sent}".encode()).hexdigest()
    # Keyed, so that nobody who reads the table can try what was sent.
    assert stored == salted_hmac("keepsake.request-hash", plain, algorithm="sha256").hexdigest()


def test_the_same_key_at_another_address_is_another_request(owner, legacy, api):
    post(api(owner), {"name": "member"})
    answer = api(owner).post(f"{LEGACIES}{legacy.pk}/members/", {"name": "member"}, headers={"Idempotency-Key": "k1"})
    assert answer.status_code == 422


def test_a_refused_request_leaves_its_key_free(owner, api):
    assert post(api(owner), {"name": "Rosa", "members": ["not a name"]}).status_code == 400
    assert post(api(owner), {"name": "Rosa"}).status_code == 201


def test_keys_of_two_people_are_two_keys(owner, stranger, agent, api):
    for who in (owner, stranger, agent):
        assert post(api(who), {"name": "Rosa"}).status_code == 201
    assert Legacy.objects.count() == 3


def test_people_of_one_service_do_not_share_keys(service, api):
    assert post(api(service, "42"), {"name": "Rosa"}).status_code == 201
    assert post(api(service, "43"), {"name": "Maria"}).status_code == 201


def test_a_key_is_free_again_after_a_day(owner, api):
    post(api(owner), {"name": "Rosa"})
    with connection.cursor() as cursor:
        cursor.execute("UPDATE journal_idempotencyrecord SET created_at = now() - interval '24 hours 1 minute'")
    assert post(api(owner), {"name": "Maria"}).status_code == 201
    assert Legacy.objects.count() == 2


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\tbed"])
def test_a_key_that_is_none_is_refused(owner, api, key):
    answer = post(api(owner), {"name": "Rosa"}, key)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_idempotency_key")
    assert not Legacy.objects.exists()


def test_the_record_holds_no_text(owner, api):
    post(api(owner), {"name": "Rosa of the hills"})
    record = IdempotencyRecord.objects.get()
    assert (record.object_type, record.object_ids, record.status_code, record.rev) == (
        "legacy",
        [str(Legacy.objects.get().pk)],
        201,
        1,
    )
    assert "Rosa" not in str(vars(record))


def test_agents_honour_it_too(owner, api):
    client = api(owner)
    first = client.post("/api/v1/agents/", {"name": "new"}, headers={"Idempotency-Key": "k1"})
    again = client.post("/api/v1/agents/", {"name": "new"}, headers={"Idempotency-Key": "k1"})
    assert first.status_code == again.status_code == 201
    assert first.content == again.content


@pytest.mark.django_db(transaction=True)
def test_eight_at_once_do_it_once(owner, api, at_once):
    answers = at_once(lambda _: post(api(owner), {"name": "Rosa"}), 8)
    assert [answer.status_code for answer in answers] == [201] * 8
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotent-Replay" in answer for answer in answers) == 7
    assert Legacy.objects.count() == 1
