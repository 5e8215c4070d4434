"""The OpenAPI schema."""

import pytest
import yaml
from django.core.management import call_command


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    """The schema as the command writes it; a warning or a fault fails it."""
    path = tmp_path_factory.mktemp("schema") / "schema.yaml"
    call_command("spectacular", "--fail-on-warn", "--validate", "--file", str(path))
    return yaml.safe_load(path.read_text())


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
        assert {"401", "403", "404", "429", "503"} <= operation["responses"].keys(), (method, path)
        assert any(status.startswith("2") for status in operation["responses"]), (method, path)
        assert {"agentKey", "session"} == {name for way in operation["security"] for name in way}, (method, path)


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
