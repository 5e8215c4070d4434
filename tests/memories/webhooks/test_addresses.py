"""Where deliveries may go: to public addresses, checked as they are connected to, and to nobody else's certificate."""

import socket
import ssl
import threading
from ipaddress import ip_address

import httpx2
import pytest
from asgiref.sync import async_to_sync

from journal.exceptions import Refused
from memories import webhooks
from memories.webhooks import DeliveryResult, check_url, is_allowed, send

from .receiver import certificate_for, receiving


@pytest.fixture
def names(monkeypatch):
    """``names(host, *addresses, ...)`` has a name lead to addresses, one list for each time that it is looked up."""
    known, asked = {}, []

    def getaddrinfo(host, port, *_, **__):
        asked.append(host)
        try:
            found = [str(ip_address(host))]
        except ValueError:
            turns = known.get(host, [])
            if not turns:
                raise socket.gaierror(f"{host} is not known") from None
            found = turns.pop(0) if len(turns) > 1 else turns[0]
        family = {4: socket.AF_INET, 6: socket.AF_INET6}
        return [
            (
                family[ip_address(each).version],
                socket.SOCK_STREAM,
                6,
                "",
                (each, port, *([0, 0] if ":" in each else [])),
            )
            for each in found
        ]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    def name(host, *turns):
        known[host] = [list(each) for each in turns]
        return asked

    return name


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
        *("100.64.0.1", "100.100.100.200", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
        # Those that not every Python knows.
        *("192.0.0.192", "192.88.99.1", "3fff::1"),
        *("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "2001:db8::1"),
        # What leads to one of them through a tunnel or a translation.
        *("::ffff:10.0.0.1", "::ffff:8.8.8.8", "2002:a00:1::1", "2001:0:a00:1::1", "64:ff9b::a00:1", "::10.0.0.1"),
    ],
)
def test_an_address_that_is_not_public_is_not_called(address, settings):
    assert not is_allowed(ip_address(address))
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(Refused) as error:
        check_url(f"https://{host}/")
    assert error.value.code == "private_address"
    assert send(f"https://{host}/", {}, b"") == DeliveryResult(None, "private_address")
    settings.WEBHOOKS_PRIVATE = True
    check_url(f"http://{host}/")


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111"])
def test_a_public_one_is(address):
    assert is_allowed(ip_address(address))


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST.", "app.localhost", "127.1", "2130706433", "0x7f000001", "017700000001", "0"]
)
def test_another_spelling_of_one_s_own_address_is_found_out(host):
    with pytest.raises(Refused) as error:
        check_url(f"https://{host}/")
    assert error.value.code == "private_address"
    assert send(f"https://{host}/", {}, b"").error in {"private_address", "unreachable"}


@pytest.mark.parametrize("host", ["agent.example", "8.8.8.8", "134744072"])
def test_a_name_and_a_public_address_may_be_registered(host):
    check_url(f"https://{host}/")


def test_a_name_that_leads_to_a_private_address_is_not_called(names):
    with receiving() as receiver:
        names("agent.example", ["127.0.0.1", "::1"])
        answer = send(f"https://agent.example:{receiver.port}/", {}, b"{}")
    assert answer == DeliveryResult(None, "private_address")
    assert receiver.took == []


def test_the_address_that_was_checked_is_the_one_connected_to(names, settings, monkeypatch):
    """A name that leads to a public address when it is looked up, and to this machine a moment later."""
    asked = names("agent.example", ["203.0.113.9"], ["127.0.0.1"])
    monkeypatch.setattr(webhooks, "is_allowed", lambda address: str(address) == "203.0.113.9")
    called = []

    class Transport(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request):
            called.append((request.url.host, request.headers["host"], request.extensions["sni_hostname"]))
            return httpx2.Response(204)

    client = httpx2.AsyncClient
    monkeypatch.setattr(httpx2, "AsyncClient", lambda **more: client(transport=Transport(), **more))
    assert send("https://agent.example:8443/hook?a=1", {}, b"{}") == DeliveryResult(204)
    assert called == [("203.0.113.9", "agent.example:8443", "agent.example")]
    assert asked == ["agent.example"]


class TestOverTls:
    @pytest.fixture
    def trusted(self, tmp_path, monkeypatch, settings):
        settings.WEBHOOKS_PRIVATE = True
        certificate = certificate_for("agent.example", tmp_path / "agent.pem")
        context = ssl.create_default_context(cafile=certificate)
        monkeypatch.setattr(webhooks, "certificates", lambda: context)
        return certificate

    def test_the_certificate_is_that_of_the_name(self, trusted, names):
        with receiving(trusted) as receiver:
            names("agent.example", ["127.0.0.1"])
            assert send(f"https://agent.example:{receiver.port}/hook", {"webhook-id": "1"}, b"{}") == DeliveryResult(
                204
            )
        ((path, headers, body),) = receiver.took
        assert (path, headers["host"], headers["webhook-id"], body) == (
            "/hook",
            f"agent.example:{receiver.port}",
            "1",
            b"{}",
        )

    def test_another_s_is_not_accepted(self, trusted, names):
        with receiving(trusted) as receiver:
            names("other.example", ["127.0.0.1"])
            assert send(f"https://other.example:{receiver.port}/hook", {}, b"{}") == DeliveryResult(None, "unreachable")
        assert receiver.took == []


class TestTimeAndTrouble:
    @pytest.fixture(autouse=True)
    def _private(self, settings):
        settings.WEBHOOKS_PRIVATE = True

    def test_a_server_that_says_nothing_is_left(self, settings):
        settings.WEBHOOK_SECONDS = 0.3
        with receiving() as receiver:
            receiver.silent = threading.Event()
            assert send(receiver.url, {}, b"{}") == DeliveryResult(None, "timed_out")

    def test_one_that_is_not_there(self):
        with receiving() as receiver:
            pass
        assert send(receiver.url, {}, b"{}") == DeliveryResult(None, "unreachable")

    def test_a_name_that_leads_nowhere(self, names):
        names("agent.example")
        assert send("https://nowhere.example/", {}, b"{}") == DeliveryResult(None, "unreachable")

    def test_the_next_address_is_tried_where_nobody_takes_the_first(self, names):
        with receiving() as receiver:
            names("agent.example", ["::1", "127.0.0.1"])
            assert send(f"http://agent.example:{receiver.port}/hook", {}, b"{}") == DeliveryResult(204)

    def test_no_proxy_of_the_environment_is_used(self, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        with receiving() as receiver:
            assert send(receiver.url, {}, b"{}") == DeliveryResult(204)

    def test_it_is_called_from_code_without_an_event_loop(self):
        async def inside():
            return send("https://agent.example/", {}, b"")

        with pytest.raises(RuntimeError):
            async_to_sync(inside)()
