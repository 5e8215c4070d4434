"""JSON out: every kind of value that an answer can hold."""

import json
from collections import UserDict
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import numpy as np
import pytest
from django.utils.functional import lazystr
from django.utils.safestring import mark_safe
from rest_framework.exceptions import ErrorDetail

from web.json import OrjsonRenderer


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (UserDict(a=1), {"a": 1}),
        (lazystr("later"), "later"),
        (mark_safe("<b>"), "<b>"),
        (ErrorDetail("wrong", "code"), "wrong"),
        (np.array([0.5, 2.0]), [0.5, 2.0]),
        (np.float32(0.5), 0.5),
        ({1}, [1]),
        ({1: "number"}, {"1": "number"}),
        (Decimal("1.50"), "1.50"),
        (datetime(2026, 3, 1, tzinfo=UTC), "2026-03-01T00:00:00+00:00"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ("Büyükanne 二", "Büyükanne 二"),
    ],
)
def test_every_value_is_shown(value, shown):
    assert json.loads(OrjsonRenderer().render({"value": value})) == {"value": shown}


def test_nothing_is_an_empty_body():
    assert OrjsonRenderer().render(None) == b""
