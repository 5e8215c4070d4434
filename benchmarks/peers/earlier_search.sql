-- The statement of a search as it was before it was asked to be quicker (November 2026): what that of now is held against.
WITH
asked (number, model, vector, mean, share) AS MATERIALIZED (
    VALUES
        (1, {model}::text, {vector}::halfvec, {mean}::halfvec, {share}::float8),
        (2, {model_before}::text, {vector_before}::halfvec, {mean_before}::halfvec, {share_before}::float8)
),
texts AS MATERIALIZED (
    SELECT
        r.id, r.search_config, r.search, r.search_length, r.prior::float8 AS prior, a.number AS model,
        1 - (r.embedding <=> a.vector) AS similarity,
        coalesce(a.share * (r.embedding <#> a.mean), 0) AS shift
    FROM ({rows}) AS r (id, search_config, search, search_length, prior, model, embedding)
    LEFT JOIN asked AS a ON a.model = r.model
),
parts AS MATERIALIZED (
    SELECT
        t.model, t.search_config AS config, count(t.similarity)::float8 AS size,
        avg(t.similarity + t.shift) AS own, var_pop(t.similarity + t.shift) AS own_variance,
        avg(t.similarity) AS similarity, var_pop(t.similarity) AS variance
    FROM texts AS t
    GROUP BY t.model, t.search_config
),
levels AS MATERIALIZED (
    SELECT
        m.model, m.level,
        greatest(
            sqrt(sum(p.size * (p.own_variance + (p.own - m.level) * (p.own - m.level))) / sum(p.size)), 0.001
        ) AS deviation
    FROM (
        SELECT p.model, sum(p.size * p.own) / sum(p.size) AS level FROM parts AS p WHERE p.size > 0 GROUP BY p.model
    ) AS m
    JOIN parts AS p ON p.model = m.model AND p.size > 0
    GROUP BY m.model, m.level
),
whole AS MATERIALIZED (
    SELECT
        m.size, m.level,
        sqrt(sum(p.size * (p.variance + (p.similarity - m.level) * (p.similarity - m.level))) / m.size) AS deviation
    FROM (
        SELECT coalesce(sum(p.size), 0) AS size, sum(p.size * p.similarity) / sum(p.size) AS level
        FROM parts AS p
        WHERE p.size > 0
    ) AS m
    LEFT JOIN parts AS p ON p.size > 0
    GROUP BY m.size, m.level
),
words AS MATERIALIZED (
    SELECT w.word, w.place
    FROM unnest({words}::text[], {places}::int[]) AS w (word, place)
    WHERE length(to_tsvector({query_config}::regconfig, w.word)) > 0
),
terms AS MATERIALIZED (
    SELECT c.config, l.lexeme, quote_literal(l.lexeme)::tsquery AS query, min(w.place) AS place
    FROM unnest(ARRAY(SELECT DISTINCT p.config FROM parts AS p)) AS c (config)
    CROSS JOIN words AS w
    CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector(c.config, w.word))) AS l (lexeme)
    GROUP BY c.config, l.lexeme
),
queries AS MATERIALIZED (
    SELECT t.config, array_agg(t.lexeme) AS lexemes, string_agg(quote_literal(t.lexeme), ' | ')::tsquery AS query
    FROM terms AS t
    GROUP BY t.config
),
matched AS MATERIALIZED (
    SELECT
        t.id, t.prior, t.similarity, (t.similarity + t.shift - l.level) / l.deviation AS meaning,
        t.search_config, t.search_length, t.search, q.lexemes
    FROM texts AS t
    JOIN queries AS q ON q.config = t.search_config AND t.search @@ q.query
    LEFT JOIN levels AS l ON l.model = t.model
),
postings AS MATERIALIZED (
    SELECT m.id, m.prior, m.similarity, m.meaning, m.search_length, t.place, 1::float8 AS frequency
    FROM matched AS m
    JOIN terms AS t ON t.config = m.search_config AND m.search @@ t.query
    WHERE m.search_length <= {few_words}::int
    UNION ALL
    SELECT
        l.id, l.prior, l.similarity, l.meaning, l.search_length, t.place,
        cardinality((l.found).positions)::float8 AS frequency
    FROM (
        SELECT
            m.id, m.prior, m.similarity, m.meaning, m.search_config, m.search_length,
            unnest(ts_filter(setweight(m.search, 'A', m.lexemes), ARRAY['a'::"char"])) AS found
        FROM matched AS m
        WHERE m.search_length > {few_words}::int
    ) AS l
    JOIN terms AS t ON t.config = l.search_config AND t.lexeme = (l.found).lexeme
),
rarities AS MATERIALIZED (
    SELECT
        h.place,
        ln(1 + (greatest({documents}::float8, h.holders) - h.holders + 0.5) / (h.holders + 0.5)) AS rarity
    FROM (SELECT p.place, count(*)::float8 AS holders FROM postings AS p GROUP BY p.place) AS h
),
keywords AS MATERIALIZED (
    SELECT
        p.id, p.prior, p.similarity, p.meaning,
        sum(round(
            1e6::float8 * r.rarity * p.frequency * ({saturation}::float8 + 1) / (
                p.frequency + {saturation}::float8 * (
                    1 - {length_share}::float8 + {length_share}::float8 * p.search_length / {average_length}::float8
                )
            )
        )::int)::float8 AS keyword
    FROM postings AS p
    JOIN rarities AS r ON r.place = p.place
    GROUP BY p.id, p.prior, p.similarity, p.meaning
),
spread AS MATERIALIZED (
    SELECT
        k.size * k.mean / n.size AS mean_keyword,
        nullif(sqrt(k.size * (k.variance + k.mean * k.mean * (n.size - k.size) / n.size) / n.size), 0)
            AS keyword_deviation,
        w.level,
        coalesce(w.deviation, 0) / {meaning_share}::float8 AS unit
    FROM (
        SELECT
            count(*)::float8 AS size, coalesce(avg(keyword), 0) AS mean, coalesce(var_pop(keyword), 0) AS variance,
            count(*) FILTER (WHERE similarity IS NULL) AS by_word_alone
        FROM keywords
    ) AS k
    CROSS JOIN whole AS w
    CROSS JOIN LATERAL (SELECT nullif(w.size + k.by_word_alone, 0) AS size) AS n
),
nearest AS MATERIALIZED (
    SELECT t.id, t.prior, t.similarity, (t.similarity + t.shift - l.level) / l.deviation AS meaning
    FROM texts AS t
    JOIN levels AS l ON l.model = t.model
    WHERE t.similarity IS NOT NULL
    ORDER BY {vector_weight}::float8 * ((t.similarity + t.shift - l.level) / l.deviation) + t.prior DESC, t.id
    LIMIT {limit}::int
),
scored AS (
    SELECT k.id, k.prior, k.similarity, k.meaning, k.keyword
    FROM keywords AS k
    UNION ALL
    SELECT n.id, n.prior, n.similarity, n.meaning, NULL
    FROM nearest AS n
    WHERE n.id NOT IN (SELECT k.id FROM keywords AS k)
),
fused AS (
    SELECT
        s.id,
        {vector_weight}::float8 * coalesce(s.meaning, 0)
        + {keyword_weight}::float8
        * coalesce((coalesce(s.keyword, 0) - d.mean_keyword) / d.keyword_deviation, 0) AS found,
        s.prior,
        s.similarity,
        s.keyword / 1e6::float8 AS keyword,
        d.level,
        d.unit
    FROM scored AS s
    CROSS JOIN spread AS d
),
best AS MATERIALIZED (
    SELECT f.id, f.found, f.prior, f.similarity, f.keyword, f.level, f.unit
    FROM fused AS f
    ORDER BY f.found + f.prior DESC, f.id
    LIMIT {limit}::int
)
SELECT
    b.id, b.found, b.prior, b.similarity, b.keyword, b.level, b.unit,
    ARRAY(
        SELECT w.word
        FROM words AS w
        WHERE w.place IN (SELECT t.place FROM terms AS t) AND w.place NOT IN (SELECT r.place FROM rarities AS r)
    ) AS unheard,
    d.*
FROM best AS b
JOIN LATERAL (SELECT * FROM ({details}) AS d ({detail_names}) WHERE d.id = b.id OFFSET 0) AS d ON TRUE
ORDER BY b.found + b.prior DESC, b.id
