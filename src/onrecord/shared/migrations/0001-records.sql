-- Teams, who belongs to them, their files, and every version that a file had before.

CREATE TABLE onrecord.teams (
    team integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
    asks_for_review boolean NOT NULL DEFAULT false,
    -- The number of the team's last change. Whoever writes locks this row until the commit, so changes get their
    -- numbers in the order in which they become visible. A sequence does not: a number drawn first can appear last,
    -- and a reader who has seen a higher one would never ask for it again.
    number bigint NOT NULL DEFAULT 0
);

CREATE TABLE onrecord.members (
    team integer NOT NULL REFERENCES onrecord.teams ON DELETE CASCADE,
    login name NOT NULL,
    role text NOT NULL CHECK (role IN ('reader', 'writer', 'reviewer')),
    PRIMARY KEY (team, login)
);
CREATE INDEX members_login ON onrecord.members (login);

CREATE TABLE onrecord.records (
    team integer NOT NULL REFERENCES onrecord.teams,
    -- 63 characters of a folder and 200 of a name are more than any record has; no file is hidden or outside its folder.
    path text NOT NULL CHECK (path ~ '^[a-z][a-z-]{0,62}/[^./[:cntrl:]][^/[:cntrl:]]{0,199}\.json$'),
    number bigint NOT NULL CHECK (number > 0),
    -- Empty for a file that was deleted: the row stays, so that every replica learns of it.
    data bytea NOT NULL CHECK (octet_length(data) <= 1000000),
    -- As the writer computed it. Only compared, never trusted.
    hash text NOT NULL CHECK (hash ~ '^([0-9a-f]{32})?$' AND (hash = '') = (octet_length(data) = 0)),
    previous text NOT NULL DEFAULT '',
    -- Tells this change from another of the same number in a database that was restored from a backup.
    change uuid NOT NULL DEFAULT gen_random_uuid(),
    login name NOT NULL DEFAULT session_user,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team, path)
);
CREATE UNIQUE INDEX records_number ON onrecord.records (team, number);

-- Versions that were replaced. The current one of each file is in records.
CREATE TABLE onrecord.history (
    team integer NOT NULL REFERENCES onrecord.teams,
    path text NOT NULL,
    number bigint NOT NULL,
    data bytea NOT NULL,
    hash text NOT NULL,
    previous text NOT NULL,
    change uuid NOT NULL,
    login name NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (team, number)
);
CREATE INDEX history_path ON onrecord.history (team, path, number);

CREATE FUNCTION onrecord.is_administrator() RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_has_role(session_user, c.relowner, 'MEMBER') FROM pg_class c WHERE c.oid = 'onrecord.history'::regclass
$$;

-- Members read what belongs to their teams, and write through the function push alone: no policy lets them do more.
-- The owner administers teams and members, and push and search run as the owner, so these tables are not forced.
ALTER TABLE onrecord.teams ENABLE ROW LEVEL SECURITY;
ALTER TABLE onrecord.members ENABLE ROW LEVEL SECURITY;
ALTER TABLE onrecord.records ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON onrecord.members FOR SELECT USING (login = session_user);
CREATE POLICY own_team ON onrecord.teams FOR SELECT
    USING (team IN (SELECT m.team FROM onrecord.members m WHERE m.login = session_user));
CREATE POLICY own_team ON onrecord.records FOR SELECT
    USING (team IN (SELECT m.team FROM onrecord.members m WHERE m.login = session_user));

-- History is forced: even a function of the owner can only add to it, for a team that the login may write to. Whether
-- somebody is an administrator is a query of its own in the policies: so it is asked once, not for each of the rows.
ALTER TABLE onrecord.history ENABLE ROW LEVEL SECURITY;
ALTER TABLE onrecord.history FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON onrecord.history FOR SELECT
    USING (team IN (SELECT m.team FROM onrecord.members m WHERE m.login = session_user)
           OR (SELECT onrecord.is_administrator()));
CREATE POLICY grows ON onrecord.history FOR INSERT
    WITH CHECK (team IN (SELECT m.team FROM onrecord.members m WHERE m.login = session_user AND m.role <> 'reader'));
CREATE POLICY forget ON onrecord.history FOR DELETE USING ((SELECT onrecord.is_administrator()));

-- Make changes, each only if the file still has the expected hash. What became of each: accepted, outdated, reader (the
-- role may only read) or review (the team asks for it, and a writer may write drafts alone).
CREATE FUNCTION onrecord.push(
    team_name text, since bigint, paths text[], contents bytea[], hashes text[], expected text[]
) RETURNS TABLE (place integer, outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    mine record;
    may_write boolean;
    present onrecord.records;
    last bigint;
BEGIN
    -- Readers get no lock: they could keep it, and nobody could write. What a role allows is read only when the lock is
    -- there: it may have changed while this waited.
    PERFORM FROM onrecord.teams t JOIN onrecord.members m ON m.team = t.team
    WHERE t.name = team_name AND m.login = session_user AND m.role <> 'reader' FOR NO KEY UPDATE OF t;
    may_write := FOUND;
    SELECT t.team, t.number, t.asks_for_review, m.role INTO mine
    FROM onrecord.teams t JOIN onrecord.members m ON m.team = t.team
    WHERE t.name = team_name AND m.login = session_user;
    IF NOT FOUND THEN
        RAISE insufficient_privilege USING MESSAGE = 'not a member of this team';
    END IF;
    last := mine.number;
    FOR i IN 1 .. cardinality(paths) LOOP
        place := i;
        SELECT r.* INTO present FROM onrecord.records r WHERE r.team = mine.team AND r.path = paths[place];
        IF NOT may_write OR mine.role = 'reader' THEN
            outcome := 'reader';
        ELSIF mine.role = 'writer' AND mine.asks_for_review AND NOT starts_with(paths[place], 'inbox/') THEN
            outcome := 'review';
        ELSIF coalesce(present.hash, '') = hashes[place] THEN
            outcome := 'accepted';
        ELSIF coalesce(present.hash, '') <> expected[place] THEN
            -- A client that lost its connection during the commit repeats what it sent. If somebody has replaced its
            -- version since, it was accepted all the same.
            SELECT CASE WHEN count(*) > 0 THEN 'accepted' ELSE 'outdated' END INTO outcome
            FROM onrecord.history h
            WHERE h.team = mine.team AND h.path = paths[place] AND h.number > since AND h.login = session_user
              AND h.hash = hashes[place] AND h.previous = expected[place];
        ELSE
            outcome := 'accepted';
            last := last + 1;
            IF present.number IS NOT NULL THEN
                INSERT INTO onrecord.history (team, path, number, data, hash, previous, change, login, at)
                VALUES (present.team, present.path, present.number, present.data, present.hash, present.previous,
                        present.change, present.login, present.at);
            END IF;
            INSERT INTO onrecord.records AS r (team, path, number, data, hash, previous)
            VALUES (mine.team, paths[place], last, contents[place], hashes[place], expected[place])
            ON CONFLICT (team, path) DO UPDATE
            SET number = excluded.number, data = excluded.data, hash = excluded.hash, previous = excluded.previous,
                change = excluded.change, login = excluded.login, at = excluded.at;
        END IF;
        RETURN NEXT;
    END LOOP;
    IF last > mine.number THEN
        UPDATE onrecord.teams t SET number = last WHERE t.team = mine.team;
        PERFORM pg_notify('onrecord', mine.team::text);
    END IF;
END
$$;
