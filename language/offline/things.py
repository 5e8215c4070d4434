"""Statements about what belongs to somebody: "my favourite colour is green", "my dog is called Rex"."""

from __future__ import annotations

from dataclasses import dataclass

from language.offline.lexicon.words import PETS, listed
from language.offline.reader import Clause
from language.offline.times import one_off

_BE_KINDS: tuple[tuple[str, frozenset[str]], ...] = (
    ("preference", listed("favourite favourites favorite favorites")),
    ("name", listed("name nickname surname")),
    ("pronouns", listed("pronouns")),
    ("birth", listed("birthday birthdate")),
    ("milestone", listed("anniversary")),
    ("occupation", listed("job profession occupation career trade role position title employer")),
    ("hobby", listed("hobby hobbies passion pastime")),
    ("goal", listed("goal goals dream ambition aim resolution")),
    ("origin", listed("hometown birthplace roots")),
    ("language", listed("language tongue")),
    ("health", listed("diet allergy allergies diagnosis")),
    ("identity", listed("faith religion")),
    ("personality", listed("motto")),
    ("context", listed("timezone zone schedule hours budget deadline")),
)
_LOOKS = listed("eyes hair voice laugh smile accent handwriting hands")
# Things that somebody works on; what they use and need is worth keeping too.
_PROJECTS = listed(
    "project app startup website thesis dissertation book novel blog business company team shop portfolio screenplay "
    "podcast channel"
)
_PROJECT_VERBS = listed("be use run have need target support start launch sell focus open own work belong call")
# Things whose value belongs in a safe and not in a memory.
_SECRET = listed("password passcode pin ssn card account login token key")


@dataclass(frozen=True, slots=True)
class Thing:
    """What kind of statement a thing of somebody's makes, and the field and subject it sets."""

    kind: str
    subject: str = ""
    field: str = ""


def read_thing(clause: Clause) -> Thing | None:
    """Return what a clause says of a thing that belongs to its subject, or None when it is nothing to keep."""
    words = [token.low for token in clause.subject.thing]
    predicate = clause.predicate
    if set(words) & _SECRET or not predicate.rest or predicate.tense in {"would", "future"}:
        return None
    mine = clause.subject.person.role == "user"
    pet = next((word for word in words if word in PETS), "")
    if pet:
        return _pet(clause, words, pet)
    if predicate.lemma == "be":
        for kind, heads in _BE_KINDS:
            if words[-1] in heads or (kind == "preference" and set(words) & heads):
                return _of_kind(clause, kind, words)
        if words[-1] in _LOOKS and not mine and not one_off(predicate.after):
            return Thing("looks")
    if mine and words[-1] in _PROJECTS and predicate.lemma in _PROJECT_VERBS and predicate.tense == "present":
        return Thing("project", _named(clause) or words[-1])
    return None


def _of_kind(clause: Clause, kind: str, words: list[str]) -> Thing | None:
    mine = clause.subject.person.role == "user"
    if kind == "name":
        plain = mine and words[-1] == "name" and set(words) <= {"name", "first", "preferred", "real"}
        return Thing("name", field="preferred_name" if plain and not clause.predicate.negated else "")
    if kind == "pronouns":
        return Thing(kind, field="pronouns" if not clause.predicate.negated else "") if mine else None
    if kind == "goal":
        return Thing(
            kind, field="goal" if mine and not clause.predicate.negated and clause.predicate.tense == "present" else ""
        )
    if kind == "language":
        return Thing(kind, field="language" if mine and "preferred" in words and not clause.predicate.negated else "")
    if kind in {"context", "birth", "occupation"} and clause.predicate.rest[0].low in {
        "coming",
        "approaching",
        "so",
        "very",
    }:
        return None
    return Thing(kind)


def _pet(clause: Clause, words: list[str], pet: str) -> Thing | None:
    predicate = clause.predicate
    if predicate.lemma != "be":
        return None
    rest = predicate.rest
    if words[-1] == "name":
        return Thing("possession", rest[0].text)
    if words[-1] == pet and (rest[0].low in {"called", "named"} or rest[0].low in {"a", "an"} or rest[0].low.isdigit()):
        return Thing("possession", rest[1].text if rest[0].low in {"called", "named"} and len(rest) > 1 else pet)
    return None


def _named(clause: Clause) -> str:
    rest = clause.predicate.rest
    named = len(rest) > 1 and rest[0].low in {"called", "named"} and rest[1].capital
    return rest[1].text if named else ""
