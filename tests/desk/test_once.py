"""Parts of pages that are rendered once a process, and addresses that are searched once."""

from uuid import uuid4

import pytest
from django.template import Context, Template, TemplateSyntaxError
from django.urls import reverse, set_script_prefix
from django.utils import translation

from desk.page import page_address, undo_address
from desk.templatetags import once

PART = "{% load i18n once %}{% once here=here %}{{ here }}, {{ secret }}: {% translate 'Memories' %}{% endonce %}"


def rendered(template, language="en", **context):
    with translation.override(language):
        return template.render(Context(context))


def test_a_part_knows_its_values_alone_and_is_kept_by_them_and_by_language():
    part = Template(PART)
    assert rendered(part, here="home", secret="Rosa") == "home, : Memories"
    assert rendered(part, here="home", secret="Otto") == "home, : Memories"
    assert rendered(part, here="<review>") == "&lt;review&gt;, : Memories"
    assert rendered(part, "de", here="home") == "home, : Erinnerungen"
    (node,) = part.nodelist.get_nodes_by_type(once.Once)
    assert len(node.rendered) == 3
    assert rendered(part, here=["a", "b"]).startswith("[&#x27;a&#x27;, &#x27;b&#x27;]"), "Choices come as lists."


def test_a_part_keeps_no_more_than_so_many(monkeypatch):
    monkeypatch.setattr(once, "MOST", 2)
    part = Template(PART)
    assert [rendered(part, here=str(number)) for number in range(5)] == [f"{number}, : Memories" for number in range(5)]
    (node,) = part.nodelist.get_nodes_by_type(once.Once)
    assert len(node.rendered) <= 2


def test_a_part_takes_named_values_only():
    with pytest.raises(TemplateSyntaxError):
        Template("{% load once %}{% once here %}{% endonce %}")


@pytest.fixture
def below():
    set_script_prefix("/keepsake/")
    yield
    set_script_prefix("/")


def same_addresses():
    key = uuid4()
    assert page_address("fact-page", key) == reverse("fact-page", args=[key])
    assert page_address("memory-opened", "AbC12345") == reverse("memory-opened", args=["AbC12345"])
    assert undo_address(7, 9) == reverse("undo", args=[[(7, 9)]])


def test_addresses_are_those_of_their_routes():
    same_addresses()


def test_addresses_are_those_of_their_routes_below_a_prefix(below):
    same_addresses()
