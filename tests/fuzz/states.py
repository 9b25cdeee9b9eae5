"""Every kind of harm that the fuzzer does, in the order in which it is done."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.fuzz import projects, stores
from tests.fuzz.harmed_project import HarmedProject

State = Callable[[Random, HarmedProject], None]
ALL: tuple[State, ...] = (
    # A copy of a project that works: what breaks things comes after it.
    projects.embedded_repository,
    stores.mutated_records,
    stores.hostile_texts,
    stores.broken_records,
    stores.large_records,
    stores.many_records,
    stores.odd_records,
    stores.odd_names,
    stores.odd_folders,
    stores.circles,
    stores.drafts,
    stores.anchored_files,
    stores.known_record_about_slow_file,
    stores.config,
    stores.index_md,
    stores.journal_and_lock,
    projects.transcript,
    projects.knowledge_banks,
    projects.features,
    projects.documents,
    projects.poisoned_cache,
    projects.poisoned_state,
    projects.git_programs,
    projects.git_files,
    projects.git_pointer,
    projects.no_git,
    stores.held_locks,
)
