"""REST views of legacies, members and invitations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.generics import ListAPIView, get_object_or_404
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from journal.exceptions import NotFound
from web.idempotency import IdempotentView
from web.json import require_empty_body, validated

from .. import actions
from ..authentication import principal_of
from ..models import Invitation, InvitationBlock, Legacy, LegacyPicture, Member
from ..principals import Principal
from ..querysets import InvitationBlockQuerySet, InvitationQuerySet, LegacyQuerySet, MemberQuerySet
from ..serializers import (
    AnsweredSerializer,
    BlockSerializer,
    InvitedSerializer,
    LegacySerializer,
    MadeInvitationSerializer,
    MadeLegacySerializer,
    MemberRoleSerializer,
    MemberSerializer,
    NewLegacySerializer,
    NewMemberSerializer,
    PictureSerializer,
    SentInvitationSerializer,
    WaitingInvitationSerializer,
)


class Legacies(IdempotentView[Principal], ListAPIView):
    """List the legacies that the person is a member of."""

    serializer_class = LegacySerializer
    queryset = Legacy.objects.none()

    def get_queryset(self) -> LegacyQuerySet:
        """Return the legacies by name."""
        return _legacies(principal_of(self.request)).order_by("name", "id")

    @extend_schema(request=NewLegacySerializer, responses={201: MadeLegacySerializer})
    def post(self, request: Request) -> Response:
        """Create a legacy, owned by the person. Inviting named people needs a session or a key with the scope admin.

        Codes and links are only in this response.
        """
        principal = self.caller(request)
        body = validated(NewLegacySerializer(data=request.data))
        legacy, sent = actions.legacy_create(principal, **body)
        invitations = [_show_sent(request, each) for each in sent]
        return Response({**_show_legacy(principal, legacy.pk), "invitations": invitations}, status=201)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the created legacy and its outstanding invitations, without codes."""
        legacy_id, *invitations = object_ids
        return {**_show_legacy(principal, UUID(legacy_id)), "invitations": _show_again(principal, invitations)}


class LegacyDetail(APIView):
    """One legacy."""

    @extend_schema(responses=LegacySerializer)
    def get(self, request: Request, legacy_id: UUID) -> Response:
        """Read a legacy: its name and the person's role."""
        return Response(_show_legacy(principal_of(request), legacy_id))

    @extend_schema(request=LegacySerializer, responses=LegacySerializer)
    def patch(self, request: Request, legacy_id: UUID) -> Response:
        """Rename a legacy. Only its owners may."""
        principal = principal_of(request)
        body = validated(LegacySerializer(data=request.data))
        actions.legacy_rename(principal, legacy_id, body["name"])
        return Response(_show_legacy(principal, legacy_id))


class LegacyPictureDetail(APIView):
    """The picture of a legacy."""

    parser_classes = [MultiPartParser]

    @extend_schema(responses={(200, "image/webp"): OpenApiResponse(OpenApiTypes.BINARY, "The picture, as WebP.")})
    def get(self, request: Request, legacy_id: UUID) -> HttpResponse:
        """Fetch the picture. 404 if there is none."""
        picture = get_object_or_404(LegacyPicture.objects.visible_to(principal_of(request)), pk=legacy_id)
        return HttpResponse(bytes(picture.content), content_type="image/webp")

    @extend_schema(request={"multipart/form-data": PictureSerializer}, responses={204: None})
    def put(self, request: Request, legacy_id: UUID) -> Response:
        """Set or replace the legacy's picture. Only its owners may.

        It is re-encoded as a small WebP; metadata is dropped. 400 `bad_picture` for a file that is not an image or is
        too large.
        """
        body = validated(PictureSerializer(data=request.data))
        file = body["picture"]
        actions.legacy_picture_set(principal_of(request), legacy_id, file, file.size)
        return Response(status=204)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, legacy_id: UUID) -> Response:
        """Delete the picture. Only its owners may."""
        actions.legacy_picture_remove(principal_of(request), legacy_id)
        return Response(status=204)


class Members(IdempotentView[Principal], ListAPIView):
    """List the members of a legacy."""

    serializer_class = MemberSerializer
    queryset = Member.objects.none()

    def get_queryset(self) -> MemberQuerySet:
        """Return the members in order of joining."""
        principal = principal_of(self.request)
        get_object_or_404(Legacy.objects.visible_to(principal), pk=self.kwargs["legacy_id"])
        return _members(principal).filter(legacy_id=self.kwargs["legacy_id"]).order_by("joined_at", "id")

    def get_serializer_context(self) -> dict[str, Any]:
        """Add the principal, by which the serializer sets ``me``."""
        return {**super().get_serializer_context(), "principal": principal_of(self.request)}

    @extend_schema(request=NewMemberSerializer, responses={202: InvitedSerializer})
    def post(self, request: Request, legacy_id: UUID) -> Response:
        """Invite somebody to a legacy. Only its owners may, with a session or a key with the scope admin.

        The response does not reveal whether the name exists. Code and link are only in it. Inviting the same name again
        ends the earlier invitation. Without a name, the invitation is for the first person to use the link.
        """
        principal = self.caller(request)
        body = validated(NewMemberSerializer(data=request.data))
        sent = actions.member_invite(principal, legacy_id, **body)
        return Response({"invitation": _show_sent(request, sent)}, status=202)

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the invitation without its code."""
        shown = _show_again(principal, object_ids)
        if not shown:
            raise NotFound("There is no such invitation any more.")
        return {"invitation": shown[0]}


class MemberDetail(APIView):
    """One member. The room ``facts`` adds DELETE, since that also handles the member's shared facts."""

    @extend_schema(request=MemberRoleSerializer, responses=MemberSerializer)
    def patch(self, request: Request, legacy_id: UUID, member_id: UUID) -> Response:
        """Change a member's role. Only owners may, with a session or a key with the scope admin."""
        principal = principal_of(request)
        body = validated(MemberRoleSerializer(data=request.data))
        actions.member_set_role(principal, legacy_id, member_id, body["role"])
        return Response(_show_member(principal, member_id))


class LegacyInvitations(ListAPIView):
    """List the outstanding invitations to a legacy."""

    serializer_class = SentInvitationSerializer
    queryset = Invitation.objects.none()

    def get_queryset(self) -> InvitationQuerySet:
        """Return the invitations, the latest first; none unless the caller is an owner.

        Declined ones stay in the list until they expire, so that declining is not visible.
        """
        principal = principal_of(self.request)
        legacy = get_object_or_404(Legacy.objects.visible_to(principal), pk=self.kwargs["legacy_id"])
        sent = Invitation.objects.visible_to(principal).outstanding(timezone.now()).filter(legacy=legacy)
        return sent.select_related("inviter").order_by("-created_at", "id")


class LegacyInvitationDetail(APIView):
    """One outstanding invitation."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, legacy_id: UUID, invitation_id: UUID) -> Response:
        """Revoke an invitation and its link. Only owners may, with a session or a key with the scope admin."""
        actions.invitation_revoke(principal_of(request), legacy_id, invitation_id)
        return Response(status=204)


class Invitations(ListAPIView):
    """List the invitations addressed to the person."""

    serializer_class = WaitingInvitationSerializer
    queryset = Invitation.objects.none()

    def get_queryset(self) -> InvitationQuerySet:
        """Return the outstanding invitations, the latest first; none for a key without the scope admin."""
        waiting = Invitation.objects.waiting_for(principal_of(self.request), timezone.now())
        return waiting.select_related("legacy", "inviter").order_by("-created_at", "id")


class AcceptInvitation(IdempotentView[Principal]):
    """Accepting an invitation."""

    @extend_schema(request=None, responses=AnsweredSerializer)
    def post(self, request: Request, code: str) -> Response:
        """Accept an invitation by its code, or by its id if it is in the person's name. It can be accepted once.

        Needs a session or a key with the scope admin. From then on the person and their agents see shared facts.
        """
        principal = self.caller(request)
        require_empty_body(request)
        member = actions.invitation_accept(principal, code)
        return Response(self.render_result(principal, [str(member.legacy_id)]))

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the legacy as its new member sees it."""
        return {"outcome": "accepted", "legacy": _show_legacy(principal, UUID(object_ids[0]))}


class DeclineInvitation(IdempotentView[Principal]):
    """Declining an invitation."""

    @extend_schema(request=None, responses=AnsweredSerializer)
    def post(self, request: Request, code: str) -> Response:
        """Decline an invitation. The owners are not notified, and it can still be accepted until it expires."""
        principal = self.caller(request)
        require_empty_body(request)
        actions.invitation_decline(principal, code)
        return Response(self.render_result(principal, []))

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the outcome "declined"."""
        return {"outcome": "declined", "legacy": None}


class BlockInvitation(IdempotentView[Principal]):
    """Declining an invitation and blocking later ones."""

    @extend_schema(request=None, responses=AnsweredSerializer)
    def post(self, request: Request, code: str) -> Response:
        """Decline an invitation and block later ones to the legacy and by the sender. The owners are not notified."""
        principal = self.caller(request)
        require_empty_body(request)
        actions.invitation_block(principal, code)
        return Response(self.render_result(principal, []))

    def render_result(self, principal: Principal, object_ids: list[str]) -> Any:
        """Return the outcome "blocked"."""
        return {"outcome": "blocked", "legacy": None}


class InvitationBlocks(ListAPIView):
    """List the blocks of invitations."""

    serializer_class = BlockSerializer
    queryset = InvitationBlock.objects.none()

    def get_queryset(self) -> InvitationBlockQuerySet:
        """Return the person's blocks, the latest first; none for a key without the scope admin."""
        blocks = InvitationBlock.objects.visible_to(principal_of(self.request))
        return blocks.select_related("inviter").order_by("-created_at", "-id")


class InvitationBlockDetail(APIView):
    """One block."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, block_id: int) -> Response:
        """Remove a block. Needs a session or a key with the scope admin."""
        actions.invitation_unblock(principal_of(request), block_id)
        return Response(status=204)


def _legacies(principal: Principal) -> LegacyQuerySet:
    return Legacy.objects.visible_to(principal).with_role(principal)


def _show_legacy(principal: Principal, legacy_id: UUID) -> Any:
    return LegacySerializer(get_object_or_404(_legacies(principal), pk=legacy_id)).data


def _members(principal: Principal) -> MemberQuerySet:
    return Member.objects.visible_to(principal).select_related("user")


def _show_member(principal: Principal, member_id: UUID) -> Any:
    member = get_object_or_404(_members(principal), pk=member_id)
    return MemberSerializer(member, context={"principal": principal}).data


def _show_sent(request: Request, sent: actions.SentInvitation) -> Any:
    """Serialise a new invitation with its code and link."""
    link = request.build_absolute_uri(reverse("invitation-page", args=[sent.code]))
    shown = {"code": sent.code, "link": link, "name": sent.invitation.name or None}
    return MadeInvitationSerializer(shown).data


def _show_again(principal: Principal, invitations: Sequence[str]) -> list[Any]:
    """Serialise the outstanding invitations of a repeated request, without codes, which are not stored."""
    rows = Invitation.objects.visible_to(principal).outstanding(timezone.now()).filter(pk__in=invitations)
    names = rows.order_by("created_at", "name").values_list("name", flat=True)
    shown = [{"code": None, "link": None, "name": name or None} for name in names]
    return list(MadeInvitationSerializer(shown, many=True).data)
