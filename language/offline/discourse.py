"""Whom "he" and "she" mean as a conversation goes on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from language.offline.lexicon.words import HE, SHE
from language.offline.people import Cast, Person


@dataclass(slots=True)
class Discourse:
    """Whom "he" and "she" mean at this point of the conversation; None where that can't be told."""

    cast: Cast
    meant: dict[str, Person | None] = field(default_factory=dict)
    unclear_for: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start again: only the legacy, if there is one, can be meant."""
        for gender in "fm":
            self._expect_legacy(gender)

    def next_message(self) -> None:
        """Go on to the user's next message.

        Without a legacy, nobody is carried over. With one, a pronoun that could have meant somebody else means the
        legacy again when a whole message has passed in which no such person came up.
        """
        if self.cast.legacy is None:
            self.forget()
            return
        for gender in "fm":
            if self.meant[gender] is None:
                self.unclear_for[gender] += 1
                if self.unclear_for[gender] > 1:
                    self._expect_legacy(gender)

    def _expect_legacy(self, gender: str) -> None:
        legacy = self.cast.legacy
        self._mean(gender, legacy if legacy and legacy.gender in (gender, "?") else None)

    def _mean(self, gender: str, person: Person | None) -> None:
        self.meant[gender] = person
        self.unclear_for[gender] = 0

    def resolve(self, pronoun: str) -> Person | None:
        """Return whom a pronoun means, or None."""
        return self.meant["f" if pronoun in SHE else "m"] if pronoun in SHE | HE else None

    def heard(self, subject: Person | None, others: Iterable[Person]) -> None:
        """Take in one clause: its subject and everybody else whom it names."""
        others = list(others)
        for person in others:
            for gender in _genders(person):
                # Somebody else of the same gender has come up, so a later pronoun could mean either.
                alone = (
                    self.meant[gender] in (None, person) and person.gender != "?" and not self._rivals_legacy(person)
                )
                self._mean(gender, person if alone else None)
        if subject is None or subject.role == "user":
            return
        rivals = {gender for person in others if person != subject for gender in _genders(person)}
        for gender in _genders(subject):
            self._mean(gender, None if gender in rivals or self._rivals_legacy(subject) else subject)

    def _rivals_legacy(self, person: Person) -> bool:
        """Whether a person came up only as the legacy's kin, so that the talk is of both."""
        return self.cast.legacy is not None and person.owner == self.cast.legacy


def _genders(person: Person) -> str:
    if person.role == "user":
        return ""
    return person.gender if person.gender in ("f", "m") else "fm"
