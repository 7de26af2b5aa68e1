"""What is redacted by default, and a test of it: for the user of this machine."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from partita.errors import PartitaError
from partita.formats.redaction.defaults import check_texts, custom_of, default_kinds
from partita.formats.redaction.kinds import KINDS
from partita.formats.redaction.redactor import Redactor, Rules
from partita.server.callers import Caller, require_local
from partita.server.endpoints import Body, get, post
from partita.server.problems import Problem
from partita.server.responses import Listing

TAGS: Final = ["settings"]


class RedactedKind(msgspec.Struct, rename="camel"):
    """A kind of secret."""

    name: str
    what: str
    is_always: Annotated[bool, Meta(description="Whether it is replaced without a setting.")]
    is_redacted: Annotated[bool, Meta(description="Whether it is replaced by default.")]


class RedactionTest(msgspec.Struct, forbid_unknown_fields=True):
    """A text to test the redaction with."""

    text: Annotated[str, Meta(max_length=20_000)]
    texts: Annotated[
        list[str], Meta(description="Other texts to replace, and patterns between slashes.", max_length=100)
    ] = []


class RedactedText(msgspec.Struct):
    """The text with its secrets replaced."""

    text: str
    replaced: int


@get("/api/redaction", tags=TAGS, summary="List the kinds of secrets that are redacted by default")
async def list_redacted_kinds(caller: Caller) -> Listing[RedactedKind]:
    """Every kind of secret that can be found, and whether shared files and exports leave it out by default
    (`export.secrets`). Only for the user of this machine.
    """
    require_local(caller.principal, "see the settings of this machine")
    redacted = default_kinds()
    return Listing(tuple(RedactedKind(one.name, one.what, one.wanted, one.name in redacted) for one in KINDS))


@post("/api/redaction/test", tags=TAGS, summary="Redact a text")
async def test_redaction(caller: Caller, data: Annotated[RedactionTest, Body()]) -> RedactedText:
    """A text as shared files and exports would have it, with these other texts instead of `export.replace`.
    Only for the user of this machine.
    """
    require_local(caller.principal, "test the settings of this machine")
    try:
        check_texts(data.texts)
    except PartitaError as error:
        raise Problem(400, error.what, where="export.replace", hint=error.hint) from None
    redactor = Redactor(Rules(custom=tuple(map(custom_of, data.texts))))
    redactor.text(data.text, "$")
    redactor.start_replacing()
    text = redactor.text(data.text, "$")
    return RedactedText(text, sum(one.times for one in redactor.findings))
