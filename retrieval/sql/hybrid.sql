-- Scores one owner's rows by meaning and by word. {vectors}, {texts}, {configs}, {priors} and {places} are columns of the
-- caller's queryset, which says whose rows these are; nothing else is read. A name in braces is filled in by
-- retrieval.search.
WITH
-- What all of this owner's texts have in common brings every one of them near to every question, and those that say
-- little most of all. So the owner's mean vector is taken from the question: q - c*m. (v, q - c*m) = (v, q) - c*(v, m);
-- rows are not brought to length 1 again, so one that is far from the mean, which says something of its own, gains.
centre AS MATERIALIZED (
    SELECT avg(v.embedding) AS mean, {centre}::float8 * count(*) / (count(*) + {centre_rows}::float8) AS share
    FROM ({vectors}) AS v (id, embedding)
    WHERE {has_vector} AND ({every}::int = 1 OR mod(hashtext(v.id::text), {every}::int) = 0)
),
centre_before AS MATERIALIZED (
    SELECT avg(v.embedding) AS mean, {centre}::float8 * count(*) / (count(*) + {centre_rows}::float8) AS share
    FROM ({vectors_before}) AS v (id, embedding)
    WHERE {has_vector_before} AND ({every}::int = 1 OR mod(hashtext(v.id::text), {every}::int) = 0)
),
-- Read through the covering index alone. The "+ 0" keeps an approximate index out of the plan: it would be searched for
-- the nearest rows of everybody, of which few or none are this owner's.
vectors AS MATERIALIZED (
    SELECT
        v.id,
        1 - ((v.embedding <=> {vector}::halfvec) + 0) AS similarity,
        c.share * (v.embedding <#> c.mean) AS common
    FROM ({vectors}) AS v (id, embedding)
    CROSS JOIN centre AS c
    WHERE {has_vector}
),
vectors_before AS MATERIALIZED (
    SELECT
        v.id,
        1 - ((v.embedding <=> {vector_before}::halfvec) + 0) AS similarity,
        c.share * (v.embedding <#> c.mean) AS common
    FROM ({vectors_before}) AS v (id, embedding)
    CROSS JOIN centre_before AS c
    WHERE {has_vector_before}
),
-- Cosines of two models, and BM25 scores, are on different scales. Each is told in standard deviations from what this
-- owner's rows score there on average; a row that lacks one side is average there, or has no word in common. What is
-- less than 0.001 apart is apart by rounding alone.
meanings AS MATERIALIZED (
    SELECT
        v.id, v.similarity,
        (v.similarity + v.common - avg(v.similarity + v.common) OVER ())
        / greatest(stddev_pop(v.similarity + v.common) OVER (), 0.001) AS meaning
    FROM vectors AS v
    UNION ALL
    SELECT
        v.id, v.similarity,
        (v.similarity + v.common - avg(v.similarity + v.common) OVER ())
        / greatest(stddev_pop(v.similarity + v.common) OVER (), 0.001) AS meaning
    FROM vectors_before AS v
),
configs AS MATERIALIZED (
    SELECT DISTINCT r.search_config AS config
    FROM ({configs}) AS r (search_config)
),
-- The words of the query, without those that its own language ignores; other languages don't know them as stop words.
words AS MATERIALIZED (
    SELECT w.word, w.place
    FROM unnest({words}::text[]) WITH ORDINALITY AS w (word, place)
    WHERE length(to_tsvector({query_config}::regconfig, w.word)) > 0
),
-- Each row is stemmed by its own configuration, so the query is stemmed by every one that occurs. Words that come to
-- the same stem are one term, counted once.
terms AS MATERIALIZED (
    SELECT c.config, l.lexeme, min(w.place) AS place
    FROM configs AS c
    CROSS JOIN words AS w
    CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector(c.config, w.word))) AS l (lexeme)
    GROUP BY c.config, l.lexeme
),
queries AS MATERIALIZED (
    SELECT t.config, array_agg(t.lexeme) AS lexemes, string_agg(quote_literal(t.lexeme), ' | ')::tsquery AS query
    FROM terms AS t
    GROUP BY t.config
),
-- Of each match only the query's own lexemes are kept: those are given a weight, and what has that weight remains.
matched AS MATERIALIZED (
    SELECT r.id, r.search_config, r.search_length, ts_filter(setweight(r.search, 'A', q.lexemes), ARRAY['a'::"char"]) AS found
    FROM ({texts}) AS r (id, search_config, search, search_length)
    JOIN queries AS q ON q.config = r.search_config AND r.search @@ q.query
),
-- Taken apart once a row and only then compared with the terms; inside a join it would be done once for every term.
lexemes AS MATERIALIZED (
    SELECT m.id, m.search_config, m.search_length, l.lexeme, cardinality(l.positions) AS frequency
    FROM matched AS m
    CROSS JOIN LATERAL unnest(m.found) AS l
),
postings AS MATERIALIZED (
    SELECT l.id, l.search_length, t.place, sum(l.frequency)::float8 AS frequency
    FROM lexemes AS l
    JOIN terms AS t ON t.config = l.search_config AND t.lexeme = l.lexeme
    GROUP BY l.id, l.search_length, t.place
),
-- Every row that holds a term is among the matches, so counting them gives the exact document frequency.
held AS (
    SELECT p.id, p.search_length, p.place, p.frequency, count(*) OVER (PARTITION BY p.place) AS holders
    FROM postings AS p
),
keywords AS MATERIALIZED (
    SELECT
        h.id,
        sum(
            ln(1 + (greatest({documents}::float8, h.holders) - h.holders + 0.5) / (h.holders + 0.5))
            * h.frequency * ({saturation}::float8 + 1) / (
                h.frequency + {saturation}::float8 * (
                    1 - {length_share}::float8 + {length_share}::float8 * h.search_length / {average_length}::float8
                )
            )
            ORDER BY h.place
        ) AS keyword
    FROM held AS h
    GROUP BY h.id
),
scored AS MATERIALIZED (
    SELECT coalesce(m.id, k.id) AS id, m.similarity, m.meaning, k.keyword
    FROM meanings AS m
    FULL JOIN keywords AS k ON k.id = m.id
),
spread AS MATERIALIZED (
    SELECT
        avg(coalesce(keyword, 0)) AS mean_keyword,
        nullif(stddev_pop(coalesce(keyword, 0)), 0) AS keyword_deviation,
        avg(similarity) AS level,
        coalesce(stddev_pop(similarity), 0) / {meaning_share}::float8 AS unit
    FROM scored
),
priors AS MATERIALIZED (
    SELECT p.id, p.prior
    FROM ({priors}) AS p (id, prior)
    WHERE {has_prior}
),
fused AS (
    SELECT
        s.id,
        {vector_weight}::float8 * coalesce(s.meaning, 0)
        + {keyword_weight}::float8
        * coalesce((coalesce(s.keyword, 0) - d.mean_keyword) / d.keyword_deviation, 0) AS found,
        coalesce(p.prior, 0)::float8 AS prior,
        s.similarity,
        s.keyword,
        d.level,
        d.unit
    FROM scored AS s
    CROSS JOIN spread AS d
    LEFT JOIN priors AS p ON p.id = s.id
),
best AS MATERIALIZED (
    SELECT f.id, f.found, f.prior, f.similarity, f.keyword, f.level, f.unit
    FROM fused AS f
    ORDER BY f.found + f.prior DESC, f.id
    LIMIT {limit}
),
places AS (
    SELECT p.*
    FROM ({places}) AS p (id, talk, place, speaker, words)
    WHERE {has_place}
)
SELECT b.id, b.found, b.prior, b.similarity, b.keyword, b.level, b.unit, p.talk, p.place, p.speaker, p.words
FROM best AS b
LEFT JOIN places AS p ON p.id = b.id
