"""The options for sharing a thread."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from partita.formats.redaction.custom import Custom
from partita.formats.redaction.defaults import default_customs, default_kinds
from partita.formats.redaction.kinds import BY_NAME, WANTED
from partita.formats.redaction.redactor import Rules
from partita.formats.redaction.removal import Choice, Leaving
from partita.server.problems import Problem

ShareFormat: TypeAlias = Literal["html", "markdown", "json", "jsonl", "fixture"]


class CustomSecret(msgspec.Struct, forbid_unknown_fields=True):
    """Another text to replace."""

    text: Annotated[str, Meta(description="A text, or a pattern of letters, classes, `\\d` and quantifiers.")]
    pattern: bool = False


class RedactRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The secrets to replace."""

    kinds: Annotated[
        list[str] | None,
        Meta(description=f"Some of {', '.join(BY_NAME)}. Default: {', '.join(sorted(WANTED))}."),
    ] = None
    custom: list[CustomSecret] = []
    keep: Annotated[list[str], Meta(description="Ids of findings that are not replaced.")] = []

    def rules(self) -> Rules:
        """The rules for the redactor."""
        kinds = default_kinds() if self.kinds is None else frozenset(self.kinds)
        if unknown := sorted(kinds - BY_NAME.keys()):
            raise Problem(
                400,
                f"unknown kind of secret {unknown[0]!r}",
                where="redact.kinds",
                hint=f"use some of {', '.join(BY_NAME)}",
            )
        custom = tuple(Custom(one.text, one.pattern) for one in self.custom)
        always = default_customs() if kinds else ()  # without kinds, nothing is redacted
        return Rules(kinds, (*always, *custom), frozenset(self.keep))


class PartChoice(msgspec.Struct, forbid_unknown_fields=True):
    """A part of a message."""

    message: str
    path: Annotated[str, Meta(description="Its index, or `2.children.0.1` for a part of a sub-agent.")]


class LeaveOut(msgspec.Struct, forbid_unknown_fields=True):
    """What the file does not contain."""

    kinds: list[Leaving] = []
    messages: Annotated[list[str], Meta(description="Ids of messages.")] = []
    parts: list[PartChoice] = []

    def choice(self) -> Choice:
        """The choice for the remover."""
        return Choice(
            frozenset(self.kinds),
            frozenset(self.messages),
            frozenset((part.message, part.path) for part in self.parts),
        )


class WhichMessages(msgspec.Struct, forbid_unknown_fields=True):
    """The messages that the file contains."""

    only: Annotated[list[str] | None, Meta(description="Ids of messages. Default: all.")] = None
    internal: Annotated[bool, Meta(description="Include internal messages, which agents exchange.")] = False


class ShareRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The file to make of a thread."""

    format: ShareFormat
    target: Annotated[str, Meta(description="For `json` and `jsonl`: the format of the messages.")] = (
        msgspec.field(default="canonical", name="as")
    )
    redact: RedactRequest = msgspec.field(default_factory=RedactRequest)
    leave_out: LeaveOut = msgspec.field(default_factory=LeaveOut)
    messages: WhichMessages = msgspec.field(default_factory=WhichMessages)
