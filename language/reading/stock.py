"""The fixed sentences of chat replies without a language model."""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from language.gates import KINDS

NO_MODEL = gettext_noop("No language model is configured here, so I only tell what I remember.")
ITSELF = gettext_noop("Ask me about somebody or something that you have told me.")
TELL_ANYTHING = gettext_noop("Tell me whatever you want me to know another time.")
NOTHING_FOUND = gettext_noop("I remember nothing about that yet.")
NOTHING_OF_YOURS = gettext_noop("I remember nothing of that about you. Of others I remember:")
READ = gettext_noop("I see, thank you.")
CANNOT = gettext_noop("I can't do that: without a language model I only tell what you have told me.")
PRIVATE = gettext_noop("This talk is private, so I keep nothing of it and recall nothing.")
SWITCHED_OFF = gettext_noop("Your memory is switched off, so I keep nothing and recall nothing.")
NO_SECRETS = gettext_noop(
    "I remember no %(kind)s: what I remember stands in what every assistant of yours reads. It is left in this talk "
    "only, where you can withhold it."
)
TALKED = gettext_noop("You said:")
NOT_ENGLISH = gettext_noop(
    "Without a language model I understand English only. What is to be kept you can add to your memories yourself."
)
SECRET = gettext_noop(
    "Yes. Say “Don’t tell anyone” with it, and it goes into no memory. It stands in the record of this talk, where you "
    "can withhold it."
)
SECRET_KEPT = gettext_noop(
    "That goes into no memory. It stands in the record of this talk: say “Don’t keep that”, and it goes from there "
    "too. If I am to remember it, say it again with “Remember that …”."
)
WHO_SEES = gettext_noop(
    "You see all of it. Assistants that you connect see what you let them, under Agents, and other members of a legacy "
    "see the facts that you share. Staff open a text only with a reason, and you can read that."
)
NO_RULE = gettext_noop("I can’t make that a rule for later.")
ASKS_FIRST = gettext_noop("When it comes up here, I ask before I remember it, and a no is enough.")
FORGETS = gettext_noop("What I remember of it already goes when you say “Forget everything about …”.")
NOT_KEPT = gettext_noop("All right, I keep nothing of that.")
GONE_ALONG = gettext_noop(
    "What else I had learned from the same sentence went with it. Under Put away you can bring it back."
)
SAID_ELSEWHERE = {
    "gone": gettext_noop("It is withheld in other conversations, too: what went is listed under Withheld."),
    "stays": gettext_noop(
        "Other conversations tell of it, too: choose “Don’t keep” there, or tell the assistant under Talk “Forget "
        "everything about …”."
    ),
}
REST_NOT_KEPT = gettext_noop("The rest I don't keep.")
DECIDED = {
    "holds": gettext_noop("Good, I keep that: %(statements)s"),
    "away": gettext_noop("I have put that away: %(statements)s"),
    "undone": gettext_noop("Undone. Now I have again: %(statements)s"),
    "dropped": gettext_noop("Undone. I no longer have: %(statements)s"),
    "given_back": gettext_noop("Undone. What you said is there again: %(statements)s"),
    "nothing": gettext_noop(
        "In this talk I find no change to undo. All changes are listed under Timeline, where each can be undone."
    ),
    "not_yours": gettext_noop(
        "An assistant that passes on your words can’t undo that. You can: all changes are listed under Timeline, where "
        "each can be undone."
    ),
}
WHAT_IS_WRONG = gettext_noop(
    "I am sorry. Tell me what is right in a sentence, or what I shall forget. So far I have changed nothing."
)
LAST_TOLD = gettext_noop("The last that I told you was:")
NOT_READ = gettext_noop(
    "I could not make a statement of that. Say it in one plain sentence, such as “My sister Ana lives in Porto”, or "
    "add it to your memories yourself."
)
UPDATED = gettext_noop("Updated: %(now)s Until now I had: %(before)s")
WAITS = gettext_noop("This waits until you approve it: %(statements)s")
KNOWN = gettext_noop("I have that already: %(statements)s")
KEPT = gettext_noop("I will remember %(that)s.")
NOTED = gettext_noop("Noted: %(statements)s")
TOLD_SEVERAL = gettext_noop("You told me several things:")
REMEMBER_ALL = gettext_noop("Shall I remember all of that?")
KEPT_SEVERAL = gettext_noop("I will remember all of this:")
SOME_WAITS = gettext_noop("Some of it is for you to decide, and waits under Review.")
NOTHING_TO_FORGET = gettext_noop(
    "I found nothing like that to forget. Say it in the words that you used, or look for it in your memories and "
    "conversations and choose “Don’t keep” there."
)
STAYS = gettext_noop(
    "Of that I still remember: %(statements)s If all of it is to go, choose “Don’t keep” under Memories."
)
ERASE_ALL = gettext_noop("All that is remembered about you can be erased at once, under Your data.")
WHICH_ONE = gettext_noop("I have more than one answer to this. Which one holds? You can tell me to forget the other.")
WHAT_NOW = gettext_noop("What holds now I don’t know. Tell me in one plain sentence.")
FOUND = gettext_noop("This is what I remember:")
NEAREST = gettext_noop("I remember nothing that answers this. The nearest is:")
MORE = gettext_noop("That is not all: the rest is under Memories, or ask me about something of it.")
MORE_FACTS = gettext_noop("That is not all: the rest is under Facts, or ask me about something of it.")
QUESTIONS = {
    "preferred_name": gettext_noop("What shall I call you? (“Call me …”)"),
    "city": gettext_noop("Where do you live? (“I live in …”)"),
    "person": gettext_noop("Who is close to you? (“My sister is called …”)"),
    "interests": gettext_noop("What do you like to do? (“I like …”)"),
}
"""Questions to the person about unknown fields or categories, with an example of an answer that can be read."""
STOCK = (
    NO_MODEL,
    ITSELF,
    TELL_ANYTHING,
    NOTHING_FOUND,
    NOTHING_OF_YOURS,
    READ,
    CANNOT,
    PRIVATE,
    SWITCHED_OFF,
    SECRET,
    SECRET_KEPT,
    WHO_SEES,
    NO_RULE,
    ASKS_FIRST,
    FORGETS,
    NOT_KEPT,
    GONE_ALONG,
    REST_NOT_KEPT,
    DECIDED["nothing"],
    DECIDED["not_yours"],
    SOME_WAITS,
    NOTHING_TO_FORGET,
    *SAID_ELSEWHERE.values(),
    ERASE_ALL,
    FOUND,
    NEAREST,
    TALKED,
    NOT_ENGLISH,
    WHICH_ONE,
    WHAT_NOW,
    MORE,
    MORE_FACTS,
    TOLD_SEVERAL,
    WHAT_IS_WRONG,
    LAST_TOLD,
    NOT_READ,
    *QUESTIONS.values(),
)


@lru_cache
def stock() -> frozenset[str]:
    """The fixed sentences in each language; they reveal nothing about anybody."""
    fixed = frozenset(text for each in STOCK for text in in_each_language(each))
    return fixed.union(*(in_each_language(NO_SECRETS, kind) for kind in KINDS))


def confirms(text: str) -> bool:
    """Whether an answer says, in any language, that something was changed or kept, or waits for its approval."""
    return _says(text, UPDATED, WAITS, KEPT, KEPT_SEVERAL, NOTED)


def updates(text: str) -> bool:
    """Whether an answer says, in any language, that a memory was changed."""
    return _says(text, UPDATED)


def _says(text: str, *fixed: str) -> bool:
    """Whether a text has the beginning of one of our sentences, in any language."""
    return any(each.partition("%")[0] in text for one in fixed for each in in_each_language(one))


def settles(text: str) -> bool:
    """Whether an answer says, in any language, that something was put away or undone."""
    told = (each for name in ("away", "undone", "dropped", "given_back") for each in in_each_language(DECIDED[name]))
    return any(text.startswith(each.partition("%")[0]) for each in told)


@lru_cache
def in_each_language(text: str, kind: str = "") -> frozenset[str]:
    """A fixed sentence in each language; ``kind``: what it names."""
    found = {text % {"kind": kind} if kind else text}
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            found.add(_(text) % {"kind": _(kind)} if kind else _(text))
    return frozenset(found)
