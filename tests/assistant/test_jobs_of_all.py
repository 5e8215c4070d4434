"""Jobs about all that a person has: an agent that does not see everything sees none of them (issue 14, D12)."""

import pytest

from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("kind", "status"), [("export", 404), ("insights", 404), ("erase", 200)])
def test_a_narrowed_key_that_decides_reads_no_export(api, owner, kind, status):
    """Reproduction: it read how many rows and bytes an export of everything has."""
    job = factories.JobRunFactory(kind=kind, user_id=owner.pk)
    narrowed, whole = (
        factories.AgentKeyFactory(agent__owner=owner, scopes=["read", "write", "admin"]) for _ in range(2)
    )
    factories.GrantFactory(user=owner, agent=narrowed.agent, categories=["style"])
    answers = [api(key.credential).get(f"/api/v1/jobs/{job.pk}/").status_code for key in (narrowed, whole)]
    assert answers == [status, 200]
