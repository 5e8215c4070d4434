"""A NUL, which PostgreSQL can't store, in whatever a request may hold: always a clear 4xx."""

import pytest
from django.contrib import admin
from django.urls import reverse

from tests.conftest import taken_back
from tests.every_call import API, filled
from tests.test_other_people import FORM, send, tries

ANSWERED_EACH = {"POST memory-bulk", "POST tool", "PUT thread"}
"""What answers 200 and refuses each item, tells a model why, or stores any JSON as bytes."""


def broken(value):
    """The same with a NUL in each text."""
    if isinstance(value, dict):
        return {key: broken(each) for key, each in value.items()}
    if isinstance(value, list):
        return [broken(each) for each in value]
    return f"{value}\x00" if isinstance(value, str) else value


@pytest.fixture
def quiet(owner, api):
    """The owner's client, which is answered 500 where something breaks, as everybody would be."""
    client = api(owner)
    client.raise_request_exception = False
    return client


@pytest.mark.timeout(900)
def test_no_field_of_a_call_breaks_at_a_nul(quiet, rows):
    failed, tried = [], 0
    for call, address, method, body in tries(rows, all_of_them=True):
        if not (isinstance(body, dict) and address.startswith(API)):
            continue
        whole = filled(body, rows)
        for name, sent in ((name, broken(value)) for name, value in whole.items() if broken(value) != value):
            with taken_back():
                answer = send(quiet, rows, address, method, {**whole, name: sent})
            tried += 1
            if not 400 <= answer.status_code < 500 and call not in ANSWERED_EACH:
                failed.append((call, name, answer.status_code))
    assert not failed, "\n".join(map(str, failed))
    assert tried > 30


@pytest.mark.timeout(900)
def test_no_form_and_no_parameter_breaks_at_a_nul(quiet, rows):
    failed = []
    for call, address, method, _ in tries(rows, all_of_them=True):
        if address.startswith(API) and method != "get":
            continue
        sent = {"search": "a\x00b"} if method == "get" else {**FORM, "name": "a\x00b"}
        answer = getattr(quiet, method)(address, sent, **({} if method == "get" else {"format": "multipart"}))
        if answer.status_code not in {400, 401, 405}:
            failed.append((call, answer.status_code))
    assert not failed, "\n".join(map(str, failed))


@pytest.mark.timeout(900)
def test_no_address_breaks_at_a_nul(quiet, rows):
    failed = []
    for call, address, method, body in tries(dict.fromkeys(rows, "%00"), all_of_them=True):
        if "%00" in address:
            answer = send(quiet, dict.fromkeys(rows, "%00"), address, method, body)
            if answer.status_code not in {400, 404, 405}:
                failed.append((call, address, answer.status_code))
    assert not failed, "\n".join(map(str, failed))


@pytest.mark.parametrize("model", list(admin.site._registry), ids=lambda model: model._meta.label_lower)
def test_no_list_of_staff_breaks_at_a_nul(api, staff, model):
    """Reproduction: ``?state__exact=%00`` was a 500."""
    client, page = api(staff), admin.site._registry[model]
    client.raise_request_exception = False
    path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    request = client.get(path).wsgi_request
    names = {name for each in page.get_list_filter(request) for name in page._parameters(each, request)}
    for name in [*sorted(filter(None, names)), "q", "o", "p"]:
        answer = client.get(path, {name: "\x00"})
        assert (answer.status_code, "NUL" in answer.content.decode()) == (400, True), name
