"""A person of a conversation, and the gender of pronouns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from language.reading.words import KIN

Role = Literal["legacy", "user", "other"]

PRONOUNS = dict.fromkeys(("he", "him", "his", "himself"), "m") | dict.fromkeys(("she", "her", "hers", "herself"), "f")


@dataclass(eq=False, slots=True)
class Person:
    """A person or pet. ``kin`` is the kinship term used for them, ``owner`` the person it relates them to."""

    role: Role
    name: str = ""
    gender: str = ""
    kin: str = ""
    owner: Person | None = None
    is_introduced: bool = False

    def fits(self, gender: str) -> bool:
        """Whether a pronoun of this gender can refer to them."""
        return self.role != "user" and self.gender in {"", gender}

    @property
    def group(self) -> str:
        """The kinship group of the term: ``mother`` for "mum"."""
        return KIN.get(self.kin, self.kin)
