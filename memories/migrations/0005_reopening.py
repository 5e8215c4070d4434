"""A decision about a proposal can be taken back while its days last: until then it keeps what it would change."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q


def forget_what_was_decided(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """What the constraint demands that comes back: nothing of a proposal that has ended."""
    database = schema_editor.connection.alias
    proposals = apps.get_model("memories", "Proposal").objects.using(database).exclude(state="waiting")
    evidence = apps.get_model("memories", "ProposalEvidence").objects.using(database)
    evidence.filter(proposal__in=proposals).delete()
    proposals.update(values={})


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0004_what_staff_look_for"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="proposal",
            name="proposal_ended_holds_no_text",
        ),
        migrations.AddField(
            model_name="proposal",
            name="before",
            field=models.JSONField(default=dict, editable=False),
        ),
        migrations.AddIndex(
            model_name="proposal",
            index=models.Index(
                fields=["expires_at"],
                condition=Q(state__in=["approved", "rejected"]) & ~Q(values={}),
                name="proposal_to_forget",
            ),
        ),
        migrations.AddConstraint(
            model_name="proposal",
            constraint=models.CheckConstraint(
                condition=Q(state="waiting", decided_at__isnull=True, before={})
                | Q(state__in=["approved", "rejected"], decided_at__isnull=False)
                | Q(state="lapsed", decided_at__isnull=False, values={}, before={}),
                name="proposal_lapsed_holds_no_text",
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, forget_what_was_decided),
    ]
