"""The German of the pages: the catalogue is whole, pages speak their person's language, and programs read English."""

import re
from html import unescape
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import get_resolver
from django.utils import translation
from django.utils.translation import ngettext

from accounts import categories
from accounts.actions import preferences_set
from accounts.models import Preferences
from accounts.queries import principal_for_person
from desk.labels import CATEGORIES, OF_COLUMNS, ROLES
from desk.templatetags.scripts import TEXTS
from desk.translation import PROGRAMS
from facts import actions as fact_actions
from facts.models import LegacyFact
from memories import actions as memory_actions
from memories.actions import optimize_plan
from memories.models import Disclosure, Kind, Memory, Place
from memories.records import NewMemory
from memory_project.management.commands.messages import catalogues, compiled, is_whole, read, updated
from tests.factories import (
    ConversationFactory,
    LegacyFactFactory,
    MemoryFactory,
    MessageFactory,
    agent_principal,
)

from .conftest import PHONE

GERMAN = {"HTTP_ACCEPT_LANGUAGE": "de-DE,de;q=0.9,en;q=0.5"}
FILLED_IN = re.compile(r"%\(\w+\)s|\{\w*\}|<[^>]+>")
NOT_IN_GERMAN = "%(article)s"
"""German needs no such article before what a gate found."""
ENGLISH = re.compile(
    r"\b(the|and|of|you|your|with|were|that|this|not|from|for|are|been|which|what|who|when|they|its|by|to|nothing"
    r"|memory|memories|facts|yes|no)\b",
    re.IGNORECASE,
)
"""Words that no German page has outside of what is stored."""


def forms(text):
    return text if isinstance(text, list | tuple) else (text,)


# --- The catalogue --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", catalogues(), ids=lambda path: path.parent.parent.name)
def test_the_catalogue_has_what_the_program_says_and_nothing_else(path):
    """When it has not: make messages, and translate what is new."""
    assert {(m.id, m.context) for m in updated(path) if m.id} == {(m.id, m.context) for m in read(path) if m.id}


@pytest.mark.parametrize("path", catalogues(), ids=lambda path: path.parent.parent.name)
def test_every_text_is_translated_with_all_that_is_filled_in(path):
    for message in read(path):
        if message.id:
            assert is_whole(message.string), message.id
            assert not message.fuzzy, message.id
            wanted = {each for text in forms(message.id) for each in FILLED_IN.findall(text)}
            for text in forms(message.string):
                assert set(FILLED_IN.findall(text)) == wanted - {NOT_IN_GERMAN}, (message.id, text)


@pytest.mark.parametrize("path", catalogues(), ids=lambda path: path.parent.parent.name)
def test_what_is_compiled_is_what_stands_in_the_catalogue(path):
    assert path.with_suffix(".mo").read_bytes() == compiled(path)


def test_plurals_are_those_of_the_language():
    with translation.override("de"):
        told = [ngettext("%(count)s memory", "%(count)s memories", count) % {"count": count} for count in (0, 1, 2)]
    assert told == ["0 Erinnerungen", "1 Erinnerung", "2 Erinnerungen"]


def test_what_scripts_say_is_what_is_translated_for_them():
    said = set()
    for path in Path(settings.BASE_DIR, "static").glob("*.js"):
        said |= set(re.findall(r'inWords\("([^"]+)"', path.read_text(encoding="utf-8")))
    assert said == set(TEXTS)


def test_every_label_that_a_page_shows_has_a_translation():
    choices = [LegacyFact.Category, LegacyFact.Visibility, LegacyFact.State, Memory.Field, Kind]
    assert {str(label) for each in choices for label in each.labels} <= OF_COLUMNS
    assert set(CATEGORIES) == set(categories.load().by_name)
    assert set(ROLES) == set(categories.load().allowlists)


# --- Which language -------------------------------------------------------------------------------------------


def test_only_pages_are_translated():
    """What is not the desk's begins as programs' addresses do."""
    patterns = get_resolver().url_patterns
    others = [each for each in patterns if getattr(each, "urlconf_name", None) is None or "desk" not in str(each)]
    roots = [str(each.pattern) for each in others if str(each.pattern)]
    assert roots
    assert [root for root in roots if not f"/{root}".startswith(PROGRAMS)] == []


@pytest.mark.django_db
def test_a_page_speaks_the_browser_s_language_until_the_person_chose_one(visit, owner):
    client = visit(owner)
    assert '<html lang="de">' in client.get("/", **GERMAN).content.decode()
    assert '<html lang="en">' in client.get("/").content.decode()
    assert '<html lang="en">' in client.get("/", HTTP_ACCEPT_LANGUAGE="xx,fr").content.decode()
    preferences_set(principal_for_person(owner.pk), language="en")
    assert '<html lang="en">' in client.get("/", **GERMAN).content.decode()
    preferences_set(principal_for_person(owner.pk), language="de")
    page = client.get("/")
    assert '<html lang="de">' in page.content.decode()
    assert "Accept-Language" in page["Vary"]
    # A language without a catalogue leaves it to the browser.
    preferences_set(principal_for_person(owner.pk), language="fr")
    assert '<html lang="de">' in client.get("/", **GERMAN).content.decode()


@pytest.mark.django_db
def test_the_language_is_chosen_on_the_preferences_page_and_holds_at_once(visit, owner):
    client = visit(owner)
    fields = {"has_memory": "on", "agentic_memory": "on", "review": "after", "time_zone": "UTC", "language": "de"}
    answer = client.post("/preferences/", fields, follow=True)
    assert "Gespeichert." in answer.content.decode()
    assert Preferences.objects.get(user=owner).language == "de"


@pytest.mark.django_db
def test_nobody_is_left_in_the_language_of_the_request_before(visit, owner):
    preferences_set(principal_for_person(owner.pk), language="de")
    visit(owner).get("/")
    assert translation.get_language() == settings.LANGUAGE_CODE
    assert '<html lang="en">' in visit().get("/sign-in/").content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/sign-in/", "/register/", "/no/such/page/"])
def test_pages_before_anybody_signed_in_speak_the_browser_s_language(visit, settings, path):
    settings.REGISTRATION = True
    answer = visit().get(path, **GERMAN)
    assert '<html lang="de">' in answer.content.decode()
    assert english_on(answer) == []
    assert "Accept-Language" in answer["Vary"]


@pytest.mark.django_db
def test_a_page_that_is_not_there_speaks_its_person_s_language(visit, owner):
    preferences_set(principal_for_person(owner.pk), language="de")
    answer = visit(owner).get("/memories/nosuch/")
    assert answer.status_code == 404
    assert "Nicht gefunden" in answer.content.decode()


@pytest.mark.django_db
def test_a_refusal_is_told_in_the_language_of_the_page_and_in_english_to_programs(visit, owner, api):
    preferences_set(principal_for_person(owner.pk), language="de")
    page = visit(owner).post("/memories/add/", {"content": "Nein", "category": "profile"})
    assert page.status_code == 422
    assert english_on(page) == []
    sent = {"content": "Nein", "category": "profile"}
    english = api(owner).post("/api/v1/memories/", sent, format="json")
    assert english.status_code == 422
    assert api(owner).post("/api/v1/memories/", sent, format="json", **GERMAN).content == english.content


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "/api/v1/memories/", None),
        ("get", "/api/v1/memories/nosuch/", None),
        ("post", "/api/v1/memories/", {}),
        ("post", "/api/v1/memories/", {"content": "My password is hunter2xyz!", "category": "profile"}),
        ("post", "/api/v1/legacies/", {"name": ""}),
        ("patch", "/api/v1/preferences/", {"language": "a language with a long name"}),
        ("get", "/api/v1/legacies/00000000-0000-0000-0000-000000000000/facts/", None),
        ("get", "/api/v1/no/such/address/", None),
    ],
)
def test_what_a_program_is_answered_does_not_depend_on_a_language(owner, api, method, path, body):
    """Neither the browser's nor the person's: nothing is ever activated under the addresses of programs."""
    preferences_set(principal_for_person(owner.pk), language="de")
    client = api(owner)
    call = getattr(client, method)
    plain = call(path, body, format="json") if body is not None else call(path)
    german = call(path, body, format="json", **GERMAN) if body is not None else call(path, **GERMAN)
    assert german.status_code == plain.status_code
    assert german.content == plain.content


# --- Every page in German -------------------------------------------------------------------------------------


@pytest.fixture
def german(owner, member, legacy, agent):
    """A person whose pages show most of what can be shown, all that is stored in German."""
    person = owner
    me, bot = principal_for_person(person.pk), agent_principal(agent)
    preferences_set(me, language="de")
    talk = ConversationFactory(user=person, title="Sonntagsrunde", agent=agent)
    told = MessageFactory(conversation=talk, content="Ich rudere dienstags. Das Boot liegt in Kiel.")
    first = memory_actions.memory_add(
        bot,
        NewMemory("Olga rudert dienstags.", "interests", subject="Rudern", topics=("See",)),
        conversation_id=talk.pk,
        message_id=told.pk,
    ).memory
    memory_actions.memory_update(me, first.pk, "Olga rudert montags.")
    memory_actions.memory_pin(me, first.pk, True)
    MemoryFactory(user=person, content="Ich wohne in Lissabon.", category="profile", field="city")
    memory_actions.memory_add(me, NewMemory("Ich wohne in Porto.", "profile", field="city"))
    MemoryFactory(user=person, agent=agent, content="Olga lebt in Braga.", category="profile", field="city")
    memory_actions.memory_reject(me, MemoryFactory(user=person, content="Olga stammt aus Gent.").pk)
    Disclosure.objects.create(user=person, agent=agent, by="turn", memories=[first.pk])
    facts = [
        LegacyFactFactory(legacy=legacy, user=person, content=f"Rosa war {work}.")
        for work in ("Hebamme", "Imkerin", "geduldig")
    ]
    LegacyFactFactory(legacy=legacy, user=member, content="Rosa war Lehrerin.", visibility="shared")
    fact_actions.fact_set_visibility(me, facts[0].pk, "shared")
    fact_actions.fact_reject(me, facts[2].pk)
    actions_place = memory_actions.place_add(me, "kiel", "Kiel", "Da liegt das Boot")
    assert actions_place is not None
    for content in ("Der Hund heißt Rufus.", "Ein Hund namens Rufus."):
        MemoryFactory(user=person, content=content)
    plan = optimize_plan(me)
    place = Place.objects.get(user=person)
    pages = [
        *("/", "/talk/", "/review/", "/memories/", "/memories/?state=rejected", "/memories/?search=Rufus", "/facts/"),
        *("/memories/?state=archived", "/memories/?state=proposed", "/facts/?show=gone", "/facts/?show=waiting"),
        *("/conversations/", "/conversations/?search=Boot", f"/conversations/{talk.pk}/", "/agents/"),
        *(f"/conversations/{talk.pk}/remove/", f"/conversations/{talk.pk}/1/remove/", f"/agents/{agent.pk}/"),
        *(
            f"/agents/{agent.pk}/shown/",
            "/agents/connect/",
            "/places/",
            f"/places/{place.pk}/",
            "/places/?show=removed",
        ),
        *("/import/", "/data/", "/preferences/", "/withheld/", "/invitations/"),
        *(f"/legacies/{legacy.pk}/", f"/legacies/{legacy.pk}/members/", "/timeline/", "/timeline/pictures/"),
        *(f"/facts/{facts[0].pk}/", f"/facts/{facts[0].pk}/erase/", f"/memories/{first.pk}/", "/memories/tidy/"),
        *(f"/memories/{first.pk}/seen/", f"/memories/{first.pk}/erase/", f"/memories/tidy/{plan.pk}/"),
    ]
    return person, pages


def words_on(answer):
    """What a page says, without what is code, what people and agents are called, and languages' and zones' names."""
    text = answer.content.decode()
    text = re.sub(r"<(script|style|pre|code|kbd|select|datalist|svg)\b.*?</\1>", " ", text, flags=re.DOTALL)
    said = re.findall(r'(?:aria-label|placeholder|title)="([^"]+)"', text)
    return unescape(" ".join([*re.findall(r">([^<]+)<", text), *said]))


def english_on(answer):
    """The English words on a page, each with what stands around it."""
    text = re.sub(r"\s+", " ", words_on(answer)).replace("/memory", "")
    for name in ("Claude Code", "Data controls", "conversations.json", "Messages API", "by name"):
        text = text.replace(name, "")
    return [text[max(0, found.start() - 30) : found.end() + 30] for found in ENGLISH.finditer(text)]


@pytest.mark.django_db
def test_no_english_is_left_on_any_page(visit, german):
    person, pages = german
    client = visit(person)
    found = {}
    for path in pages:
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert '<html lang="de">' in answer.content.decode(), path
        found[path] = english_on(answer)
    assert {path: words for path, words in found.items() if words} == {}


@pytest.mark.django_db
def test_what_a_decision_came_to_is_told_in_german(visit, german):
    person, _ = german
    client = visit(person)
    fact = LegacyFact.objects.filter(user=person, state="active").first()
    memory = Memory.objects.filter(user=person, state="active").first()
    sent = [
        (f"/facts/{fact.pk}/edit/", {"content": "Rosa war sehr geduldig.", "version": fact.version}),
        (f"/facts/{fact.pk}/unshare/", {}),
        (f"/memories/{memory.pk}/archive/", {}),
        (f"/memories/{memory.pk}/restore/", {}),
        (f"/memories/{memory.pk}/edit/", {"content": "x"}),
        ("/memories/bulk/", {"decision": "archive", "all": "yes"}),
        ("/facts/bulk/", {"decision": "share", "all": "yes", "next": "/facts/"}),
        ("/facts/bulk/", {"decision": "share"}),
        ("/places/", {"name": "Kiel", "notes": ""}),
        ("/places/", {"name": "", "notes": ""}),
        ("/data/erase/", {"confirm": "x"}),
        ("/first-run/", {}),
        ("/agents/connect/", {"name": "", "may": "read"}),
    ]
    found = {path: english_on(client.post(path, fields, follow=True)) for path, fields in sent}
    assert {path: words for path, words in found.items() if words} == {}


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_german_pages_fit_a_phone(tab, german):
    person, pages = german
    tab.sign_in(person)
    tab.set_viewport_size(PHONE)
    wide = []
    for path in pages:
        tab.goto(path)
        if tab.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            wide.append(path)
    assert wide == []


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_what_a_script_says_is_german_on_a_german_page(tab, german):
    person, _ = german
    tab.sign_in(person)
    tab.goto("/memories/")
    tab.evaluate("document.dispatchEvent(new Event('htmx:sendError'))")
    assert "nicht erreichbar" in tab.locator("#trouble").inner_text()


WRITTEN = {"j F Y", "j F Y, H:i", "l, j F Y", "F Y", "M y", "M"}
"""How pages write a date, beside the filters of ``times.py``: a whole day, with the time, and months on pictures."""
FOR_PROGRAMS = {"U", "Y-m-d", "c"}


def test_every_page_writes_dates_in_one_form_in_the_language_of_the_page():
    found = {}
    for folder in ("desk", "takeout"):
        for path in (settings.BASE_DIR / "templates" / folder).glob("**/*.html"):
            for quoted, form in re.findall(r"""\|(?:date|time):(_\()?["']([^"']*)["']""", path.read_text()):
                if form not in (WRITTEN if quoted else FOR_PROGRAMS):
                    found.setdefault(path.name, []).append(form)
    assert found == {}
