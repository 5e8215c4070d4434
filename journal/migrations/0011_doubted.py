from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("journal", "0010_learned")]

    operations = [
        migrations.AlterField(
            model_name="change",
            name="event",
            field=models.CharField(
                choices=[
                    ("ADD", "Add"),
                    ("UPDATE", "Update"),
                    ("DELETE", "Delete"),
                    ("MERGE", "Merge"),
                    ("LINK", "Link"),
                    ("TTL", "Ttl"),
                    ("RESTORE", "Restore"),
                    ("REJECT", "Reject"),
                    ("APPROVE", "Approve"),
                    ("SHARE", "Share"),
                    ("UNSHARE", "Unshare"),
                    ("HIDE", "Hide"),
                    ("OPEN", "Open"),
                    ("QUARANTINE", "Quarantine"),
                    ("EVICT", "Evict"),
                    ("PROPOSE", "Propose"),
                    ("LAPSE", "Lapse"),
                    ("PIN", "Pin"),
                    ("MENTION", "Mention"),
                    ("PURGE", "Purge"),
                    ("INVITE", "Invite"),
                    ("DECLINE", "Decline"),
                    ("BLOCK", "Block"),
                    ("WITHHOLD", "Withhold"),
                    ("GIVE_BACK", "Give Back"),
                    ("ERASE", "Erase"),
                    ("JOIN", "Join"),
                    ("LEAVE", "Leave"),
                    ("ROLE", "Role"),
                    ("GRANT", "Grant"),
                    ("KEY", "Key"),
                    ("PREFERENCE", "Preference"),
                    ("DOUBT", "Doubt"),
                ],
                max_length=12,
            ),
        ),
    ]
