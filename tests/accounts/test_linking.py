"""Chats elsewhere that stand for a person: codes, links, and what a chat may do."""

from datetime import timedelta

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts import actions, policy
from accounts.models import Agent, ExternalIdentity, LinkAttempts, LinkCode, User
from accounts.principals import Principal
from accounts.queries import principal_for_identity, principal_for_person, principal_for_staff
from journal.exceptions import Conflict, NotAllowed, NotFound, NotYoursToDecide, Refused
from journal.models import Change
from tests import factories
from tests.factories import rev_of

TELEGRAM = policy.TELEGRAM_ISSUER
CHAT, OTHER_CHAT = "70001", "70002"


def code_for(person):
    return actions.link_code_create(principal_for_person(person.pk), TELEGRAM)


def link(person, chat=CHAT):
    """Link a chat to a person; returns the chat's principal."""
    actions.identity_link(TELEGRAM, chat, code_for(person))
    return principal_for_identity(TELEGRAM, chat)


def events_of(person):
    rows = Change.objects.of_owner(person.pk).values_list("event", "object_type", "actor_kind", "meta")
    return [(event, what, kind, meta.get("issuer")) for event, what, kind, meta in rows]


class TestCodes:
    def test_one_is_fifty_bits_and_stored_as_a_fingerprint(self, owner, me):
        code = actions.link_code_create(me, TELEGRAM)
        stored = LinkCode.objects.get()
        bare = code.replace("-", "")
        assert len(policy.CODE_ALPHABET) ** len(bare) == 2**50
        assert set(bare) <= set(policy.CODE_ALPHABET)
        assert stored.code_hmac == policy.fingerprint(policy.LINK_CODE, bare)
        assert bare not in repr(vars(stored)).upper()
        assert rev_of(owner) == 0

    def test_it_fits_into_the_address_that_opens_a_chat(self, me):
        code = actions.link_code_create(me, TELEGRAM)
        assert len(code) <= 64
        assert set(code) <= set(policy.CODE_ALPHABET) | {"-"}

    def test_a_person_has_one_at_a_time(self, owner, me):
        first = actions.link_code_create(me, TELEGRAM)
        second = actions.link_code_create(me, TELEGRAM)
        assert LinkCode.objects.filter(user=owner).count() == 1
        with pytest.raises(Refused):
            actions.identity_link(TELEGRAM, CHAT, first)
        assert actions.identity_link(TELEGRAM, CHAT, second) == owner

    @pytest.mark.parametrize("scopes", [("read", "write"), ("read",)])
    def test_an_agent_without_admin_makes_none(self, agent, scopes):
        with pytest.raises(NotYoursToDecide):
            actions.link_code_create(factories.agent_principal(agent, scopes=scopes), TELEGRAM)
        assert not LinkCode.objects.exists()

    def test_an_agent_that_sees_a_part_makes_none(self, agent):
        narrowed = factories.agent_principal(agent, scopes=("read", "write", "admin"), categories=frozenset({"tone"}))
        with pytest.raises(NotYoursToDecide):
            actions.link_code_create(narrowed, TELEGRAM)

    def test_a_linked_chat_makes_none(self, owner):
        with pytest.raises(NotYoursToDecide):
            actions.link_code_create(link(owner), TELEGRAM)

    @given(st.text(alphabet=policy.CODE_ALPHABET, min_size=10, max_size=10), st.randoms())
    def test_however_it_is_typed_it_is_read_as_it_was_made(self, code, chance):
        written = {"0": "0oO", "1": "1iIlL"}
        typed = "".join(
            chance.choice(written.get(each, each + each.lower())) + chance.choice(["", "", "-", " "]) for each in code
        )
        assert policy.clean_code(typed, 10) == code

    @given(st.text())
    def test_what_is_no_code_is_read_as_none(self, typed):
        read = policy.clean_code(typed, 10)
        assert read == "" or set(read) <= set(policy.CODE_ALPHABET)

    @pytest.mark.parametrize("typed", ["", "ABC", "ABCDE-FGHJ", "ABCDE-FGHJKM", "ABCDE-FGHJU", "ÀBCDE-FGHJK"])
    def test_what_is_near_to_a_code_is_none(self, typed):
        assert policy.clean_code(typed, 10) == ""


class TestLinking:
    def test_a_code_links_its_chat_to_its_person(self, owner):
        code = code_for(owner)
        assert actions.identity_link(TELEGRAM, CHAT, code.lower()) == owner
        identity = ExternalIdentity.objects.get()
        assert (identity.user, identity.issuer, identity.external_id) == (owner, TELEGRAM, CHAT)
        assert events_of(owner) == [("ADD", "identity", "person", TELEGRAM)]
        change = Change.objects.get()
        assert (change.object_id, change.rev, rev_of(owner)) == (str(identity.pk), 1, 1)
        assert CHAT not in f"{change.meta}{change.actor_id}"

    def test_a_code_works_for_one_chat(self, owner):
        code = code_for(owner)
        actions.identity_link(TELEGRAM, CHAT, code)
        with pytest.raises(Refused) as refused:
            actions.identity_link(TELEGRAM, OTHER_CHAT, code)
        assert refused.value.code == "bad_code"
        assert ExternalIdentity.objects.count() == 1

    def test_the_chat_that_used_a_code_may_send_it_again(self, owner):
        code = code_for(owner)
        for _ in range(2):
            assert actions.identity_link(TELEGRAM, CHAT, code) == owner
        assert rev_of(owner) == 1
        assert not LinkAttempts.objects.exists()

    def test_a_used_code_does_not_link_again_what_was_unlinked(self, owner, me):
        code = code_for(owner)
        actions.identity_link(TELEGRAM, CHAT, code)
        actions.identity_unlink(me, TELEGRAM, ExternalIdentity.objects.get().pk)
        with pytest.raises(Refused):
            actions.identity_link(TELEGRAM, CHAT, code)
        assert not ExternalIdentity.objects.exists()

    def test_a_code_ends_after_ten_minutes(self, owner):
        with time_machine.travel(timezone.now(), tick=False) as clock:
            code = code_for(owner)
            clock.shift(timedelta(minutes=10))
            with pytest.raises(Refused) as refused:
                actions.identity_link(TELEGRAM, CHAT, code)
            assert refused.value.code == "bad_code"
            code = code_for(owner)
            clock.shift(timedelta(minutes=9, seconds=59))
            assert actions.identity_link(TELEGRAM, CHAT, code) == owner

    def test_a_code_is_for_the_system_it_was_made_for(self, owner):
        with pytest.raises(Refused):
            actions.identity_link("matrix", CHAT, code_for(owner))

    def test_the_code_of_somebody_who_is_kept_out_is_worth_nothing(self, owner):
        code = code_for(owner)
        owner.is_active = False
        owner.save()
        with pytest.raises(Refused) as refused:
            actions.identity_link(TELEGRAM, CHAT, code)
        assert refused.value.code == "bad_code"

    def test_a_chat_of_somebody_else_is_refused_and_the_code_stays_good(self, owner, stranger):
        link(stranger)
        code = code_for(owner)
        with pytest.raises(Conflict) as refused:
            actions.identity_link(TELEGRAM, CHAT, code)
        assert refused.value.code == "already_linked"
        assert ExternalIdentity.objects.get().user == stranger
        assert rev_of(owner) == 0
        assert actions.identity_link(TELEGRAM, OTHER_CHAT, code) == owner

    def test_another_code_of_the_same_person_changes_nothing(self, owner):
        link(owner)
        assert actions.identity_link(TELEGRAM, CHAT, code_for(owner)) == owner
        assert rev_of(owner) == 1
        assert LinkCode.objects.get().used_at is not None

    def test_a_code_that_others_have_read_can_be_ended(self, owner):
        code = code_for(owner)
        actions.link_code_withdraw("matrix", code)
        actions.link_code_withdraw(TELEGRAM, "nonsense")
        assert LinkCode.objects.get().expires_at > timezone.now()
        actions.link_code_withdraw(TELEGRAM, code.lower())
        with pytest.raises(Refused):
            actions.identity_link(TELEGRAM, CHAT, code)


class TestGuessing:
    def test_after_five_wrong_codes_not_even_the_right_one_works_for_an_hour(self, owner, settings):
        with time_machine.travel(timezone.now(), tick=False) as clock:
            for _ in range(settings.LINK_ATTEMPTS):
                with pytest.raises(Refused) as refused:
                    actions.identity_link(TELEGRAM, CHAT, "AAAAA-AAAAA")
                assert refused.value.code == "bad_code"
            code = code_for(owner)
            with pytest.raises(NotAllowed) as refused:
                actions.identity_link(TELEGRAM, CHAT, code)
            assert refused.value.code == "too_many_attempts"
            clock.shift(timedelta(hours=1))
            assert actions.identity_link(TELEGRAM, CHAT, code_for(owner)) == owner
        assert not LinkAttempts.objects.exists()

    def test_each_chat_is_counted_by_itself(self, owner, settings):
        for _ in range(settings.LINK_ATTEMPTS + 1):
            with pytest.raises(Refused):
                actions.identity_link(TELEGRAM, OTHER_CHAT, "nonsense")
        assert actions.identity_link(TELEGRAM, CHAT, code_for(owner)) == owner
        assert LinkAttempts.objects.get().external_id == OTHER_CHAT

    def test_what_strangers_tried_is_not_kept(self, owner):
        with time_machine.travel(timezone.now(), tick=False) as clock:
            for chat in range(3):
                with pytest.raises(Refused):
                    actions.identity_link(TELEGRAM, str(chat), "nonsense")
            clock.shift(timedelta(hours=1))
            with pytest.raises(Refused):
                actions.identity_link(TELEGRAM, CHAT, "nonsense")
        assert LinkAttempts.objects.get().external_id == CHAT

    @pytest.mark.django_db(transaction=True)
    def test_codes_that_are_sent_all_at_once_count_too(self, at_once, settings):
        def guess(number):
            with pytest.raises(Refused) as refused:
                actions.identity_link(TELEGRAM, CHAT, f"AAAAA-AAAA{number}")
            return refused.value.code

        codes = at_once(guess, 8)
        assert codes.count("bad_code") == settings.LINK_ATTEMPTS
        assert codes.count("too_many_attempts") == 8 - settings.LINK_ATTEMPTS


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    def test_one_of_many_chats_gets_a_code(self, owner, at_once):
        code = code_for(owner)

        def use(number):
            return actions.identity_link(TELEGRAM, str(number), code)

        results = at_once(use, 8)
        assert results.count(owner) == 1
        assert [each.code for each in results if each != owner] == ["bad_code"] * 7
        assert ExternalIdentity.objects.count() == rev_of(owner) == 1

    def test_a_chat_becomes_one_person_s(self, at_once):
        people = factories.UserFactory.create_batch(4)
        codes = [code_for(person) for person in people]

        def use(number):
            return actions.identity_link(TELEGRAM, CHAT, codes[number])

        results = at_once(use, 4)
        linked = ExternalIdentity.objects.get().user
        assert [each for each in results if not isinstance(each, Refused)] == [linked]
        assert {each.code for each in results if isinstance(each, Refused)} == {"already_linked"}


class TestUnlinking:
    def test_the_person_ends_a_link(self, owner, me):
        chat = link(owner)
        actions.identity_unlink(me, TELEGRAM, chat.identity_id)
        assert events_of(owner)[-1] == ("DELETE", "identity", "person", TELEGRAM)
        with pytest.raises(NotFound):
            principal_for_identity(TELEGRAM, CHAT)

    def test_a_chat_ends_its_own_link_and_no_other(self, owner):
        chat, other = link(owner), link(owner, OTHER_CHAT)
        with pytest.raises(NotFound):
            actions.identity_unlink(chat, TELEGRAM, other.identity_id)
        actions.identity_unlink(chat, TELEGRAM, chat.identity_id)
        assert Change.objects.latest("rev").actor_id == f"telegram:{chat.identity_id}"
        assert ExternalIdentity.objects.get().pk == other.identity_id

    def test_nobody_else_ends_it(self, owner, stranger, staff, agent):
        chat = link(owner)
        key = factories.agent_principal(agent)
        for principal in (principal_for_person(stranger.pk), principal_for_staff(staff), key):
            with pytest.raises(NotFound):
                actions.identity_unlink(principal, TELEGRAM, chat.identity_id)
        assert ExternalIdentity.objects.exists()

    def test_what_a_backend_calls_the_person_is_no_chat(self, owner, me):
        identity = factories.ExternalIdentityFactory(user=owner)
        with pytest.raises(NotFound):
            actions.identity_unlink(me, TELEGRAM, identity.pk)
        assert ExternalIdentity.objects.exists()
        assert rev_of(owner) == 0


class TestThePrincipalOfAChat:
    def test_it_is_the_person_s_word_without_their_other_decisions(self, owner, django_assert_num_queries):
        factories.PreferencesFactory(user=owner, has_memory=False, review="before", time_zone="Europe/Lisbon")
        link(owner)
        with django_assert_num_queries(1):
            chat = principal_for_identity(TELEGRAM, CHAT)
        signed_in = principal_for_person(owner.pk)
        assert (chat.kind, chat.user_id, chat.rev) == ("person", owner.pk, 1)
        assert (chat.has_memory, chat.review, chat.time_zone) == (False, "before", "Europe/Lisbon")
        assert (chat.name, chat.language) == (signed_in.name, signed_in.language)
        assert chat.scopes == {"read", "write"}
        assert not chat.may_decide
        assert chat.actor_id == f"telegram:{chat.identity_id}" != signed_in.actor_id
        for decide in (policy.must_decide, policy.must_decide_for_all):
            with pytest.raises(NotYoursToDecide):
                decide(chat)

    def test_it_is_the_one_of_this_chat_where_there_are_several(self, owner, stranger):
        factories.ExternalIdentityFactory(user=owner, issuer="backend", external_id=CHAT)
        ids = {chat: link(person, chat).identity_id for person, chat in ((owner, CHAT), (owner, "8"), (stranger, "9"))}
        assert {chat: principal_for_identity(TELEGRAM, chat).identity_id for chat in ids} == ids
        assert principal_for_identity(TELEGRAM, "9").user_id == stranger.pk

    def test_nobody_stands_behind_a_chat_that_is_not_linked(self, owner):
        factories.ExternalIdentityFactory(user=owner, issuer="backend", external_id=CHAT)
        with pytest.raises(NotFound):
            principal_for_identity(TELEGRAM, CHAT)

    def test_nobody_stands_behind_the_chat_of_somebody_who_is_kept_out(self, owner, staff):
        link(owner)
        actions.user_set_active(principal_for_staff(staff), owner.pk, active=False)
        with pytest.raises(NotFound):
            principal_for_identity(TELEGRAM, CHAT)
        actions.user_set_active(principal_for_staff(staff), owner.pk, active=True)
        assert principal_for_identity(TELEGRAM, CHAT).user_id == owner.pk


class TestTheIssuerOfChats:
    """Whoever names people under it acts for them, so it belongs to nobody but the chats."""

    def test_no_agent_has_it(self, owner, me, staff, service):
        with pytest.raises(Refused) as refused:
            actions.agent_create(me, "bot", kind="service", issuer=TELEGRAM)
        assert refused.value.code == "bad_issuer"
        staff.is_superuser = True
        with pytest.raises(Refused):
            actions.agent_create(principal_for_staff(staff), "bot", issuer=TELEGRAM, owner_id=owner.pk)
        with pytest.raises(CommandError):
            call_command("create_agent_key", "bot", "--user", "operator", "--service", "--issuer", TELEGRAM)
        assert not User.objects.filter(username="operator").exists()
        with pytest.raises(IntegrityError), transaction.atomic():
            Agent.objects.filter(pk=service.pk).update(issuer=TELEGRAM)

    @pytest.mark.parametrize("issuer", ["x" * 101, "shop\x00"])
    def test_nor_one_that_can_not_be_stored(self, me, issuer):
        with pytest.raises(Refused):
            actions.agent_create(me, "bot", kind="service", issuer=issuer)


def test_who_sees_which_identities(owner, stranger, staff, agent):
    backend = factories.ExternalIdentityFactory(user=owner)
    chat = link(owner)
    theirs = link(stranger, OTHER_CHAT)

    def seen(principal):
        return set(ExternalIdentity.objects.visible_to(principal).values_list("pk", flat=True))

    assert seen(principal_for_person(owner.pk)) == {backend.pk, chat.identity_id}
    assert seen(chat) == {chat.identity_id}
    assert seen(factories.agent_principal(agent)) == set()
    assert seen(principal_for_staff(staff)) == {backend.pk, chat.identity_id, theirs.identity_id}
    assert seen(Principal(kind="job", actor_id="1", user_id=None, scopes=frozenset({"read"}))) == set()


def test_the_database_keeps_one_code_a_person_and_one_person_a_code(owner):
    rows = connection.introspection
    with connection.cursor() as cursor:
        constraints = rows.get_constraints(cursor, LinkCode._meta.db_table)
    unique = {tuple(each["columns"]) for each in constraints.values() if each["unique"]}
    assert {("user_id",), ("code_hmac",)} <= unique
