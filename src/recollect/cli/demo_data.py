"""The sample project of `recollect demo`: what a small team that runs a ferry timetable might want to remember."""

from __future__ import annotations

QUEUE = (
    "save",
    "decision",
    "Jobs go through a table in Postgres",
    "--tag=queue",
    "--tag=postgres",
    "--trigger=where do background tasks run",
    "--set=context=Timetable imports take minutes and must survive a restart.",
    "--set=decision=Background jobs are rows of the table `jobs`, taken with FOR UPDATE SKIP LOCKED, 4 at a time.",
    "--set=rationale=One thing less to run than a message broker.",
)

MEMORIES: tuple[tuple[str, ...], ...] = (
    QUEUE,
    (
        "save",
        "constraint",
        "The harbour API allows 60 calls a minute",
        "--tag=harbour-api",
        "--tag=rate-limit",
        "--related=ferry/harbour.py",
        "--trigger=429 Too Many Requests from the harbour",
        "--set=rule=At most 60 calls a minute to api.harbour.test, over all workers together.",
        "--set=impact=The 61st call answers 429 and blocks our key for 15 minutes.",
        "--set=workarounds=Take a token from ferry/throttle.py before each call.",
        "--set=severity=high",
        "--set=kind=limitation",
    ),
    (
        "save",
        "preference",
        "Times are kept in UTC and shown in the zone of the port",
        "--tag=datetime",
        "--trigger=which timezone should this timestamp have",
        "--set=topic=Time zones",
        "--set=value=Store UTC; convert in the template with Port.zone, never in a query.",
        "--set=reason=Two bugs at the change to summer time came from local times in the database.",
        "--set=strength=strong",
    ),
    (
        "save",
        "runbook",
        "Timetable import hangs at 99 %",
        "--tag=import",
        "--tag=locks",
        "--trigger=import never finishes",
        "--set=trigger=The nightly import stays at 99 % for more than ten minutes.",
        "--set=symptoms=canceling statement due to lock timeout",
        "--set=steps=Find the blocker: bin/blockers lists sessions that are idle in a transaction",
        "--set=steps=End it with pg_terminate_backend(pid)",
        "--set=steps=Run bin/import --resume",
        "--set=verification=bin/import --status prints done within a minute.",
    ),
    (
        "save",
        "tech_debt",
        "Fares are computed in three places",
        "--tag=fares",
        "--related=ferry/fares.py",
        "--set=description=Web page, mobile API and printer each have their own rounding rule.",
        "--set=reason_deferred=The printer goes out of service in autumn.",
        "--set=suggested_fix=Move rounding to ferry/fares.py and call it from all three.",
        "--set=priority=high",
    ),
    (
        "save",
        "session_summary",
        "Started the winter timetable",
        "--tag=timetable",
        "--set=goal=Import the winter timetable for all 14 ports.",
        "--set=outcome=partial",
        "--set=completed=12 ports imported.",
        "--set=next_actions=Ask for the missing tide tables of Aarn and Holmsund.",
    ),
)

SUCCESSOR = (
    "save",
    "decision",
    "A broker carries background work",
    "--tag=queue",
    "--tag=nats",
    "--set=context=The jobs table grew to 40 million rows, and vacuum could not keep up.",
    "--set=decision=NATS JetStream carries background work: stream `work`, 3 replicas, acknowledge within 30 s.",
    "--set=rationale=Measured: 9,000 messages a second against 700 with the table.",
)

OLD_ID = "jobs-go-through-a-table-in-postgres"
NEW_ID = "a-broker-carries-background-work"

SEARCHES: tuple[str, ...] = ("harbour rate limit", "import stuck waiting for a lock")

PROMPTS: tuple[tuple[str, str], ...] = (
    ("A prompt that a memory bears on: the rule itself arrives.", "we get 429 from the harbour API, why is that?"),
    ("A prompt in the words of the old decision: its successor arrives.", "add a row to the jobs table in Postgres"),
    ("A prompt that nothing on file bears on: silence.", "write a haiku about the moon"),
)

FILE = "ferry/harbour.py"
