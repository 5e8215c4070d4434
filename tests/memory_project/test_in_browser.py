"""The documentation and the admin in real Chromium, under the content security policy, with no other server."""

import pytest

from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_documentation_lists_every_room_and_calls_the_api(tab, owner):
    factories.LegacyFactory(name="Grandmother Rosa", owner=owner)
    tab.sign_in(owner)
    tab.goto("/api/docs/")
    tab.get_by_role("heading", name="Keepsake").wait_for()
    for path in ("/api/v1/legacies/", "/api/v1/conversations/", "/api/v1/me/preferences/"):
        assert tab.locator(f'[data-path="{path}"]').count() >= 1
    operation = tab.locator(".opblock-get").filter(has=tab.locator('[data-path="/api/v1/legacies/"]'))
    operation.locator(".opblock-summary").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    operation.locator(".live-responses-table").get_by_text("Grandmother Rosa").first.wait_for()
    assert tab.faults == []


def test_staff_revoke_a_key_with_the_mouse(tab, staff, agent):
    tab.sign_in(staff)
    tab.goto("/admin/accounts/agentkey/")
    tab.locator("input.action-select").check()
    tab.locator("select[name=action]").select_option(label="Revoke")
    tab.get_by_role("button", name="Go").click()
    tab.get_by_text("1 of 1 revoked").wait_for()
    assert agent.keys.get().revoked_at
    assert tab.faults == []
