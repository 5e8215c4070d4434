"""What axe-core finds on each page, in light on a phone and in dark on a desktop: nothing. And all of it fits."""

from datetime import timedelta
from io import BytesIO

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone

from accounts.actions import agent_key_create, identity_link, link_code_create, member_invite
from accounts.models import AgentKey, InvitationBlock
from accounts.policy import TELEGRAM_ISSUER
from accounts.queries import principal_for_person, principal_for_staff
from assistant.erasure.actions import erasure_request, run_erasure
from assistant.imports.actions import import_create
from assistant.imports.run import run_import
from assistant.takeout.export_actions import export_begin, run_export
from conversations.actions import NewMessage, PassagePlace, conversation_create, messages_append, passages_withhold
from facts import actions
from facts.models import LegacyFact
from journal.models import Erasure, JobRun
from memories import actions as memory_actions
from memories.actions import optimize_plan, webhook_create
from memories.models import Disclosure, Memory, Relation, Webhook
from memories.records import NewMemory
from tests.conversations.exports import chatgpt_talk, chatgpt_zip
from tests.factories import (
    AgentFactory,
    ConversationFactory,
    DeliveryFactory,
    GrantFactory,
    LegacyFactFactory,
    LegacyFactory,
    MemoryFactory,
    MessageFactory,
    ReplyFactory,
    UserFactory,
    agent_principal,
)

from .conftest import DESKTOP, PHONE, open_row

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    # Describing every element that keeps the rules takes as long as checking them.
    "resultTypes": ["violations"],
}

# The size moves things and the theme colours them. Two of the four pairs show each size and each theme on every page.
# The desktop shows everything, so all rules are checked there; on the phone those that size or theme can break.
OF_LOOKS = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"]
LOOKS = [
    (DESKTOP, "dark", RULES),
    (PHONE, "light", {**RULES, "runOnly": {"type": "rule", "values": OF_LOOKS}, "preload": False}),
]

# What fades in, or from one theme to the other, is pale at first. The end of one may begin another (what inherits).
END_ANIMATIONS = """() => {
    const running = () => document.getAnimations().filter(each =>
        each.playState !== "finished" && each.effect.getComputedTiming().endTime !== Infinity);
    for (let each = running(); each.length; each = running()) each.forEach(one => one.finish());
}"""


def found_on(tab):
    """The rules that a page breaks in either look, each with the elements that break it, and whether it is too wide."""
    tab.wait_for_load_state()
    found = []
    tab.evaluate(Axe().axe_script)
    for size, scheme, rules in LOOKS:
        tab.set_viewport_size(size)
        tab.emulate_media(color_scheme=scheme)
        tab.evaluate(END_ANIMATIONS)
        broken = tab.evaluate("rules => axe.run(document, rules)", rules)["violations"]
        found += [(scheme, rule["id"], [node["html"][:160] for node in rule["nodes"]]) for rule in broken]
        if tab.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            found.append((scheme, "wider than the window", size))
    return found


@pytest.fixture
def facts(owner, member, legacy, told):
    """Facts that show everything that can be shown: links, history, hidden, held back, shared by others, removed."""
    principal = principal_for_person(owner.pk)
    said = ["Grandmother Rosa was a midwife.", "She was patient.", "She hated waste.", "She kept bees."]
    facts = told(owner, legacy, *said)
    shared = LegacyFactFactory(legacy=legacy, user=member, content="Rosa was a nurse.", visibility="shared")
    facts[0].links_from.create(to_fact=shared, kind="contradicts", strength=0.9)
    actions.fact_edit(principal, facts[1].pk, content="She was very patient.")
    actions.fact_set_visibility(principal, facts[1].pk, "shared")
    actions.fact_reject(principal, facts[2].pk)
    LegacyFact.objects.filter(pk=facts[3].pk).update(
        state="quarantined", active_since=None, quarantined_at=timezone.now(), state_reason="An order"
    )
    return facts


@pytest.fixture
def plan(owner):
    """A plan that would merge two memories."""
    for content in ("The user's dog is called Rufus.", "The user has a dog named Rufus."):
        MemoryFactory(user=owner, content=content)
    return optimize_plan(principal_for_person(owner.pk))


@pytest.fixture
def memories(owner, agent, staff):
    """Memories that show everything that can be shown: evidence, wordings, relations, held back, waiting, gone."""
    me, bot = principal_for_person(owner.pk), agent_principal(agent)
    told = MessageFactory(conversation=ConversationFactory(user=owner), content="I row on Tuesdays.")
    rows = NewMemory("Nina rows on Tuesdays.", "interests", subject="Rowing", topics=("sea",))
    first = memory_actions.memory_add(bot, rows, conversation_id=told.conversation_id, message_id=told.pk).memory
    memory_actions.memory_update(me, first.pk, "Nina rows on Mondays.")
    memory_actions.memory_pin(me, first.pk, True)
    MemoryFactory(user=owner, content="I live in Lisbon.", category="profile", field="city")
    memory_actions.memory_add(me, NewMemory("I live in Porto.", "profile", field="city"))
    MemoryFactory(user=owner, agent=agent, content="Nina lives in Braga.", category="profile", field="city")
    memory_actions.memory_reject(me, MemoryFactory(user=owner, content="Nina was born in Ghent.").pk)
    held = MemoryFactory(user=owner, agent=agent, content="Nina owns a tandem.")
    memory_actions.memory_quarantine(principal_for_staff(staff), held.pk, "An order")
    for _ in range(6):
        Disclosure.objects.create(user=owner, agent=agent, by="turn", memories=[first.pk])
    return [first, held, Memory.objects.get(content="I live in Porto.")]


def test_pages_about_memories_keep_nobody_out(tab, owner, memories):
    tab.sign_in(owner)
    found = {}
    lists = [f"/memories/?state={state}" for state in Memory.State.values]
    of_each = (*(f"/memories/{memory.pk}/" for memory in memories), f"/memories/{memories[0].pk}/seen/")
    timeline = ("/timeline/", "/timeline/?who=staff", "/timeline/pictures/")
    for path in (*lists, "/memories/?search=nothing", *of_each, *timeline):
        tab.goto(path)
        found[path] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


def test_the_timeline_with_a_row_of_decisions_and_a_graph_keeps_nobody_out(tab, owner, agent, memories):
    me, bot = principal_for_person(owner.pk), agent_principal(agent)
    for number in (2, 3, 4):
        added = memory_actions.memory_add(bot, NewMemory(f"Nina owns {number} oars.", "interests"), insist=True).memory
        memory_actions.memory_approve(me, added.pk)
    Relation.objects.create(user=owner, from_memory=memories[0], to_memory=added, type="supersedes", strength=0.9)
    tab.sign_in(owner)
    tab.goto("/timeline/?who=me")
    tab.get_by_text("one by one").first.click()
    found = {"timeline": found_on(tab)}
    tab.goto("/timeline/pictures/")
    assert tab.locator(".graph svg path").count() == 1
    found["pictures"] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


def test_pages_with_nothing_on_them_yet_keep_nobody_out(tab, stranger):
    tab.sign_in(stranger)
    found = {}
    nothing = (
        "/", "/review/", "/talk/", "/memories/", "/memories/tidy/", "/facts/", "/conversations/", "/agents/",
        "/places/", "/withheld/", "/import/", "/invitations/", "/timeline/", "/timeline/pictures/", "/data/",
    )  # fmt: skip
    for path in nothing:
        assert tab.goto(path).status == 200, path
        found[path] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


def test_what_opens_about_memories_keeps_nobody_out(tab, owner, memories):
    tab.sign_in(owner)
    tab.goto("/memories/")
    tab.get_by_text("Add a memory").click()
    tab.get_by_text("Filters and order").click()
    row = tab.locator(f"#memory-{memories[2].pk}")
    open_row(row)
    row.locator("summary", has_text="Edit").click()
    found = {"forms": found_on(tab)}
    row.get_by_role("button", name="Pin", exact=True).click()
    row.get_by_role("button", name="Undo").wait_for()
    found["swapped"] = found_on(tab)
    tab.locator(".pick input").first.check()
    tab.get_by_role("button", name="Put away …").click()
    tab.get_by_role("heading", name="Put away 1 memory?").wait_for()
    found["bulk"] = found_on(tab)
    tab.goto(f"/memories/{memories[0].pk}/")
    tab.get_by_text("Change category").click()
    found["filing"] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


@pytest.fixture
def talk(owner, agent):
    """A conversation that shows everything that can be shown: remembered, withheld, of another day, too long."""
    me, bot = principal_for_person(owner.pk), agent_principal(agent)
    kept = conversation_create(bot, title="Sunday talk")
    said = ["I row on Tuesdays.", "My sister is ill.", "word " * 400]
    first = messages_append(me, kept.pk, [NewMessage("user", each) for each in said])[0]
    messages_append(bot, kept.pk, [NewMessage("assistant", "I see.", at=timezone.now() + timedelta(days=1))])
    rowing = NewMemory("Nina rows on Tuesdays.", "interests")
    memory_actions.memory_add(bot, rowing, conversation_id=kept.pk, message_id=first.pk)
    passages_withhold(me, [PassagePlace(kept.pk, 1, "")])
    erasure_request(me, "conversation", str(kept.pk), grace_hours=24)
    return kept


def test_pages_of_conversations_keep_nobody_out(tab, owner, talk):
    tab.sign_in(owner)
    found = {}
    for path in (
        "/conversations/",
        "/conversations/?search=rowing",
        f"/conversations/{talk.pk}/?at=1#m1",
        f"/conversations/{talk.pk}/1/remove/",
        f"/conversations/{talk.pk}/remove/",
    ):
        tab.goto(path)
        found[path] = found_on(tab)
    tab.get_by_text("More", exact=True).click()
    found["menu"] = found_on(tab)
    tab.goto(f"/conversations/{talk.pk}/")
    tab.get_by_role("button", name="Keep it").click()
    tab.get_by_text("It is kept.").wait_for()
    found["kept"] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


def test_pages_of_a_talk_with_the_assistant_keep_nobody_out(tab, owner):
    me = principal_for_person(owner.pk)
    chat = conversation_create(me, title="Talk", channel="assistant")
    said = [NewMessage("user", "Remember that I row."), NewMessage("assistant", "I will."), NewMessage("user", "And?")]
    first, _, last = messages_append(me, chat.pk, said)
    rows = NewMemory("Nina rows.", "interests")
    memory = memory_actions.memory_add(me, rows, conversation_id=chat.pk, message_id=first.pk).memory
    used = {"input_tokens": 1_000, "cached_tokens": 860, "output_tokens": 140, "memories": [memory.pk]}
    ReplyFactory(message=first, state="done", error_code="", answer_index=1, **used)
    ReplyFactory(message=last)
    tab.sign_in(owner)
    found = {}
    for path in ("/talk/", f"/conversations/{chat.pk}/", f"/conversations/{chat.pk}/2/shown/"):
        tab.goto(path)
        found[path] = found_on(tab)
    tab.goto(f"/conversations/{chat.pk}/")
    tab.get_by_text("This answer: 1,140 tokens, 86% cached.").wait_for()
    tab.get_by_role("button", name="Try again").wait_for()
    for path in ("/talk/", f"/conversations/{chat.pk}/"):
        tab.goto(path)
        tab.get_by_label("What you want to say").fill("/memory")
        tab.keyboard.press("Enter")
        tab.get_by_text("neither it nor this answer is kept").wait_for()
        found[f"{path}: /memory"] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


def test_keys_and_webhooks_keep_nobody_out(tab, owner, agent):
    hook = webhook_create(principal_for_person(owner.pk), agent.pk, "https://agent.example/hook")
    DeliveryFactory(webhook=hook, state="dead", status_code=502, attempts=12)
    stopped = webhook_create(principal_for_person(owner.pk), agent.pk, "https://agent.example/stopped")
    Webhook.objects.filter(pk=stopped.pk).update(disabled_at=timezone.now(), failing_since=timezone.now())
    agent_key_create(principal_for_person(owner.pk), agent.pk, scopes=["read"])
    tab.sign_in(owner)
    tab.goto(f"/agents/{agent.pk}/")
    for opens in ("1 message could not be delivered", "Add a webhook", "Make another key"):
        tab.locator("summary", has_text=opens).click()
    found = {"agent": found_on(tab)}
    tab.locator("input[name=url]").fill("https://10.0.0.1/")
    tab.get_by_role("button", name="Add it").click()
    tab.locator(".errorlist").wait_for()
    found["refused"] = found_on(tab)
    tab.goto(f"/agents/{agent.pk}/")
    tab.get_by_role("button", name=f"New secret {hook.url}").click()
    tab.get_by_role("heading", name="Give its server this secret").wait_for()
    found["secret"] = found_on(tab)
    tab.goto(f"/agents/{agent.pk}/")
    tab.locator("summary", has_text="Make another key").click()
    tab.get_by_role("button", name="Make it").click()
    tab.get_by_text("Waiting for its first call").wait_for()
    found["another key"] = found_on(tab)
    tab.goto(f"/agents/{agent.pk}/")
    tab.get_by_role("button", name="End the key").first.click()
    tab.get_by_text("Ended", exact=True).wait_for()
    found["ended"] = found_on(tab)
    tab.goto("/")
    tab.get_by_text("is switched off").wait_for()
    found["home"] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


def test_pages_of_agents_keep_nobody_out(tab, owner, agent, memories):
    GrantFactory(
        user=owner, agent=AgentFactory(name="Clinic", service=True, issuer="clinic"), revoked_at=timezone.now()
    )
    tab.sign_in(owner)
    found = {}
    for path in ("/agents/", f"/agents/{agent.pk}/", f"/agents/{agent.pk}/shown/", "/agents/connect/"):
        tab.goto(path)
        found[path] = found_on(tab)
    tab.get_by_label("Name").fill("Notebook")
    tab.get_by_role("button", name="Make a key").click()
    tab.get_by_text("Waiting for its first call").wait_for()
    found["key"] = found_on(tab)
    AgentKey.objects.update(last_used_at=timezone.now())
    tab.get_by_text("It has called.").wait_for()
    found["called"] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


def test_pages_keep_nobody_out(tab, owner, stranger, legacy, facts, plan, settings):
    settings.REGISTRATION = True
    other = principal_for_person(stranger.pk)
    asked = member_invite(other, LegacyFactory(owner=stranger).pk, "owner").code
    member_invite(principal_for_person(owner.pk), legacy.pk, "somebody")
    InvitationBlock.objects.create(user=owner, inviter=UserFactory())
    found = {"/sign-in/": tab.goto("/sign-in/") and found_on(tab)}
    found["/register/"] = tab.goto("/register/") and found_on(tab)
    found["/sign-in/forgotten/"] = tab.goto("/sign-in/forgotten/") and found_on(tab)
    old = "/sign-in/new-password/MQ/none/"
    found[old] = tab.goto(old) and found_on(tab)
    tab.sign_in(owner)
    for path in (
        "/",
        "/review/",
        f"/review/?item=fact-{facts[3].pk}",
        "/review/?item=end",
        "/facts/",
        "/facts/?search=nothing+like+it",
        f"/legacies/{legacy.pk}/?show=waiting",
        f"/legacies/{legacy.pk}/?show=shared",
        f"/legacies/{legacy.pk}/?show=gone",
        f"/legacies/{legacy.pk}/members/",
        f"/legacies/{legacy.pk}/members/{legacy.memberships.exclude(user=owner).get().pk}/sees/",
        f"/legacies/{legacy.pk}/end/",
        "/invitations/",
        f"/invitations/{asked}/",
        f"/facts/{facts[1].pk}/",
        "/preferences/",
        "/preferences/password/",
        "/memories/tidy/",
        f"/memories/tidy/{plan.pk}/",
        "/nothing/here/",
    ):
        tab.goto(path)
        found[path] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


def test_what_opens_keeps_nobody_out(tab, owner, facts):
    tab.sign_in(owner)
    tab.goto("/review/")
    tab.get_by_role("button", name="Shortcuts").wait_for()
    tab.keyboard.press("e")
    found = {"edit": found_on(tab)}
    tab.keyboard.press("Escape")
    tab.keyboard.press("?")
    found["keys"] = found_on(tab)
    tab.keyboard.press("Escape")
    tab.keyboard.press("a")
    tab.get_by_role("heading", name="Latest decisions").wait_for()
    found["decided"] = found_on(tab)
    tab.goto(f"/legacies/{facts[0].legacy_id}/")
    tab.get_by_text("Write down a fact").click()
    found["write down"] = found_on(tab)
    tab.goto("/facts/")
    tab.get_by_text("Filters and order").click()
    for fact in (facts[0], facts[3]):
        open_row(tab.locator(f"#fact-{fact.pk}"))
    found["filters"] = found_on(tab)
    tab.locator(".pick input").first.check()
    tab.get_by_role("button", name="Reject …").click()
    tab.get_by_role("heading", name="Reject 1 fact?").wait_for()
    found["bulk"] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


def test_pages_of_the_person_s_own_data_keep_nobody_out(tab, owner, memories, facts, settings):
    settings.KEEPSAKE_MODEL, settings.TELEGRAM_SECRET_TOKEN = "offline", "a-secret"
    me = principal_for_person(owner.pk)
    talk = chatgpt_zip(chatgpt_talk("I keep seven hens.", "I see."))
    upload, _new = import_create(me, BytesIO(talk), file_name="export.zip")
    run_import(JobRun.objects.get(kind="import").pk)
    identity_link(TELEGRAM_ISSUER, "70001", link_code_create(me, TELEGRAM_ISSUER))
    placed = memory_actions.place_add(me, "harbour", "The harbour", "Where the boat lies.").place
    receipt, _made = erasure_request(me, "fact", str(facts[1].pk), grace_hours=24)
    done, job = erasure_request(me, "memory", memories[1].pk, grace_hours=0)
    run_erasure(job.pk)
    assert Erasure.objects.get(pk=done.pk).state == "done"
    run_export(export_begin(me).pk)
    tab.sign_in(owner)
    found = {}
    shown = {"/data/": "Download", "/preferences/": "Unlink", f"/import/{upload.pk}/": "conversation imported"}
    others = (
        f"/conversations/?upload={upload.pk}", f"/erased/{receipt.pk}/", f"/erased/{done.pk}/",
        f"/memories/{memories[0].pk}/erase/", f"/facts/{facts[0].pk}/erase/", "/withheld/", "/import/", "/places/",
        f"/places/{placed.pk}/", f"/places/{placed.pk}/erase/",
    )  # fmt: skip
    for path in (*shown, *others):
        assert tab.goto(path).status == 200, path
        tab.get_by_text(shown.get(path, "Keepsake")).first.wait_for()
        found[path] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}


def test_what_is_shown_once_keeps_nobody_out(tab, owner, legacy, settings):
    settings.TELEGRAM_SECRET_TOKEN, settings.TELEGRAM_BOT_NAME = "a-secret", "keepsake_bot"
    tab.sign_in(owner)
    tab.goto(f"/legacies/{legacy.pk}/members/")
    tab.get_by_label("User name").fill("grandson")
    tab.get_by_role("button", name="Make an invitation").click()
    tab.get_by_role("heading", name="The invitation is made").wait_for()
    found = {"invitation": found_on(tab)}
    tab.goto("/preferences/")
    tab.get_by_role("button", name="Link a").click()
    tab.wait_for_url("**/preferences/telegram/")
    found["code"] = found_on(tab)
    assert {where: broken for where, broken in found.items() if broken} == {}
