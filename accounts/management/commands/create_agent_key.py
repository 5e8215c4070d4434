"""``manage.py create_agent_key``: create an agent with a key."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts import actions, policy
from accounts.models import Agent
from accounts.principals import SCOPES, Principal
from accounts.queries import principal_for_job
from accounts.scope import acting_as
from journal.exceptions import Refused


class Command(BaseCommand):
    """Make a key of a person's agent, and the person and the agent where they are not there yet."""

    help = __doc__ + " Prints the key, which can't be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("name", help="what the agent is called")
        parser.add_argument("--user", required=True, help="the user name of its owner, created if there is none")
        parser.add_argument("--role", default="", help="a role of categories.yaml, which narrows what it sees")
        parser.add_argument("--service", action="store_true", help="it acts for the people it names in X-Keepsake-User")
        parser.add_argument("--scopes", help="comma-separated, of read, write and admin; default read,write")
        parser.add_argument(
            "--issuer",
            default="",
            help="whose names for people it uses; default its own, local means the user names of this deployment",
        )
        parser.add_argument("--expires", type=int, metavar="DAYS", help="days until the key ends; default never")
        parser.add_argument("--quiet", action="store_true", help="print the key alone")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create what is missing, then the key."""
        scopes = options["scopes"].split(",") if options["scopes"] else SCOPES[:2]
        days = options["expires"]
        expires_at = None if days is None else timezone.now() + timedelta(days=days)
        try:
            policy.check_scopes(scopes)
            policy.check_expiry(expires_at, timezone.now())
            policy.check_role(options["role"])
            policy.check_issuer(options["issuer"])
            options["name"] = policy.clean_name(options["name"], 100)
            user = actions.user_resolve(policy.LOCAL_ISSUER, options["user"])
            with acting_as(principal_for_job(user.pk)) as principal:
                agent = self._agent(principal, options)
                key, credential = actions.agent_key_create(principal, agent.pk, scopes, expires_at=expires_at)
        except Refused as error:
            raise CommandError(error.detail) from error
        if options["quiet"]:
            self.stdout.write(credential)
            return
        until = f"until {expires_at:%Y-%m-%d}" if expires_at else "until it is revoked"
        self.stdout.write(f"{agent.kind} agent {agent.name} of {user.username}, {', '.join(key.scopes)}, {until}:")
        self.stdout.write(credential)
        self.stdout.write("Keep it now: it can't be shown again. Send it as Authorization: Bearer …")

    def _agent(self, principal: Principal, options: dict[str, Any]) -> Agent:
        kind = Agent.Kind.SERVICE if options["service"] else Agent.Kind.PERSONAL
        known = Agent.objects.filter(owner_id=principal.user_id, name=options["name"]).first()
        if known is None:
            return actions.agent_create(
                principal, options["name"], kind=kind, role=options["role"], issuer=options["issuer"]
            )
        same = known.kind == kind and known.role == options["role"] and options["issuer"] in {"", known.issuer}
        if not same:
            raise CommandError(
                f"{known.name} is there already: {known.kind}, role {known.role or 'none'}, issuer {known.issuer}."
            )
        return known
