"""The views of mem0's platform API, versions 1, 2 and 3, below ``/mem0/``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.core.paginator import Paginator
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.policy import must_read, must_remember
from assistant.jobs import find_job
from assistant.learn.actions import JOB as READING
from assistant.learn.summarizing import JOB as SUMMARY
from assistant.recall.query.answering import memory_query
from assistant.recall.query.question import Question
from conversations.models import Conversation
from journal.exceptions import NotFound, Refused
from journal.models import JobRun
from journal.operation_actions import note_operation
from memories import actions
from memories.api.answers import find_memory
from memories.block import memory_block
from memories.models import Disclosure, Memory, MemoryVersion

from .filters import condition_of, conditions
from .formatting import event_json, history_json, memory_json
from .operations import EntityList, add, change, delete_all, delete_each, find_undeleted, matching_memories, message_of
from .parsing import body_of, id_of, memories_named, merge_filters, positive_int, reject_top_level_entities, text_of
from .people import ENTITIES, PersonView, shown_user_id, users_named

LEARNING = (SUMMARY, READING)
PAGE_SIZE = 100
MOST_ON_A_PAGE = 200
ENTITIES_ON_A_PAGE = 10_000
THRESHOLD = 0.1
WORDS = {"POSITIVE", "NEGATIVE", "VERY_NEGATIVE"}
EXPORT = signing.Signer(salt="keepsake.mem0.export")
EXPORT_MOST = 10_000


class Ping(PersonView):
    """Check the key."""

    def get(self, request: Request) -> Response:
        """Return the caller. Organisation and project are constants: Keepsake has neither."""
        principal = self.principal(request)
        ids = {"org_id": "keepsake", "project_id": "keepsake"}
        return Response({"status": "ok", **ids, "user_email": shown_user_id(principal, None)})


class ScopedView(PersonView):
    """A view whose request names a scope: a person, and perhaps an agent, app and run."""

    def scoped(self, request: Request) -> dict[str, Any]:
        """Return the body, with names of agent, app and run in the filters moved to its top level."""
        sent = dict(body_of(request))
        filters = sent.get("filters")
        if isinstance(filters, Mapping):
            for name in ENTITIES:
                if isinstance(filters.get(name), str):
                    sent.setdefault(name, filters[name])
        return sent


class Memories(ScopedView):
    """Add memories (version 1); delete all of a scope."""

    adds = True

    def post(self, request: Request) -> Response:
        """Add memories. Unless ``infer`` is false, they are extracted in the background."""
        return Response(add(self.principal(request), self.scoped(request)))

    def delete(self, request: Request) -> Response:
        """Delete a person's memories, or those of an agent, app or run. Refused (400 ``unscoped``) without a name."""
        asked = request.query_params.dict()
        known = {*ENTITIES, "org_id", "project_id"}
        if set(asked) - known or not any(asked.get(name, "").strip() for name in ENTITIES):
            raise Refused("Name what to delete: user_id, agent_id, app_id or run_id.", code="unscoped")
        gone = delete_all(self.principal(request), {name: asked[name] for name in ENTITIES if name in asked})
        return Response({"message": message_of("Memories deleted successfully!", gone), "count": gone["archived"]})


class Add(Memories):
    """Add memories (version 3)."""

    http_method_names = ["post", "options"]


class Listed(ScopedView):
    """List the memories of a scope (version 2)."""

    strict = False

    def post(self, request: Request) -> Response:
        """Return a page of memories, the latest first."""
        sent = body_of(request)
        reject_top_level_entities(sent, self.strict)
        principal = self.principal(request)
        rows = matching_memories(principal, merge_filters(sent)).order_by("-created_at", "pk")
        around, listed = _page(request, rows, sent)
        actions.memories_show(principal, Disclosure.By.QUERY, [each.pk for each in listed])
        user = shown_user_id(principal, self.user_of(request))
        return Response({**around, "results": [memory_json(each, user) for each in listed]})


def _page(
    request: Request, rows: Any, sent: Mapping[str, Any], size: int = PAGE_SIZE, most: int = MOST_ON_A_PAGE
) -> tuple[dict[str, Any], list[Any]]:
    """Return the envelope and the rows of the page that the query string or the body ``sent`` asks for."""
    size = positive_int(request.query_params.get("page_size", sent.get("page_size")), size, most)
    number = positive_int(request.query_params.get("page", sent.get("page")), 1, 1_000_000)
    page = Paginator(rows, size).get_page(number)
    base = request.build_absolute_uri(request.path)
    around = {
        "count": page.paginator.count,
        "next": f"{base}?page={number + 1}&page_size={size}" if page.has_next() else None,
        "previous": f"{base}?page={number - 1}&page_size={size}" if page.has_previous() else None,
    }
    return around, [*page.object_list] if number == page.number else []


class ListedV3(Listed):
    """List memories (version 3, which accepts names only within the filters)."""

    strict = True


class Search(ScopedView):
    """Search memories (version 2)."""

    strict = False

    def post(self, request: Request) -> Response:
        """Return the best memories for a query, best first."""
        sent = body_of(request)
        reject_top_level_entities(sent, self.strict)
        principal = self.principal(request)
        query = text_of(sent, "query")
        if not 1 <= len(query.strip()) <= 4_000:
            raise Refused("query is a text of 1 to 4,000 characters.", code="bad_query")
        threshold = sent.get("threshold", THRESHOLD)
        if threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, int | float)):
            raise Refused("threshold is a number.", code="bad_query")
        asked = Question(
            query=query,
            where=conditions(merge_filters(sent)),
            top_k=positive_int(sent.get("top_k", sent.get("limit")), settings.QUERY_TOP_K, settings.QUERY_MOST_RESULTS),
            threshold=threshold,
            budget_tokens=settings.QUERY_MOST_TOKENS,
        )
        scores = {each.id: each.score for each in memory_query(principal, asked).results}
        rows = Memory.objects.visible_to(principal).without_vectors().in_bulk([*scores])
        user = shown_user_id(principal, self.user_of(request))
        return Response({"results": [memory_json(rows[pk], user, score=scores[pk]) for pk in scores if pk in rows]})


class SearchV3(Search):
    """Search memories (version 3)."""

    strict = True


class One(PersonView):
    """One memory."""

    def get(self, request: Request, memory_id: str) -> Response:
        """Return the memory."""
        principal = self.principal(request)
        must_read(principal)
        memory = find_undeleted(principal, memory_id)
        actions.memories_show(principal, Disclosure.By.QUERY, [memory.pk])
        return Response(memory_json(memory, shown_user_id(principal, None)))

    def put(self, request: Request, memory_id: str) -> Response:
        """Change its text (stored verbatim), metadata or expiry."""
        principal = self.principal(request)
        memory = change(principal, memory_id, body_of(request))
        return Response(memory_json(memory, shown_user_id(principal, None)))

    def delete(self, request: Request, memory_id: str) -> Response:
        """Archive it. It can be restored for 30 days."""
        waits = actions.memory_archive(self.principal(request), memory_id).proposal is not None
        return Response({"message": message_of("Memory deleted successfully!", Counter(proposed=int(waits)))})


class History(PersonView):
    """The history of a memory."""

    def get(self, request: Request, memory_id: str) -> Response:
        """Return its versions, the first one first."""
        principal = self.principal(request)
        must_read(principal)
        memory = find_memory(principal, memory_id)
        versions = MemoryVersion.objects.visible_to(principal).filter(memory=memory).told_to(principal)
        actions.memories_show(principal, Disclosure.By.QUERY, [memory.pk])
        told = history_json(memory, versions.order_by("number"), shown_user_id(principal, None))
        return Response([*told])


class Batch(PersonView):
    """Bulk operations on memories of one person, by id."""

    def memory_of(self, request: Request) -> str:
        """Return the id of the first memory: all must be of the same person."""
        listed = request.data.get("memories") if isinstance(request.data, Mapping) else None
        first = listed[0] if isinstance(listed, list) and listed else None
        return id_of(first) if isinstance(first, Mapping) else ""

    def put(self, request: Request) -> Response:
        """Update each memory. Stops at the first error; earlier updates are kept."""
        principal = self.principal(request)
        named = memories_named(body_of(request))
        for each in named:
            change(principal, each["memory_id"], each)
        return Response({"message": f"Successfully updated {len(named)} memories"})

    def delete(self, request: Request) -> Response:
        """Archive all, or none if one does not exist."""
        principal = self.principal(request)
        ids = [each["memory_id"] for each in memories_named(body_of(request))]
        must_remember(principal)
        if Memory.objects.visible_to(principal).filter(pk__in=ids).count() < len(set(ids)):
            raise NotFound("There is no such memory.")
        return Response(
            {"message": message_of(f"Successfully deleted {len(ids)} memories", delete_each(principal, ids))}
        )


class Entities(PersonView):
    """The entities that have memories: users, agents, apps, runs."""

    def get(self, request: Request) -> Response:
        """List the users known to a service, and the agents, apps and runs of the request's person."""
        principal = self.principal(request)
        must_read(principal)
        # Python clients request no page, so the default page is large.
        around, listed = _page(request, EntityList(principal), {}, ENTITIES_ON_A_PAGE, ENTITIES_ON_A_PAGE)
        entities = [
            {"id": f"{kind}:{name}", "type": kind, "name": name, **({} if count is None else {"total_memories": count})}
            for kind, name, count in listed
        ]
        return Response({**around, "results": entities})


class Entity(PersonView):
    """A user, agent, app or run."""

    def user_of(self, request: Request) -> str | None:
        """Return the user's name from the URL if the entity is a user."""
        if self.kwargs["kind"] == "user":
            return next(users_named(self.kwargs["name"]))
        return super().user_of(request)

    def delete(self, request: Request, kind: str, name: str) -> Response:
        """Delete its memories. A person's account is kept."""
        if f"{kind}_id" not in ENTITIES:
            raise NotFound("There is no such sort of entity.")
        gone = delete_all(self.principal(request), {f"{kind}_id": name})
        return Response({"message": message_of("Entity deleted successfully!", gone)})


class Feedback(PersonView):
    """Feedback of a client's user on a memory."""

    def memory_of(self, request: Request) -> str:
        """Return the memory's id."""
        return id_of(request.data) if isinstance(request.data, Mapping) else ""

    def post(self, request: Request) -> Response:
        """Record it. Positive feedback counts as a use. Nothing is deleted: only the person decides that."""
        principal = self.principal(request)
        user_id = must_remember(principal)
        sent = body_of(request)
        word = sent.get("feedback")
        if word is not None and word not in WORDS:
            raise Refused(f"feedback is one of {', '.join(sorted(WORDS))}.", code="bad_feedback")
        memory = find_memory(principal, id_of(sent))
        if word == "POSITIVE":
            actions.memories_show(principal, Disclosure.By.QUERY, [], recalled=[memory.pk])
        if word is not None:
            note_operation("feedback", word.lower(), user_id=user_id, object_id=memory.pk, category=memory.category)
        return Response({"id": memory.pk, "memory_id": memory.pk, "feedback": word})


class Exports(ScopedView):
    """Exports of a scope. Memories are returned as they are; no model converts them to a schema."""

    def post(self, request: Request) -> Response:
        """Return a signed id that holds the export's filters."""
        principal = self.principal(request)
        must_read(principal)
        filters = merge_filters(body_of(request))
        condition_of(principal, filters)
        named = EXPORT.sign_object({"filters": filters, "user": self.user_of(request), "of": str(principal.user_id)})
        return Response({"message": "Memory export request received.", "id": named})


class Exported(Exports):
    """The content of an export."""

    def user_of(self, request: Request) -> str | None:
        """Return the user of the export, else of the request."""
        named = super().user_of(request)
        told = self._signed_export(request)
        return told["user"] if told else named

    def post(self, request: Request) -> Response:
        """Return the memories of an export id, or of the filters sent; 10,000 at most."""
        principal = self.principal(request)
        told = self._signed_export(request)
        if told and told["of"] != str(principal.user_id):
            raise NotFound("There is no such export.")
        rows = matching_memories(principal, told["filters"] if told else merge_filters(body_of(request)))
        listed = [*rows.order_by("created_at", "pk")[:EXPORT_MOST]]
        actions.memories_show(principal, Disclosure.By.QUERY, [each.pk for each in listed])
        user = shown_user_id(principal, self.user_of(request))
        return Response({"memories": [memory_json(each, user) for each in listed]})

    def _signed_export(self, request: Request) -> dict[str, Any] | None:
        named = request.data.get("memory_export_id") if isinstance(request.data, Mapping) else None
        if named is None:
            return None
        try:
            return dict(EXPORT.unsign_object(str(named)))
        except signing.BadSignature as error:
            raise NotFound("There is no such export.") from error


class Summary(ScopedView):
    """The summary of a person's memories."""

    def post(self, request: Request) -> Response:
        """Return the memory block. Filters other than user_id are refused: the block covers all memories."""
        principal = self.principal(request)
        must_read(principal)
        if conditions(merge_filters(body_of(request))):
            raise Refused("A summary is of one user_id, and of all that is remembered.", code="bad_filter")
        return Response({"summary": memory_block(principal).text})


class Events(PersonView):
    """Background jobs of additions."""

    def get(self, request: Request) -> Response:
        """List the person's latest jobs."""
        principal = self.principal(request)
        must_read(principal)
        jobs = JobRun.objects.of_user(principal.user_id).filter(kind__in=LEARNING).order_by("-created_at")[:PAGE_SIZE]
        talks = Conversation.objects.visible_to(principal).filter(pk__in=[each.subject_id for each in jobs])
        seen = {str(pk) for pk in talks.values_list("pk", flat=True)}
        listed = [each for each in jobs if each.subject_id in seen]
        return Response({"count": len(listed), "next": None, "previous": None,
                         "results": [event_json(each, ()) for each in listed]})  # fmt: skip


class Event(PersonView):
    """The background job of one addition."""

    def get(self, request: Request, event_id: UUID) -> Response:
        """Return its state and the memories that it created."""
        principal = self.principal(request)
        job = find_job(principal, event_id)
        if job.kind not in LEARNING:
            raise NotFound("There is no such event.")
        learned = Memory.objects.visible_to(principal).without_vectors()
        learned = learned.filter(source_conversation=UUID(job.subject_id), created_at__gte=job.created_at)
        actions.memories_show(principal, Disclosure.By.QUERY, [each.pk for each in learned])
        told = [{"id": each.pk, "event": "ADD", "data": {"memory": each.content}} for each in learned]
        return Response(event_json(job, told))


urlpatterns = [
    path("v1/ping/", Ping.as_view()),
    path("v1/memories/", Memories.as_view()),
    path("v3/memories/add/", Add.as_view()),
    path("v2/memories/", Listed.as_view()),
    path("v3/memories/", ListedV3.as_view()),
    path("v2/memories/search/", Search.as_view()),
    path("v3/memories/search/", SearchV3.as_view()),
    path("v1/memories/<slug:memory_id>/", One.as_view()),
    path("v1/memories/<slug:memory_id>/history/", History.as_view()),
    path("v1/batch/", Batch.as_view()),
    path("v1/entities/", Entities.as_view()),
    path("v1/entities/<str:kind>/<str:name>/", Entity.as_view()),
    path("v2/entities/<str:kind>/<str:name>/", Entity.as_view()),
    path("v1/feedback/", Feedback.as_view()),
    path("v1/exports/", Exports.as_view()),
    path("v1/exports/get/", Exported.as_view()),
    path("v1/summary/", Summary.as_view()),
    path("v1/events/", Events.as_view()),
    path("v1/event/<uuid:event_id>/", Event.as_view()),
]
