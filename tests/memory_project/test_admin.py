"""The staff's side: its door, its sidebar, its first page, and what its pages may load."""

import re
from datetime import timedelta
from itertools import chain
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.core.cache import cache
from django.db.models import CharField, TextField
from django.http import QueryDict
from django.urls import NoReverseMatch, URLPattern, URLResolver, reverse
from django.utils import timezone

from accounts.actions import preferences_set
from accounts.queries import principal_for_person, principal_for_staff
from journal import leases as jobs
from journal.actions import note_model_use
from journal.models import Change
from journal.operation_actions import note_operation
from language.base import Usage
from memories.actions import memory_add, memory_quarantine
from memories.records import NewMemory
from memory_project import pulse
from memory_project.staff import dashboard, sidebar
from tests import factories
from tests.test_rooms import ROOMS

SOMETHING = "00000000-0000-4000-8000-000000000000"
# Staff have no use for what lives for minutes and shows nothing: codes that link a chat, and how many were tried. Whom
# a person blocks is their own business, and so is how a legacy looks or that it has ended. How much was learned in an
# hour is a mere counter.
UNSHOWN = {
    *("accounts.linkcode", "accounts.linkattempts", "accounts.invitationblock"),
    *("accounts.legacypicture", "accounts.legacyending", "journal.learned"),
}
ROOM_MODELS = [
    model for model in apps.get_models() if model._meta.app_label in ROOMS and model._meta.label_lower not in UNSHOWN
]


@pytest.fixture
def moderator(db):
    """Staff without superuser rights."""
    return factories.UserFactory(username="moderator", display_name="Mo", is_staff=True)


def admin_paths():
    """Every address of the admin, of something that is not there where it takes an id."""

    def walk(patterns, prefix=""):
        for each in patterns:
            if isinstance(each, URLResolver):
                yield from walk(each.url_patterns, prefix)
            elif isinstance(each, URLPattern) and each.name:
                yield each.name

    for name in sorted(set(walk(admin.site.urls[0]))):
        for args in ([], [SOMETHING], [1, SOMETHING], ["accounts"]):
            try:
                yield reverse(f"admin:{name}", args=args)
                break
            except NoReverseMatch:
                continue


PATHS = [path for path in admin_paths() if path not in {"/admin/login/", "/admin/logout/"}]
BUTTONS = [path for path in PATHS if path.rpartition("/")[0].rpartition("/")[2] in {
    "open", "hide", "unhide", "quarantine", "release", "refuse", "retry", "cancel", "revoke", "make", "make-key",
    "keep-out", "let-in",
}]  # fmt: skip


class TestTheDoor:
    """Staff come in; everybody else gets a page that is theirs."""

    @pytest.mark.parametrize("who", [None, "owner", "agent"])
    def test_every_address_is_closed_to_others(self, request, api, db, who):
        client = api(who and request.getfixturevalue(who))
        for path in PATHS:
            for answer in (client.get(path), client.post(path, {"_form_submitted": "True"}, format="multipart")):
                assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/admin/login/"), path

    @pytest.mark.parametrize("nothing", [SOMETHING, "no-id", "0", "%00", "_00"])
    def test_no_address_breaks_for_staff(self, api, moderator, nothing):
        client = api(moderator)
        # Those that name no row are the same whatever the others name.
        for path in (path for path in PATHS if SOMETHING in path or nothing == SOMETHING):
            answer = client.get(path.replace(SOMETHING, nothing))
            assert answer.status_code in ({400} if nothing == "%00" else {200, 302, 403, 404}), path

    @pytest.mark.parametrize("model", list(admin.site._registry), ids=lambda model: model._meta.label_lower)
    def test_no_column_is_guessed_through_the_address_of_a_list(self, api, moderator, owner, legacy, model):
        client = api(moderator)
        path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        texts = {each.name for each in model._meta.concrete_fields if isinstance(each, CharField | TextField)}
        lookups = [f"{name}__icontains" for name in texts]
        for relation in (each for each in model._meta.concrete_fields if each.is_relation):
            for each in relation.related_model._meta.concrete_fields:
                if isinstance(each, CharField | TextField):
                    lookups.append(f"{relation.name}__{each.name}__startswith")
        lookups += ["content", "content__regex", "nothing", "nothing__x", "__", "state__exact__in", "messages__content"]
        page = client.get(path)
        model_admin, request = page.context["cl"].model_admin, page.wsgi_request
        for lookup in lookups:  # What refuses them is the same on the way to each page.
            request.GET = QueryDict(f"{lookup}=1")
            with pytest.raises(DisallowedModelAdminLookup):
                pytest.fail(f"{lookup}: {model_admin.get_changelist_instance(request)}")
        assert client.get(path, {lookups[0]: "1"}).status_code == 400

    @pytest.mark.parametrize("model", list(admin.site._registry), ids=lambda model: model._meta.label_lower)
    def test_every_choice_of_a_filter_is_answered(self, api, moderator, model):
        client = api(moderator)
        path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        page = client.get(path)
        changelist, request = page.context["cl"], page.wsgi_request
        assert {spec.title for spec in changelist.filter_specs} or not changelist.list_filter
        every = [[each["query_string"] for each in spec.choices(changelist) if "query_string" in each]
                 for spec in changelist.filter_specs]  # fmt: skip
        for choice in chain.from_iterable(every):  # The page around the rows is the same.
            request.GET = QueryDict(choice.removeprefix("?"))
            narrowed = changelist.model_admin.get_changelist_instance(request)
            assert narrowed.result_count == len(narrowed.result_list), choice
        if every:  # All filters are on one page, each with its last choice.
            chosen = "&".join(choices[-1].removeprefix("?") for choices in every)
            assert client.get(f"{path}?{chosen}").status_code == 200, chosen

    @pytest.mark.parametrize("model", list(admin.site._registry), ids=lambda model: model._meta.label_lower)
    @pytest.mark.parametrize("term", ["x", "'", SOMETHING])
    def test_every_list_can_be_searched_for_anything(self, api, moderator, model, term):
        path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        assert api(moderator).get(path, {"q": term}).status_code == 200

    def test_a_list_of_another_kind_would_not_guard_its_columns(self):
        from web.admin import RecordAdmin

        assert all(isinstance(each, RecordAdmin) for each in admin.site._registry.values())

    def test_every_button_is_among_them(self):
        assert len(BUTTONS) >= 18

    def test_nobody_is_led_to_the_sign_in_page_and_back(self, client, db):
        answer = client.get("/admin/facts/legacyfact/?state__exact=hidden", follow=True)
        steps = [address for address, _ in answer.redirect_chain]
        assert steps[-1] == "/sign-in/?next=/admin/facts/legacyfact/%3Fstate__exact%3Dhidden"
        assert "Sign in" in answer.content.decode()

    def test_a_person_is_led_home_and_told(self, client, owner):
        client.force_login(owner)
        answer = client.get("/admin/", follow=True)
        assert answer.redirect_chain[-1][0] == "/"
        assert "These pages are for staff." in answer.content.decode()

    def test_staff_are_led_on_but_never_away(self, client, moderator):
        client.force_login(moderator)
        assert client.get("/admin/login/?next=/admin/accounts/user/")["Location"] == "/admin/accounts/user/"
        assert client.get("/admin/login/?next=https://elsewhere.example/")["Location"] == "/admin/"
        assert client.get("/admin/login/")["Location"] == "/admin/"

    def test_who_was_kept_out_is_out_at_once(self, client, moderator):
        client.force_login(moderator)
        assert client.get("/admin/").status_code == 200
        moderator.is_active = False
        moderator.save()
        assert client.get("/admin/").status_code == 302

    def test_signing_out_leads_to_the_sign_in_page(self, client, moderator):
        client.force_login(moderator)
        assert client.post("/admin/logout/")["Location"] == "/sign-in/"
        assert client.get("/admin/").status_code == 302

    def test_there_is_no_search_over_models(self, client, moderator):
        client.force_login(moderator)
        assert client.get("/admin/search/?s=fact").status_code == 404


class TestThePolicy:
    """The admin's own content security policy, and nobody else's."""

    def test_pages_of_the_admin_load_from_this_server_alone(self, client, moderator):
        client.force_login(moderator)
        policy = client.get("/admin/")["Content-Security-Policy"]
        directives = dict(each.strip().partition(" ")[::2] for each in policy.split(";"))
        assert directives["default-src"] == "'none'"
        assert directives["script-src"] == "'self' 'unsafe-eval'"
        assert directives["style-src"] == "'self'"
        assert not [each for each in directives.values() if "http" in each or "*" in each]
        assert directives["frame-ancestors"] == directives["base-uri"] == "'none'"

    @pytest.mark.parametrize("path", ["/", "/sign-in/", "/api/docs/", "/nothing/"])
    def test_other_pages_keep_theirs(self, client, owner, path):
        client.force_login(owner)
        assert "unsafe-eval" not in client.get(path)["Content-Security-Policy"]

    def test_pages_are_kept_by_no_cache(self, client, moderator):
        client.force_login(moderator)
        assert "no-store" in client.get("/admin/facts/legacyfact/")["Cache-Control"]


class TestTheSidebar:
    """Everything is in it, and says what waits."""

    @pytest.mark.parametrize("model", ROOM_MODELS, ids=lambda model: model._meta.label_lower)
    def test_every_model_has_an_admin_and_an_entry(self, model):
        assert admin.site.is_registered(model)
        names = {name for _, entries in sidebar.RECORDS for _, name in entries}
        assert model._meta.label_lower.replace(".", "_") in names

    def test_there_are_eight_entries_and_each_leads_somewhere(self, client, moderator):
        client.force_login(moderator)
        entries = self.entries(client, "/admin/")
        assert len(entries) == 8
        for entry in entries.values():
            assert client.get(entry["link"]).status_code == 200

    def test_records_are_listed_with_what_they_are(self, client, moderator):
        client.force_login(moderator)
        groups = client.get("/admin/records/").context["groups"]
        listed = [table for _, tables in groups for table in tables]
        assert len({table.link for table in listed}) == len(listed) == len(ROOM_MODELS)
        assert all(table.about.endswith(".") or table.about for table in listed)

    def test_plurals_are_words(self):
        plurals = {str(model._meta.verbose_name_plural) for model in ROOM_MODELS}
        assert {"external identities", "preferences", "fact evidence", "legacies"} <= plurals
        assert not [plural for plural in plurals if plural.endswith(("tys", "cys", "ss", "evidences"))]

    def test_no_row_is_named_by_what_it_holds(self, owner, legacy):
        for model in ROOM_MODELS:
            assert "__str__" in vars(model) or model._meta.label_lower == "accounts.user"

    def entries(self, client, path):
        groups = client.get(path).context["sidebar_navigation"]
        return {entry["title"]: entry for group in groups for entry in group["items"]}

    def test_badges_say_how_much_waits(self, client, moderator, owner, legacy):
        from facts.actions import fact_hide

        fact = factories.LegacyFactFactory(legacy=legacy)
        fact_hide(dashboard_principal(moderator), fact.pk, "rude")
        kept = memory_add(principal_for_person(owner.pk), NewMemory("The user keeps bees.", "context")).memory
        memory_quarantine(dashboard_principal(moderator), kept.pk, "Reads like an order.")
        failed, running = factories.JobRunFactory.create_batch(2)
        jobs.fail_job(jobs.claim_job(failed.pk, lease_seconds=60), "bad_answer")
        jobs.claim_job(running.pk, lease_seconds=60)
        client.force_login(moderator)
        badges = {title: entry.get("badge") for title, entry in self.entries(client, "/admin/").items()}
        assert (badges["Moderation"], badges["Jobs"]) == (1, 1)
        assert badges["People"] is None

    @pytest.mark.parametrize(
        ("path", "title"),
        [
            ("/admin/", "Board"),
            ("/admin/waiting/", "Moderation"),
            ("/admin/waiting/?why=An+order", "Moderation"),
            ("/admin/facts/legacyfact/?state__exact=hidden", "Records"),
            ("/admin/memories/memoryversion/", "Records"),
            ("/admin/records/", "Records"),
            ("/admin/journal/jobrun/?is=failing", "Jobs"),
            ("/admin/journal/change/", "Log"),
            ("/admin/accounts/agentkey/", "Records"),
            ("/admin/accounts/agent/", "Agents"),
        ],
    )
    def test_where_one_is_is_marked(self, client, moderator, path, title):
        client.force_login(moderator)
        assert [entry["title"] for entry in self.entries(client, path).values() if entry["active"]] == [title]


def dashboard_principal(user):
    from accounts.queries import principal_for_staff

    return principal_for_staff(user)


class TestTheFirstPage:
    """What waits, what runs, what is written, what is in use."""

    @pytest.fixture(autouse=True)
    def _fresh_cache(self, settings):
        """Counts of this test alone."""
        settings.CACHES = {"default": {**settings.CACHES["default"], "KEY_PREFIX": f"board-{uuid4()}"}}

    def test_it_says_how_many_requests_broke_and_how_long_they_took_in_a_day(self, client, moderator, monkeypatch):
        monkeypatch.setattr(pulse, "_counts", pulse._Counts())
        monkeypatch.setattr(pulse, "FLUSH_SECONDS", 0.0)
        for number in range(100):
            pulse.note_request(0.010 if number < 90 else 0.400, 500 if number < 3 else 200)
        day = pulse.last_day()
        client.force_login(moderator)
        page = " ".join(client.get("/admin/").content.decode().split())
        told = re.search(r"<dt>Requests in 24 h</dt><dd>(.*?)</dd>", page)[1]
        assert told == (
            f"{day.requests}, {day.broken} of them broken; half within {day.p50} ms, 95 % within {day.p95} ms"
        )
        assert (day.requests, day.broken) == (100, 3)

    def test_it_says_what_waits(self, client, moderator, settings):
        settings.KEEPSAKE_MODEL = "offline"
        settings.KEEPSAKE_EMBEDDER = "hashing"
        failing, running = factories.JobRunFactory.create_batch(2, total=8)
        jobs.retry_job_later(jobs.claim_job(failing.pk, lease_seconds=60), "model_away")
        jobs.renew_lease(jobs.claim_job(running.pk, lease_seconds=60), lease_seconds=60, done=3)
        client.force_login(moderator)
        answer = client.get("/admin/")
        page = answer.content.decode()
        assert [(queue.title, queue.count) for queue in answer.context["queues"]] == [
            ("Quarantined facts", 0),
            ("Quarantined memories", 0),
            ("Hidden facts", 0),
            ("Failing jobs", 1),
            ("Conversations whose summary fails", 1),
        ]
        assert 'value="3" max="8"' in page
        assert "model_away" in page
        assert "offline rules, no model" in page
        assert "hashing:384, 384 dimensions" in page
        for queue in answer.context["queues"]:
            assert client.get(queue.link).status_code == 200

    def test_it_says_how_the_deployment_does(self, client, moderator):
        client.force_login(moderator)
        page = client.get("/admin/").content.decode()
        assert "no sign of one today" in page
        assert "0 tasks" in page
        pulse.note_work()
        first, _ = factories.JobRunFactory.create_batch(2)
        type(first).objects.filter(pk=first.pk).update(created_at=timezone.now() - timedelta(hours=3))
        page = client.get("/admin/").content.decode()
        assert "at work" in page
        assert "2, the oldest for 3" in page

    def test_it_tells_the_model_of_each_role_and_what_it_used_today(self, client, moderator, settings):
        client.force_login(moderator)
        settings.ANTHROPIC_API_KEY = "key"
        settings.KEEPSAKE_MODEL, settings.KEEPSAKE_REPLY_MODEL = "extracting-1", "talking-1"
        settings.KEEPSAKE_JUDGE_MODEL, settings.KEEPSAKE_JUDGE_EFFORT = "judging-1", "low"
        note_model_use("extract", Usage(1_000, 20))
        note_model_use("remember", Usage(200, 3))
        note_model_use("compare", Usage(50, 5))
        factories.ReplyFactory(input_tokens=4_000, output_tokens=300)
        roles = client.get("/admin/").context["roles"]
        assert [(each.role, each.model, each.effort, each.read, each.written) for each in roles] == [
            ("Replies", "talking-1", "", 4_000, 300),
            ("Extracts", "extracting-1", "", 1_200, 23),
            ("Judges", "judging-1", "low", 50, 5),
        ]
        assert not any(each.offline for each in roles)

    def test_days_are_counted_once(self, owner, django_assert_num_queries):
        for language in ("de", "en", "fr"):
            preferences_set(principal_for_person(owner.pk), language=language)
        first = Change.objects.first()
        Change.objects.filter(pk=first.pk).update(at=timezone.now() - timedelta(days=3))
        with django_assert_num_queries(1):
            written = dashboard.writes_per_day()
        assert len(written) == 14
        assert [number for _, number in written[-4:]] == [1, 0, 0, 2]
        assert sum(number for _, number in written) == 3
        with django_assert_num_queries(0):
            assert dashboard.writes_per_day() == written
        cache.delete(f"staff:writes:{timezone.localdate().isoformat()}")
        preferences_set(principal_for_person(owner.pk), language="de")
        with django_assert_num_queries(1):
            assert [number for _, number in dashboard.writes_per_day()[-4:]] == [1, 0, 0, 3]

    def test_it_counts_operations_by_node_operation_and_status_for_a_minute(self, client, moderator, owner):
        client.force_login(moderator)
        note_operation("worker", "consolidate", "error", user_id=owner.pk)
        note_operation("context", "block", user_id=owner.pk)
        page = client.get("/admin/")
        told = [(each.node, each.op, each.status, each.count) for each in page.context["operations"]]
        assert told == [("context", "block", "ok", 1), ("worker", "consolidate", "error", 1)]
        assert "<td>consolidate</td>" in page.content.decode()
        note_operation("context", "block", user_id=owner.pk)
        assert client.get("/admin/").context["operations"] == page.context["operations"]

    def test_it_takes_thirteen_queries(self, client, moderator, django_assert_num_queries):
        client.force_login(moderator)
        with django_assert_num_queries(13):
            client.get("/admin/")
        with django_assert_num_queries(11):
            client.get("/admin/")

    def test_a_deployment_under_development_says_so(self, settings, rf):
        for debug, label in ((True, ["Development", "info"]), (False, None)):
            settings.DEBUG = debug
            assert sidebar.environment(rf.get("/")) == label


# Beside test_records_are_listed_with_whom_they_are_of_instead_of_ids, in the same file.
def test_staff_see_what_each_reply_used_and_took_out_of_the_cache(client, moderator, owner):
    said = factories.MessageFactory(conversation=factories.ConversationFactory(user=owner))
    used = {"input_tokens": 1_000, "cached_tokens": 860, "output_tokens": 140}
    reply = factories.ReplyFactory(message=said, state="done", error_code="", answer_index=1, **used)
    client.force_login(moderator)
    for path in ("/admin/assistant/reply/", f"/admin/assistant/reply/{reply.pk}/change/"):
        page = client.get(path).content.decode()
        assert "86%" in page, path
        assert said.content not in page, path


def test_records_are_listed_with_whom_they_are_of_instead_of_ids(client, moderator):
    person, legacy = factories.UserFactory(username="olga"), factories.LegacyFactory(name="Rosa")
    me = principal_for_person(person.pk)
    memory = memory_add(me, NewMemory("Olga rows on Tuesdays.", "interests")).memory
    job = factories.JobRunFactory(user_id=person.pk)
    client.force_login(moderator)
    change = Change.objects.get(object_id=memory.pk, event="ADD")
    for kind, name in (("change", "olga"), ("jobrun", "olga"), ("undostep", "olga"), ("ledger", "Rosa")):
        page = client.get(f"/admin/journal/{kind}/").content.decode()
        assert f">{name}</a>" in page, kind
        assert str(person.pk) not in re.sub(r'(href|value)="[^"]*"', "", page), kind
    for kind, pk in (("change", change.pk), ("jobrun", job.pk)):
        assert "of olga" in client.get(f"/admin/journal/{kind}/{pk}/change/").content.decode()
    assert str(legacy.pk)[:8] in client.get("/admin/journal/ledger/").content.decode()


def test_the_log_names_who_did_what_to_what(client, moderator):
    person = factories.UserFactory(username="olga")
    agent = factories.AgentFactory(name="Notebook")
    memory = memory_add(principal_for_person(person.pk), NewMemory("Olga rows on Tuesdays.", "interests")).memory
    memory_quarantine(principal_for_staff(moderator), memory.pk, "odd")
    change = Change.objects.get(object_id=memory.pk, event="ADD")
    Change.objects.create(
        **{name: getattr(change, name) for name in ("ledger_id", "object_type", "object_id")},
        rev=change.rev + 10,
        event="UPDATE",
        actor_kind="agent",
        actor_id=str(agent.pk),
    )
    job = factories.JobRunFactory(user_id=person.pk, kind="extract_messages", subject_id=str(uuid4()))
    client.force_login(moderator)
    page = client.get("/admin/journal/change/").content.decode()
    for pk, model, name in ((person.pk, "user", "olga"), (moderator.pk, "user", moderator.username)):
        assert f'href="/admin/accounts/{model}/{pk}/change/">{name}</a>' in page
    assert f'href="/admin/accounts/agent/{agent.pk}/change/">Notebook</a>' in page
    assert f'href="/admin/memories/memory/{memory.pk}/change/">Memory</a>' in page
    assert "<title>Changes |" in re.sub(r"\s+", " ", page).replace("<title> ", "<title>")
    assert f"{change.at:%-d %B %Y, %H:%M}" in page, "as on people's pages"
    jobs = client.get("/admin/journal/jobrun/").content.decode()
    assert f'href="/admin/conversations/conversation/{job.subject_id}/change/">Conversation</a>' in jobs
