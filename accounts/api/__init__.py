"""REST views of preferences, agents, keys and grants, and all URLs of this room."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Prefetch
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView, get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from web.etags import (
    IF_MATCH,
    IF_NONE_MATCH,
    not_modified_or,
    seen_version,
    with_etag,
)
from web.idempotency import IdempotentView
from web.json import validated

from .. import actions, policy
from ..authentication import principal_of
from ..models import Agent, AgentKey, Grant, Preferences, User
from ..principals import Principal
from ..querysets import AgentQuerySet
from ..serializers import (
    AgentKeySerializer,
    AgentSerializer,
    GrantSerializer,
    MadeAgentKeySerializer,
    NewAgentKeySerializer,
    PreferencesSerializer,
)
from .legacies import (
    AcceptInvitation,
    BlockInvitation,
    DeclineInvitation,
    InvitationBlockDetail,
    InvitationBlocks,
    Invitations,
    Legacies,
    LegacyDetail,
    LegacyInvitationDetail,
    LegacyInvitations,
    LegacyPictureDetail,
    MemberDetail,
    Members,
)

__all__ = ["MemberDetail"]


class MyPreferences(APIView):
    """The person's preferences."""

    @extend_schema(responses=PreferencesSerializer, parameters=[IF_NONE_MATCH])
    def get(self, request: Request) -> Response:
        """Read the person's preferences, or the defaults."""
        user_id = policy.must_act_for(principal_of(request))
        row = Preferences.objects.filter(user_id=user_id).select_related("user")
        # A person who does not exist yet (an unknown name of a service) has neither row.
        preferences = row.first() or Preferences(user=User.objects.filter(pk=user_id).first() or User(pk=user_id))
        return not_modified_or(request, _answer_preferences(preferences))

    @extend_schema(request=PreferencesSerializer, responses=PreferencesSerializer, parameters=[IF_MATCH])
    def patch(self, request: Request) -> Response:
        """Change the given preferences of the person.

        Needs a session, or an admin key of an agent whose grant is not restricted.
        """
        body = validated(PreferencesSerializer(data=request.data))
        changed = {"version": seen_version(request), **body}
        changed |= changed.pop("user", {})
        return _answer_preferences(actions.preferences_set(principal_of(request), **changed))


class Agents(IdempotentView[Principal], ListAPIView):
    """List the agents that act for the person."""

    serializer_class = AgentSerializer
    queryset = Agent.objects.none()

    def get_queryset(self) -> AgentQuerySet:
        """Return the agents by name, with the valid keys of the person's own agents."""
        return _agents(principal_of(self.request)).order_by("name", "id")

    def get_serializer_context(self) -> dict[str, Any]:
        """Add the principal, by which the serializer sets ``mine``."""
        return {**super().get_serializer_context(), "principal": principal_of(self.request)}

    @extend_schema(request=AgentSerializer, responses={201: AgentSerializer})
    def post(self, request: Request) -> Response:
        """Create a personal agent. Needs a session or a key with the scope admin."""
        principal = self.caller(request)
        body = validated(AgentSerializer(data=request.data))
        agent = actions.agent_create(principal, **body)
        return Response(_show_agent(principal, agent.pk), status=201)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the created agent."""
        return _show_agent(principal, UUID(object_ids[0]))


class AgentKeys(IdempotentView[Principal]):
    """The keys of one of the person's own agents."""

    @extend_schema(request=NewAgentKeySerializer, responses={201: MadeAgentKeySerializer})
    def post(self, request: Request, agent_id: UUID) -> Response:
        """Create a key for an agent. Its credential is only in this response."""
        body = validated(NewAgentKeySerializer(data=request.data))
        key, credential = actions.agent_key_create(self.caller(request), agent_id, **body)
        return Response({**AgentKeySerializer(key).data, "credential": credential}, status=201)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the created key without its credential, of which only the HMAC is stored."""
        key = get_object_or_404(AgentKey.objects.visible_to(principal), pk=object_ids[0])
        return {**AgentKeySerializer(key).data, "credential": None}


class AgentKeyDetail(APIView):
    """One key."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, agent_id: UUID, key_id: UUID) -> Response:
        """Revoke a key of an agent. It is rejected from its next request on."""
        actions.agent_key_revoke(principal_of(request), key_id, agent_id=agent_id)
        return Response(status=204)


class AgentGrant(APIView):
    """An agent's grant: what it may see of the person."""

    @extend_schema(responses=GrantSerializer)
    def get(self, request: Request, agent_id: UUID) -> Response:
        """Read an agent's grant."""
        principal = principal_of(request)
        agent = get_object_or_404(Agent.objects.visible_to(principal), pk=agent_id)
        user_id = policy.must_act_for(principal)
        grant = Grant.objects.filter(user_id=user_id, agent=agent).first() or Grant(user_id=user_id, agent=agent)
        return Response(GrantSerializer(grant).data)

    @extend_schema(request=GrantSerializer, responses=GrantSerializer)
    def patch(self, request: Request, agent_id: UUID) -> Response:
        """Narrow, widen or revoke an agent's grant.

        It applies from the agent's next request on. Needs a session or a key with the scope admin.
        """
        body = validated(GrantSerializer(data=request.data))
        grant = actions.grant_set(principal_of(request), agent_id, **body)
        return Response(GrantSerializer(grant).data)


def _answer_preferences(preferences: Preferences) -> Response:
    return with_etag(PreferencesSerializer(preferences).data, version=preferences.version)


def _agents(principal: Principal) -> AgentQuerySet:
    keys = AgentKey.objects.visible_to(principal).filter(revoked_at__isnull=True).order_by("created_at")
    return Agent.objects.visible_to(principal).prefetch_related(Prefetch("keys", keys, to_attr="own_keys"))


def _show_agent(principal: Principal, agent_id: UUID) -> Any:
    agent = get_object_or_404(_agents(principal), pk=agent_id)
    return AgentSerializer(agent, context={"principal": principal}).data


urlpatterns = [
    path("legacies/", Legacies.as_view(), name="legacies"),
    path("legacies/<uuid:legacy_id>/", LegacyDetail.as_view(), name="legacy"),
    path("legacies/<uuid:legacy_id>/members/", Members.as_view(), name="members"),
    path("legacies/<uuid:legacy_id>/invitations/", LegacyInvitations.as_view(), name="legacy-invitations"),
    path(
        "legacies/<uuid:legacy_id>/invitations/<uuid:invitation_id>/",
        LegacyInvitationDetail.as_view(),
        name="legacy-invitation",
    ),
    path("legacies/<uuid:legacy_id>/picture/", LegacyPictureDetail.as_view(), name="legacies-picture"),
    path("invitations/", Invitations.as_view(), name="invitations"),
    path("invitations/blocks/", InvitationBlocks.as_view(), name="invitation-blocks"),
    path("invitations/blocks/<int:block_id>/", InvitationBlockDetail.as_view(), name="invitation-unblock"),
    path("invitations/<str:code>/accept/", AcceptInvitation.as_view(), name="invitation-accept"),
    path("invitations/<str:code>/decline/", DeclineInvitation.as_view(), name="invitation-decline"),
    path("invitations/<str:code>/block/", BlockInvitation.as_view(), name="invitation-block"),
    path("me/preferences/", MyPreferences.as_view(), name="preferences"),
    path("agents/", Agents.as_view(), name="agents"),
    path("agents/<uuid:agent_id>/keys/", AgentKeys.as_view(), name="agent-keys"),
    path("agents/<uuid:agent_id>/keys/<uuid:key_id>/", AgentKeyDetail.as_view(), name="agent-key"),
    path("agents/<uuid:agent_id>/grant/", AgentGrant.as_view(), name="agent-grant"),
]
