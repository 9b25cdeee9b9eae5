-- Search over all files of the teams that a login belongs to.

-- The words of a record, to be searched. It also holds words that no text can have, as they begin with a space: the
-- team, category, status and tags of the record, so that the index itself leaves out what was not asked for, and the
-- words of its title once more, so that the index finds those records first.
CREATE FUNCTION onrecord.search_words(team integer, path text, data bytea) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    record jsonb;
    title text;
    named text;
    properties text[];
BEGIN
    IF octet_length(data) = 0 OR starts_with(path, 'inbox/') THEN
        RETURN NULL;
    END IF;
    record := convert_from(data, 'UTF8')::jsonb;
    title := coalesce(record ->> 'title', '');
    named := concat_ws(' ', record ->> 'tags', record ->> 'triggers');
    properties := ARRAY[
        ' team ' || team,
        ' category ' || coalesce(record ->> 'category', ''),
        ' status ' || CASE WHEN coalesce(record ->> 'superseded_by', '') = ''
            THEN coalesce(record ->> 'record_status', 'active') ELSE 'superseded' END
    ];
    IF jsonb_typeof(record -> 'tags') = 'array' THEN
        properties := properties || ARRAY(SELECT ' tag ' || lower(t) FROM jsonb_array_elements_text(record -> 'tags') t);
    END IF;
    properties := properties || ARRAY(
        SELECT ' title ' || word FROM unnest(tsvector_to_array(to_tsvector('english', title))) word
    );
    RETURN setweight(to_tsvector('simple', title) || to_tsvector('english', title), 'A')
        || setweight(to_tsvector('simple', named) || to_tsvector('english', named), 'B')
        || to_tsvector('english', concat_ws(' ', record ->> 'related_files', record ->> 'scope'))
        || jsonb_to_tsvector('english', coalesce(record -> 'content', '{}'), '["string"]')
        || array_to_tsvector(properties);
EXCEPTION WHEN others THEN
    -- Whatever a client has written, it must not keep others from writing: such a file is not found.
    RETURN NULL;
END
$$;

ALTER TABLE onrecord.records ADD COLUMN words tsvector
    GENERATED ALWAYS AS (onrecord.search_words(team, path, data)) STORED;
-- Ranking reads the words of a thousand records and the files of ten. So the words stay in the row, and the files,
-- where both do not fit, go to the table beside it.
ALTER TABLE onrecord.records ALTER COLUMN words SET STORAGE MAIN;
CREATE INDEX records_words ON onrecord.records USING gin (words);

-- Words of the column above as one query, joined by & or |.
CREATE FUNCTION onrecord.words_query(words text[], operator text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(string_agg('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''', operator), '')::tsquery
    FROM unnest(words) word
$$;

-- The records that have all words asked for, best first, and below them those that have some of the rarer words. Row-level
-- security would keep the index from being used, as matching is not leakproof, so this runs as the owner and looks up
-- itself which teams the login belongs to. The work is bounded, however common the words are: a thousand records with all
-- words in the title are compared, and a thousand others; is_cut says that there are more.
CREATE FUNCTION onrecord.search(
    asked text, categories text[], tags text[], statuses text[], most integer
) RETURNS TABLE (team text, path text, data bytea, score real, has_all boolean, is_cut boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan SET jit = off SET work_mem = '32MB' AS $$
#variable_conflict use_column
DECLARE
    compared CONSTANT integer := 1000;
    rare CONSTANT integer := 500;
    importance CONSTANT real[] := '{0.1, 0.2, 0.4, 1.0}';
    short CONSTANT text := left(asked, 2000);
    teams CONSTANT integer[] := ARRAY(SELECT m.team FROM onrecord.members m WHERE m.login = session_user);
    words CONSTANT text[] := (tsvector_to_array(to_tsvector('english', short)))[1:16];
    all_words CONSTANT tsquery := websearch_to_tsquery('english', short) || websearch_to_tsquery('simple', short);
    in_title CONSTANT tsquery := onrecord.words_query(ARRAY(SELECT ' title ' || w FROM unnest(words) w), '&');
    wanted tsquery := onrecord.words_query(ARRAY(SELECT ' category ' || c FROM unnest(categories) c), '|')
        && onrecord.words_query(ARRAY(SELECT ' tag ' || lower(t) FROM unnest(tags) t), '|')
        && onrecord.words_query(ARRAY(SELECT ' status ' || s FROM unnest(statuses) s), '|');
    some_word tsquery;
    answered integer;
BEGIN
    IF numnode(all_words) = 0 OR cardinality(teams) = 0 THEN
        RETURN;
    END IF;
    -- The index tells teams apart as well; with many of them that would cost more than it saves.
    IF cardinality(teams) <= 16 THEN
        wanted := wanted && onrecord.words_query(ARRAY(SELECT ' team ' || t FROM unnest(teams) t), '|');
    END IF;

    RETURN QUERY
    WITH matches AS (
        (SELECT r.team, r.path, ts_rank(importance, r.words, all_words, 1) AS score, 1 AS part FROM onrecord.records r
         WHERE r.words @@ (in_title && all_words && wanted) AND r.team = ANY (teams) LIMIT compared)
        UNION ALL
        -- Without a word that the title could have, the first part has all of them.
        (SELECT r.team, r.path, ts_rank(importance, r.words, all_words, 1) AS score, 2 AS part FROM onrecord.records r
         WHERE r.words @@ (all_words && wanted && !! in_title) AND r.team = ANY (teams) AND numnode(in_title) > 0
         LIMIT compared)
    ), counted AS (
        SELECT m.*, count(*) OVER (PARTITION BY m.part) >= compared AS is_full FROM matches m
    ), best AS (
        SELECT c.team, c.path, c.score, bool_or(c.is_full) OVER () AS is_cut FROM counted c
        ORDER BY c.score DESC, c.team, c.path LIMIT most
    )
    SELECT t.name, b.path, r.data, b.score, true, b.is_cut
    FROM best b JOIN onrecord.records r USING (team, path) JOIN onrecord.teams t USING (team)
    ORDER BY b.score DESC, t.name, b.path;
    GET DIAGNOSTICS answered = ROW_COUNT;
    -- Whoever writes operators, phrases or exclusions means all of it.
    IF answered >= most OR websearch_to_tsquery('english', short)::text ~ '[!<|]' THEN
        RETURN;
    END IF;

    some_word := onrecord.words_query(ARRAY(
        SELECT w FROM unnest(words) w WHERE (SELECT count(*) FROM (
            SELECT FROM onrecord.records r
            WHERE r.words @@ (onrecord.words_query(ARRAY[w], '|') && wanted) AND r.team = ANY (teams) LIMIT rare
        ) r) < rare
    ), '|');
    IF numnode(some_word) = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH best AS (
        SELECT r.team, r.path, ts_rank(importance, r.words, some_word, 1) AS score FROM onrecord.records r
        WHERE r.words @@ (some_word && wanted && !! all_words) AND r.team = ANY (teams)
        ORDER BY 3 DESC, 1, 2 LIMIT most - answered
    )
    SELECT t.name, b.path, r.data, b.score, false, false
    FROM best b JOIN onrecord.records r USING (team, path) JOIN onrecord.teams t USING (team)
    ORDER BY b.score DESC, t.name, b.path;
END
$$;
