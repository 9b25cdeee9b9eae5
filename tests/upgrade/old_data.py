"""Records and settings of a user of an earlier version."""

from __future__ import annotations

from typing import Any

from tests.known_project import SIX

READS = "src/carrier/client.py"

REPLACED = {
    "title": "Sessions live in Redis",
    "tags": ["auth", "sessions"],
    "content": {"context": "Logins were slow.", "decision": "User sessions live in Redis.", "rationale": ["speed"]},
}
RETIRED = {
    "title": "Tabs for indentation",
    "tags": ["style"],
    "content": {"topic": "indentation", "value": "Indent with tabs.", "reason": "everybody sets the width"},
}
ARCHIVED = {
    "title": "Labels are printed twice",
    "tags": ["labels"],
    "content": {"description": "The old printer needs two copies.", "reason_deferred": "it will be replaced"},
}
RECORDS: list[tuple[str, dict[str, Any]]] = [
    ("decision", REPLACED),
    *SIX.items(),
    ("preference", RETIRED),
    ("tech_debt", ARCHIVED),
]
OWN_RECORD = {
    "title": "Answer in short sentences",
    "tags": ["tone"],
    "content": {"topic": "tone", "value": "Answer in short sentences.", "reason": "they are read on a phone"},
}
DRAFT: dict[str, Any] = {
    "title": "Invoices are numbered per year",
    "tags": ["invoices"],
    "content": {
        "context": "The tax office asked for it.",
        "decision": "Invoice numbers start at 1 every year.",
        "rationale": ["required by law"],
    },
}

PROJECT_SETTINGS: dict[str, Any] = {
    "retrieval": {
        "enabled": True,
        "max_inject": 4,
        "max_tokens": 350,
        "match_strategy": "fts5_bm25",
        "min_probability": 0.3,
        "first_prompt_relief": 0.2,
        "first_prompt_budget": 3,
        "files": True,
        "failures": True,
    },
    "session_start": {"enabled": True, "relevance_weight": 0.7, "limit": 12},
    "triage": {
        "max_messages": 60,
        "thresholds": {
            "decision": 0.3,
            "constraint": 0.7,
            "preference": 0.75,
            "runbook": 0.6,
            "tech_debt": 0.7,
            "session_summary": 0.4,
        },
    },
    "categories": {
        "decision": {"enabled": True, "auto_capture": True, "retention_days": 36000, "description": "What we chose"},
        "session_summary": {"max_retained": 7},
    },
    "delete": {"grace_period_days": 36000},
}
OWN_SETTINGS: dict[str, Any] = {
    "retrieval": {
        "judge": {
            "enabled": False,
            "provider": "openai",
            "model": "small",
            "endpoint": "http://127.0.0.1:9/v1",
            "api_key_env": "MY_KEY",
            "timeout_seconds": 2.5,
            "daily_cap": 40,
            "max_candidates": 9,
            "certain_in": 0.9,
            "certain_out": 0.1,
            "price_in": 1.5,
            "price_out": 2.5,
        }
    }
}

AGENT_FILES: dict[str, str] = {
    ".claude/settings.json": '{"model": "opus", "hooks": {"Stop": [{"hooks": [{"command": "beep"}]}]}}\n',
    ".cline/.keep": "",
    ".codex/config.toml": 'model = "small"\n\n[mcp_servers.tickets]\ncommand = "tickets"\n',
    ".config/opencode/opencode.jsonc": '{\n  // mine\n  "theme": "dark"\n}\n',
    ".copilot/mcp-config.json": '{\n  "mcpServers": {\n    "tickets": {"command": "tickets"}\n  }\n}\n',
    ".cursor/hooks.json": '{\n  "version": 1,\n  "hooks": {"stop": [{"command": "beep"}]}\n}\n',
    ".cursor/mcp.json": '{"mcpServers": {"tickets": {"command": "tickets"}}}\n',
    ".factory/.keep": "",
    ".gemini/settings.json": '{\n  "theme": "dark"\n}\n',
    ".pi/agent/.keep": "",
    ".qwen/.keep": "",
}
"""What a user had written for agents before they were connected, by the path in the home folder."""
