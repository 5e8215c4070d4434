"""My data: everything about the person as one file, from the page."""

import io
import zipfile
from datetime import timedelta

from django.utils import timezone

from accounts.models import User
from assistant.erasure.actions import run_erasure
from assistant.takeout.export_actions import run_export
from journal.models import Erasure, JobRun
from memories.models import Memory
from tests.conftest import collected
from tests.factories import MemoryFactory

from .conftest import text

MY_DATA_QUERIES = 6


def test_everything_is_collected_and_fetched(visit, owner, stranger, django_assert_num_queries):
    MemoryFactory(user=owner, content="The user keeps seven hens.")
    client = visit(owner)
    assert "Collect my data" in text(client.get("/data/"))
    assert client.post("/data/export/").url == "/data/"
    assert "Your data is being collected" in text(client.get("/data/"))
    assert 'http-equiv="refresh"' in client.get("/data/").content.decode()
    job = JobRun.objects.get(kind="export")
    run_export(job.pk)
    page = client.get("/data/")
    assert "Your data is ready" in text(page)
    assert f'href="/data/export/{job.pk}/"' in page.content.decode()
    assert "refresh" not in page.content.decode()
    file = client.get(f"/data/export/{job.pk}/")
    with zipfile.ZipFile(io.BytesIO(b"".join(collected(file.streaming_content)))) as archive:
        assert "The user keeps seven hens." in archive.read("pages/memories-1.html").decode()
    assert visit(stranger).get(f"/data/export/{job.pk}/").status_code == 404
    assert visit().get("/data/").status_code == 302
    with django_assert_num_queries(MY_DATA_QUERIES):
        client.get("/data/")


def test_the_panel_alone_is_loaded_again_until_it_is_ready(visit, owner):
    client = visit(owner, htmx=True)
    client.post("/data/export/")
    panel = client.get("/data/").content.decode()
    assert panel.startswith('<div id="export"')
    assert 'hx-trigger="every 2s"' in panel
    run_export(JobRun.objects.get(kind="export").pk)
    panel = client.get("/data/").content.decode()
    assert "hx-trigger" not in panel
    assert 'id="said"' in panel


def test_everything_is_erased_a_day_after_its_name_was_typed(visit, owner, client):
    MemoryFactory(user=owner)
    mine = visit(owner)
    mine.post("/data/erase/", {"confirm": "somebody"})
    assert "Nothing was erased" in text(mine.get("/data/"))
    assert not Erasure.objects.exists()
    mine.post("/data/erase/", {"confirm": owner.display_name})
    erasure = Erasure.objects.get()
    assert erasure.due_at - erasure.at > timedelta(hours=23)
    page = text(mine.get("/data/"))
    assert "Everything is erased on" in page
    assert f'href="/erased/{erasure.pk}/"' in page
    run_erasure(JobRun.objects.get(kind="erase").pk)
    assert Memory.objects.exists()
    mine.post("/data/erase/", {"withdraw": str(erasure.pk)})
    assert "Nothing is erased." in text(mine.get("/data/"))
    assert "Taken back" in text(client.get(f"/erased/{erasure.pk}/"))
    mine.post("/data/erase/", {"confirm": owner.display_name})
    JobRun.objects.update(not_before=timezone.now())
    run_erasure(JobRun.objects.get(kind="erase", state="waiting").pk)
    assert not User.objects.filter(pk=owner.pk).exists()
    again = Erasure.objects.get(state="done")
    receipt = text(client.get(f"/erased/{again.pk}/"))
    assert "Erased on" in receipt
    assert "manage.py verify_erasure" in receipt
    assert mine.get("/data/").status_code == 302
