-- Scores one owner's rows by meaning and by word. {rows} and {details} are columns of the caller's queryset, which says
-- whose rows these are; nothing else is read. A name in braces is filled in by retrieval.search.
WITH
-- What all of this owner's texts have in common brings every one of them near to every question, and those that say
-- little most of all. So the owner's mean vector is taken from the question: q - c*m. (v, q - c*m) = (v, q) - c*(v, m);
-- rows are not brought to length 1 again, so one that is far from the mean, which says something of its own, gains.
-- Every row is read once. No approximate index could help: it is searched for the nearest rows of everybody, of which
-- few or none are this owner's. What was asked is told by each model; without a vector nothing is near.
texts AS MATERIALIZED (
    SELECT
        r.id, r.search_config, r.search, r.search_length, r.prior::float8 AS prior,
        CASE r.model WHEN {model}::text THEN 1 WHEN {model_before}::text THEN 2 END AS model,
        CASE r.model
            WHEN {model}::text THEN 1 - (r.embedding <=> {vector}::halfvec)
            WHEN {model_before}::text THEN 1 - (r.embedding <=> {vector_before}::halfvec)
        END AS similarity,
        coalesce(
            CASE r.model
                WHEN {model}::text THEN {share}::float8 * (r.embedding <#> {mean}::halfvec)
                WHEN {model_before}::text THEN {share_before}::float8 * (r.embedding <#> {mean_before}::halfvec)
            END,
            0
        ) AS shift
    FROM ({rows}) AS r (id, search_config, search, search_length, prior, model, embedding)
    {left_out}
),
-- Cosines of two models, and BM25 scores, are on different scales. Each is told in standard deviations from what this
-- owner's rows score there on average; a row that lacks one side is average there, or has no word in common. What is
-- less than 0.001 apart is apart by rounding alone. The rows are gone through once for this, by model and by language;
-- what is known of the parts gives that of the whole.
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
-- The words of the query, without those that its own language ignores; other languages don't know them as stop words.
-- Words at the same place are said to be the same.
words AS MATERIALIZED (
    SELECT w.word, w.place
    FROM unnest({words}::text[], {places}::int[]) AS w (word, place)
    WHERE length(to_tsvector({query_config}::regconfig, w.word)) > 0
),
-- Each row is stemmed by its own configuration, so the query is stemmed by every one that occurs. Words that come to
-- the same stem are one term, counted once. The planner expects 200 languages of "parts", but few of an array.
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
    SELECT t.id, t.similarity IS NULL AS by_word_alone, t.search_config, t.search_length, t.search, q.lexemes
    FROM texts AS t
    JOIN queries AS q ON q.config = t.search_config AND t.search @@ q.query
),
-- In a text of few words a word counts once, which is several times quicker to find out than how often it occurs. Of
-- other texts only the query's own lexemes are taken apart: those are given a weight, and what has it remains.
postings AS MATERIALIZED (
    SELECT m.id, m.by_word_alone, m.search_length, t.place, 1::float8 AS frequency
    FROM matched AS m
    JOIN terms AS t ON t.config = m.search_config AND m.search @@ t.query
    WHERE m.search_length <= {few_words}::int
    UNION ALL
    SELECT l.id, l.by_word_alone, l.search_length, t.place, cardinality((l.found).positions)::float8 AS frequency
    FROM (
        SELECT
            m.id, m.by_word_alone, m.search_config, m.search_length,
            unnest(ts_filter(setweight(m.search, 'A', m.lexemes), ARRAY['a'::"char"])) AS found
        FROM matched AS m
        WHERE m.search_length > {few_words}::int
    ) AS l
    JOIN terms AS t ON t.config = l.search_config AND t.lexeme = (l.found).lexeme
),
-- Every row that holds a term is among the matches, so counting them gives the exact document frequency.
rarities AS MATERIALIZED (
    SELECT
        h.place,
        ln(1 + (greatest({documents}::float8, h.holders) - h.holders + 0.5) / (h.holders + 0.5)) AS rarity
    FROM (SELECT p.place, count(*)::float8 AS holders FROM postings AS p GROUP BY p.place) AS h
),
-- In millionths: whole numbers come to the same in whichever order they are summed up, so equal texts score the same.
keywords AS MATERIALIZED (
    SELECT
        p.id, p.by_word_alone,
        sum(round(
            1e6::float8 * r.rarity * p.frequency * ({saturation}::float8 + 1) / (
                p.frequency + {saturation}::float8 * (
                    1 - {length_share}::float8 + {length_share}::float8 * p.search_length / {average_length}::float8
                )
            )
        )::int)::float8 AS keyword
    FROM postings AS p
    JOIN rarities AS r ON r.place = p.place
    GROUP BY p.id, p.by_word_alone
),
-- Most rows have no word in common and score 0 there. How keywords are spread over all rows follows from the matches
-- and from how many others there are.
spread AS MATERIALIZED (
    SELECT
        k.size * k.mean / n.size AS mean_keyword,
        nullif(sqrt(k.size * (k.variance + k.mean * k.mean * (n.size - k.size) / n.size) / n.size), 0)
            AS keyword_deviation,
        w.level,
        coalesce(w.deviation, 0) / {meaning_share}::float8 AS unit,
        (SELECT l.level FROM levels AS l WHERE l.model = 1) AS level_now,
        (SELECT l.deviation FROM levels AS l WHERE l.model = 1) AS deviation_now,
        (SELECT l.level FROM levels AS l WHERE l.model = 2) AS level_before,
        (SELECT l.deviation FROM levels AS l WHERE l.model = 2) AS deviation_before
    FROM (
        SELECT
            count(*)::float8 AS size, coalesce(avg(keyword), 0) AS mean, coalesce(var_pop(keyword), 0) AS variance,
            count(*) FILTER (WHERE by_word_alone) AS by_word_alone
        FROM keywords
    ) AS k
    CROSS JOIN whole AS w
    CROSS JOIN LATERAL (SELECT nullif(w.size + k.by_word_alone, 0) AS size) AS n
),
-- A full join, though every match is among the texts: it is never done row by row, whatever the planner expects. The
-- levels of the two models are columns of the one row of "spread": joined by model, they would be looked up by each row.
scored AS (
    SELECT
        t.id,
        {vector_weight}::float8 * coalesce(
            CASE t.model
                WHEN 1 THEN (t.similarity + t.shift - d.level_now) / d.deviation_now
                WHEN 2 THEN (t.similarity + t.shift - d.level_before) / d.deviation_before
            END,
            0
        )
        + {keyword_weight}::float8
        * coalesce((coalesce(k.keyword, 0) - d.mean_keyword) / d.keyword_deviation, 0) AS found,
        t.prior,
        t.similarity,
        k.keyword / 1e6::float8 AS keyword,
        d.level,
        d.unit
    FROM texts AS t
    FULL JOIN keywords AS k ON k.id = t.id
    CROSS JOIN spread AS d
    WHERE t.similarity IS NOT NULL OR k.keyword IS NOT NULL
),
best AS MATERIALIZED (
    SELECT s.id, s.found, s.prior, s.similarity, s.keyword, s.level, s.unit
    FROM scored AS s
    ORDER BY s.found + s.prior DESC, s.id
    LIMIT {limit}::int
)
-- Those that are read are fetched one by one; the "OFFSET 0" keeps all of the owner's from being read for them.
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
