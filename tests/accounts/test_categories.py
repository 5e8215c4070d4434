"""categories.yaml: what it says, and every fault it can have."""

import copy
from pathlib import Path

import pytest
import yaml
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from accounts import categories

SHIPPED = yaml.safe_load((Path(categories.__file__).parent / "categories.yaml").read_text())


@pytest.fixture
def own_file(tmp_path, settings):
    """A deployment's own file; the shipped one is read again afterwards."""
    path = tmp_path / "own.yaml"
    settings.KEEPSAKE_CATEGORIES = str(path)
    categories.load.cache_clear()
    yield path
    categories.load.cache_clear()


def faults_of(change):
    document = copy.deepcopy(SHIPPED)
    change(document)
    return categories.parse(document)[1]


def test_the_shipped_file_is_sound():
    read, faults = categories.parse(SHIPPED)
    assert faults == []
    assert read.by_name["profile"].context == "all"
    assert (read.by_name["activity"].context, read.by_name["activity"].rag_length) == ("rag", 50)
    assert set(read.allowlists) == {"supervisor", "planner", "stylist", "researcher", "executor"}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("preferences", "preference"),
        ("Preferences ", "preference"),
        ("projects", "project"),
        ("goals", "goals"),
        ("goal", "goals"),
        ("relationship", "relationships"),
        ("recent_activity", "recent_activity"),
        ("secrets", None),
        ("", None),
    ],
)
def test_aliases_lead_to_categories(name, meant):
    assert categories.load().canonical(name) == meant


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda d: d.pop("categories"), "there is no mapping named categories"),
        (lambda d: d.update(categories=["profile"]), "there is no mapping named categories"),
        (lambda d: d["categories"].update(extra=[]), "categories has no group extra, only system and custom"),
        (lambda d: d["categories"].update(custom="pets"), "custom is not a list of categories"),
        (lambda d: d["categories"].update(custom=["pets"]), "'pets' has no name of at most 50"),
        (lambda d: d["categories"].update(custom=[{"context": "all"}]), "has no name of at most 50"),
        (lambda d: d["categories"].update(custom=[{"name": "My Pets", "context": "all"}]), "has no name of at most 50"),
        (lambda d: d["categories"].update(custom=[{"name": "x" * 51, "context": "all"}]), "has no name of at most 50"),
        (lambda d: d["categories"].update(custom=[{"name": "pets"}]), "the context of pets is None, not all or rag"),
        (
            lambda d: d["categories"].update(custom=[{"name": "pets", "context": ["all"]}]),
            "the context of pets is ['all'], not all or rag",
        ),
        (
            lambda d: d["categories"].update(custom=[{"name": "pets", "context": "rag", "rag_length": 0}]),
            "the rag_length of pets is not a positive whole number",
        ),
        (
            lambda d: d["categories"].update(custom=[{"name": "pets", "context": "rag", "rag_length": True}]),
            "the rag_length of pets is not a positive whole number",
        ),
        (
            lambda d: d["categories"].update(custom=[{"name": "pets", "context": "rag", "raglength": 3}]),
            "pets has unknown keys: raglength",
        ),
        (lambda d: d["categories"].update(custom=[{"name": "profile", "context": "all"}]), "profile is there twice"),
        (
            lambda d: d["categories"].update(custom=[{"name": "pets", "context": "all", "aliases": "dogs"}]),
            "the aliases of pets are not a list of names",
        ),
        (
            lambda d: d["categories"].update(custom=[{"name": "pets", "context": "all", "aliases": ["My dogs"]}]),
            "the aliases of pets are not a list of names",
        ),
        (
            lambda d: d["categories"].update(custom=[{"name": "pets", "context": "all", "aliases": ["goal"]}]),
            "the alias goal is there twice",
        ),
        (
            lambda d: d["categories"].update(custom=[{"name": "pets", "context": "all", "aliases": ["goals"]}]),
            "goals is a category and an alias of pets",
        ),
        (lambda d: d.update(allowlists=["planner"]), "allowlists is not a mapping of roles"),
        (lambda d: d.update(allowlists={7: ["goals"]}), "7 is not the name of a role"),
        (lambda d: d.update(allowlists={"x" * 41: ["goals"]}), "is not the name of a role"),
        (lambda d: d.update(allowlists={"planner": "goals"}), "the allowlist of planner is not a list"),
        (
            lambda d: d.update(allowlists={"planner": ["goals", "secrets", {"a": 1}]}),
            "the allowlist of planner names unknown categories: secrets, {'a': 1}",
        ),
    ],
)
def test_each_fault_is_reported(change, fault):
    (found,) = faults_of(change)
    assert fault in found


def test_all_faults_are_reported_together():
    def spoil(document):
        document["categories"]["custom"] = [{"name": "pets"}, {"name": "cars", "context": "rag", "rag_length": -1}]
        document["allowlists"]["planner"] = ["secrets"]

    assert len(faults_of(spoil)) == 3


@pytest.mark.parametrize("document", [None, "profile", [], 7])
def test_a_file_that_is_something_else_is_reported(document):
    assert categories.parse(document)[1] == ["there is no mapping named categories"]


def test_no_allowlists_and_no_custom_ones_are_fine():
    assert faults_of(lambda d: (d.pop("allowlists"), d["categories"].pop("custom"))) == []


def test_a_deployment_names_its_own_file(own_file):
    own = copy.deepcopy(SHIPPED)
    own["categories"]["custom"] = [{"name": "pets", "context": "rag", "rag_length": 5, "aliases": ["pet"]}]
    own["allowlists"]["vet"] = ["pet"]
    own_file.write_text(yaml.safe_dump(own))
    read = categories.load()
    assert read.of_role("vet") == {"pets"}
    assert "pets" in read.of_role("")
    call_command("check")


@pytest.mark.parametrize("text", [None, "categories: [", "categories: {system: [{name: pets}]}"])
def test_a_faulty_file_stops_the_start(own_file, text):
    if text is not None:
        own_file.write_text(text)
    with pytest.raises(ImproperlyConfigured, match="KEEPSAKE_CATEGORIES"):
        categories.load()
    with pytest.raises(SystemCheckError, match=r"accounts\.E001"):
        call_command("check")
