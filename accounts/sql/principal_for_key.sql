-- Everything that decides what a request with an agent key may do, in one round trip:
-- the key, its agent, the person it acts for, that person's grant, preferences and revision, and whether they leave.
-- The person is the agent's owner unless the caller names one; the issuer "local" means the deployment's own user names.
SELECT k.id AS key_id, k.secret_hmac, k.scopes, k.expires_at, k.revoked_at, k.last_used_at,
       a.id AS agent_id, a.kind, a.role, a.issuer, a.owner_id, owner.username AS owner_username,
       owner.is_active AS owner_is_active,
       u.id AS user_id, u.is_active, u.username, u.display_name,
       g.id AS grant_id, g.categories, g.sources, g.revoked_at AS grant_revoked_at,
       p.has_memory, p.agentic_memory, p.extract_each_message, p.recall_record, p.review, p.time_zone, p.language,
       l.rev, a.name AS agent_name,
       EXISTS (SELECT FROM journal_erasure e
               WHERE e.user_id = u.id AND e.scope = 'everything' AND e.state = 'waiting') AS is_leaving
FROM accounts_agentkey k
JOIN accounts_agent a ON a.id = k.agent_id
JOIN accounts_user owner ON owner.id = a.owner_id
LEFT JOIN accounts_externalidentity e
       ON {external_id}::text <> '' AND e.issuer = a.issuer AND e.external_id = {external_id}::text
LEFT JOIN accounts_user named ON a.issuer = {local}::text AND named.username = {external_id}::text
LEFT JOIN accounts_user u ON u.id = CASE
       WHEN a.kind = 'personal' OR {external_id}::text = '' THEN a.owner_id
       ELSE COALESCE(e.user_id, named.id) END
LEFT JOIN accounts_grant g ON g.user_id = u.id AND g.agent_id = a.id
LEFT JOIN accounts_preferences p ON p.user_id = u.id
LEFT JOIN journal_ledger l ON l.id = u.id
WHERE k.public = {public}::text
