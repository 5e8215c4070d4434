"""REST for which agents saw a memory."""

from __future__ import annotations

from rest_framework.generics import ListAPIView

from accounts.authentication import principal_of
from journal.exceptions import NotAllowed
from web.pagination import ByTime

from ..models import Disclosure
from ..querysets import DisclosureQuerySet
from ..serializers import DisclosureSerializer
from .answers import find_memory


class MemoryDisclosures(ListAPIView):
    """List which agents were shown a memory in the last 90 days, the latest first.

    The person alone is told, signed in: an agent, whatever it may decide, would learn of the others (403).
    """

    serializer_class = DisclosureSerializer
    pagination_class = ByTime
    filter_backends = []
    queryset = Disclosure.objects.none()

    def get_queryset(self) -> DisclosureQuerySet:
        """Those of the memory."""
        principal = principal_of(self.request)
        if principal.kind == "agent":
            raise NotAllowed("Only the person is told which agents saw a memory.", code="person_only")
        memory = find_memory(principal, self.kwargs["memory_id"])
        return Disclosure.objects.visible_to(principal).of(memory.pk)
