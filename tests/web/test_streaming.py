"""How streams share one connection that hears announcements."""

import asyncio
from contextlib import suppress

from asgiref.sync import async_to_sync

from web import streaming
from web.threads import end_tasks


class Valkey:
    """A server whose second subscription is slow, and whose connections take a moment to close."""

    def __init__(self):
        self.asked = self.subscribed = 0

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await asyncio.sleep(0.02)

    def pubsub(self):
        return self

    async def subscribe(self, *_):
        self.asked += 1
        await asyncio.sleep(0.2 * (self.asked - 1))
        self.subscribed += 1

    async def listen(self):
        yield {"type": "subscribe"}
        await asyncio.Event().wait()


def test_a_stream_begins_with_its_own_subscription_while_the_one_before_ends(monkeypatch):
    server = Valkey()
    monkeypatch.setattr(streaming.AsyncRedis, "from_pool", lambda _: server)

    async def run():
        heard = streaming.Listener()
        async with heard.subscribe("one"):
            pass
        async with heard.subscribe("other"):
            return server.subscribed

    assert async_to_sync(run)() == 2


def test_a_task_that_loses_a_cancellation_ends_all_the_same():
    lost = []

    async def stubborn():
        for _ in range(2):
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            lost.append(1)
        await asyncio.Event().wait()

    async def fails():
        raise ValueError

    async def run():
        tasks = [asyncio.ensure_future(each) for each in (stubborn(), fails(), asyncio.sleep(0, "done"))]
        await asyncio.sleep(0.01)
        return await asyncio.wait_for(end_tasks(*tasks), 10)

    ended, failed, done = async_to_sync(run)()
    assert isinstance(ended, asyncio.CancelledError)
    assert isinstance(failed, ValueError)
    assert done == "done"
    assert len(lost) == 2
