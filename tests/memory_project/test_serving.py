"""How requests get from the event loop to threads and back: bodies, limits, turns and streams."""

import asyncio
import io
import threading
import time
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from asgiref.sync import async_to_sync
from django.db import OperationalError, connections
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from structlog.contextvars import get_contextvars

from accounts import authentication
from accounts.scope import current_principal
from memory_project.serving import Application, CallerLimits
from memory_project.worker import PatientProtocol
from tests import factories

UPLOAD, PAGE = "/api/v1/import/", "/import/"
KEY = f"Bearer ks_{'a' * 16}.{'b' * 43}"


@pytest.fixture
def application():
    made = Application()
    yield made
    for threads in (made._threads, made._probes):
        threads.submit(connections.close_all).result()
        threads.shutdown()


class Client:
    """One request: what it sends piece by piece, and what it was answered."""

    def __init__(self, path="/health/live", *parts, method="GET", ends=True, **headers):
        self.scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": b"",
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
            "client": ("192.0.2.1", 1),
            "server": ("localhost", 80),
            "scheme": "http",
        }
        self.parts, self.ends = list(parts) or [b""], ends
        self.read, self.sent, self.gone = 0, [], asyncio.Event()

    async def receive(self):
        if self.read < len(self.parts):
            self.read += 1
            more = self.read < len(self.parts) or not self.ends
            return {"type": "http.request", "body": self.parts[self.read - 1], "more_body": more}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        self.sent.append(message)

    async def served_by(self, application):
        async with asyncio.timeout(20):
            await application(self.scope, self.receive, self.send)
        return self

    @property
    def status(self):
        return self.sent[0]["status"]

    @property
    def body(self):
        return b"".join(message.get("body", b"") for message in self.sent[1:])


def served(application, *told, **headers):
    return async_to_sync(Client(*told, **headers).served_by)(application)


def echo(application):
    application.get_response = lambda request: HttpResponse(request.body)


def test_a_request_is_answered(application):
    client = served(application, "/health/live")
    assert (client.status, client.body) == (200, b'{"status": "live"}')


@pytest.mark.parametrize(
    ("charset", "status"),
    [
        *((each, 200) for each in ("utf-8", "UTF8", "latin1", "windows-1252", "us-ascii")),
        *((each, 415) for each in ("unicode_escape", "utf-7", "utf-16", "base64", "rot13", "idna", "nonsense", "\0")),
    ],
)
def test_a_charset_that_makes_other_texts_is_refused(application, charset, status):
    """Reproduction: Django decoded a query by it; base64 was a 500, unicode_escape made half surrogate pairs."""
    application.get_response = lambda request: HttpResponse(str(dict(request.GET)))
    client = Client("/facts/", content_type=f"text/plain; charset={charset}")
    client.scope["query_string"] = rb"search=\ud800"
    async_to_sync(client.served_by)(application)
    assert client.status == status
    assert (b"ud800" in client.body) == (status == 200)


def test_a_body_comes_in_parts(application):
    echo(application)
    assert served(application, "/", b"a" * 70_000, b"b", method="POST").body == b"a" * 70_000 + b"b"


@pytest.mark.django_db(transaction=True)
def test_a_body_in_chunks_is_read_like_any_other(application):
    key = factories.AgentKeyFactory().credential
    told = {"method": "POST", "content_type": "application/json", "transfer_encoding": "chunked"}
    client = served(application, "/api/v1/legacies/", b'{"name": ', b'"Rosa"}', authorization=f"Bearer {key}", **told)
    assert (client.status, b'"Rosa"' in client.body) == (201, True)


def test_a_client_that_has_not_sent_its_body_has_no_thread(application, settings):
    """And is told after a while that it was too slow."""
    settings.REQUEST_SECONDS = 0.1
    client = served(application, "/api/v1/memories/", b"{", method="POST", ends=False, content_length="50")
    assert (client.status, b"too_slow" in client.body) == (408, True)
    assert not application._threads._threads


def test_a_body_that_stalls_is_refused(application):
    """Reproduction: gunicorn reports it like a client that left, so nothing was answered, and gunicorn said 500."""

    async def stall():
        client = Client("/", b"{", method="POST", ends=False)
        client.gone.set()
        return await client.served_by(application)

    assert async_to_sync(stall)().status == 408
    assert not application._threads._threads


def test_what_does_not_say_its_length_is_counted(application, settings):
    settings.MAX_BODY_BYTES = 1_000
    client = served(application, "/api/v1/memories/", *[b"x" * 400] * 9, method="POST", transfer_encoding="chunked")
    assert (client.status, b"too_large" in client.body) == (413, True)
    assert client.read == 3


@pytest.mark.parametrize(
    ("path", "status"), [("/api/v1/legacies/", 413), (UPLOAD, 401), (PAGE, 413), ("/nothing/here/", 404)]
)
@pytest.mark.django_db(transaction=True)
def test_a_large_body_of_nobody_known_is_not_read(application, settings, path, status):
    settings.MAX_BODY_BYTES = 1_000
    client = served(application, path, b"x" * 400, method="POST", ends=False, content_length="5000")
    assert (client.status, client.read) == (status, 0)


@pytest.mark.django_db(transaction=True)
def test_a_large_file_of_somebody_known_is_read(application, settings):
    settings.MAX_BODY_BYTES = 1_000
    application._threads._max_workers = 1  # The same thread for everything.
    key = factories.AgentKeyFactory(scopes=["read", "write", "admin"]).credential
    told = {"method": "POST", "authorization": f"Bearer {key}"}
    client = served(application, UPLOAD, *[b"x" * 400] * 9, content_length="3600", **told)
    assert client.read == 9
    assert (client.status, b"unsupported_media_type" in client.body) == (415, True)
    client = served(application, UPLOAD, *[b"x" * 400] * 9, transfer_encoding="chunked", **told)
    assert (client.status, client.read) == (415, 9)
    too_much = str(settings.IMPORT_MAX_BYTES + 1_001)
    client = served(application, UPLOAD, b"x" * 400, content_length=too_much, **told)
    assert (client.status, client.read) == (413, 0)
    wrong = {**told, "authorization": f"Bearer {key[:-1]}"}
    assert served(application, UPLOAD, b"x" * 400, content_length="3600", **wrong).read == 0


@pytest.fixture
def upload(settings):
    """``upload(*parts, ends=True)`` is the request of somebody known who sends a file."""
    settings.MAX_BODY_BYTES = 1_000
    key = factories.AgentKeyFactory(scopes=["read", "write", "admin"]).credential
    told = {"method": "POST", "authorization": f"Bearer {key}", "content_length": "3600"}
    return lambda *parts, ends=True: Client(UPLOAD, *parts, ends=ends, **told)


@pytest.mark.django_db(transaction=True)
def test_a_file_that_does_not_come_is_not_waited_for_for_ever(application, settings, upload):
    settings.UPLOAD_SECONDS = 0.5
    client = async_to_sync(upload(b"x" * 400, ends=False).served_by)(application)
    assert (client.status, b"too_slow" in client.body, client.read) == (408, True, 1)


@pytest.mark.django_db(transaction=True)
def test_a_caller_sends_two_files_at_once(application, upload):
    async def run():
        slow = [upload(b"x" * 400, ends=False) for _ in range(2)]
        others = [upload(*[b"x" * 400] * 9) for _ in range(3)]
        tasks = [asyncio.create_task(client.served_by(application)) for client in slow]
        while not all(client.read for client in slow):
            await asyncio.sleep(0.01)
        waiting = [asyncio.create_task(client.served_by(application)) for client in others]
        while len(application._upload_limits._semaphores) != 1 or sum(application._upload_limits._in_use.values()) < 5:
            await asyncio.sleep(0.01)
        assert not any(client.read for client in others)
        for client in slow:
            client.gone.set()
        await asyncio.gather(*tasks, *waiting)
        assert {client.read for client in others} == {9}
        assert not application._upload_limits._semaphores

    async_to_sync(asyncio.wait_for)(run(), 20)


@pytest.mark.django_db(transaction=True)
def test_asking_whether_somebody_may_send_a_file_takes_a_turn(application, settings, monkeypatch):
    """Or whoever announces many files would have all threads."""
    settings.MAX_BODY_BYTES = 1_000
    let_go, begun = threading.Event(), threading.Semaphore(0)
    monkeypatch.setattr("memory_project.serving._may_upload", lambda scope: begun.release() or not let_go.wait(20))

    async def run():
        many = [Client(UPLOAD, method="POST", authorization=KEY, content_length="5000") for _ in range(30)]
        tasks = [asyncio.create_task(client.served_by(application)) for client in many]
        for _ in range(settings.WEB_THREADS_PER_CALLER):
            await asyncio.to_thread(begun.acquire, timeout=10)
        while sum(application._caller_limits._in_use.values()) < 30:
            await asyncio.sleep(0.01)
        assert not begun.acquire(blocking=False)
        let_go.set()
        await asyncio.gather(*tasks)

    async_to_sync(asyncio.wait_for)(run(), 20)


@pytest.mark.parametrize("reads", [True, False])
def test_a_client_that_reads_nothing_is_cut_off(settings, reads):
    settings.ANSWER_SECONDS = 0.1
    cut = threading.Event()

    async def run():
        protocol = PatientProtocol(MagicMock(loop=asyncio.get_running_loop()))
        protocol.transport = SimpleNamespace(abort=cut.set)
        protocol.pause_writing()
        if reads:
            protocol.resume_writing()
        await asyncio.sleep(0.3)

    async_to_sync(run)()
    assert cut.is_set() is not reads


@pytest.mark.django_db(transaction=True)
def test_the_thread_that_let_an_upload_in_forgets_whose_it_was(application, settings):
    settings.MAX_BODY_BYTES = 1_000
    application._threads._max_workers = 1  # The same thread for everything.
    key = factories.AgentKeyFactory(scopes=["read", "write", "admin"]).credential
    told = {"method": "POST", "authorization": f"Bearer {key}"}
    assert served(application, UPLOAD, *[b"x" * 400] * 9, content_length="3600", **told).read == 9
    with pytest.raises(LookupError):
        application._threads.submit(current_principal).result()
    assert "user_id" not in application._threads.submit(get_contextvars).result()


def test_a_large_body_is_not_read_while_the_database_is_away(application, settings, monkeypatch):
    def away(*_, **__):
        raise OperationalError("away")

    settings.MAX_BODY_BYTES = 1_000
    monkeypatch.setattr(authentication.actions, "principal_for_key", away)
    client = served(application, UPLOAD, b"x" * 400, method="POST", content_length="5000", authorization=KEY)
    assert (client.status, client.read) == (503, 0)


def test_a_file_is_sent_in_large_parts(application):
    application.get_response = lambda request: FileResponse(io.BytesIO(b"x" * 500_000))
    client = served(application, "/static/x")
    assert (len(client.body), len(client.sent) < 20) == (500_000, True)


def test_a_file_is_sent_part_by_part(application):
    application.get_response = lambda request: StreamingHttpResponse(iter([b"one ", b"two"]))
    assert served(application, "/").body == b"one two"


class Told:
    """A stream that goes on until somebody ends it."""

    def __init__(self):
        self.closed = threading.Event()

    async def __aiter__(self):
        yield b"first"
        await asyncio.Event().wait()

    def close(self):
        self.closed.set()


def test_a_stream_holds_no_thread_and_ends_when_its_client_leaves(application):
    told = [Told() for _ in range(40)]
    waiting = iter(told)
    application.get_response = lambda request: StreamingHttpResponse(next(waiting))

    async def follow():
        clients = [Client("/") for _ in told]
        tasks = [asyncio.create_task(client.served_by(application)) for client in clients]
        while any(len(client.sent) < 2 for client in clients):
            await asyncio.sleep(0.01)
        assert await application._in_thread(threading.active_count) < 40
        assert not any(each.closed.is_set() for each in told)
        for client in clients:
            client.gone.set()
        await asyncio.gather(*tasks)

    async_to_sync(follow)()
    assert all(each.closed.is_set() for each in told)


def test_a_client_that_leaves_early_has_its_turn_until_its_thread_ends(application):
    begun, let_go, told = threading.Event(), threading.Event(), Told()

    def answer(request):
        begun.set()
        let_go.wait(20)
        return StreamingHttpResponse(told)

    application.get_response = answer

    async def run():
        task = asyncio.create_task(Client("/", authorization="one").served_by(application))
        await asyncio.to_thread(begun.wait, 20)
        task.cancel()  # As gunicorn does, some seconds after the client has gone.
        await asyncio.wait((task,), timeout=0.05)
        assert not task.done()
        assert application._caller_limits._semaphores
        let_go.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    async_to_sync(run)()
    assert told.closed.is_set()
    assert not application._caller_limits._semaphores


def test_a_stream_that_fails_fails_its_request(application):
    class Failing(Told):
        async def __aiter__(self):
            yield b"first"
            raise RuntimeError("no more")

    told = Failing()
    application.get_response = lambda request: StreamingHttpResponse(told)
    with pytest.raises(RuntimeError, match="no more"):
        served(application, "/")
    assert told.closed.is_set()


@pytest.mark.parametrize(
    ("claims", "most"),
    [(lambda number: {"authorization": f"junk {number}"}, 4), (lambda number: {"x_keepsake_user": str(number)}, 12)],
)
def test_whoever_sends_much_waits_for_their_own(application, claims, most):
    """One caller has so many threads, one address some more; another's call goes past what of theirs waits."""
    let_go, begun = threading.Event(), threading.Semaphore(0)

    def answer(request):
        if request.META["REMOTE_ADDR"] == "192.0.2.1":
            begun.release()
            let_go.wait(20)
        return HttpResponse(b"done")

    application.get_response = answer

    async def run():
        busy = [Client("/api/v1/memories/", **{"authorization": KEY, **claims(number)}) for number in range(30)]
        many = [asyncio.create_task(client.served_by(application)) for client in busy]
        for _ in range(most):
            await asyncio.to_thread(begun.acquire, timeout=10)
        other = Client("/api/v1/memories/", authorization=KEY)
        other.scope["client"] = ("192.0.2.2", 1)
        assert (await other.served_by(application)).body == b"done"
        assert not any(task.done() for task in many)
        assert not begun.acquire(blocking=False)
        let_go.set()
        assert {client.body for client in await asyncio.gather(*many)} == {b"done"}

    async_to_sync(run)()
    assert not application._caller_limits._semaphores


@pytest.mark.parametrize(("path", "status"), [("/health/live", 200), ("/health/ready", 200)])
@pytest.mark.django_db(transaction=True)
def test_health_is_told_while_no_thread_is_free(application, path, status):
    let_go = threading.Event()
    for _ in range(application._threads._max_workers):
        application._threads.submit(let_go.wait, 20)
    try:
        assert served(application, path).status == status
    finally:
        let_go.set()


@pytest.mark.django_db(transaction=True)
def test_health_is_told_while_every_thread_has_a_connection(application, settings):
    pool = connections["default"].pool
    connections["default"].close()  # That of the test itself, which no server has.
    let_go, held = threading.Event(), threading.Barrier(settings.WEB_THREADS + 1)

    def hold():
        connections["default"].ensure_connection()
        held.wait(20)
        let_go.wait(20)
        connections["default"].close()

    for _ in range(settings.WEB_THREADS):
        application._threads.submit(hold)
    held.wait(20)
    try:
        assert pool.get_stats()["pool_size"] == settings.WEB_THREADS
        began = time.monotonic()
        assert served(application, "/health/ready").status == 200
        assert time.monotonic() - began < 15, "before any of them lets go"
    finally:
        let_go.set()


def test_callers_are_told_apart_by_address_key_and_person(application, settings):
    settings.BEHIND_PROXY = True
    seen = []
    slot = application._caller_limits.slot
    application._caller_limits = SimpleNamespace(slot=lambda caller: seen.append(caller) or slot(caller))
    echo(application)
    api, other_key = "/api/v1/memories/", KEY.replace("ks_a", "ks_c")
    for path, headers in (
        (api, {"authorization": KEY}),
        (api, {"authorization": other_key}),
        (api, {"authorization": KEY, "x_keepsake_user": "Ann"}),
        (api, {"authorization": KEY, "x_keepsake_user": " ANN "}),
        (api, {"authorization": KEY + "x", "x_keepsake_user": "ann"}),
        (api, {"x_forwarded_for": "198.51.100.1"}),
        (api, {"x_forwarded_for": "192.0.2.9, 198.51.100.2"}),
        (api, {}),
        (api, {"authorization": "junk"}),
        ("/", {"authorization": KEY, "x_keepsake_user": "1"}),
        ("/", {"cookie": f"{settings.SESSION_COOKIE_NAME}=anything"}),
    ):
        served(application, path, **headers)
    assert len(set(seen)) == 7
    assert seen[2] == seen[3] == seen[4]
    assert set(seen[-4:-1]) == {("192.0.2.1", "", "")}
    assert seen[-1] == ("192.0.2.1", "anything", "")


def test_a_turn_that_is_given_up_is_the_next_one_s():
    async def run():
        turns, order = CallerLimits(1), []

        async def work(name):
            async with turns.slot("one"):
                order.append(name)

        async with turns.slot("one"):
            first, second = asyncio.create_task(work("first")), asyncio.create_task(work("second"))
            await asyncio.sleep(0)
            first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        return order, turns._semaphores

    assert async_to_sync(run)() == (["second"], {})


def test_a_websocket_is_refused(application):
    client = Client("/")
    client.scope["type"] = "websocket"
    async_to_sync(client.served_by)(application)
    assert client.sent == [{"type": "websocket.close"}]


def test_it_speaks_http_only(application):
    with pytest.raises(ValueError, match="not lifespan"):
        async_to_sync(application)({"type": "lifespan"}, None, None)
