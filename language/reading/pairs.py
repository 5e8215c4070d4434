"""Compare an existing and a new claim: another value, ended, changed, or unrelated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from language.base import Comparison

from .claims import Argument, Claim, Thing, all_words, is_dated
from .cues import FIGURE, ChangeCues, is_count
from .predicates import (
    CHANGES,
    ENDS,
    FOLLOWED,
    FOR_SOMETHING,
    ILL,
    LEADS,
    OF_SEVERAL,
    ONCE,
    ONE_AT_A_TIME,
    OPPOSITES,
    PARTINGS,
    PARTNERS,
    PLACED,
    PLANNING,
    STATUSES,
    TAKEN,
    TRAVELLING,
    what_one_is,
)

_DENYING = re.compile(r"(?:un|in|im|ir|dis|il)(?=[a-z]{3})")
_WITHOUT = {"with": "without", "without": "with"}


@dataclass(frozen=True)
class ClaimPair:
    """An existing claim and a new one, with the names of both statements."""

    old: Claim
    new: Claim
    cues: ChangeCues
    names: frozenset[str]

    @cached_property
    def same_subject(self) -> bool:
        """Whether the subjects are equal."""
        return bool(self.old.subject) and {_without_new(each) for each in self.old.subject} == {
            _without_new(each) for each in self.new.subject
        }

    @cached_property
    def is_now(self) -> bool:
        """Whether the new claim is marked as news: "now", "since Monday", "the new address"."""
        return self.cues.is_news or any(part.stem == "new" for thing in self.new.subject for _, part in thing.modifiers)

    @cached_property
    def conflict(self) -> Comparison:
        """The result for incompatible claims: a change if they are about the present, else a contradiction."""
        held = self.old.tense == "present" and (self.new.tense == "present" or self.new.ended)
        return "replaces" if held or self.cues.is_correction else "contradicts"

    def compare(self) -> Comparison:  # noqa: PLR0911
        """Compare the claims. Never "same", which only whole statements can be."""
        old, new = self.old, self.new
        if old.mood or new.mood or ("future" in {old.tense, new.tense} and old.tense != new.tense):
            return "different"
        if self.is_separated() or self.is_ended() or self.is_changed() or self.is_followed():
            return "replaces"
        if not self.same_subject:
            return "replaces" if self.has_another_holder() else "different"
        if old.polarity != new.polarity:
            return "replaces" if self.is_first_time() else self.denial()
        if self.is_named_as_wrong():
            return "replaces"
        if self.is_ended_by_death():
            return "replaces"
        if old.tense != new.tense:
            return "different"
        statuses = _status(old), _status(new)
        if all(statuses) and statuses[0].isdisjoint(statuses[1]):
            return self.conflict
        if self.is_with_against_without() or self.is_other_transport():
            return self.conflict
        if old.verbs != new.verbs:
            is_opposed = old.arguments == new.arguments and _opposed_verbs(old.verbs, new.verbs)
            return self.conflict if is_opposed else "different"
        return self.values()

    def denial(self) -> Comparison:
        """The result where one claim negates or ends the other."""
        old, new = self.old, self.new
        first, second = old.core, new.core
        denying, denied = (new, old) if new.negated or new.ended else (old, new)
        when = [all_words(each.things()) for each in (denying, denied)]
        if denying.arguments and not denying.core and not when[0] <= when[1]:
            return "different"  # "Does not play on Tuesdays any more", "plays chess on Fridays".
        alike = first == second or (new.ended and second <= first) or (old.ended and first <= second)
        if old.verbs == new.verbs and alike and (old.tense == new.tense or new.ended or old.ended):
            return self.conflict if not new.ended else "replaces"
        told, now = all_words(thing for _, thing in first), all_words(thing for _, thing in second)
        if new.ended and old.verbs == new.verbs and any(now < thing.words() for _, thing in first):
            return "replaces"  # "Is a waiter at the Lemon Tree", "no longer works at the Lemon Tree".
        return "replaces" if new.ended and len(told) > 1 and told <= now and old.tense == "present" else "different"

    def is_named_as_wrong(self) -> bool:
        """Whether the message negates the part of the old claim that differs."""
        old, new = self.old, self.new
        only = all_words(old.things()) - all_words(new.things())
        instead = _by_role(new.arguments)  # "Writes with Pages instead of Word."
        only |= all_words(thing for role, thing in old.arguments & new.arguments if len(instead.get(role, ())) > 1)
        only |= {part for word in only for part in word.split()}
        same_matter = old.verbs[0] == new.verbs[0] and old.polarity == new.polarity
        return same_matter and not self.cues.is_addition and not only.isdisjoint(self.cues.negated)

    def is_separated(self) -> bool:
        """Whether a couple has separated."""
        old, new = self.old, self.new
        if (
            new.verbs[0] not in PARTINGS
            or new.negated
            or not old.subject <= new.subject | {Thing(thing.stem, frozenset()) for thing in new.subject}
        ):
            return False
        of_couple = {*old.verbs[0].split(), *all_words(old.things()), *all_words(old.subject)}
        others = all_words(new.things()) | all_words(new.subject - old.subject)
        others -= {"user"}
        is_about_both = not others.isdisjoint(of_couple) if others else self.same_subject
        return is_about_both and not of_couple.isdisjoint(PARTNERS)

    def is_ended(self) -> bool:
        """Whether the new claim ends what the old one is about: "sold the Golf"."""
        old, new = self.old, self.new
        if self.is_possession_gone() or self.negates_agent_noun():
            return True
        if not self.same_subject or new.verbs[0] not in ENDS or new.negated or old.negated or old.tense != "present":
            return False
        about = all_words(thing for role, thing in old.arguments if role != "time")
        if new.verbs[0] == "retire" and old.verbs[0] == "work":
            return True
        # The verb of an agent noun: "smoke" for "is a smoker".
        about |= {word.removesuffix("er") for word in about if old.verbs == ("be",)}
        about |= {old.verbs[-1], old.verbs[-1].removesuffix("e")}
        return any(
            thing.words() <= about and not thing.words() <= self.names & PARTNERS
            for role, thing in new.arguments
            if role in {"obj", "from", "as"} and not FIGURE.fullmatch(thing.stem)
        )

    def is_possession_gone(self) -> bool:
        """Whether a possession is gone: "the user's cast has been removed"."""
        old, new = self.old, self.new
        if old.verbs != ("have",) or old.tense != "present" or old.negated or new.negated or len(new.subject) != 1:
            return False
        owned = {thing.stem for thing in old.things("obj")}
        owners = frozenset(part for thing in new.subject for role, part in thing.modifiers if role == "of")
        gone = {thing.stem for thing in new.subject}
        return new.verbs[0] in TAKEN and owners == old.subject and not owned.isdisjoint(gone)

    def negates_agent_noun(self) -> bool:
        """Whether the new claim negates the verb of an agent noun: "is a smoker", "has not smoked"."""
        old, new = self.old, self.new
        if not self.same_subject or old.verbs != ("be",) or not (new.negated or new.ended) or old.negated:
            return False
        called = {thing.stem for thing in old.things("is") if not thing.modifiers}
        return not called.isdisjoint({f"{new.verbs[-1]}r", f"{new.verbs[-1]}er"}) and old.tense == "present"

    def may_change(self) -> bool:
        """Whether the new verb is one of change."""
        verb = self.new.verbs[0]
        return verb in CHANGES or (verb == "begin" and self.old.verbs == ("be",))

    def is_changed(self) -> bool:
        """Whether one value became another: "moved to the Design team", "switched from law", "was postponed to May"."""
        old, new = self.old, self.new
        if not self.same_subject or not self.may_change() or new.negated or old.negated or old.tense != "present":
            return False
        about, moves = all_words(old.things()), new.verbs[0] in {"move", "relocate"}
        dwells = old.verbs[0] in {"live", "be", "stay"} and not old.things("is")
        left = {thing.stem for thing in old.things("on", "at", "for")}
        leaving = [thing for thing in new.things("from") if dwells or not moves or thing.stem in left]
        if any(thing.words() <= about for thing in leaving):
            return True
        if dwells and moves:
            return not self.names.isdisjoint(each.stem for each in new.things("to", "time")) and bool(old.things("in"))
        times = bool(old.things("time") and new.things("time", "until") and not new.things("to"))
        return times or any(
            one.stem == other.stem and one.modifiers and other.modifiers and one != other
            for role, one in old.arguments
            if role != "time"
            for _, other in new.arguments
        )

    def is_followed(self) -> bool:
        """Whether the new event completes the old state: waited for a flat and got it."""
        old, new = self.old, self.new
        if not self.same_subject or old.negated or new.negated or new.ended or old.tense != "present":
            return False
        was = {*old.verbs[-1].split(), *(thing.stem for role, thing in old.arguments if role == "is")}
        if old.verbs == new.verbs == ("be",) and old.things("in", "at", "on"):
            places = {thing.stem for thing in new.things("in", "at", "adv")}
            places |= {part.stem for role, thing in new.arguments if role == "adv" for _, part in thing.modifiers}
            return not places.isdisjoint({"back", "home"})
        about = all_words(old.things("for", "obj", "to", "on"))
        now = all_words(thing for role, thing in new.arguments if role.rstrip("'") in {"obj", "to", "subj"})
        if self.is_plan_done():
            return True
        return any(
            not was.isdisjoint(before)
            and not {verb.split()[0] for verb in new.verbs}.isdisjoint(after)
            and (before is not FOR_SOMETHING or not about.isdisjoint(now))
            and (after != {"marry"} or not about.isdisjoint(now))
            for before, after in FOLLOWED
        )

    def is_plan_done(self) -> bool:
        """Whether a plan was carried out: "plans to repaint the hall", "has painted the hall"."""
        old, new = self.old, self.new
        if old.verbs[0] not in PLANNING or len(old.verbs) != 2 or len(new.verbs) != 1 or new.tense != "past":
            return False
        planned = {thing.stem for thing in old.things("obj'")}
        done = {thing.stem for thing in new.things("obj") if not thing.modifiers}
        return old.verbs[1].removeprefix("re") == new.verbs[0].removeprefix("re") and not planned.isdisjoint(done)

    def is_ended_by_death(self) -> bool:
        """Whether a person with a present state or place has died."""
        old, new = self.old, self.new
        somewhere = old.verbs[0] in {"live", "work"} or (
            old.verbs == ("be",) and any(role == "in" or thing.stem in ILL for role, thing in old.arguments)
        )
        away = {thing.stem for thing in new.things("adv")}
        died = new.verbs[0] in {"die", "pass away"} or (new.verbs[0] == "pass" and "away" in away)
        return died and somewhere and old.tense == "present" and not new.negated

    def is_first_time(self) -> bool:
        """Whether something happened or began for the first time, which the old claim negated."""
        old, new = self.old, self.new
        if not old.negated or new.negated or new.ended:
            return False
        if new.verbs[0] == "begin" and new.verbs[1:] == old.verbs:
            return True
        if self.cues.is_perfect_negated and old.verbs == new.verbs and old.tense == new.tense:
            return old.core <= new.core
        places = [each.things("to", "in") for each in (old, new)]
        never = old.negated and old.tense == new.tense == "past" and old.verbs == ("be",)
        return never and not new.negated and bool(places[0]) and places[0] <= places[1]

    def has_another_holder(self) -> bool:
        """Whether an exclusive position has a new holder: "Nina is the team lead now"."""
        old, new = self.old, self.new
        alike = old.verbs == new.verbs and old.core == new.core and old.tense == new.tense
        if not alike or not old.arguments or old.verbs[0] not in LEADS or old.polarity != new.polarity:
            return False
        stems = {thing.stem for thing in old.subject | new.subject if not thing.modifiers or thing.stem in self.names}
        named = len(stems) == 2 and stems - {"user"} <= self.names
        return named and self.is_now and not self.cues.is_addition

    def is_with_against_without(self) -> bool:
        """Whether one has "with" where the other has "without": "coffee with sugar", "coffee without sugar"."""
        nested = [_nested_arguments(each.arguments) for each in (self.old, self.new)]
        pairs = [{(role, thing.stem) for role, thing in each} for each in nested]
        opposed = [{(_WITHOUT.get(role, ""), stem) for role, stem in each if role in _WITHOUT} for each in pairs]
        shared = {stem for _, stem in pairs[0]} & {stem for _, stem in pairs[1]}
        return not opposed[0].isdisjoint(pairs[1]) and len(shared) > 1

    def is_other_transport(self) -> bool:
        """Whether the means of transport changed: "drives to work", "takes the train to work"."""
        old, new = self.old, self.new
        somewhere = [each.things("to") for each in (old, new)]
        same = old.verbs[1:] == new.verbs[1:] and somewhere[0] == somewhere[1] and (old.verbs[1:] or somewhere[0])
        return bool(same) and self.is_now and {old.verbs[0], new.verbs[0]} <= TRAVELLING and old.verbs != new.verbs

    def values(self) -> Comparison:  # noqa: PLR0911
        """The result for claims with the same subject and predicate but another argument."""
        if self.cues.is_addition:
            return "different"
        if self.cues.only_figures_differ and self.old.tense == "present":
            return self.conflict
        old, new = _by_role(self.old.arguments), _by_role(self.new.arguments)
        if old.keys().isdisjoint(new):
            old, new = _by_role(_with_place_role(self.old)), _by_role(_with_place_role(self.new))
        other = [role for role in old if role in new and old[role] != new[role]]
        dropped = [role for role in old if role not in new]
        if self.old.verbs[0] == "live" and self.is_now and self.old.tense == "present":
            return "replaces"
        if len(other) != 1 or (dropped and not self.is_now and other[0] not in {"in", "at"}):
            return "different"
        role = other[0]
        if len(old[role]) != 1 or len(new[role]) != 1:
            return "different"
        (one,), (another,) = old[role], new[role]
        if one.words() < another.words() or another.words() < one.words():
            return "different"  # More or less detail.
        if _are_opposed(one, another):
            return self.conflict
        if self.is_single(role, one, another):
            return self.conflict if self.old.tense == "present" or self.is_once(role, one, another) else "different"
        marked = self.cues.is_correction or (self.is_now and self.old.tense != "past")
        return "replaces" if marked and self.is_of_one_kind(role, one, another) else "different"

    def is_once(self, role: str, one: Thing, other: Thing) -> bool:
        """Whether a past event happens once, or the value is a count."""
        return (
            self.old.verbs[-1] in ONCE
            or self.cues.is_correction
            or role == "is"
            or (role != "time" and is_count(one, other))
        )

    def is_single(self, role: str, one: Thing, other: Thing) -> bool:  # noqa: PLR0911
        """Whether the role has one value at a time for this subject."""
        verb = self.old.verbs[-1]
        named = {one.stem, other.stem} <= self.names
        if verb in ONCE and role in {"in", "time", "to"}:
            return True
        if verb == "be" and role in {"in", "at"} and any(each == "is" for each, _ in self.old.arguments):
            return False  # "Is good at chess."
        if (verb, role) in ONE_AT_A_TIME:
            return named or (one.stem not in self.names and other.stem not in self.names)
        subjects = {thing.stem for thing in self.old.subject}
        of_several = not subjects.isdisjoint(OF_SEVERAL | self.names)
        if role == "time":
            return not of_several or (is_count(one, other) and not is_dated(one))
        if is_count(one, other) or role == "until":
            return True
        if one.stem == other.stem and role == "on":
            return all(part[0] == "mod" for part in one.modifiers | other.modifiers)
        if role.startswith("name") and verb in {"call", "name"}:
            return True
        if verb != "be" or role != "is":
            return False
        favoured = any(
            word in {"favorite", "favourite", "preferred"} for thing in self.old.subject for word in thing.words()
        )
        addresses = all("@" in thing.stem for thing in (one, other))
        return favoured or addresses or (not of_several and named)

    def is_of_one_kind(self, role: str, one: Thing, other: Thing) -> bool:
        """Whether two values may answer one question: nobody stops being 59 or a mother by being a nurse now."""
        if role == "is" and what_one_is(one.stem) != what_one_is(other.stem):
            return False
        return role == "time" or (one.stem in self.names) == (other.stem in self.names)


def _opposed_verbs(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two verb chains differ in one antonym: "loves swimming", "hates swimming"."""
    pairs = [frozenset(pair) for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    return len(one) == len(other) and len(pairs) == 1 and pairs[0] in OPPOSITES


def _status(claim: Claim) -> frozenset[str]:
    """The marital status words of a claim."""
    states = {thing.stem for thing in claim.things("is")} if claim.verbs == ("be",) else set()
    return STATUSES & {claim.verbs[-1].split()[0], *states}


def _without_new(thing: Thing) -> Thing:
    return thing._replace(modifiers=frozenset(part for part in thing.modifiers if part[1].stem != "new"))


def _nested_arguments(roles: Iterable[Argument]) -> Iterable[Argument]:
    for role, thing in roles:
        yield role, thing
        yield from _nested_arguments(thing.modifiers)


def _with_place_role(claim: Claim) -> Iterable[Argument]:
    """The roles with one role of place for several prepositions: "is in the orchard", "is on the heather"."""
    if claim.verbs[-1] not in PLACED:
        return [
            ("time" if role == "at" and FIGURE.fullmatch(thing.stem) else role, thing)
            for role, thing in claim.arguments
        ]
    return [
        ("in" if role in {"in", "at", "on"} and not is_dated(thing) else role, thing) for role, thing in claim.arguments
    ]


def _by_role(roles: Iterable[Argument]) -> Mapping[str, frozenset[Thing]]:
    found: dict[str, frozenset[Thing]] = {}
    for role, thing in roles:
        if role not in {"adv", "since"}:
            found[role] = found.get(role, frozenset()) | {thing}
    return found


def _are_opposed(one: Thing, other: Thing) -> bool:
    """Whether two things differ only in a word and its antonym."""
    first, second = one.words() - other.words(), other.words() - one.words()
    if len(first) != 1 or len(second) != 1:
        return False
    (before,), (after,) = first, second
    return (
        frozenset({before, after}) in OPPOSITES
        or before in {after, _DENYING.sub("", after, count=1)}
        or (after == _DENYING.sub("", before, count=1))
    )
