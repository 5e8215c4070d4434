"""What speaks for a message when something is looked for, whatever is asked."""

from __future__ import annotations

from django.contrib.postgres.search import SearchQuery
from django.db.models import BooleanField, Case, F, FloatField, Func, Q, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Left
from django.db.models.lookups import IRegex

from retrieval.reranking import Said
from retrieval.weights import Weights

from .models import Message

PLACE = Said(talk="conversation_id", place="index", speaker="speaker")

BEGINNING = 300
"""Characters of a message in which it says what kind of message it is."""

WISHES = (
    r"^\W*(please,?\s+)?(always|never|whenever|going forward)\y"
    r"|\yi(.d| would)?\s+((much|really)\s+)?(prefer|rather)\y"
)
"""How people say what they want from now on ("Always give the dates", "I prefer e-books")."""

WISH_WORDS = SearchQuery("always|alway|never|whenever|whenev|forward|prefer|rather", config="simple", search_type="raw")
"""A word of each, as it is and as English stems it."""


def message_prior(weights: Weights) -> Combinable:
    """A bonus for what the person wants from now on, and a malus for what a nameless assistant, or a tool, said.

    Such a wish bears on later questions that share hardly a word with it. An assistant's long answers are about
    everything that was asked, and what is looked for is mostly what the person said themselves.
    """
    # The words are looked for first: they are there already, and a pattern costs many times as much.
    wishes = Q(_Holds(F("search"), WISH_WORDS)) & Q(IRegex(Left("content", BEGINNING), WISHES))
    return Case(
        When(Q(role=Message.Role.USER) & wishes, then=Value(weights.standing)),
        When(~Q(role=Message.Role.USER) & Q(speaker=""), then=Value(-weights.machine)),
        default=Value(0.0),
        output_field=FloatField(),
    )


class _Holds(Func):
    """Whether a text search document matches a query."""

    template = "%(expressions)s"
    arg_joiner = " @@ "
    output_field = BooleanField()
