"""The parts of the OpenAPI schema that all operations share: headers, errors, path parameters."""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import force_instance
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import Direction, OpenApiParameter

from .idempotency import IdempotentView
from .json import ExactSerializer

_USER = OpenApiParameter(
    "X-Keepsake-User",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The person a service agent acts for, as its issuer names them. Without it a key acts for its owner; "
    "blank, sent twice or with a comma it is a 400 `bad_user`.",
)
_IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="Repeat a request with the same key within 24 hours, and its work is done once.",
)
_ERRORS = {
    "400": "The request is wrong: what is wrong with each field or parameter, or why it was refused.",
    "401": "Who is calling is not known.",
    "403": "The caller may not do this; `code` says why.",
    "404": "There is no such thing, or the caller may not know of it.",
    "409": "The object has changed, or is in a state that does not allow this.",
    "410": "It, or the person, was erased in the last 90 days (`erased`).",
    "413": "The body is larger than 1 MB, or an upload larger than an import may be.",
    "415": "The body is not JSON, or for an upload not multipart/form-data.",
    "422": "A gate refused the content, or the Idempotency-Key was used for another request.",
    "429": "Too many requests; Retry-After says in how many seconds to try again.",
    "503": "The database or a model is away; Retry-After says in how many seconds to try again.",
}
_WITH_BODY = {"413", "415"}
_WITH_CHANGE = {"409", "422"}
_RETRY = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds until it is worth trying again."}}
_HEADERS = {"429": _RETRY, "503": _RETRY}
_ETAG = {"ETag": {"schema": {"type": "string"}, "description": "Send it as If-Match with a change, or If-None-Match."}}
_PATH = {
    "agent_id": "The agent's id, from `GET agents/`.",
    "block_id": "The block's id, from `GET invitations/blocks/`.",
    "code": "The code of the invitation, or its id from `GET invitations/`.",
    "conversation_id": "The conversation's id.",
    "fact_id": "The fact's id.",
    "import_id": "The import's id, from the answer to `POST import/`.",
    "index": "The message's place in its conversation, from 0.",
    "invitation_id": "The invitation's id, from `GET legacies/{legacy_id}/invitations/`.",
    "job_id": "The job's id, from the answer that began it.",
    "key_id": "The key's id, from `GET agents/`.",
    "legacy_id": "The legacy's id.",
    "member_id": "The member's id, from `GET legacies/{legacy_id}/members/`; not the person's.",
    "memory_id": "The memory's id: 8 letters and digits.",
    "name": "The tool's name, from `GET tools/`.",
    "place_id": "The place's `id`; not the `place_id` that clients bring.",
    "plan_id": "The plan's id, from the answer to `POST memories/optimize/`.",
    "proposal_id": "The proposal's id.",
    "reply_id": "The reply's id, from the header `Keepsake-Reply` of the answer that began it.",
    "webhook_id": "The webhook's id, from `GET webhooks/`.",
    "delivery_id": "The delivery's id, from `GET webhooks/{webhook_id}/deliveries/`.",
    "withheld_id": "The id of the words, from `GET withheld/`.",
    "thread": "The name of the thread: 1 to 255 printable characters without a slash.",
    "receipt": "The receipt, from the answer to `POST erase/`.",
}
_SCHEMAS: dict[str, Any] = {
    "Error": {
        "type": "object",
        "description": "Why a request failed: a sentence for a person, a stable word for a program, and what else "
        "there is to say of it.",
        "properties": {"detail": {"type": "string"}, "code": {"type": "string"}},
        "required": ["code", "detail"],
        "additionalProperties": {},
    },
    "FieldErrors": {
        "type": "object",
        "description": "What is wrong, by the names of fields or parameters: a list of sentences for each, or the same "
        "again for what is inside it. `non_field_errors` holds what concerns several together.",
        "additionalProperties": {
            "oneOf": [{"type": "array", "items": {}}, {"type": "object", "additionalProperties": {}}]
        },
    },
}


class OperationSchema(AutoSchema):
    """The schema of one operation, with the headers that every request may have."""

    def get_override_parameters(self) -> list[Any]:
        """Add X-Keepsake-User to every operation, and Idempotency-Key where it is honoured."""
        parameters = [*super().get_override_parameters(), _USER]
        if self.method == "POST" and isinstance(self.view, IdempotentView):
            parameters.append(_IDEMPOTENCY_KEY)
        return parameters

    def get_summary(self) -> str | None:
        """Return the summary of ``extend_schema``, or the first sentence of the description."""
        summary = super().get_summary()
        return summary or self.get_description().partition("\n\n")[0].partition(". ")[0].rstrip(".") or None

    def _map_basic_serializer(self, serializer: Any, direction: Direction) -> dict[str, Any]:
        """Mark a response's fields as required unless declared otherwise, and forbid extra fields in request bodies."""
        schema: dict[str, Any] = super()._map_basic_serializer(serializer, direction)
        shape = force_instance(serializer)
        sent = isinstance(shape, ExactSerializer)
        if direction == "request" and sent:
            schema["additionalProperties"] = False
        elif direction == "response":
            left_out = () if sent else (name for name, field in shape.fields.items() if _may_be_left_out(shape, field))
            schema["required"] = sorted(schema["properties"].keys() - set(left_out))
        return schema


def _may_be_left_out(shape: Any, field: Any) -> bool:
    """Whether a response field is declared as not required. Fields generated from a model are always present."""
    return field.field_name in shape._declared_fields and not (field.required or field.read_only)


def complete(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add descriptions of errors, headers and path parameters. A postprocessing hook of drf-spectacular."""
    result["components"].setdefault("schemas", {}).update(_SCHEMAS)
    for operations in result["paths"].values():
        for method, operation in operations.items():
            _add_errors(method, operation)
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path" and parameter["name"] in _PATH:
                    parameter["description"] = _PATH[parameter["name"]]
    return result


def _add_errors(method: str, operation: dict[str, Any]) -> None:
    answers, headers = operation["responses"], {each["name"] for each in operation.get("parameters", ())}
    left_out = set() if "requestBody" in operation else set(_WITH_BODY)
    if method == "get":
        left_out |= _WITH_CHANGE
    if "If-None-Match" in headers:
        answers["304"] = {"description": "It reads as the caller has it already.", "headers": _ETAG}
    if headers & {"If-None-Match", "If-Match"}:
        for status in answers.keys() & {"200", "201", "202"}:
            answers[status]["headers"] = _ETAG
    for status, description in _ERRORS.items():
        if status not in left_out:
            error: dict[str, Any] = {"$ref": "#/components/schemas/Error"}
            if status == "400":
                error = {"anyOf": [error, {"$ref": "#/components/schemas/FieldErrors"}]}
            answer = {"description": description, "content": {"application/json": {"schema": error}}}
            if status in _HEADERS:
                answer["headers"] = _HEADERS[status]
            answers.setdefault(status, answer)
