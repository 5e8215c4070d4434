"""A service's request that fails makes no person, even where it names somebody for the first time."""

import pytest

from accounts.models import ExternalIdentity, Grant, User
from conversations.models import Conversation

pytestmark = pytest.mark.django_db
NOBODYS = "00000000-0000-0000-0000-000000000000"
SAFE = {"content": "The user bakes bread.", "category": "context"}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("memories/", {"content": "", "category": "context"}, 400),
        ("memories/", {"content": "The password is hunter2.", "category": "context"}, 422),
        (f"conversations/{NOBODYS}/messages/", {"role": "user", "content": "Hello."}, 404),
        ("tools/none/", {"arguments": {}}, 404),
        ("tools/add_to_memory/", {"arguments": {"content": 1}}, 200),
    ],
)
def test_a_request_that_fails_makes_nobody(api, service, path, body, status):
    """Reproduction: each of these left an account, a grant and a name behind."""
    before = User.objects.count()
    assert api(service, "ghost").post(f"/api/v1/{path}", body, format="json").status_code == status
    assert (User.objects.count(), ExternalIdentity.objects.count(), Grant.objects.count()) == (before, 0, 0)


def test_a_request_that_succeeds_keeps_them_and_later_failures_too(api, service):
    client = api(service, "guest")
    assert client.post("/api/v1/memories/", SAFE, format="json").status_code == 201
    assert client.post("/api/v1/memories/", {}, format="json").status_code == 400
    assert ExternalIdentity.objects.get().external_id == "guest"


def test_what_was_stored_meanwhile_keeps_them(api, service, monkeypatch):
    """Another request of the same person stored something between the first one's failure and its end."""
    from accounts import actions, scope

    def stored(user_ids):
        Conversation.objects.create(user_id=user_ids[0])
        actions.users_unmake(user_ids)

    monkeypatch.setattr(scope, "_unmake", [stored])
    assert api(service, "guest").post("/api/v1/memories/", {}, format="json").status_code == 400
    assert ExternalIdentity.objects.get().external_id == "guest"
    assert Grant.objects.count() == Conversation.objects.count() == 1
