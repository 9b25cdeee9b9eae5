-- The hub computes the hash of every file itself. Clients did, and one that sent the hash of what a colleague was about to
-- write could have that accepted without a trace of it.

ALTER TABLE onrecord.records DROP COLUMN hash;
ALTER TABLE onrecord.records ADD COLUMN hash text NOT NULL GENERATED ALWAYS AS (
    CASE WHEN octet_length(data) = 0 THEN '' ELSE encode(sha256(data), 'hex') END
) STORED;
ALTER TABLE onrecord.history DROP COLUMN hash;
ALTER TABLE onrecord.history ADD COLUMN hash text NOT NULL GENERATED ALWAYS AS (
    CASE WHEN octet_length(data) = 0 THEN '' ELSE encode(sha256(data), 'hex') END
) STORED;

-- Make changes, each only if the file still has the expected hash. What became of each: accepted, outdated, reader (the
-- role may only read), review (the team asks for it, and a writer may write drafts alone) or
-- full (a machine would not pull more). The hashes that a client sends are not read.
CREATE OR REPLACE FUNCTION onrecord.push(
    team_name text, since bigint, paths text[], contents bytea[], hashes text[], expected text[]
) RETURNS TABLE (place integer, outcome text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
    most_files CONSTANT integer := 200000;
    most_bytes CONSTANT bigint := 1000000000;
    mine record;
    may_write boolean;
    present onrecord.records;
    last bigint;
    growth integer;
    new_hash text;
BEGIN
    -- Readers get no lock: they could keep it, and nobody could write. What a role allows is read only when the lock is
    -- there: it may have changed while this waited. Who keeps a lock is waited for some seconds, not for ever.
    PERFORM FROM onrecord.teams t JOIN onrecord.members m ON m.team = t.team
    WHERE t.name = team_name AND m.login = session_user AND m.role <> 'reader' FOR NO KEY UPDATE OF t;
    may_write := FOUND;
    BEGIN
        -- A transaction whose snapshot is older than a change of the role fails here. The lock is given up at once: who
        -- kept it in an open transaction could not be taken out of the team.
        PERFORM FROM onrecord.teams t JOIN onrecord.members m ON m.team = t.team
        WHERE t.name = team_name AND m.login = session_user FOR SHARE OF m;
        RAISE SQLSTATE 'RL000';
    EXCEPTION WHEN SQLSTATE 'RL000' THEN
    END;
    SELECT t.team, t.number, t.files, t.bytes, t.asks_for_review, m.role INTO mine
    FROM onrecord.teams t JOIN onrecord.members m ON m.team = t.team
    WHERE t.name = team_name AND m.login = session_user;
    IF NOT FOUND THEN
        RAISE insufficient_privilege USING MESSAGE = 'not a member of this team';
    END IF;
    last := mine.number;
    FOR i IN 1 .. cardinality(paths) LOOP
        place := i;
        SELECT r.* INTO present FROM onrecord.records r WHERE r.team = mine.team AND r.path = paths[place];
        growth := octet_length(contents[place]) - coalesce(octet_length(present.data), 0);
        new_hash := CASE WHEN octet_length(contents[place]) = 0 THEN '' ELSE encode(sha256(contents[place]), 'hex') END;
        IF NOT may_write OR mine.role = 'reader' THEN
            outcome := 'reader';
        ELSIF mine.role = 'writer' AND mine.asks_for_review AND NOT starts_with(paths[place], 'inbox/') THEN
            outcome := 'review';
        ELSIF coalesce(present.hash, '') = new_hash THEN
            outcome := 'accepted';
        ELSIF coalesce(present.hash, '') <> expected[place] THEN
            -- A client that lost its connection during the commit repeats what it sent. If somebody has replaced its
            -- version since, it was accepted all the same.
            SELECT CASE WHEN count(*) > 0 THEN 'accepted' ELSE 'outdated' END INTO outcome
            FROM onrecord.history h
            WHERE h.team = mine.team AND h.path = paths[place] AND h.number > since AND h.login = session_user
              AND h.hash = new_hash AND h.previous = expected[place];
        ELSIF (present.number IS NULL AND mine.files >= most_files)
            OR (growth > 0 AND mine.bytes + growth > most_bytes) THEN
            outcome := 'full';
        ELSE
            outcome := 'accepted';
            last := last + 1;
            mine.bytes := mine.bytes + growth;
            IF present.number IS NULL THEN
                mine.files := mine.files + 1;
            ELSE
                INSERT INTO onrecord.history (team, path, number, data, previous, change, login, at)
                VALUES (present.team, present.path, present.number, present.data, present.previous, present.change,
                        present.login, present.at);
            END IF;
            INSERT INTO onrecord.records AS r (team, path, number, data, previous)
            VALUES (mine.team, paths[place], last, contents[place], expected[place])
            ON CONFLICT (team, path) DO UPDATE
            SET number = excluded.number, data = excluded.data, previous = excluded.previous,
                change = excluded.change, login = excluded.login, at = excluded.at;
        END IF;
        RETURN NEXT;
    END LOOP;
    IF last > mine.number THEN
        UPDATE onrecord.teams t SET number = last, files = mine.files, bytes = mine.bytes
        WHERE t.team = mine.team;
        PERFORM pg_notify('onrecord', mine.team::text);
    END IF;
END
$$;
