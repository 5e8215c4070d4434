"""Short hops from the event loop to threads, where the database is: whoever waits on the loop holds no connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.conf import settings
from django.db import connections

T = TypeVar("T")
_threads = ThreadPoolExecutor(settings.REPLY_THREADS, "hop")


async def in_thread(function: Callable[[], T]) -> T:
    """What the function returns, run on a thread in that thread's own context; its connections are given back."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _briefly, function)


def _briefly(function: Callable[[], T]) -> T:
    try:
        return function()
    finally:
        connections.close_all()
