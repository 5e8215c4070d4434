"""Your data: everything about the person as one file, from the page."""

import io
import zipfile
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from accounts.models import User
from accounts.queries import principal_for_person
from assistant.erasure.actions import run_erasure
from assistant.takeout.export_actions import run_export
from conversations.actions import PassagePlace, passages_withhold
from conversations.models import Message
from facts.actions import fact_delete
from facts.models import LegacyFact
from journal.models import Erasure, JobRun
from memories.actions import memory_archive
from memories.models import Memory, MemoryEvidence, MemoryVersion
from tests.conftest import collected
from tests.factories import (
    ConversationFactory,
    LegacyFactFactory,
    MemoryFactory,
    MessageFactory,
    PreferencesFactory,
    rev_of,
)

from .conftest import text, words

MY_DATA_QUERIES = 11


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
    mistyped = mine.post("/data/erase/", {"confirm": "somebody"})
    assert (mistyped.status_code, 'value="somebody" aria-invalid="true"' in text(mistyped)) == (400, True)
    assert "Nothing was erased" in text(mistyped)
    assert not Erasure.objects.exists()
    mine.post("/data/erase/", {"confirm": owner.display_name})
    erasure = Erasure.objects.get()
    assert erasure.due_at - erasure.at > timedelta(hours=23)
    page = text(mine.get("/data/"))
    assert "Everything is erased in 24 hours" in page, "said at once, at the top"
    assert "Everything is erased on" in page
    assert "Everything is about to be erased" in text(mine.get("/")), "and at home until it happens"
    assert f'href="/erased/{erasure.pk}/"' in page
    run_erasure(JobRun.objects.get(kind="erase").pk)
    assert Memory.objects.exists()
    assert mine.post("/data/erase/", {"withdraw": str(erasure.pk), "next": "/"}).url == "/"
    home = text(mine.get("/"))
    assert "Nothing is erased." in home
    assert "Everything is about to be erased" not in home
    assert "Taken back" in text(client.get(f"/erased/{erasure.pk}/"))
    mine.post("/data/erase/", {"confirm": owner.display_name})
    JobRun.objects.update(not_before=timezone.now())
    run_erasure(JobRun.objects.get(kind="erase", state="waiting").pk)
    assert not User.objects.filter(pk=owner.pk).exists()
    again = Erasure.objects.get(state="done")
    receipt = text(client.get(f"/erased/{again.pk}/"))
    assert "Erased on" in receipt
    assert "Times are in UTC." in receipt
    assert "manage.py" not in receipt
    Erasure.objects.filter(pk=again.pk).update(
        removed={"memory": 1, "memoryevidence": 2, "memories": 1, "memoryversion": 3, "job_blanked": 1}
    )
    told = words(client.get(f"/erased/{again.pk}/"))
    assert "memories 2 wordings of memories 3 entries that go with them 3" in told, "by names, not by tables"
    assert mine.get("/data/").status_code == 302


def test_a_receipt_is_loaded_again_until_it_is_done_and_tells_the_persons_time(visit, owner, hens):
    PreferencesFactory(user=owner, time_zone="Asia/Tokyo")
    client = visit(owner)
    client.post(f"/memories/{hens.pk}/erase/", {"at_once": ""})
    erasure = Erasure.objects.get()
    address = f"/erased/{erasure.pk}/"
    assert "hx-trigger" not in text(client.get(address)), "in a day nobody waits for it"
    Erasure.objects.update(due_at=timezone.now())
    page = text(client.get(address))
    assert "Being erased" in page
    assert f'hx-get="{address}" hx-trigger="every 2s"' in page
    JobRun.objects.update(not_before=timezone.now())
    carry_out()
    page = text(client.get(address))
    assert "hx-trigger" not in page
    erasure.refresh_from_db()
    assert f"{erasure.done_at.astimezone(ZoneInfo('Asia/Tokyo')):%H:%M}" in words(client.get(address))
    assert "UTC" not in page
    assert 'href="/data/#receipts"' in page


# --- One thing ------------------------------------------------------------------------------------------------------


@pytest.fixture
def hens(owner):
    """A memory, and the message that it was learned from."""
    memory = MemoryFactory(user=owner, content="The user keeps seven hens.")
    message = MessageFactory(conversation=ConversationFactory(user=owner), content="I keep seven hens, dear.")
    version = MemoryVersion.objects.get(memory=memory)
    MemoryEvidence.objects.create(version=version, message=message, quote="I keep seven hens")
    return memory


def carry_out():
    for job in JobRun.objects.filter(kind="erase", state="waiting"):
        run_erasure(job.pk)


@pytest.mark.parametrize("with_messages", [False, True])
def test_a_memory_is_erased_from_its_page_with_its_messages_or_without(visit, owner, hens, with_messages):
    client = visit(owner)
    assert f'href="/memories/{hens.pk}/erase/"' in text(client.get(f"/memories/{hens.pk}/"))
    page = words(client.get(f"/memories/{hens.pk}/erase/"))
    assert "that rest on it alone" not in page, "it isn't named as what goes along with itself"
    assert "You keep seven hens." in page
    assert "I keep seven hens, dear." in page
    typed = {"at_once": "yes", **({"messages": "yes"} if with_messages else {})}
    answer = client.post(f"/memories/{hens.pk}/erase/", typed)
    carry_out()
    assert not Memory.objects.filter(pk=hens.pk).exists()
    assert ("hens" not in Message.objects.get().content) is with_messages
    assert "Erased on" in words(client.get(answer.url)) or with_messages
    receipts = Erasure.objects.order_by("at")
    assert [each.scope for each in receipts] == ["memory", "message"][: 1 + with_messages]
    assert all(f"/erased/{each.pk}/" in text(client.get("/data/")) for each in receipts)


def test_an_erasure_that_waits_is_taken_back_among_the_receipts(visit, owner, legacy):
    fact = LegacyFactFactory(legacy=legacy, user=owner)
    client = visit(owner)
    assert f'href="/facts/{fact.pk}/erase/"' in text(client.get(f"/facts/{fact.pk}/"))
    assert client.post(f"/facts/{fact.pk}/erase/", {}).url == "/data/#receipts"
    receipt = Erasure.objects.get()
    assert f'action="/conversations/kept/{receipt.pk}/"' in text(client.get("/data/"))
    assert client.post(f"/conversations/kept/{receipt.pk}/", {"next": "/data/"}).url == "/data/"
    assert "Taken back: nothing was erased" in words(client.get("/data/"))
    carry_out()
    assert LegacyFact.objects.filter(pk=fact.pk).exists()


def test_nobody_erases_what_is_not_theirs(visit, stranger, member, legacy, owner, hens):
    fact = LegacyFactFactory(legacy=legacy, user=owner, visibility="shared")
    before = rev_of(owner)
    for person in (stranger, member):
        for path in (f"/memories/{hens.pk}/erase/", f"/facts/{fact.pk}/erase/"):
            assert visit(person).get(path).status_code == 404
            assert visit(person).post(path, {"at_once": "yes"}).status_code == 404
    assert visit().get(f"/memories/{hens.pk}/erase/").status_code == 302
    assert (Erasure.objects.count(), rev_of(owner)) == (0, before)
    assert f"/facts/{fact.pk}/erase/" not in text(visit(member).get(f"/facts/{fact.pk}/"))


def test_what_is_kept_how_and_what_is_put_away_stands_there(visit, owner, legacy):
    PreferencesFactory(user=owner, review="before", has_memory=False, time_zone="Europe/Lisbon", language="pt")
    archived = MemoryFactory(user=owner)
    memory_archive(principal_for_person(owner.pk), archived.pk)
    page = words(visit(owner).get("/data/"))
    for told in ("Off: nothing is remembered", "Used once you have approved them", "Europe/Lisbon", "Português"):
        assert told in page
    assert "1 put away" in page


@pytest.mark.parametrize(
    ("address", "above"),
    [("/data/erase/", "/data/"), ("/undo/1/2/", "/"), ("/memories/abc12345/approve/", "/memories/abc12345/")],
)
def test_opening_an_address_of_a_form_leads_to_the_page_with_the_form(visit, owner, address, above):
    answer = visit(owner).get(address)
    assert answer.status_code == 405
    assert "nothing was changed" in words(answer)
    assert f'<a href="{above}' in text(answer).split("<main")[1]
    assert not visit(owner).put(address).content


def test_how_far_the_export_is_is_shown(visit, owner):
    client = visit(owner)
    client.post("/data/export/")
    JobRun.objects.filter(kind="export").update(done=1_234, total=5_678)
    page = client.get("/data/")
    assert '<progress max="5678" value="1234"' in text(page)
    assert "1,234 of 5,678 rows" in words(page)


def test_what_is_withheld_and_rejected_is_counted_with_links(visit, owner, legacy):
    me = principal_for_person(owner.pk)
    said = MessageFactory(conversation=ConversationFactory(user=owner), content="My sister is ill. I row.")
    passages_withhold(me, [PassagePlace(said.conversation_id, 0, "My sister is ill.")])
    memory_archive(me, MemoryFactory(user=owner).pk)
    fact_delete(me, LegacyFactFactory(legacy=legacy, user=owner).pk)
    page = text(visit(owner).get("/data/"))
    for address in ("/memories/?state=archived", "/facts/?show=gone", "/withheld/"):
        assert f'<a href="{address}">1<' in page, address


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        (None, "As I review: quote it while"),
        (True, "Quote to my agents what I said to others"),
        (False, "Never quote one conversation in another"),
    ],
)
def test_whether_the_record_is_recalled_stands_there(visit, owner, stored, told):
    PreferencesFactory(user=owner, recall_record=stored)
    assert told in words(visit(owner).get("/data/"))
