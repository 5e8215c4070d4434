"""Consent follows what is said: which field of the person a statement gives, and that two signals settle a tone."""

import statistics
import time

import pytest

from language.backends import embedder_replaced
from language.embedders.e5.embedder import BundledEmbedder
from language.gates.judging import Meaning
from memories import actions
from memories.models import FieldSignal, Memory
from memories.policy.fields import field_of
from memories.records import Addition, NewMemory
from tests import factories
from tests.language.gates.labelled import labelled
from tests.timing import allowed, fastest

from . import said_of_user
from .state import check, now

FORMAL = "The user prefers a formal tone."
FORMALLY = "The user wants answers in a formal tone."


@pytest.mark.parametrize("corpus", said_of_user.RECOGNISED)
def test_of_the_phrasings_at_least_95_percent_are_recognised_and_at_most_3_wrongly(corpus):
    given = [(field_of(content), field) for content, field in corpus]
    said, traps = [each for each in given if each[1]], [each for each in given if not each[1]]
    assert len(given) >= 120
    assert len(traps) >= 0.45 * len(given)
    assert sum(found == field for found, field in said) >= 0.95 * len(said)
    assert sum(bool(found) for found, _ in traps) <= 0.03 * len(traps)


@pytest.mark.corpus
@pytest.mark.parametrize("corpus", said_of_user.JUDGED, ids=["network", "traits", "later"])
def test_what_no_rule_recognises_is_judged_by_its_meaning(corpus):
    """Wanted are 0.95 and 0.03. The networks have learned from them; what they knew at first sight stands there."""
    texts, fields = zip(*corpus, strict=True)
    given = list(zip(_judged(texts), fields, strict=True))
    assert sum(one == field for one, field in given if field) >= 0.95 * sum(map(bool, fields))
    assert sum(bool(one) for one, field in given if not field) <= 0.03 * fields.count("")


@pytest.mark.corpus
def test_of_statements_learned_from_last_those_that_give_a_field_wait_and_few_others():
    """Wanted are 0.95 and 0.03. At first sight 58 of 60 were right, 4 of 60 traps wrong; they are learned from since.

    Of the last 60 and 60 that nobody had learned from, 55 and 2 were.
    """
    texts = labelled("round_12")
    for field, statements in texts["fields"].items():
        found = _judged(statements)
        if field == "none":
            assert sum(map(bool, found)) <= 2
        else:
            assert found.count(field) >= 8, field
    about_the_user = [each for each in texts["ordinary"] if each.startswith("The user")]
    assert len(about_the_user) >= 300
    assert sum(map(bool, _judged(about_the_user))) <= 0.03 * len(about_the_user)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("The user runs a forge and is called Wim.", "preferred_name"),
        ("The user, who is called Wim, rows.", "preferred_name"),
        ("The user whose name is Wim rows.", "preferred_name"),
        ("The user (Wim) rows.", "preferred_name"),
        ("The user, Wim, rows on Mondays.", "preferred_name"),
        ("The user, Wim Boer, rows on Mondays.", "preferred_name"),
        ("The user, Wim Boer, and Ida row on Mondays.", ""),
        ("The user alias Wim rows.", "preferred_name"),
        ("The user writes poems under the name Wim.", "preferred_name"),
        ("The user is Wim to friends.", "preferred_name"),
        ("The user has a boat and everyone calls them Wim.", "preferred_name"),
        ("The user (she/her) runs a forge.", "pronouns"),
        ("The user, a resident of Gent, rows.", "city"),
        ("The user works as a Gent-based smith.", "city"),
        ("The user rents a room in Gent.", "city"),
        ("The user's postcode is 9000 Gent.", "city"),
        ("The user is Dutch-speaking.", "language"),
        ("The user is Wim.", "preferred_name"),
        ("Everyone calls her Wim.", "preferred_name"),
        ("The user has a small flat over a bakery in Gent.", "city"),
        ("The user lodges with an aunt in Gent.", "city"),
        ("The user returned to Gent for good.", "city"),
        ("The user shares a houseboat in Gent.", "city"),
        ("The user grew up speaking Twi.", "language"),
        ("The user counts in Wolof.", "language"),
        ("The user learnt Basque from the cradle.", "language"),
        ("The user is a Polish speaker.", "language"),
        ("The user is Catholic.", ""),
        ("The user is Libra.", ""),
        ("Everyone calls her brother Wim.", ""),
        ("The user has a caravan in Gent for the summers.", ""),
        ("The user returned to Gent for a wedding.", ""),
        ("The user has a dog that barks and is called Rex.", ""),
        ("The user has a dog, called Rex.", ""),
        ("The user, a smith, rows.", ""),
        ("The user's aunt, who is called Ida, rows.", ""),
        ("The user knows a Gent-based smith.", ""),
        ("The user sent Ida to friends in May.", ""),
    ],
)
def test_a_field_is_found_wherever_the_statement_has_it(content, field):
    assert field_of(content) == field


def _judged(texts):
    meanings = map(Meaning, *BundledEmbedder().read_passages(texts))
    return [field_of(text, meaning=meaning) for text, meaning in zip(texts, meanings, strict=True)]


def test_where_somebody_of_theirs_lives_and_where_they_work_is_not_their_city():
    theirs = ["The user's mum lives in a care home in York.", "The user's sister Ida lives in Oslo."]
    at_work = ["The user is at the Kepler clinic in Linz.", "Since 1 October the user is at the clinic in Linz."]
    assert _judged([*theirs, *at_work, "The user's home is Oslo.", "The user is in Linz."]) == [""] * 4 + ["city"] * 2


def test_reading_a_statement_takes_no_time():
    """At most 0.2 ms of processor time, in the median of a round."""
    contents = [content for content, _ in said_of_user.KNOWN]

    def round_of():
        times = []
        for content in contents:
            begin = time.thread_time()
            field_of(content)
            times.append(time.thread_time() - begin)
        return statistics.median(times)

    limit = allowed(0.000_2)
    assert fastest(round_of, below=limit) < limit


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("Faro is where the user wakes up every day.", "city"),
        ("The user comes home every evening in Faro.", "city"),
        ("The user pays rent in Faro.", "city"),
        ("Faro has been home to the user for years.", "city"),
        ("The user's front door is in Faro.", "city"),
        ("Faro is where the user woke up after the party.", ""),
        ("The user's sister wakes up every day in Faro.", ""),
        ("The user gets up every morning at six.", ""),
        ("The user has a home office.", ""),
        ("The user votes in Lyon.", "city"),
        ("The user now lives in Lyon, no longer in Leeds.", "city"),
        ("The user came to Lyon in 2003 and never left.", "city"),
        ("The user was born in Lyon and still lives there.", "city"),
        ("The user no longer lives in Lyon.", ""),
        ("The user came to Lyon in 2003 and left.", ""),
        ("The user grew up in Lyon, and an aunt still lives there.", ""),
        ("The user's surname changed to Marchetti after the wedding.", "preferred_name"),
        ("The user's surname is hard to spell.", ""),
        ("The user votes Labour in Leeds.", "city"),
        ("The user always votes Liberal Democrat in Leeds.", "city"),
        ("The user is registered to vote in Lyon.", "city"),
        ("The user's polling station is in Lyon.", "city"),
        ("The user pays local taxes in Lyon.", "city"),
        ("The user commutes from Lyon.", "city"),
        ("The user commutes to Geneva by train from Lyon.", "city"),
        ("The user drives to work from Lyon.", "city"),
        ("The user votes in Parliament.", ""),
        ("The user votes by mail.", ""),
        ("The user votes Labour in Parliament.", ""),
        ("The user votes Labour.", ""),
        ("The user's sister votes Labour in Leeds.", ""),
        ("The user voted in Lyon in 2012.", ""),
        ("The user commutes to Lyon.", ""),
        ("The user's sister commutes from Lyon.", ""),
    ],
)
def test_where_somebody_s_days_begin_and_end_is_where_they_live(content, field):
    assert field_of(content) == field


def test_under_their_own_name_it_is_the_person_and_a_subject_means_somebody_else():
    assert field_of("Alice Moore lives in Porto.", name="Alice Moore") == "city"
    assert field_of("Alice's pronouns are she/her.", name="Alice Moore") == "pronouns"
    assert field_of("Alice's sister lives in Porto.", name="Alice Moore") == ""
    assert field_of("Lives in Porto.", subject="Anna") == ""
    assert field_of("The user lives in Porto.", subject="Home") == "city"
    assert field_of("User goes by Bobby.", subject="Tea") == "preferred_name"
    assert field_of("USER'S PRONOUNS ARE SHE/HER.", subject="Tea") == "pronouns"
    assert field_of("The customer lives in Porto.", subject="Tea") == ""


@pytest.mark.parametrize("who", ["account holder", "account owner", "speaker", "human", "person", "customer"])
def test_other_words_for_the_user_mean_them(who):
    assert field_of(f"The {who} lives in Porto.") == "city"
    assert field_of(f"This {who}'s preferred name is Bobby.") == "preferred_name"
    assert field_of(f"The {who} who cleans lives in Porto.") == ""
    assert field_of(f"The {who} likes tea.") == ""


@pytest.mark.django_db
class TestWhatAnAgentSays:
    @pytest.mark.parametrize(
        ("content", "field"),
        [
            ("The preferred name of the user is Bobby.", "preferred_name"),
            ("The user's pronouns are they/them.", "pronouns"),
            ("The user lives in Porto.", "city"),
            ("The user prefers answers in German.", "language"),
        ],
    )
    @pytest.mark.parametrize("subject", ["", "Bobby"])
    def test_it_waits_with_or_without_the_parameter(self, bot, add, content, field, subject):
        outcome = add(bot, content, subject=subject)
        memory = now(outcome.memory)
        assert (outcome.outcome, memory.state, memory.field, memory.subject) == ("proposed", "proposed", field, "")
        (again,) = actions.memories_add(bot, [Addition(NewMemory(content.replace("user", "User"), "context"))])
        assert (again.outcome, again.memory.pk) == ("proposed", memory.pk)

    def test_said_in_other_words_it_waits_too_and_the_person_s_own_replaces_nothing(self, me, bot, add):
        with embedder_replaced(BundledEmbedder()):
            theirs, own = add(bot, "The user put down roots in Halifax."), add(me, "The user is a local in Ghent.")
        assert (now(theirs.memory).state, now(theirs.memory).field) == ("proposed", "city")
        assert (now(own.memory).state, now(own.memory).field) == ("active", "")

    def test_another_wording_that_gives_one_waits_too(self, me, bot, add):
        memory = add(bot, "The user likes tea.").memory
        changed = actions.memory_update(bot, memory.pk, "The user's preferred name is Bobby.")
        assert (changed.proposal.state, now(memory).content) == ("waiting", "The user likes tea.")

    def test_approved_it_takes_the_place_of_the_value_until_now(self, me, bot, add, owner):
        lisbon = add(me, "The user lives in Lisbon.").memory
        porto = add(bot, "The user lives in Porto.").memory
        actions.memory_approve(me, porto.pk)
        assert (now(lisbon).deleted_why, now(porto).state) == ("replaced", "active")
        check(owner)

    def test_the_person_s_own_word_counts_at_once(self, me, add):
        memory = add(me, "I live in Lisbon.").memory
        assert (now(memory).state, now(memory).field) == ("active", "city")


@pytest.mark.django_db
class TestSignals:
    @pytest.fixture
    def tell(self, bot, owner, agent, add):
        """``tell(content)``: an agent finds it in words of a conversation of its own, or of the one that is given."""

        def tell(content, conversation=None):
            conversation = conversation or factories.ConversationFactory(user=owner, agent=agent)
            message = factories.MessageFactory(conversation=conversation)
            return add(bot, content, "tone", message_id=message.pk, insist=True)

        return tell

    def test_two_that_agree_from_two_conversations_settle_a_tone(self, tell, owner):
        first = tell(FORMAL).memory
        assert now(first).state == "proposed"
        assert tell(FORMALLY).memory.pk == first.pk
        assert (now(first).state, now(first).reviewed_at) == ("active", None)
        check(owner)

    def test_one_conversation_is_one_signal_and_other_values_don_t_agree(self, tell, owner, agent):
        talk = factories.ConversationFactory(user=owner, agent=agent)
        for content in (FORMAL, FORMALLY, FORMAL):
            tell(content, talk)
        tell("The user prefers a casual tone.")
        assert not Memory.objects.filter(state="active").exists()
        assert FieldSignal.objects.count() == 2

    def test_an_agent_s_own_idea_is_none_however_many_conversations_it_opens(self, bot, owner, agent, add):
        for _ in range(2):
            talk = factories.ConversationFactory(user=owner, agent=agent)
            add(bot, FORMAL, "tone", conversation_id=talk.pk, insist=True)
        assert (Memory.objects.get().state, FieldSignal.objects.count()) == ("proposed", 0)

    def test_a_goal_too_but_no_city(self, tell):
        for _ in range(2):
            tell("The user's goal is to run a marathon.")
            tell("The user lives in Porto.")
        assert dict(Memory.objects.values_list("field", "state")) == {"goal": "active", "city": "proposed"}

    def test_not_where_the_person_reviews_before(self, cautious, agent, owner, add):
        for _ in range(2):
            talk = factories.ConversationFactory(user=owner, agent=agent)
            add(cautious, FORMAL, "tone", conversation_id=talk.pk)
        assert Memory.objects.get().state == "proposed"

    @pytest.mark.parametrize("many", [False, True])
    def test_a_no_forgets_them(self, me, tell, many):
        memory = tell(FORMAL).memory
        if many:
            actions.memories_decide(me, {memory.pk: None}, "reject")
        else:
            actions.memory_reject(me, memory.pk)
        assert not FieldSignal.objects.exists()
        assert tell(FORMALLY).outcome == "proposed"


@pytest.mark.parametrize(
    "told",
    [
        {"content": "The preferred name is Zork.", "subject": "the user"},
        {"content": "The preferred name is Zork."},
        {"content": "Preferred name: Zork.", "subject": "me"},
        {"content": "The user's preferred name is Zork.", "kind": "episodic"},
        {"content": "The user moved house to Faro last week."},
    ],
    ids=["whose subject is the user", "of nobody", "whose subject is me", "as an episode", "by moving house"],
)
def test_an_agent_gives_no_field_by_how_it_files_it(agent, told):
    """Reproductions of an attacker's evening: each counted at once, and stood in the next prompt."""
    principal = factories.agent_principal(agent)
    category = "history" if "kind" in told else "context"
    added = actions.memory_add(principal, NewMemory(category=category, **told))
    assert added.outcome == "proposed"
    assert not Memory.objects.filter(state="active").exists()


def test_an_agent_gives_no_field_by_rewording_an_episode(agent):
    principal = factories.agent_principal(agent)
    told = actions.memory_add(principal, NewMemory("The user spoke of the garden.", "history", kind="episodic")).memory
    actions.memory_update(principal, told.pk, content="The user's preferred name is Zork.")
    assert Memory.objects.get(state="active").content == "The user spoke of the garden."
