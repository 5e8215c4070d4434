-- One more code from a chat: how many that makes since its hour began. One statement, so that none is lost among
-- several at once, nor to one that succeeds and clears the count.
INSERT INTO accounts_linkattempts AS a (issuer, external_id, begun_at, count)
VALUES (%(issuer)s, %(external_id)s, %(now)s, 1)
ON CONFLICT (issuer, external_id) DO UPDATE
SET count = CASE WHEN a.begun_at <= %(over)s THEN 1 ELSE a.count + 1 END,
    begun_at = CASE WHEN a.begun_at <= %(over)s THEN excluded.begun_at ELSE a.begun_at END
RETURNING count
