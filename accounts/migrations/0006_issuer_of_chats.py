"""The issuer of chats that people link is reserved: an agent that names people under it would act for those who did."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

CHATS = "telegram"
SERVICES = "service:telegram"


def part_from_chats(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Agents that had the issuer, and whom they named under it, get another one; what a code linked is in the log."""
    owner = schema_editor.connection.alias  # Migrations run as the owner, not through the default connection.
    log = apps.get_model("journal", "Change").objects.using(owner)
    linked = log.filter(object_type="identity", event="ADD")
    ids = [int(each) for each in linked.values_list("object_id", flat=True)]
    identities = apps.get_model("accounts", "ExternalIdentity").objects.using(owner)
    identities.filter(issuer=CHATS).exclude(pk__in=ids).update(issuer=SERVICES)
    apps.get_model("accounts", "Agent").objects.using(owner).filter(issuer=CHATS).update(issuer=SERVICES)


def join_chats(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The other way round, but for names that a chat has by now."""
    owner = schema_editor.connection.alias
    identities = apps.get_model("accounts", "ExternalIdentity").objects.using(owner)
    taken = identities.filter(issuer=CHATS).values("external_id")
    identities.filter(issuer=SERVICES).exclude(external_id__in=taken).update(issuer=CHATS)
    apps.get_model("accounts", "Agent").objects.using(owner).filter(issuer=SERVICES).update(issuer=CHATS)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_link_codes"),
        ("journal", "0003_memory_counts"),
    ]

    operations = [
        migrations.RunPython(part_from_chats, join_chats),
        migrations.AddConstraint(
            model_name="agent",
            constraint=models.CheckConstraint(
                condition=models.Q(("issuer", CHATS), _negated=True), name="agent_issuer_not_of_chats"
            ),
        ),
    ]
