"""At the end of a turn the records that the agent opened are counted."""

from __future__ import annotations

import json

from onrecord.usage.usage_log import per_record

ASKS = "users lose their login state after a deploy, where do we keep sessions?"


def line(role, content):
    return json.dumps({"type": role, "message": {"role": role, "content": content}}) + "\n"


def test_a_record_that_the_agent_opened_is_counted(hook, project, tmp_path):
    reply = hook("user_prompt_submit", prompt=ASKS)
    log = tmp_path / "t.jsonl"
    attached = {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [reply.context]}}
    answer = "Login state is in the table auth.sessions, with a 14 day expiry."
    opening = {"command": "onrecord show sessions-live-in-postgres-not-redis"}
    steps = [{"type": "tool_use", "id": "1", "name": "Bash", "input": opening}, {"type": "text", "text": answer}]
    log.write_text(line("user", ASKS) + json.dumps(attached) + "\n" + line("assistant", steps))

    hook("stop", transcript_path=str(log), last_assistant_message=answer, stop_hook_active=False)

    counts = per_record(project.store.root)["decisions/sessions-live-in-postgres-not-redis.json"]
    assert (counts.injected, counts.opened) == (1, 1)
