"""The context that an agent gets in a project, from the functions that hooks call, in this process."""

from __future__ import annotations

from onrecord.project import Project
from onrecord.recall import for_failure, for_file, for_prompt
from onrecord.recall.stores import Stores
from onrecord.session.transcript import NO_SESSION, Transcript
from onrecord.settings import load_settings


def prompt_context(project: Project, prompt: str, session: str = "s", transcript: Transcript = NO_SESSION) -> str:
    settings = load_settings(project.store.root)
    return for_prompt.answer(_stores(project), prompt, settings, session=session, transcript=transcript)


def file_context(project: Project, path: str, session: str = "s") -> str:
    return for_file.block(_stores(project), project.root, path, load_settings(project.store.root), session)


def failure_context(project: Project, command: str, error: str, session: str = "s") -> str:
    return for_failure.block(_stores(project), command, error, load_settings(project.store.root), session)


def _stores(project: Project) -> Stores:
    return Stores(project.store_refs, project.root)
