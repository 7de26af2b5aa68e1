"""What is known of a session besides its messages: a session file names it in its header or on every line."""

from datetime import datetime
from typing import NamedTuple


class SessionFacts(NamedTuple):
    """The folder, the repository and the program of a session, as far as they are known."""

    agent: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    git_commit: str | None = None
    git_repository: str | None = None
    model: str | None = None
    created_at: datetime | None = None
