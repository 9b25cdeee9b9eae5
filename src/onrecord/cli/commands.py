"""The table of commands: group, module, summary and examples of each."""

from __future__ import annotations

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput


class WrongUsage(BadInput):
    """Arguments that do not go together; reported like an error of argparse, which cannot check them."""


class Example(NamedTuple):
    """A command that can be pasted, without `onrecord`; a long one continues on the next line after ` \\`."""

    meaning: str
    command: str


class Command(NamedTuple):
    """A command: its module (empty: `cli` itself), a line on what it does, and examples."""

    module: str
    summary: str
    examples: tuple[Example, ...]
    has_store: bool = True
    """True if it acts on one store, which `--user` or `--remote` can choose."""


# fmt: off
GROUPS: dict[str, dict[str, Command]] = {
    "start here": {
        "init": Command("init", "Make a memory for this project.", (
            Example("a folder of records, and the files git needs for it", "init"),
            Example("and let git merge records field by field", "init --merge-driver"),
        )),
        "connect": Command("connect", "Let coding agents use the memory: Codex, Copilot, Gemini, …", (
            Example("which agents are here, and which are connected", "connect --list"),
            Example("see what would be written", "connect codex --dry-run"),
            Example("connect one, with Onrecord's MCP server too", "connect gemini --mcp --yes"),
            Example("remove the connection", "connect gemini --remove --yes"),
        ), has_store=False),
        "import": Command("import_", "Draft records from decision records and other tools' memories.", (
            Example("see what would be drafted", "import --dry-run"),
            Example("draft records, to be reviewed", "import docs/adr"),
            Example("undo the import", "undo"),
        )),
        "try": Command("try_", "Show what your agent would have seen for your last prompts.", (
            Example("your last 20 prompts; nothing is written", "try"),
            Example("a prompt that you type", "try 'how do I install the dependencies?'"),
            Example("with the records that an import would draft", "try --import docs/adr -- 'send jobs to workers'"),
        )),
        "demo": Command("demo", "Show it at work in a sample project, in a temporary folder.", (
            Example("nothing is installed, nothing remains", "demo"),
            Example("keep the sample project, to try commands in it", "demo --keep"),
        ), has_store=False),
        "docs": Command("docs", "Print a page of the documentation; it needs no network.", (
            Example("the list of pages", "docs"),
            Example("a page, by its name", "docs tutorial"),
            Example("what an error means", "docs NO_STORE"),
            Example("the passages about something", "docs merge driver"),
        ), has_store=False),
        "completion": Command("completion", "Print a shell script that completes commands and ids on Tab.", (
            Example("for bash: evaluate it in ~/.bashrc", "completion bash"),
            Example("for zsh: evaluate it in ~/.zshrc", "completion zsh"),
            Example("for fish: save it as ~/.config/fish/completions/onrecord.fish", "completion fish"),
        ), has_store=False),
        "doctor": Command("doctor", "Find problems in a memory or an installation.", (
            Example("what is wrong, and how to fix it", "doctor"),
            Example("carry out the repairs that lose nothing", "doctor --fix"),
            Example("what is stored on this machine, and for how long", "doctor --privacy"),
        )),
    },
    "every day": {
        "status": Command("status", "Show the state of the memory, and what to do next.", (
            Example("one screen", "status"),
            Example("for a program", "status --json"),
        )),
        "save": Command("save", "Save a new record; on a terminal, by questions or in a form.", (
            Example("a decision, with a question that it answers",
                    "save decision 'Test with nox' --trigger 'how do I run the tests' \\\n"
                    "    --set context='Five Pythons are supported.' \\\n"
                    "    --set decision='nox runs the tests.' \\\n"
                    "    --set rationale='One command for all of them.'"),
            Example("a preference that is to be reviewed first",
                    "save preference 'Tabs' --set topic=indent --set value=tabs \\\n"
                    "    --set reason='The linter wants it.' --draft"),
        )),
        "list": Command("list_", "List records.", (
            Example("the newest ten", "list --limit 10"),
            Example("the decisions with a tag", "list --category decision --tag tooling"),
            Example("what changed in three weeks, by tag", "list --since 3w --by tag"),
            Example("what was retired since a date", "list --status retired --since 2026-01-01"),
            Example("for a script", "list --sort id --format '{id}\\t{title}'"),
        )),
        "show": Command("show", "Show one or more records.", (
            Example("by its id", "show use-uv"),
            Example("by the beginning of its id, or words of it", "show uv"),
            Example("several, by their names in the map", "show use-uv use-pip"),
            Example("with every recorded change", "show use-uv --history"),
            Example("for a program", "show use-uv --json"),
        )),
        "search": Command("search", "Find the records that answer a question.", (
            Example("in your own words", "search how do I install the dependencies"),
            Example("only runbooks, retired ones too", "search hangs --category runbook --include-retired"),
        )),
        "inbox": Command("review", "List the drafts that wait for review.", (
            Example("all of them", "inbox"),
            Example("how many, for the status line of a prompt", "inbox --brief"),
        )),
        "review": Command("review", "Accept, edit, merge, reject or skip each draft.", (
            Example("one after the other", "review"),
            Example("one of them, without questions", "review --accept tests-run-in-docker"),
            Example("merge it into an existing record", "review --merge tests-run-in-docker --into use-uv"),
        )),
        "edit": Command("update", "Change a record in a form in your editor.", (
            Example("in $VISUAL, $EDITOR or vi", "edit use-uv"),
            Example("with a reason, for its history", "edit use-uv --summary 'Version 0.9 came out'"),
        )),
        "update": Command("update", "Change fields of a record.", (
            Example("make it easier to find", "update use-uv --trigger 'which package manager'"),
            Example("add a file that it is about", "update use-uv --related pyproject.toml"),
            Example("a change that is to be reviewed first", "update use-uv --tag python --draft"),
        )),
        "share": Command("share", "Copy a record to a shared store, for everyone who reads it.", (
            Example("see what would leave this machine", "share use-uv --to platform --dry-run"),
            Example("only where Python is written", "share use-uv --to platform --languages python --yes"),
        )),
        "log": Command("log", "List what was changed in a store on this machine.", (
            Example("the last five changes: when, what, by whom", "log --limit 5"),
        )),
        "undo": Command("log", "Undo the last change to a store.", (
            Example("see what it would undo", "undo --dry-run"),
            Example("an import or a review counts as one change", "undo"),
        )),
    },
    "look after": {
        "web": Command("web", "Browse and edit the memory in a browser.", (
            Example("open it; it stops after an hour without use", "web"),
            Example("only print the address, with its token", "web --no-open --port 8700"),
            Example("a site of plain files, to publish", "web --static site"),
        ), has_store=False),
        "remote": Command("remote", "Connect shared stores of a team, and show their state.", (
            Example("connect one; nothing is fetched yet", "remote add platform /srv/memory.git"),
            Example("list the connected ones", "remote list"),
            Example("last sync, changes to push, conflicts", "remote status"),
            Example("disconnect it, and delete its replica", "remote remove platform"),
        ), has_store=False),
        "sync": Command("sync", "Exchange changes with shared stores.", (
            Example("with all that are connected", "sync"),
            Example("with one of them; only show what would happen", "sync platform --dry-run"),
        ), has_store=False),
        "freshness": Command("freshness", "Show the records whose files have changed since.", (
            Example("only the records to check again", "freshness --stale"),
            Example("one record", "freshness 60-calls-a-minute"),
        )),
        "reanchor": Command("freshness", "Confirm that records still hold for their current files.", (
            Example("after reading the record and its files", "reanchor 60-calls-a-minute"),
        )),
        "check": Command("check", "Find what a change breaks, and the records about its files.", (
            Example("the working tree, against the last commit", "check"),
            Example("what is staged, before a commit", "check --staged"),
            Example("commits, as annotations of GitHub Actions", "check HEAD...HEAD --format github"),
        ), has_store=False),
        "retire": Command("retire", "Take a record out of use; `gc` deletes it later.", (
            Example("the reason is kept with it", "retire use-pip --reason 'uv took its place'"),
        )),
        "restore": Command("retire", "Put a retired record back into use.", (
            Example("before `gc` deletes it", "restore use-travis"),
        )),
        "archive": Command("retire", "Take a record out of use for good, without deleting it.", (
            Example("it is kept, but no longer shown", "archive use-pip --reason 'of 2024'"),
        )),
        "unarchive": Command("retire", "Put an archived record back into use.", (
            Example("show it to agents again", "unarchive use-subversion"),
        )),
        "supersede": Command("retire", "Replace a record with another.", (
            Example("agents are shown the second instead of the first", "supersede use-pip use-uv"),
        )),
        "trust": Command("trust", "Accept a repository's records, if `trust.clones` is `ask`.", (
            Example("once for each repository", "trust"),
            Example("which are accepted", "trust --list"),
        ), has_store=False),
        "feedback": Command("stats", "Say whether a record helped, was not relevant, or is wrong.", (
            Example("a rule that came where it did not belong", "feedback use-uv not-relevant"),
            Example("take that back", "feedback use-uv taken-back"),
        )),
        "improve": Command("improve", "List the records that need work: hard to find, or judged wrong.", (
            Example("the worst five", "improve --limit 5"),
            Example("those without triggers", "improve --check triggers"),
        )),
        "audit": Command("audit", "Find duplicate, outdated and unsafe records.", (
            Example("everything, five findings of each kind", "audit"),
            Example("for CI: exit with 1 if something serious is found", "audit --strict"),
            Example("a folder of Markdown notes, which is only read", "audit --markdown docs"),
        )),
        "stats": Command("stats", "Show how often records were shown to agents and opened by them.", (
            Example("the last twelve weeks", "stats"),
            Example("one record", "stats use-uv"),
        )),
        "effect": Command("effect", "Count how often rules were broken, before and since.", (
            Example("every rule with a check, in the sessions on this machine", "effect"),
            Example("only the sessions of the last three months", "effect --since 3m"),
            Example("all counts and intervals, for a program", "effect --json"),
        ), has_store=False),
        "export": Command("export", "Print the records, or write them to a file for other agents.", (
            Example("the decisions, as one page", "export --category decision"),
            Example("a file for an agent that can only read files", "export --file MEMORY.md"),
            Example("a section in a file of your own", "export --into AGENTS.md"),
        )),
        "gc": Command("clean", "Retire and delete records that are due.", (
            Example("see what is due", "gc --dry-run"),
            Example("and do it", "gc"),
        )),
    },
    "under the hood": {
        "why": Command("why", "Explain why a prompt gets these records, and not others.", (
            Example("each candidate, its score and the reasons", "why 'how do I install the dependencies?'"),
            Example("as the first prompt of a session", "why --first 'add a dependency'"),
        )),
        "recall": Command("why", "Show exactly what the agent would be shown for a prompt.", (
            Example("and about how many tokens it takes", "recall 'how do I install the dependencies?'"),
        )),
        "digest": Command("digest", "Show what a session that starts here would be shown.", (
            Example("as the agent gets it", "digest"),
            Example("and the score of each entry", "digest --why"),
        )),
        "config": Command("config", "Show the settings and their origin, or set one.", (
            Example("one setting", "config retrieval.max_inject"),
            Example("change it for this project", "config set retrieval.max_inject 2"),
            Example("back to the default", "config unset retrieval.max_inject"),
            Example("for all of your projects", "config set --user capture.mode off"),
        )),
        "judge": Command("judge", "Test the model that gives a second opinion.", (
            Example("does it answer, how fast, and correctly", "judge test"),
        )),
        "index": Command("clean", "Rebuild or check index.md, the list of records for people.", (
            Example("how it differs from the records", "index check"),
            Example("make it again", "index rebuild"),
        )),
        "clean": Command("clean", "Remove the files that Onrecord keeps outside your stores.", (
            Example("see what that is: indexes, ledgers, counts, logs", "clean --dry-run"),
            Example("remove it; no record is touched", "clean"),
        ), has_store=False),
        "hub": Command("hub", "Host the shared stores of teams in a Postgres database.", (
            Example("make the tables, and a team", "hub init postgresql://localhost/memory --team platform"),
            Example("add a member; the role is reader, writer or reviewer", "hub grant ann writer --team platform"),
            Example("list the teams, their members and records", "hub status"),
        ), has_store=False),
        "mcp": Command("mcp", "Serve the memory over MCP; an agent starts this.", (
            Example("the command in the agent's config", "mcp"),
        ), has_store=False),
        "merge-driver": Command("merge_driver", "Merge two versions of a record; git calls this.", (
            Example("what git runs, with three files of its own", "merge-driver base.json ours.json theirs.json"),
        ), has_store=False),
        "version": Command("", "Print the version.", (
            Example("for people", "version"),
            Example("with that of Python, for a program", "version --json"),
        ), has_store=False),
    },
}
# fmt: on

COMMANDS: dict[str, Command] = {name: row for group in GROUPS.values() for name, row in group.items()}
