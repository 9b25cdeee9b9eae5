"""Records that take more authority than one record should have, for people who review a pull request.

Each is reported, none is refused: a team may mean what it says. What a report names is worth a second look.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from onrecord import budget, paths, timestamps
from onrecord.audit.report import AuditFinding
from onrecord.coldstart import NamedTuple
from onrecord.paths import StoreRef
from onrecord.recall import for_failure
from onrecord.recall.stores import Stores
from onrecord.record import secrets, validity
from onrecord.record.memory import Memory
from onrecord.search import coefficients, command_match, command_terms, document, query, rank, terms
from onrecord.search.candidates import Filter
from onrecord.search.index import Index
from onrecord.session import commands
from onrecord.settings import Settings, load_settings

MAX_REPLACED = 3
"""Records that one record may replace without being reported."""

_MAX_SHARE = 0.15
"""Share of unrelated prompts, commands or failures at which one record may be shown."""

MAX_SUBJECTS = 6
"""Different things that the triggers of one record may be about: a record has three to six of them."""

_MIN_WORD_LETTERS = 4
_PER_SAMPLE = 5
_MAX_QUOTE = 80

PROMPTS = (
    "the date picker shows the wrong month after midnight",
    "rename the customer table and everything that uses it",
    "why is the nightly build slower since last week",
    "write a short message for this commit",
    "add a search box above the list of orders",
    "explain what this function returns when the list is empty",
    "the container does not start on my machine",
    "move the helpers for dates into a file of their own",
    "users report that the export is missing a column",
    "upgrade the http client to its next major version",
    "make the table sortable by name",
    "translate the welcome page into Italian",
    "how do I run only one of the tests",
    "remove the feature flag for the old checkout",
    "there is a memory leak in the image worker",
    "draw the login flow as a diagram",
    "the linter complains about an unused import",
    "cache the exchange rates for an hour",
    "look at the failing pipeline and tell me the cause",
    "add dark colours to the settings screen",
    "what would it take to support Windows",
    "parse the invoice number from the file name",
    "replace the deprecated call in the payment module",
    "give me a list of the endpoints without tests",
    "the avatar upload fails above five megabytes",
    "set the time zone of the scheduler to UTC",
    "review my change before I push it",
    "document how the retry of jobs works",
    "clean up the temporary files after the import",
    "why are there two versions of the address parser",
)
"""Prompts about thirty different things: a record that is shown at many of them is about none."""

COMMANDS = (
    "git commit -m 'Fix the login form'",
    "git push origin main",
    "git rebase main",
    "npm install left-pad",
    "npm test",
    "pnpm build",
    "pytest -q tests/test_login.py",
    "pip install requests",
    "make release",
    "cargo build --release",
    "go test ./...",
    "docker compose up -d",
    "docker build -t app .",
    "kubectl apply -f app.yml",
    "terraform plan",
    "psql -c 'select 1'",
    "mvn package",
    "python3 manage.py migrate",
    "gh pr create --fill",
    "rm -rf out",
)
"""Commands of twenty kinds: a record that governs many of them governs none in particular."""

FAILURES = (
    "error: Cannot find module 'left-pad'",
    "bash: foo: command not found",
    "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'total'",
    "ModuleNotFoundError: No module named 'requests'",
    "fatal: not a git repository (or any of the parent directories): .git",
    "error: failed to push some refs to 'origin'",
    "CONFLICT (content): Merge conflict in src/app.py",
    "bash: ./deploy.sh: Permission denied",
    "connect ECONNREFUSED 127.0.0.1:5432",
    "make: *** [Makefile:12: all] Error 2",
    "FAILED tests/test_login.py::test_form - AssertionError: assert 3 == 4",
    "SyntaxError: Unexpected token '<'",
    "error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'",
    "npm ERR! ERESOLVE unable to resolve dependency tree",
    "OSError: [Errno 28] No space left on device",
    "Error: listen EADDRINUSE: address already in use :::3000",
    "fatal error: openssl/ssl.h: No such file or directory",
    "error[E0382]: borrow of moved value: `config`",
    "Error response from daemon: pull access denied for acme/app",
    "curl: (28) Operation timed out after 30000 milliseconds",
)
"""Errors of twenty kinds."""

_OTHERS = r"previous|prior|earlier|above|all|other|user|system"
_PEOPLE = r"user|person|human|reviewers?|developers?|maintainers?|team|anyone|anybody"
_SPEAKS = re.compile(
    rf"(?im)\b(?:ignore|disregard|forget|override)\b.{{0,40}}\b(?:{_OTHERS})\b"
    r"|^[^\w\n]*(?:system|assistant|human|user|developer)\s*:|\[/?INST\]|<\|\w{2,20}\|>"
    r"|^[^\w\n]*##\s*(?:instruction|system)"
    r"|\byou are now\b|\bnew (?:operating |system )?instructions\b|\bmaintenance mode\b"
    r"|\b(?:do not|don't|never) (?:tell|mention|show|inform|ask)\b.{0,30}\buser\b"
    rf"|\b(?:do not|don't|never) (?:tell|mention|inform|reveal)\b.{{0,40}}\b(?:{_PEOPLE})\b"
    rf"|\bwithout (?:telling|informing|notifying)\b.{{0,20}}\b(?:{_PEOPLE})\b"
    r"|</?(?:system|instructions?|tool_result)\b|\bmessage from (?:anthropic|openai|google|the system)\b"
    # The same in the languages in which people ask.
    r"|\b(?:ignor(?:iere?n?|ez?|en?|ar?|ate|i)|missachten?|vergiss|oubli(?:e|ez)|olvid(?:a|e|en)|esque(?:ce|ça)|dimentica)\b"
    r".{0,40}\b(?:anweisung|instruction|instruccion|instruç|istruzion|befehl)"
    r"|(?:игнорируй|забудь).{0,40}(?:инструкци|указани|правил)|(?:忽略|无视|無視|忘记).{0,12}(?:指令|指示|说明|規則|规则)"
    r"|(?:指示|命令|ルール).{0,8}(?:無視|忘れ)|(?:지시|명령|규칙).{0,10}무시"
)
_DECIDES = re.compile(
    r"(?i)\b(?:no|without)\b.{0,25}\b(?:review|approval|consent|confirmation|reviewers?|asking)\b"
    r"|\b(?:skip|skips|skipping|bypass|bypasses|bypassing)\b.{0,40}\b(?:review|approval|consent|confirmation|reviewers?)\b"
    r"|\b(?:review|approval|confirmation|consent)s?\b.{0,30}\b(?:not|never|no longer)\b"
    r".{0,20}\b(?:need|requir|necessary)"
    r"|\bauto-?(?:approve|merge|accept)\w*|\b(?:decides?|approves?) (?:alone|for (?:the|this) team|everything)"
    r"|\b(?:approved|merged|accepted)\b.{0,12}\bautomatically\b|\bautomatically (?:approve|merge|accept)\w*"
    r"|\b(?:sole|final|only) (?:approver|authority|decision|say|word)\b"
    r"|\b(?:is|are) allowed to (?:merge|push|deploy|approve|publish|release)\b"
    r"|\b(?:capture\.mode|trust\.clones|checks\.enforce)\b"
)
_RUNS = re.compile(
    r"(?i)\b(?:curl|wget|iwr|irm|invoke-webrequest)\b[^\n|]{0,200}\|\s?(?:sudo\s(?:-\w{1,20}\s)?)?"
    r"(?:(?:ba|z|da|k)?sh|python3?|node|perl|ruby|iex)\b"
    r"|\b(?:(?:ba|z)?sh|source|eval)\b[^\n]{0,6}[<$]\(\s?(?:curl|wget)\b"
)


_SUSPICIONS = (
    (
        "speaks to the agent",
        _SPEAKS,
        (
            "ignor", "disregard", "forget", "override", "system", "assistant", "human", "user", "developer", "inst]",
            "<|", "##", "you are now", "instruction", "maintenance mode", "tool_result", "message from", "tell",
            "mention", "inform", "reveal", "notify", "missacht", "vergiss", "oubli", "olvid", "esque", "dimentica",
            "игнорируй", "забудь", "忽略", "无视", "無視", "忘", "무시",
        ),
    ),
    (
        "changes who decides",
        _DECIDES,
        (
            "review", "approv", "consent", "confirmation", "asking", "auto", "decide", "authority", "decision", "say",
            "word", "allowed to", "capture.mode", "trust.clones", "checks.enforce",
        ),
    ),
    ("has a program downloaded and run", _RUNS, ("curl", "wget", "iwr", "irm", "invoke-webrequest")),
)  # fmt: skip
"""What only people should say, its pattern, and hints: the pattern is tried on texts that have one of these."""


class Reach(NamedTuple):
    """The number of prompts, commands or failures about other things at which a record is shown."""

    record_id: str
    times: int
    of: int
    what: str


def examine(
    records: Sequence[Memory], reaches: Iterable[Reach] = (), among: Collection[str] | None = None
) -> list[AuditFinding]:
    """Return what is to be looked at in the records of a store; `among` has the ids of those that a change concerns."""
    find = validity.finder(records)
    findings = [
        AuditFinding((record.id,), message, f"read it: onrecord show {_name(record, find)}")
        for record in budget.counted(records, "reading what records claim")
        if record.record_status == "active" and (among is None or record.id in among)
        for message in _messages(record)
    ]
    for record in records:
        others = [other.path for other in find(record.id) if other.path < record.path]
        if others and (among is None or record.id in among):
            fix = f"give one of them another title: onrecord edit {record.path}"
            findings.append(AuditFinding((record.id,), f"{record.path} has the id of {others[0]}", fix))
    for reach in reaches:
        if among is None or reach.record_id in among:
            message = f"is shown at {reach.times} of {reach.of} {reach.what} about other things"
            fix = f"make its triggers and tags say what it is about: onrecord edit {reach.record_id}"
            findings.append(AuditFinding((reach.record_id,), message, fix))
    return findings


def _name(record: Memory, find: Callable[[str], Sequence[Memory]]) -> str:
    return record.id if len(find(record.id)) == 1 else record.path


def _messages(record: Memory) -> Iterator[str]:
    if len(record.supersedes) > MAX_REPLACED:
        yield f"says that it replaces {len(record.supersedes)} records"
    shared = [name for name in record.supersedes if ":" in name]
    if shared:
        yield f"sets a record of a shared store aside here: {', '.join(shared[:MAX_REPLACED])}"
    advice = (one.say for one in record.checks)
    texts = (record.title, *record.triggers, *record.tags, record.source, *advice, *document.content_texts(record))
    yield from in_text("\n".join(texts))
    subjects = _subjects(record)
    if subjects > MAX_SUBJECTS:
        yield f"has triggers about {subjects} different things"
    tomorrow = timestamps.days_before(timestamps.now(), -1)
    latest = max(record.updated_at, record.created_at, key=timestamps.order)
    if timestamps.order(latest) > timestamps.order(tomorrow):
        yield f"is dated in the future, {latest[:10]}, so it comes before all others"
    beyond = [flaw for flaw in record.flaws_in_file if "must have at most" in flaw or "must be at most" in flaw]
    if beyond:
        yield f"has more than is used of it: {beyond[0]}"
    everywhere = [flaw for flaw in record.flaws_in_file if "fits nearly every file" in flaw]
    if everywhere:
        yield f"is about every file: {everywhere[0][:_MAX_QUOTE]}"


def in_text(text: str) -> Iterator[str]:
    """Yield what a text of a record or a knowledge bank says that only people should."""
    text = secrets.plain(text)
    plain = _without_case(text)
    for what, pattern, hints in _SUSPICIONS:
        match = pattern.search(text) if any(hint in plain for hint in hints) else None
        if match:
            yield f"{what}: “{' '.join(match[0].split())[:_MAX_QUOTE]}”"


def _without_case(text: str) -> str:
    """Return a text in which every letter that a pattern takes for a plain one, whatever its case, is that one."""
    return text.lower() if text.isascii() else text.casefold().replace("ı", "i").replace("\u0307", "")


def _subjects(record: Memory) -> int:
    """Return how many groups of triggers share no word, neither with each other nor with the record's own text."""
    groups = _joined([], [_words(trigger) for trigger in record.triggers])
    if len(groups) < MAX_SUBJECTS:
        # With its own text there is at most one more: that need not be read.
        return len(groups)
    return len(_joined([_words(" ".join((record.title, *record.tags, *document.content_texts(record))))], groups))


def _joined(groups: list[set[str]], word_sets: Iterable[set[str]]) -> list[set[str]]:
    """Return the groups with the others, those that share a word made one."""
    for words in word_sets:
        sharing = [group for group in groups if group & words]
        groups = [group for group in groups if not group & words] + [words.union(*sharing)]
    return groups


def _words(text: str) -> set[str]:
    return {term for term in terms.stream(text) if len(term) >= _MIN_WORD_LETTERS}


def reaches(index: Index, watch: Callable[[Iterable[str]], Iterable[str]] = iter) -> list[Reach]:
    """Return the records that are shown at many unrelated prompts, commands or failures, those at most first.

    The config of the project does not count: a change could bring one that hides from us what it brings.
    """
    settings = load_settings("")
    # A record that does not apply on this branch may apply on another one.
    store_ref = StoreRef(index.root, paths.prefix_of(index.root))
    stores = Stores([store_ref], hook=False, lenient=[store_ref.prefix])
    counts: Counter[tuple[str, str]] = Counter()
    kinds = {text: what for what, (texts, _) in _SAMPLES.items() for text in texts}
    for text in watch(kinds):
        what = kinds[text]
        counts.update((what, record_id) for record_id in _SAMPLES[what][1](index, stores, text, settings))
    many = [
        Reach(record_id, count, len(_SAMPLES[what][0]), what)
        for (what, record_id), count in counts.items()
        if count > _MAX_SHARE * len(_SAMPLES[what][0])
    ]
    return sorted(many, key=lambda reach: (-reach.times, reach.record_id))


def _at_prompt(index: Index, stores: Stores, text: str, settings: Settings) -> set[str]:
    """Return the ids of the records that are shown at a prompt."""
    matches = rank.find(index, query.parse(text), Filter("auto", settings=settings), _PER_SAMPLE)
    return {match.id for match in matches if match.probability >= coefficients.POINTER}


def _at_command(index: Index, stores: Stores, text: str, settings: Settings) -> set[str]:
    """Return the ids of the records that may be shown at a command."""
    calls = command_terms.of_calls(commands.parse(text))
    hits = command_match.find(index, calls, Filter("auto", settings=settings), _PER_SAMPLE)
    return {hit.match.id for hit in hits if hit.match.probability >= coefficients.COMMAND_THRESHOLD}


def _at_failure(index: Index, stores: Stores, text: str, settings: Settings) -> set[str]:
    """Return the id of the runbook that is shown at a failed command, if any."""
    runbook = for_failure.best(stores, for_failure.error_lines(text), settings)
    return {runbook.match.id} if runbook else set()


_SAMPLES: Mapping[str, tuple[Sequence[str], Callable[[Index, Stores, str, Settings], set[str]]]] = MappingProxyType(
    {
        "prompts": (PROMPTS, _at_prompt),
        "commands": (COMMANDS, _at_command),
        "failed commands": (FAILURES, _at_failure),
    }
)
