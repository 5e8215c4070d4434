"""Everything about a person as one file: who gets it, what is in it, and what is not."""

import io
import zipfile
from datetime import timedelta

import pytest
from django.utils import timezone
from pgvector import HalfVector

from accounts.actions import preferences_set
from accounts.models import AgentKey, Grant
from accounts.queries import principal_for_person
from assistant.takeout import archive, export_actions
from assistant.takeout.export_actions import export_begin, exports_expire, exports_sweep, run_export
from conversations.actions import checkpoint_save
from journal.holdings import holdings
from journal.models import Export, ExportPart, JobRun
from memories.actions import memory_archive
from memories.models import Memory
from tests.conftest import collected
from tests.factories import AgentKeyFactory, ConversationFactory, MemoryFactory, MessageFactory, UserFactory

from .rich import exported, rich_person, rows_in

pytestmark = pytest.mark.django_db


def opened(data):
    return zipfile.ZipFile(io.BytesIO(data))


def test_the_export_holds_everything_about_a_person_of_every_kind():
    rich_person("stranger")
    person = rich_person("marker")
    counts = {each.kind: each.of_person(person.pk).count() for each in holdings() if each.kind}
    data = exported(person)
    rows = rows_in(data)
    assert {kind: len(found) for kind, found in rows.items()} == counts | {"jobs": 1}  # Of the export itself.
    assert [kind for kind, found in rows.items() if not found] == []
    said = [memory["content"] for memory in rows["memories"]]
    assert "The user plays the marker viola." in said
    assert {(row["number"], row["content"]) for row in rows["memory_versions"]} > {
        (1, "The user plays the marker cello."),
        (2, "The user plays the marker viola."),
    }
    assert [row["quote"] for row in rows["memory_evidence"]] == ["I play the cello, marker"]
    assert "stranger" not in "".join(opened(data).read(name).decode() for name in opened(data).namelist())


def test_an_agent_s_state_can_be_read_in_the_export():
    """In base64 the person could not see what an agent keeps of them."""
    person = rich_person()
    checkpoint_save(principal_for_person(person.pk), "plans", {"towns": ["Basel", 10**20]})
    states = {row["thread"]: row["data"] for row in rows_in(exported(person))["checkpoints"]}
    assert states["plans"] == {"json": {"towns": ["Basel", 10**20]}}
    assert states["marker"] == "bWFya2Vy"  # A graph's blob is its own.


def test_pages_can_be_read_in_a_browser_escaped_and_without_anything_from_elsewhere():
    person = rich_person()
    talk = ConversationFactory(user=person, title="<b>Bold</b>")
    MessageFactory(conversation=talk, content="<script>alert(1)</script>", speaker="<i>")
    gone = memory_archive(principal_for_person(person.pk), MemoryFactory(user=person).pk).memory
    Memory.objects.filter(pk=gone.pk).update(deleted_why="evicted")
    archived = opened(exported(person))
    pages = {name: archived.read(name).decode() for name in archived.namelist() if name.endswith(".html")}
    assert "The user plays the marker viola." in pages["pages/memories-1.html"]
    assert "Archived (Put away to make room for newer ones)" in pages["pages/memories-1.html"]
    assert "<strong>&lt;i&gt;</strong>" in pages["pages/conversations-1.html"]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in pages["pages/conversations-1.html"]
    for name, html in pages.items():
        assert name == "index.html" or f'href="{name}"' in pages["index.html"]
        assert "<b>" not in html
        assert "<script" not in html
        assert "http" not in html.replace("http-equiv", "")
        assert "src=" not in html


def test_pages_speak_the_person_s_language_where_there_is_a_catalogue():
    told = {}
    for language in ("de", "xx"):
        person = rich_person(f"marker{language}")
        preferences_set(principal_for_person(person.pk), language=language)
        archived = opened(exported(person))
        told[language] = {name: archived.read(name).decode() for name in archived.namelist() if name.endswith(".html")}
    german, english = told["de"], told["xx"]
    assert '<html lang="de">' in german["index.html"]
    assert "Fakten, die ich über andere erzählt habe" in german["index.html"]
    assert "seit dem" in german["pages/memories-1.html"]
    assert not any("Everything about me" in html or " since " in html for html in german.values())
    assert '<html lang="en-gb">' in english["index.html"]
    assert "Facts that I said about others" in english["index.html"]


def test_secrets_are_in_no_export():
    person = rich_person()
    person.set_password("correct horse")
    person.save()
    key = AgentKey.objects.get(agent__owner=person)
    export = opened(exported(person))
    data = b"".join(export.read(name) for name in export.namelist())
    for secret in (person.password, key.secret_hmac, "secret_hmac", "password", "session"):
        assert secret.encode() not in data.replace(b"Not in it are passwords", b"")


def test_history_comes_newest_first_on_its_page():
    person = rich_person()
    html = opened(exported(person)).read("pages/history-1.html").decode()
    first, last = (f"{html.index(word)}" for word in ("fact ", "preferences "))
    assert int(first) < int(last)


def test_long_histories_go_on_over_pages(monkeypatch, owner):
    monkeypatch.setattr("assistant.takeout.pages.ROWS_PER_PAGE", 2)
    for _ in range(3):
        MemoryFactory(user=owner)
    names = opened(exported(owner)).namelist()
    assert {"pages/memories-1.html", "pages/memories-2.html"} <= set(names)
    assert "pages/memories-3.html" not in names


def test_the_file_is_kept_in_parts_that_any_machine_reads(monkeypatch, api, owner):
    monkeypatch.setattr(archive, "PART_BYTES", 1_000)
    MemoryFactory(user=owner)
    answer = api(owner).get("/api/v1/export/")
    assert answer.status_code == 202
    told = answer.json()
    run_export(told["job"])
    parts = ExportPart.objects.filter(export=told["job"])
    assert parts.count() > 3
    assert {len(part.data) for part in parts.order_by("-number")[1:]} == {1_000}
    job = api(owner).get(f"/api/v1/jobs/{told['job']}/").json()
    assert (job["state"], job["progress"]) == ("done", 1.0)
    file = api(owner).get(told["file"])
    data = b"".join(collected(file.streaming_content))
    assert int(file["Content-Length"]) == len(data) == job["result"]["bytes"]
    assert opened(data).testzip() is None


def test_who_does_not_decide_for_the_person_gets_no_export(api, owner, stranger, member):
    run_export(export_begin(principal_for_person(owner.pk)).pk)
    job = JobRun.objects.get(kind="export").pk
    for scopes in (["read"], ["read", "write"]):
        key = AgentKeyFactory(agent__owner=owner, scopes=scopes)
        answer = api(key.credential).get("/api/v1/export/")
        assert (answer.status_code, answer.json()["code"]) == (403, "not_yours_to_decide")
        assert api(key.credential).get(f"/api/v1/export/{job}/").status_code == 403
    assert api(stranger).get(f"/api/v1/export/{job}/").status_code == 404
    assert api().get("/api/v1/export/").status_code == 401


def test_an_agent_that_sees_a_part_only_gets_no_export_with_whatever_scope(api, owner):
    key = AgentKeyFactory(agent__owner=owner, scopes=["read", "write", "admin"])
    assert api(key.credential).get("/api/v1/export/").status_code == 202
    Grant.objects.update_or_create(user=owner, agent=key.agent, defaults={"categories": ["goals"]})
    assert api(key.credential).get("/api/v1/export/").status_code == 403


def test_asking_again_while_it_is_written_answers_the_same_job(api, owner):
    first, second = (api(owner).get("/api/v1/export/").json() for _ in range(2))
    assert first == second
    assert api(owner).get(f"/api/v1/export/{first['job']}/").json()["code"] == "not_ready"
    run_export(first["job"])
    assert api(owner).get("/api/v1/export/").json() != first
    assert not Export.objects.filter(pk=first["job"]).exists()


def test_the_link_is_over_after_a_day(api, owner, settings):
    data = api(owner).get("/api/v1/export/").json()
    run_export(data["job"])
    assert exports_expire() == 0
    Export.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert api(owner).get(f"/api/v1/export/{data['job']}/").json()["code"] == "expired"
    assert exports_expire() == 1
    assert not ExportPart.objects.exists()


def test_a_worker_that_was_killed_is_followed_by_another(monkeypatch, owner):
    MemoryFactory(user=owner)
    job = export_begin(principal_for_person(owner.pk))

    def killed(*args):
        raise SystemExit

    monkeypatch.setattr(export_actions, "pages_of", killed)
    with pytest.raises(SystemExit):
        run_export(job.pk)
    monkeypatch.undo()
    JobRun.objects.update(lease_until=timezone.now())
    assert exports_sweep() == 1
    run_export(job.pk)
    data = b"".join(bytes(part.data) for part in ExportPart.objects.order_by("number"))
    assert opened(data).testzip() is None


def test_queries_do_not_grow_with_memories(owner, django_assert_max_num_queries):
    for _ in range(3):
        MemoryFactory(user=owner)
    job = export_begin(principal_for_person(owner.pk))
    with django_assert_max_num_queries(140):
        run_export(job.pk)


def test_a_vector_is_written_as_it_is():
    memory = MemoryFactory(user=UserFactory())
    (row,) = rows_in(exported(memory.user))["memories"]
    stored = Memory.objects.get(pk=memory.pk).embedding
    assert archive.decode_halfvec(row["embedding"]) == HalfVector([float(number) for number in stored])
