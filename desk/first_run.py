"""Onboarding: three questions whose answers become memories."""

from __future__ import annotations

import re

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.principals import Principal
from journal.exceptions import Refused
from language.reading.revising import parts_of
from memories.actions import memories_add
from memories.models import Memory
from memories.records import Addition, NewMemory

MOST_LETTERS = 300
_SAYS_SO = re.compile(r"(?:i|my|ich|mein\w*|mich|mir)\b", re.IGNORECASE)
"""The start of an answer that is already a statement, in a language of the pages."""
_SAYS_WHERE = re.compile(r"(?:in|at|on|near|im|am|an|auf|bei|nahe) (?=\S)", re.IGNORECASE)
"""The start of an answer with a preposition of place."""
_FIELDS = {
    "called": ("profile", Memory.Field.PREFERRED_NAME.value),
    "lives": ("profile", Memory.Field.CITY.value),
    "matters": ("context", ""),
}


class TellForm(forms.Form):
    """The questions, at least one of which must be answered."""

    called = forms.CharField(
        required=False,
        max_length=MOST_LETTERS,
        label=gettext_lazy("What do you like to be called?"),
        widget=forms.TextInput({"autocomplete": "nickname"}),
    )
    lives = forms.CharField(
        required=False,
        max_length=MOST_LETTERS,
        label=gettext_lazy("Where do you live?"),
        widget=forms.TextInput({"autocomplete": "address-level2"}),
    )
    matters = forms.CharField(
        required=False,
        max_length=MOST_LETTERS,
        label=gettext_lazy("What should every assistant know about you?"),
        widget=forms.TextInput({"autocomplete": "off", "placeholder": gettext_lazy("I am allergic to penicillin.")}),
    )

    def tell(self, principal: Principal) -> int:
        """Store the answers as memories; returns how many. A refused answer becomes an error of its field."""
        answers = {name: str(self.cleaned_data[name]) for name in _FIELDS if self.cleaned_data[name]}
        if not answers:
            self.add_error(None, _("Answer one of the questions."))
            return 0
        told = [(name, each) for name, answer in answers.items() for each in _statements(name, answer)]
        outcomes = memories_add(principal, [Addition(each) for _name, each in told])
        refused = {name: each for (name, _), each in zip(told, outcomes, strict=True) if isinstance(each, Refused)}
        for name, error in refused.items():
            self.add_error(name, error.detail)
        return sum(not isinstance(each, Refused) for each in outcomes)


def _statements(name: str, answer: str) -> list[NewMemory]:
    """Return the answer as a statement in the person's language; of several things in English, one each."""
    category, field = _FIELDS[name]
    said = answer if _SAYS_SO.match(answer) else _said(name, answer.rstrip("."))
    parts = () if field else parts_of(said)
    return [NewMemory(each, category, field=field) for each in (parts if len(parts) > 1 else [said])]


def _said(name: str, answer: str) -> str:
    if name == "called":
        return _("I like to be called {answer}.").format(answer=answer)
    if name == "lives" and _SAYS_WHERE.match(answer):
        return _("I live {there}.").format(there=answer[0].lower() + answer[1:])
    return _("I live in {answer}.").format(answer=answer) if name == "lives" else answer
