"""The offline rules against labelled talk: every sentence gives exactly what it says, and traps give nothing."""

from pathlib import Path

import pytest
import yaml

from language.offline.model import OfflineModel
from tests.language.offline_talk import conversation

GROUPS = yaml.load((Path(__file__).parent / "talk.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
CASES = [
    pytest.param(case, group.get("legacy"), id=f"{group['group']}-{number}")
    for group in GROUPS
    for number, case in enumerate(group["cases"])
]


def _said(case):
    return case["say"] if isinstance(case["say"], list) else [case["say"]]


def _memory(memory):
    field = f"/{memory.field}" if memory.field else ""
    return f"{'!' if memory.explicit else ''}{memory.category}{field}: {memory.content}"


@pytest.mark.parametrize(("case", "legacy"), CASES)
def test_talk_gives_what_it_says_and_no_more(case, legacy):
    extraction = OfflineModel().extract(conversation(*_said(case), legacy=legacy))
    assert sorted(f"{fact.category}: {fact.content}" for fact in extraction.facts) == sorted(case.get("facts", []))
    assert sorted(map(_memory, extraction.memories)) == sorted(case.get("memories", []))


def test_the_talk_holds_enough_cases_and_enough_traps():
    cases = [case for group in GROUPS for case in group["cases"]]
    assert len(cases) >= 350
    assert sum(not case.get("facts") and not case.get("memories") for case in cases) >= 130
