"""Every API answer that a test gets is held against the OpenAPI schema; the fixture ``api`` makes clients that do it.

Stricter than the schema that callers read: an answer has no property that the schema does not list, and a request that
succeeded was one that the schema allows.
"""

import re
from functools import cache, cached_property
from http import HTTPStatus

import orjson
from django.http import QueryDict
from drf_spectacular.generators import SchemaGenerator
from jsonschema_rs import Draft202012Validator, ValidationError
from rest_framework.test import APIClient

PREFIX = "/api/v1/"
UNDECLARED = {
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.NOT_ACCEPTABLE,
    HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""What any address can answer and none declares; a 500 is no part of an interface."""

ONE_BY_ONE = {f"POST {PREFIX}memories/bulk/"}
"""What is wrong with one of many is answered for that one, with 200 for the whole."""


class Mismatch(AssertionError):
    """An answer, or a request that succeeded, is not what the schema says."""


class CheckedClient(APIClient):
    """Compares each answer with the schema."""

    def generic(self, method, path, data="", content_type="application/octet-stream", secure=False, **extra):
        answer = super().generic(method, path, data, content_type, secure, **extra)
        if path.startswith(PREFIX):
            contract().check(method, path, data, content_type, answer)
        return answer


@cache
def contract():
    """The schema of this checkout, made once in a process."""
    return Contract(SchemaGenerator().get_schema(public=True))


class Contract:
    def __init__(self, document):
        self.document = document
        self._validators = {}

    def check(self, method, path, sent, content_type, answer):
        """Raise Mismatch where request or answer differ from what their operation declares."""
        method, status = method.lower(), str(answer.status_code)
        template = template_of(answer)
        operation = self.document["paths"].get(template, {}).get(method)
        if operation is None:
            if status[0] in "23" and method in {"get", "post", "put", "patch", "delete"}:
                raise Mismatch(f"{method.upper()} {path} answers {status} and is not in the schema.")
            return
        where = f"{method.upper()} {template}"
        if status[0] == "2":
            self._check_request(where, operation, path, sent, content_type)
        if answer.status_code not in UNDECLARED:
            self._check_answer(where, operation, status, answer)

    def _check_request(self, where, operation, path, sent, content_type):
        names = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
        if unknown := set(QueryDict(path.partition("?")[2])) - names:
            raise Mismatch(f"{where} took the query parameters {unknown}, which it does not declare.")
        declared = operation.get("requestBody")
        if not sent or sent == b"{}":
            if declared is not None and declared.get("required") and sent != b"{}":
                raise Mismatch(f"{where} took no body, and declares that it needs one.")
            return
        if declared is None:
            raise Mismatch(f"{where} took a body and declares none: {sent!r}")
        media = content_type.partition(";")[0]
        if media not in declared["content"]:
            raise Mismatch(f"{where} took a body of {media}, which it does not declare.")
        if media == "application/json" and where not in ONE_BY_ONE:
            self._validate(f"{where} request", declared["content"][media]["schema"], sent, strict=False)

    def _check_answer(self, where, operation, status, answer):
        declared = operation["responses"].get(status)
        if declared is None:
            raise Mismatch(f"{where} answers {status}, which it does not declare.")
        content = declared.get("content")
        if content is None:
            if not answer.streaming and answer.content:
                raise Mismatch(f"{where} {status} declares no body and has one: {answer.content[:200]!r}")
            return
        media = answer["Content-Type"].partition(";")[0]
        if media == "text/event-stream" and status[0] == "4":
            return  # A client that takes nothing but events is told in one.
        if media not in content:
            raise Mismatch(f"{where} {status} is {media}, which it does not declare.")
        if media == "application/json":
            self._validate(f"{where} {status}", content[media]["schema"], answer.content, strict=True)

    def _validate(self, where, schema, body, *, strict):
        kind = orjson.dumps(schema), strict  # Most operations share a few; making a validator takes 5 ms.
        if kind not in self._validators:
            document = self._strict if strict else self.document
            whole = {**(closed(schema) if strict else schema), "components": document["components"]}
            # A date alone is taken for its midnight, which is more than a caller is promised.
            self._validators[kind] = Draft202012Validator(whole, validate_formats=strict)
        try:
            self._validators[kind].validate(orjson.loads(body))
        except ValidationError as error:
            at = "/".join(map(str, error.instance_path))
            raise Mismatch(f"{where}: {at}: {error.message[:1500]}") from None

    @cached_property
    def _strict(self):
        return closed(self.document)


def template_of(answer):
    """The path of the operation that answered, as the schema writes it; None when no address was found."""
    try:
        route = answer.resolver_match.route
    except Exception:  # noqa: BLE001 - Resolver404, and whatever a path that can't be read raises
        return None
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)


def closed(schema):
    """The schema with every object that lists its properties taken as complete, unless it says that it is not."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: closed(value) for name, value in schema.items()}
    if made.get("type") == "object" and isinstance(made.get("properties"), dict):
        made.setdefault("additionalProperties", False)
    return made
