"""How somebody wants a thread shared."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from partita.formats.redaction.custom import Custom
from partita.formats.redaction.kinds import BY_NAME, WANTED
from partita.formats.redaction.redactor import Rules
from partita.formats.redaction.removal import Choice, Leaving
from partita.server.problems import Problem

ShareFormat: TypeAlias = Literal["html", "markdown", "jsonl", "fixture"]


class CustomSecret(msgspec.Struct, forbid_unknown_fields=True):
    """Something else that is to be replaced."""

    text: Annotated[str, Meta(description="A string, or a pattern: letters, classes, `\\d`, quantifiers.")]
    pattern: bool = False


class RedactRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Which secrets are looked for."""

    kinds: Annotated[
        list[str] | None,
        Meta(description=f"Of {', '.join(BY_NAME)}; unless said, {', '.join(sorted(WANTED))}."),
    ] = None
    custom: list[CustomSecret] = []
    keep: Annotated[list[str], Meta(description="Ids of findings that stay as they are.")] = []

    def rules(self) -> Rules:
        """The rules that are meant."""
        kinds = WANTED if self.kinds is None else frozenset(self.kinds)
        if unknown := sorted(kinds - BY_NAME.keys()):
            raise Problem(
                400,
                f"no kind of secret {unknown[0]!r}",
                where="redact.kinds",
                hint=f"there are {', '.join(BY_NAME)}",
            )
        custom = tuple(Custom(one.text, one.pattern) for one in self.custom)
        return Rules(kinds, custom, frozenset(self.keep))


class PartChoice(msgspec.Struct, forbid_unknown_fields=True):
    """A part of a message."""

    message: str
    path: Annotated[str, Meta(description="Its number, or `2.children.0.1` for one of a sub-agent.")]


class LeaveOut(msgspec.Struct, forbid_unknown_fields=True):
    """What stays here."""

    kinds: list[Leaving] = []
    messages: Annotated[list[str], Meta(description="Ids of messages.")] = []
    parts: list[PartChoice] = []

    def choice(self) -> Choice:
        """The choice that is meant."""
        return Choice(
            frozenset(self.kinds),
            frozenset(self.messages),
            frozenset((part.message, part.path) for part in self.parts),
        )


class WhichMessages(msgspec.Struct, forbid_unknown_fields=True):
    """Which messages of a thread leave at all."""

    only: Annotated[list[str] | None, Meta(description="Ids; all unless given.")] = None
    internal: Annotated[bool, Meta(description="What agents said among themselves, too.")] = False


class ShareRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A thread as a file."""

    format: ShareFormat
    target: Annotated[str, Meta(description="For `jsonl`: the format of the messages, one a line.")] = (
        msgspec.field(default="canonical", name="as")
    )
    redact: RedactRequest = msgspec.field(default_factory=RedactRequest)
    leave_out: LeaveOut = msgspec.field(default_factory=LeaveOut)
    messages: WhichMessages = msgspec.field(default_factory=WhichMessages)
