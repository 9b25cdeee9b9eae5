"""Sessions labelled by hand: a memory, what happened after it was told, and what became of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.conversation import does, prompt, result, says, told

PATH = "decisions/it.json"

SESSIONS = (
    "User sessions live in Postgres, table `auth.sessions`, and expire after 14 days. Why: one store less to run."
)
KAFKA = "Consumers of the orders topic set max.poll.interval.ms to 420000 and commit by hand. Why: slow exports."
MONEY = "Amounts of money are whole numbers of the smallest unit, never floating point. Why: rounding lost us money."
RATE = "The harbour API allows 60 calls a minute; the client waits in HarbourThrottle.acquire(). Severity: high."
HOOKS = "Never commit with `--no-verify`; fix the hook with `scripts/hooks doctor` instead."
DATES = "Dates are formatted with `date-fns`. Avoid: moment.js; Date.toLocaleString(). Why: bundle size."
DEPLOY = "Deploys go through `bin/ship --env staging` first. → 1. bin/ship --env staging. 2. Check /healthz/deep."
UPLOADS = "Uploads above 25 MB go straight to the bucket acme-uploads-eu with a presigned URL from sign_upload()."
QUEUE = "Jobs are rows of the table job_queue, 4 at a time, claimed with FOR UPDATE SKIP LOCKED."
LOGS = "Logs are written with structlog through app.logging.get_logger, and kept 45 days in Loki."
PNPM = "The package manager is `pnpm`, version 9.12.3, pinned in package.json."
TESTS = "Integration tests run against a real database; mocks hid two outages."
GERMAN = "Rechnungen werden 11 Tage nach Lieferung erzeugt, im Dienst billing.invoice_run."
FLAGS = "Feature flags come from flags.yaml through FlagStore.isOn(); there is no remote flag service."


class Case(NamedTuple):
    """A labelled session; `lines` follow the prompt and the block."""

    name: str
    label: str
    memory: str
    asked: str
    lines: list[dict[str, Any]]
    before: tuple[dict[str, Any], ...] = ()

    def transcript(self) -> list[dict[str, Any]]:
        return [*self.before, prompt(self.asked), told((PATH, self.memory)), *self.lines]


def _cases(*cases: tuple[str, str, str, str, list[dict[str, Any]]]) -> list[Case]:
    return [Case(*case) for case in cases]


USED = _cases(
    ("an answer names the table", "used", SESSIONS, "where do we keep logins?", [
        says("They are rows of `auth.sessions` in Postgres."),
    ]),
    ("an edit uses the table", "used", SESSIONS, "add a logout everywhere button", [
        does("Edit", file_path="/p/logout.py", old_string="pass", new_string='db.run("DELETE FROM auth.sessions")'),
        result("ok"),
        says("Done."),
    ]),
    ("the table quoted as SQL does", "used", SESSIONS, "add a logout everywhere button", [
        does("Bash", command='psql -c \'DELETE FROM "auth"."sessions" WHERE user_id = 3\''),
    ]),
    ("a lifetime in days becomes a timedelta", "used", SESSIONS, "how long is a login valid? put it in the docs", [
        does("Write", file_path="/p/docs/login.md", content="max_age = timedelta(days=14)"),
    ]),
    ("a lifetime in days becomes seconds", "used", SESSIONS, "set the cookie's max age", [
        does("Edit", file_path="/p/c.ts", old_string="maxAge: 0", new_string="maxAge: 1209600"),
    ]),
    ("a setting is spelt in camel case", "used", KAFKA, "the consumer gets kicked out of the group", [
        does("Edit", file_path="/p/consumer.ts", old_string="{}", new_string="{ maxPollIntervalMs: 300000 }"),
    ]),
    ("a telling number is used", "used", KAFKA, "the consumer gets kicked out of the group", [
        does("Edit", file_path="/p/consumer.ts", old_string="{}", new_string="{ pollTimeout: 420_000 }"),
    ]),
    ("a command searches for the setting", "used", KAFKA, "the consumer gets kicked out of the group", [
        does("Bash", command="grep -rn max.poll.interval.ms config/"),
        result("config/kafka.properties:3:max.poll.interval.ms=300000"),
        says("Found it."),
    ]),
    ("a helper is called", "used", RATE, "we get 429 from the harbour", [
        does("Edit", file_path="/p/h.py", old_string="get(", new_string="HarbourThrottle.acquire()\nget("),
    ]),
    ("the named command is run", "used", HOOKS, "the commit fails in the hook", [
        does("Bash", command="scripts/hooks doctor"),
        result("all fine"),
    ]),
    ("the deploy command is run", "used", DEPLOY, "put this live please", [
        does("Bash", command="cd /p && bin/ship --env staging && curl -s localhost/healthz/deep"),
    ]),
    ("two weak names together", "used", FLAGS, "hide the new page behind a switch", [
        does("Edit", file_path="/p/flags.yaml", old_string="a: on", new_string="a: on\nnew_page: off"),
        does("Edit", file_path="/p/page.ts", old_string="x", new_string="if (FlagStore.isOn('new_page'))"),
    ]),
    ("the record is opened", "used", MONEY, "add a discount to the cart", [
        does("Read", file_path=f"/home/u/proj/.claude/memory/{PATH}"),
        result('{"title": "Money"}'),
    ]),
    ("the record is printed in a shell", "used", TESTS, "write tests for the importer", [
        does("Bash", command=f"cat .claude/memory/{PATH} | head -40"),
    ]),
    ("the record is shown by the command", "used", TESTS, "write tests for the importer", [
        does("Bash", command="onrecord show it"),
    ]),
    ("a bucket is named two turns later", "used", UPLOADS, "large files time out", [
        says("Let me look at the route first. Which framework is this?"),
        prompt("flask, it is in app/routes"),
        does("Edit", file_path="/p/app/routes/up.py", old_string="save()", new_string="return sign_upload(name)"),
    ]),
    ("a German answer names the service", "used", GERMAN, "wann werden die Rechnungen geschrieben?", [
        says("Das macht billing.invoice_run, 11 Tage nach der Lieferung."),
    ]),
    ("a version is pinned", "used", PNPM, "set up the CI for node", [
        does("Write", file_path="/p/.ci.yml", content="- uses: setup\n  with: { version: 9.12.3 }"),
    ]),
    ("a logger is imported", "used", LOGS, "print a line when the import ends", [
        does("Edit", file_path="/p/i.py", old_string="x", new_string="from app.logging import get_logger"),
    ]),
    ("a retention is stated in an answer", "used", LOGS, "can I still see what happened in spring?", [
        says("Probably not: logs are kept for 45 days."),
    ]),
)  # fmt: skip

NOT_USED = _cases(
    ("only ordinary words are shared", "unclear", TESTS, "write tests for the importer", [
        says("I wrote integration tests that run against the database; no mocks."),
    ]),
    ("a rule in plain words is obeyed silently", "unclear", MONEY, "add a discount to the cart", [
        does("Edit", file_path="/p/cart.py", old_string="total", new_string="total - discount_cents"),
    ]),
    ("the user named it first", "unclear", "Sessions are in the table auth.sessions.", "drop rows of auth.sessions", [
        does("Bash", command="psql -c 'DELETE FROM auth.sessions'"),
    ]),
    ("a file named it first", "ignored", KAFKA, "tidy the properties file", [
        does("Read", file_path="/p/kafka.properties"),
        result("max.poll.interval.ms=300000\nsession.timeout.ms=10000"),
        does("Edit", file_path="/p/kafka.properties", old_string="300000", new_string="max.poll.interval.ms=300000"),
    ]),
    ("it was only in the text that was replaced", "ignored", SESSIONS, "rename the table in this file", [
        does("Edit", file_path="/p/a.sql", old_string="FROM auth.sessions", new_string="FROM auth.logins"),
    ]),
    ("what it warns against is used", "unclear", "Never commit with `--no-verify`.", "commit this", [
        does("Bash", command="git commit --no-verify -m wip"),
    ]),
    ("what it says to avoid is used", "ignored", DATES, "show the date of an order", [
        does("Edit", file_path="/p/o.ts", old_string="d", new_string="import moment from 'moment.js'; moment(d)"),
    ]),
    ("the agent waves it away", "ignored", SESSIONS, "why is the chat session slow?", [
        says("The memory about `auth.sessions` and the 14 days is not relevant here. The chat uses websockets."),
    ]),
    ("something else is done", "ignored", DEPLOY, "fix the typo in the footer", [
        does("Edit", file_path="/p/footer.html", old_string="Compnay", new_string="Company"),
        says("Fixed."),
    ]),
    ("a number without its unit", "ignored", SESSIONS, "make the sidebar narrower", [
        does("Edit", file_path="/p/s.css", old_string="width: 16rem", new_string="width: 14rem; /* 14 */"),
    ]),
    ("a longer number contains it", "ignored", SESSIONS, "set the port", [
        does("Edit", file_path="/p/s.toml", old_string="port = 1", new_string="port = 1414 # days of old"),
    ]),
    ("a longer name contains it", "ignored", QUEUE, "count the archived jobs", [
        does("Bash", command="psql -c 'select count(*) from job_queue_archive'"),
    ]),
    ("a unit that is not its own", "ignored", LOGS, "wait for the server in the test", [
        does("Edit", file_path="/p/t.py", old_string="sleep", new_string="wait(seconds=45)"),
    ]),
    ("one weak name alone", "ignored", FLAGS, "list the yaml files", [
        does("Bash", command="cat flags.yaml"),
    ]),
    ("a word in backticks that is English", "unclear", "The tool for tasks is `make`.", "build it", [
        says("I will make the change and then build it."),
    ]),
    ("a question by the agent without values", "ignored", UPLOADS, "large files time out", [
        says("Do uploads go through the server or straight to a bucket?"),
    ]),
    ("everyday names", "unclear", "We use PostgreSQL and TypeScript; ids are created_at ordered.", "add a column", [
        does("Write", file_path="/p/m.sql", content="ALTER TABLE x ADD created_at; -- PostgreSQL, TypeScript"),
    ]),
)  # fmt: skip

CONTRADICTED = _cases(
    ("the user says it changed", "contradicted", SESSIONS, "where do we keep logins?", [
        says("They are rows of `auth.sessions` in Postgres."),
        prompt("no, we changed that"),
        says("Understood, where are they now?"),
    ]),
    ("that is outdated", "contradicted", RATE, "we get 429 from the harbour", [
        says("The client should wait in HarbourThrottle.acquire(), since 60 calls a minute are allowed."),
        prompt("That's outdated. Look at the new docs."),
        says("Reading them."),
    ]),
    ("not X anymore", "contradicted", KAFKA, "the consumer gets kicked out of the group", [
        says("Let me look at the consumer."),
        prompt("btw we don't set max.poll.interval.ms anymore, the platform does"),
        says("Good to know."),
    ]),
    ("we no longer use it", "contradicted", LOGS, "add logging to the importer", [
        says("I'll add a logger."),
        prompt("We no longer use structlog for logs, it is plain logging now."),
        says("OK."),
    ]),
    ("the very prompt takes it back", "contradicted", SESSIONS, "we no longer use auth.sessions, move it to redis", [
        says("Moving."),
    ]),
    ("the value is wrong", "contradicted", LOGS, "how long do we keep logs?", [
        says("Logs are kept 45 days."),
        prompt("45 days is wrong, it has been 90 since spring"),
        says("Thanks."),
    ]),
    ("a correction with no and not", "contradicted", UPLOADS, "large files time out", [
        says("Uploads should go to acme-uploads-eu."),
        prompt("No, not acme-uploads-eu. Use the new one."),
        says("Which one?"),
    ]),
    ("German: no longer holds", "contradicted", GERMAN, "wann werden die Rechnungen geschrieben?", [
        says("Das macht billing.invoice_run nach 11 Tagen."),
        prompt("Nein, das stimmt nicht mehr."),
        says("Verstanden."),
    ]),
    ("the agent supersedes the record", "contradicted", TESTS, "we run tests on sqlite from now on", [
        does("Bash", command="onrecord supersede it tests-run-on-sqlite"),
    ]),
    ("it was used before it was contradicted", "contradicted", QUEUE, "retry failed jobs", [
        does("Edit", file_path="/p/j.py", old_string="x", new_string="SELECT * FROM job_queue FOR UPDATE SKIP LOCKED"),
        result("ok"),
        says("Failed rows of job_queue are retried."),
        prompt("we dropped job_queue last month, jobs are in redis streams"),
        says("Redoing it."),
    ]),
)  # fmt: skip

NOT_CONTRADICTED = _cases(
    ("a question whether it still holds", "used", SESSIONS, "where do we keep logins?", [
        says("They are rows of `auth.sessions` in Postgres."),
        prompt("is that outdated?"),
        says("The code agrees with it."),
    ]),
    ("an objection to something else", "used", SESSIONS, "where do we keep logins?", [
        says("They are rows of `auth.sessions` in Postgres."),
        prompt("ok. The footer is out of date, please change the year there to this year and add a link."),
        says("Done."),
    ]),
    ("a wish is no objection", "used", KAFKA, "the consumer gets kicked out", [
        does("Bash", command="grep -rn max.poll.interval.ms ."),
        prompt("the export should no longer block the poll loop of the orders consumers"),
        says("Moving it to a thread."),
    ]),
    ("a defect is no objection", "unclear", "Sessions expire after a while.", "sessions no longer expire after login", [
        says("Looking."),
    ]),
    ("a correction of style", "used", QUEUE, "retry failed jobs", [
        does("Edit", file_path="/p/j.py", old_string="x", new_string="UPDATE job_queue SET tries = tries + 1"),
        prompt("no, not like this, put it in a function"),
        says("Done."),
    ]),
    ("still true, they say", "used", SESSIONS, "where do we keep logins?", [
        says("They are rows of `auth.sessions` in Postgres."),
        prompt("good, that's not outdated then"),
        says("Right."),
    ]),
    ("an old log in a code block", "used", KAFKA, "the consumer gets kicked out", [
        does("Bash", command="grep -rn max.poll.interval.ms ."),
        prompt("here is the log:\n```\nmax.poll.interval.ms is no longer valid, we changed that\n```\nwhat now"),
        says("Hm."),
    ]),
    ("a change that agrees with it", "used", QUEUE, "where do jobs live?", [
        says("In the table job_queue."),
        prompt("right, we moved to job_queue from celery last year"),
        says("Yes."),
    ]),
)  # fmt: skip

EARLIER = [
    Case(
        "the agent knew it before it was told",
        "unclear",
        "Sessions are in the table auth.sessions.",
        "go on",
        [says("So auth.sessions it is.")],
        before=(prompt("look at the logins"), says("It is auth.sessions.")),
    )
]

KEPT_APART = _cases(
    ("an environment variable is set", "used", "The pool size is set by PG_POOL_MAX, 18 per worker.", "db is slow", [
        does("Bash", command="kubectl set env deploy/api PG_POOL_MAX=18"),
    ]),
    ("an answer repeats a percentage", "used", "Coverage below 83 % fails the build.", "why is the build red?", [
        says("Coverage fell to 81 %, and the build demands 83%."),
    ]),
    ("an endpoint is called", "used", "Health of the fleet is at /internal/fleet/status, not at /status.", "all up?", [
        does("WebFetch", url="https://ops.example/internal/fleet/status", prompt="is everything up"),
    ]),
    ("a path in a multi edit", "used", "Translations live in app/i18n/catalogue.toml.", "translate the title", [
        does("MultiEdit", file_path="/p/app/i18n/catalogue.toml", edits=[{"old_string": "a", "new_string": "b"}]),
    ]),
    ("a plan names the job", "used", "The nightly rebuild is the DAG rebuild_marts_v2, at 02:40.", "marts are stale", [
        says("I will trigger rebuild_marts_v2 by hand and watch it."),
    ]),
    ("a notebook cell uses the name", "used", "Read meters through lake.open_meter_frame().", "plot the load", [
        does("NotebookEdit", notebook_path="/p/n.ipynb", new_source="df = lake.open_meter_frame()"),
    ]),
    ("a task for a subagent names the flag", "used", "Build with `cargo build --features simd`.", "make it faster", [
        does("Task", prompt="Run cargo build --features simd and report", subagent_type="general"),
    ]),
    ("a shared topic is not use", "unclear", "Code review needs two approvals before a merge.", "merge my branch", [
        says("I merged the branch after the review had its approvals."),
    ]),
    ("a common status code", "unclear", "The API answers 404 for foreign tenants, never 403.", "add the route", [
        does("Edit", file_path="/p/r.py", old_string="x", new_string="abort(404)"),
    ]),
    ("a different file of the same folder", "ignored", "Secrets are read by infra/vault/reader.go only.", "fix ci", [
        does("Edit", file_path="/p/infra/vault/policy.hcl", old_string="x", new_string="y"),
    ]),
    ("a command failed and told the name", "ignored", "Redis runs on port 6391, database queue_prod.", "why down?", [
        does("Bash", command="make health"),
        result("could not connect to 127.0.0.1:6391", error=True),
        says("Port 6391 refuses connections."),
    ]),
    ("year numbers are not values", "unclear", "Since 2024 we release on Tuesdays.", "write the notes", [
        does("Write", file_path="/p/NOTES.md", content="Released in 2024"),
    ]),
    ("the user pastes the name", "ignored", "Exports use writer_v3 with chunks of 7,500 rows.", "run writer_v3", [
        does("Bash", command="python -m exports --writer writer_v3"),
    ]),
    ("said with anymore", "contradicted", "Releases are cut from the branch release/next.", "cut a release", [
        says("I'll cut it from release/next."),
        prompt("we don't cut releases from that branch anymore"),
        says("From main then."),
    ]),
    ("replaced by something", "contradicted", "Mails are sent through mailer.enqueue_batch().", "mail the invoice", [
        does("Edit", file_path="/p/i.py", old_string="x", new_string="mailer.enqueue_batch(m)"),
        prompt("enqueue_batch was replaced by the outbox, mailer.enqueue_batch() is deprecated"),
        says("OK."),
    ]),
    ("obsolete, short", "contradicted", "Staging resets its data at 04:15 from snapshot_small.", "staging is empty", [
        says("Staging restores snapshot_small every night at 04:15."),
        prompt("obsolete"),
        says("What is it now?"),
    ]),
    ("an instruction to remove", "used", "The legacy importer is cmd/import_v1.", "clean up", [
        does("Bash", command="ls cmd/import_v1"),
        prompt("remove it, and make sure nothing calls it any more"),
        says("Removed."),
    ]),
    ("agreement", "used", "Tokens are signed with ES384 by TokenMint.sign().", "how are tokens signed?", [
        says("By TokenMint.sign(), with ES384."),
        prompt("yes exactly, do not change that"),
        says("OK."),
    ]),
    ("no to a proposal", "used", "Caches are cleared with `bin/cache purge --zone eu7`.", "stale prices", [
        says("Shall I run bin/cache purge --zone eu7?"),
        prompt("no, not now"),
        says("OK."),
    ]),
    ("a past tense that is not ours", "used", "The schema registry is at registry.internal:8085.", "avro error", [
        says("registry.internal:8085 answers."),
        prompt("good. the vendor's docs used to describe this better"),
        says("Indeed."),
    ]),
)  # fmt: skip
"""Written after the rules were settled, to see how they do on others: at first 18 of 20 were right."""

ALL = [*EARLIER, *USED, *NOT_USED, *CONTRADICTED, *NOT_CONTRADICTED]
