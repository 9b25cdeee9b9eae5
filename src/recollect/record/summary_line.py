"""Essence: what a memory says, in one or two lines that stand alone, with its literal values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from recollect.record.memory import Memory
from recollect.text import cut

LONGEST = 420


def of(memory: Memory) -> str:
    """The rule itself, so that nobody has to open the file to learn it."""
    text = _BY_CATEGORY[memory.category](memory)
    return cut(" ".join(text.split()) or memory.title, LONGEST)


def _decision(memory: Memory) -> str:
    status = memory.text("status")
    mark = f" ({status})" if status in ("proposed", "deprecated") else ""
    return _sentences(_titled(memory, memory.text("decision")) + mark, _part("Why", memory.text("rationale"), 160))


def _constraint(memory: Memory) -> str:
    severity = memory.text("severity")
    mark = f" [{severity}]" if severity == "high" else ""
    instead = _part("Instead", memory.text("workarounds"), 150) or _part("Otherwise", memory.text("impact"), 120)
    return _sentences(_titled(memory, memory.text("rule")) + mark, instead)


def _preference(memory: Memory) -> str:
    examples = memory.content.get("examples")
    avoid = examples.get("avoid") if isinstance(examples, dict) else None
    avoided = "; ".join(item for item in avoid if isinstance(item, str)) if isinstance(avoid, list) else ""
    topic, value = memory.text("topic"), memory.text("value")
    said = f"{topic}: {value}" if topic and topic.lower() not in value.lower() else value
    return _sentences(_titled(memory, said), _part("Avoid", avoided, 100), _part("Why", memory.text("reason"), 120))


def _runbook(memory: Memory) -> str:
    steps = memory.lines("steps")
    numbered = " ".join(f"{number}. {step.rstrip('.')}." for number, step in enumerate(steps, 1))
    return _sentences(cut(_titled(memory, memory.text("trigger")), 130), f"→ {numbered}" if numbered else "")


def _tech_debt(memory: Memory) -> str:
    status = memory.text("status")
    done = " (resolved)" if status == "resolved" else " (will not be fixed)" if status == "wont_fix" else ""
    description = cut(_titled(memory, memory.text("description")), 240)
    return _sentences(description + done, _part("Fix", memory.text("suggested_fix"), 160))


def _session_summary(memory: Memory) -> str:
    left = memory.text("in_progress")
    return _sentences(
        cut(_titled(memory, memory.text("goal")), 150) + f" ({memory.text('outcome')})",
        _part("Left off at", left, 120),
        _part("Blocked by", memory.text("blockers"), 100),
        _part("Next", memory.text("next_actions"), 180),
    )


_BY_CATEGORY: Mapping[str, Callable[[Memory], str]] = {
    "decision": _decision,
    "constraint": _constraint,
    "preference": _preference,
    "runbook": _runbook,
    "tech_debt": _tech_debt,
    "session_summary": _session_summary,
}


def _titled(memory: Memory, text: str) -> str:
    """The text, led by the title where the title says something that the text does not."""
    words = {word for word in _words(memory.title) if len(word) > 2}
    said = set(_words(text))
    if len(text) < len(memory.title) or len(words - said) > len(words) / 3:
        return f"{memory.title}: {text}" if text else memory.title
    return text


def _words(text: str) -> list[str]:
    return "".join(char.lower() if char.isalnum() else " " for char in text).split()


def _part(label: str, text: str, longest: int) -> str:
    return f"{label}: {cut(text, longest)}" if text else ""


def _sentences(*parts: str) -> str:
    return " ".join(part if part[-1] in ".!?…。:]" else f"{part}." for part in (p.strip() for p in parts) if part)
