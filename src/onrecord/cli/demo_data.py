"""What the demo tells: the sample project, its records, and conversations in which they matter."""

from __future__ import annotations

from onrecord.coldstart import NamedTuple

RECORDS = """
decision 'Sessions live in Postgres, not Redis' --tag=auth --tag=sessions
    --trigger='where do we keep login state?' --trigger='users are logged out after a deploy'
    --set=context='Users had to log in again after every failover.'
    --set=decision='Sessions are rows in auth.sessions with a 14 day expiry.'
    --set=rationale='Redis lost all sessions on every failover.'

constraint 'The harbour API allows 60 calls a minute' --tag=harbour-api --tag=rate-limit
    --related=ferry/harbour.py --trigger='429 Too Many Requests from the harbour'
    --set=rule='At most 60 calls a minute to api.harbour.test, over all workers together.'
    --set=impact='The 61st call answers 429 and blocks our key for 15 minutes.'
    --set=workarounds='Take a token from ferry/throttle.py before each call.'
    --set=severity=high --set=kind=limitation

preference 'Times are kept in UTC and shown in the zone of the port' --tag=datetime
    --trigger='which timezone should this timestamp have' --set=topic='Time zones'
    --set=value='Store UTC; convert in the template with Port.zone, never in a query.'
    --set=reason='Two bugs at the change to summer time came from local times in the database.'
    --set=strength=strong

runbook 'Timetable import hangs at 99 %' --tag=import --tag=locks --trigger='import never finishes'
    --set=trigger='The nightly import stays at 99 % for more than ten minutes.'
    --set=symptoms='canceling statement due to lock timeout'
    --set=steps='Find the blocker: bin/blockers lists sessions that are idle in a transaction'
    --set=steps='End it with pg_terminate_backend(pid)' --set=steps='Run bin/import --resume'
    --set=verification='bin/import --status prints done within a minute.'

tech_debt 'Fares are computed in three places' --tag=fares --related=ferry/fares.py
    --trigger='ticket price differs by a cent'
    --set=description='Web page, mobile API and printer each have their own rounding rule.'
    --set=reason_deferred='The printer goes out of service in autumn.'
    --set=suggested_fix='Move rounding to ferry/fares.py and call it from all three.' --set=priority=high

session_summary 'Started the winter timetable' --tag=timetable
    --set=goal='Import the winter timetable for all 14 ports.' --set=outcome=partial
    --set=completed='12 ports imported.'
    --set=next_actions='Ask for the missing tide tables of Aarn and Holmsund.'
"""
SUCCESSOR = """
decision 'Sessions are signed cookies' --tag=auth --tag=sessions --trigger='where do we keep login state?'
    --set=context='The table auth.sessions became the busiest one.'
    --set=decision='The cookie has at most 2 KB and is renewed every 24 hours.'
    --set=rationale='No query for each request.'
"""
OLD_ID = "sessions-live-in-postgres-not-redis"
CODE = {
    "ferry/harbour.py": "from ferry.throttle import take_token\n",
    "ferry/fares.py": "def rounded(cents: float) -> int:\n    return round(cents)\n",
}
"""The files that the records are about."""


class Turn(NamedTuple):
    """A prompt, what the hook added to it (None: there was no hook), and what an agent then said."""

    caption: str
    prompt: str
    answer: str
    added: str | None = ""


FORGETFUL = Turn(
    "Without Onrecord",
    "Users are logged out after every deploy. Add Redis for the sessions.",
    "I'll add a Redis container and store the sessions there.",
    None,
)
TURNS = (
    Turn(
        "With Onrecord: the hook adds a decision of the team, and the answer changes",
        FORGETFUL.prompt,
        "Not Redis: it lost the sessions before. They are rows in auth.sessions, so I'll find out what empties that"
        " table in a deploy.",
    ),
    Turn(
        "A prompt that no record is about: nothing is added",
        "Translate the footer into Danish.",
        "Done: templates/footer.html.",
    ),
)
LATER = Turn(
    "The team replaces the decision: asked about the old one, the new one is added",
    "Add a column to the table where sessions live in Postgres.",
    "Sessions no longer live in that table. I'll put the value into the cookie, which has to stay below 2 KB.",
)
