"""Arguments that several tools have."""

from typing import Annotated, TypeAlias

from msgspec import Meta

Agent: TypeAlias = Annotated[
    str | None, Meta(description='Only sessions of this agent, such as "claude-code" or "codex".')
]
Project: TypeAlias = Annotated[
    str | None,
    Meta(description='Only sessions of this project: the absolute path of its folder; "." is the one here.'),
]
Since: TypeAlias = Annotated[
    str | None,
    Meta(description='Not before this time: "2026-03-01", "2026-03-01T14:00Z", "today", "3h", "7d".'),
]
Until: TypeAlias = Annotated[str | None, Meta(description="Before this time, written likewise.")]
Cursor: TypeAlias = Annotated[str | None, Meta(description="next_cursor of the answer before, to read on.")]
SessionId: TypeAlias = Annotated[
    str,
    Meta(min_length=1, description='The id of a session, the beginning of one, or "last" for the newest.'),
]
