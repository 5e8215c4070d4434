"""The OpenAPI schema."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from drf_spectacular import validation
from jsonschema_rs import Draft202012Validator


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    """The schema as the command writes it; a warning or a fault fails it.

    The command's own check, by a validator in Python, takes ten seconds.
    """
    path = tmp_path_factory.mktemp("schema") / "schema.json"
    call_command("spectacular", "--fail-on-warn", "--format", "openapi-json", "--file", str(path))
    made = json.loads(path.read_text())
    standard = Path(validation.__file__).with_name(f"openapi_{made['openapi'][0]}_{made['openapi'][2]}_schema.json")
    Draft202012Validator(json.loads(standard.read_text()), validate_formats=True).validate(made)
    return made


def operations(schema):
    return [
        (method, path, operation) for path, methods in schema["paths"].items() for method, operation in methods.items()
    ]


def test_every_address_is_below_the_version(schema):
    assert len(schema["paths"]) > 10
    assert all(path.startswith("/api/v1/") for path in schema["paths"])


def test_every_operation_says_what_it_does_and_how_it_fails(schema):
    for method, path, operation in operations(schema):
        assert operation.get("description"), (method, path)
        assert 8 < len(operation.get("summary", "")) <= 120, (method, path)
        assert {"400", "401", "403", "404", "429", "503"} <= operation["responses"].keys(), (method, path)
        assert ("requestBody" in operation) == ("413" in operation["responses"]), (method, path)
        if method != "get":
            assert {"409", "422"} <= operation["responses"].keys(), (method, path)
        assert any(status.startswith("2") for status in operation["responses"]), (method, path)
        assert {"agentKey", "session"} == {name for way in operation["security"] for name in way}, (method, path)


def test_no_two_operations_read_alike(schema):
    summaries = [operation["summary"] for _, path, operation in operations(schema) if not path.endswith("/history/")]
    assert len(set(summaries)) == len(summaries)


def test_every_parameter_is_described_and_numbers_have_bounds(schema):
    for method, path, operation in operations(schema):
        for parameter in operation.get("parameters", []):
            where = (method, path, parameter["name"])
            assert parameter.get("description"), where
            if parameter["schema"].get("type") == "integer":
                assert "minimum" in parameter["schema"] or parameter["in"] == "path", where


def bodies(schema):
    """What requests carry: components by name, those inside others as well."""
    found, left = {}, [operation.get("requestBody", {}) for _, _, operation in operations(schema)]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            name = each.get("$ref", "").rpartition("/")[2]
            if name and name not in found:
                found[name] = schema["components"]["schemas"][name]
                left.append(found[name])
            left += each.values()
        elif isinstance(each, list):
            left += each
    return {name: component for name, component in found.items() if component.get("type") == "object"}


def test_a_body_has_no_other_fields_than_the_schema_s_and_they_have_bounds(schema):
    assert len(bodies(schema)) > 30
    for name, component in bodies(schema).items():
        assert component["additionalProperties"] is False, name
        for field, value in component["properties"].items():
            types = value.get("type", [])
            if "integer" in types or "number" in types:
                assert {"minimum", "maximum"} <= value.keys(), (name, field)
            if "array" in types:
                assert "maxItems" in value, (name, field)


def test_what_a_change_needs_is_required_and_what_it_may_leave_out_is_not(schema):
    required = {name: set(each.get("required", ())) for name, each in schema["components"]["schemas"].items()}
    assert required["VisibilityRequest"] == {"visibility"}
    assert required["RewordRequest"] == {"content"}
    assert required["GrantRequest"] == required["PreferencesRequest"] == set()


def test_an_answer_has_all_its_fields_and_says_which_can_be_null(schema):
    version = schema["components"]["schemas"]["MemoryVersion"]
    assert version["properties"]["ended_at"]["type"] == ["string", "null"]
    for name in ("MemoryVersion", "Memory", "Fact", "Preferences", "Conversation", "Grant"):
        component = schema["components"]["schemas"][name]
        assert set(component["required"]) == component["properties"].keys(), name


def test_posts_that_write_take_an_idempotency_key(schema):
    taking = {
        path
        for method, path, operation in operations(schema)
        if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", []))
    }
    assert {"/api/v1/legacies/", "/api/v1/agents/", "/api/v1/conversations/"} <= taking
    posts = {path for method, path, _ in operations(schema) if method == "post"}
    assert taking <= posts


def test_reads_with_an_etag_say_that_they_answer_304(schema):
    reads = {path for _, path, operation in operations(schema) if "304" in operation["responses"]}
    assert "/api/v1/facts/{fact_id}/" in reads
    assert "/api/v1/legacies/" not in reads


def test_a_history_is_one_page_and_not_a_list_of_pages(schema):
    for path in ("facts/{fact_id}", "memories/{memory_id}"):
        (answer,) = schema["paths"][f"/api/v1/{path}/history/"]["get"]["responses"]["200"]["content"].values()
        _, _, name = answer["schema"]["$ref"].rpartition("/")
        assert {"results", "versions", "next"} <= schema["components"]["schemas"][name]["properties"].keys()


def test_the_schema_is_served(api, db):
    answer = api().get("/api/schema/?format=json")
    assert answer.status_code == 200
    assert answer.json()["openapi"].startswith("3.")


def test_a_schema_that_is_asked_for_again_is_not_made_again(api, db, monkeypatch):
    """Reproduction: anybody could keep a process busy for half a second with each request."""
    first = {name: api().get(f"/api/schema/?format={name}") for name in ("json", "yaml")}
    monkeypatch.setattr("drf_spectacular.generators.SchemaGenerator.get_schema", None)
    for name, was in first.items():
        answer = api().get(f"/api/schema/?format={name}&lang=de", HTTP_ACCEPT_LANGUAGE="de")
        assert answer.status_code == 200
        assert answer.content == was.content
        assert f".{name}" in answer["Content-Disposition"]
