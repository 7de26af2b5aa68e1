"""Streams of runs: live, or replayed with their pauses; and the messages of a run at one point of it."""

from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from partita.errors import FormatError
from partita.formats.ag_ui.encoder import AgUiEncoder
from partita.formats.openai_chat.encoder import ChatEncoder
from partita.formats.registry import all_formats, get_dump, get_format
from partita.runtime.replay.message_chunks import is_imported
from partita.runtime.replay.playback import play_sse
from partita.runtime.replay.recorded_run import question_of
from partita.runtime.replay.stepper import Stepper
from partita.runtime.session.sse import EventFraming, follow_sse, last_event_seq
from partita.server.callers import ActingCaller, CallerView
from partita.server.endpoints import Header, Query, ResponseSpec, get
from partita.server.responses import EventStream
from partita.stream.sse import DONE
from partita.stream.targets import Target
from partita.types.json import Json
from partita.types.threads import Run

from .parameters import MAX_SEQ
from .runs import run_of

RAW: Final = "raw"
EVENTS: Final = ResponseSpec(
    "Server-sent events, one for each chunk, then `[DONE]`.", media_type="text/event-stream"
)

After: TypeAlias = Annotated[int, Query(ge=0, le=MAX_SEQ, description="Only chunks after this number.")]
Version: TypeAlias = Annotated[
    str | None,
    Query(
        description="The release of the AI SDK of the client, such as `7` or `5.0.92`; `raw` for chunks as "
        "they are stored.",
        max_length=40,
    ),
]
SdkVersion: TypeAlias = Annotated[
    str | None, Header(name="x-ai-sdk-version", description="The same as `version`.", max_length=40)
]
As: TypeAlias = Annotated[
    str | None,
    Query(
        name="as",
        description="The protocol of the events: `ai-sdk` (the default), `openai-chat` or `ag-ui`.",
        max_length=40,
    ),
]
LastEventId: TypeAlias = Annotated[
    str | None,
    Header(
        name="last-event-id",
        description="The id of the last event that was received. Browsers send it when they reconnect.",
    ),
]


@get("/api/runs/{run_id}/stream", tags=["runs"], summary="Stream a run", responses={200: EVENTS})
async def stream_run(
    *,
    caller: ActingCaller,
    run_id: str,
    after: After = 0,
    version: Version = None,
    sdk_version: SdkVersion = None,
    last_event_id: LastEventId = None,
    protocol: As = None,
) -> EventStream:
    """The stored chunks of a run, then those that arrive, until the run ends: server-sent events with ids. A
    client that reconnects with the id of its last event receives what follows. Disconnecting does not stop
    the run. An imported run has no stored chunks: replay it. `as` selects another protocol.
    """
    run = await _check_log(caller, run_id)
    settings = caller.state.settings
    events = follow_sse(
        caller.session,
        run_id,
        version=_target(caller, version or sdk_version),
        after=max(after, last_event_seq(last_event_id, run_id)),
        ids=True,
        keep_alive=settings.keep_alive,
        framing=_framing(protocol, run),
    )
    return EventStream(events, stall=settings.limits.stall_seconds)


@get("/api/runs/{run_id}/replay", tags=["runs"], summary="Replay a run", responses={200: EVENTS})
async def replay_run(
    *,
    caller: ActingCaller,
    run_id: str,
    speed: Annotated[
        float, Query(ge=0, description="1: the original speed; 10: ten times as fast; 0: without pauses.")
    ] = 1.0,
    after: After = 0,
    longest_pause: Annotated[
        float | None, Query(name="longestPause", ge=0, description="Pauses are at most so many seconds long.")
    ] = None,
    version: Version = None,
    sdk_version: SdkVersion = None,
    protocol: As = None,
) -> EventStream:
    """The chunks of a run with the pauses between them: the original ones, shorter ones, or none. An active
    run is then followed live. The chunks of an imported run are made from its messages.
    """
    run = await _check_log(caller, run_id)
    settings = caller.state.settings
    events = play_sse(
        caller.store,
        run_id,
        speed=speed,
        after=after,
        longest_pause=longest_pause,
        version=_target(caller, version or sdk_version),
        keep_alive=settings.keep_alive,
        framing=_framing(protocol, run),
    )
    return EventStream(events, stall=settings.limits.stall_seconds)


class RunSnapshot(msgspec.Struct, rename="camel"):
    """A run at one point."""

    run_id: str
    seq: Annotated[int, Meta(description="The number of the last chunk until then; 0 before the first one.")]
    place: Annotated[int, Meta(description="How many chunks there were until then.")]
    chunks: Annotated[int, Meta(description="How many chunks the run has now.")]
    time: Annotated[str | None, Meta(description="The time of the last chunk until then.")]
    messages: Annotated[Json, Meta(description="The messages at that point, in the requested format.")]
    question: Annotated[
        str | None, Meta(description="The id of the user's message that the run responds to.")
    ]


@get("/api/runs/{run_id}/at", tags=["runs"], summary="Get the messages of a run at one point")
async def run_at(
    caller: ActingCaller,
    run_id: str,
    seq: Annotated[
        int | None,
        Query(ge=0, le=MAX_SEQ, description="The number of a chunk. Default: the last one."),
    ] = None,
    format: Annotated[str, Query(description="The format of the messages.")] = "canonical",
    internal: Annotated[bool, Query(description="Include internal messages.")] = False,
) -> RunSnapshot:
    """The messages of a run, which may be imported, as they were after one of its chunks."""
    dump = get_dump(format, hint="GET /api/formats lists the formats")
    question = await question_of(caller.store, await _check_log(caller, run_id))
    stepper = await Stepper.open(caller.store, run_id)
    if seq is None:
        messages = stepper.finish()
    else:
        stepper.seek(seq)
        messages = stepper.snapshot()
    last = stepper.last
    return RunSnapshot(
        run_id,
        stepper.seq,
        stepper.position,
        len(stepper),
        None if last is None else last.time.isoformat(),
        dump([message for message in messages if internal or not message.internal]).payload,
        None if question is None else question.id,
    )


async def _check_log(caller: CallerView, run_id: str) -> Run:
    """The run. Raises before the response starts if it does not exist, or if its log was dropped."""
    run = await run_of(caller, run_id)
    if not is_imported(run):
        await caller.store.logs.read(run_id, limit=0)
    return run


def _target(caller: CallerView, version: str | None) -> Target | None:
    if version is None:
        return caller.state.settings.client
    return None if version == RAW else Target.parse(version)


# The protocols in which a run can be streamed

AI_SDK: Final = "ai-sdk"
"""The default: chunks, for a release of the AI SDK."""

CHAT: Final = "openai-chat"
AG_UI: Final = "ag-ui"


def _framing(protocol: str | None, run: Run) -> EventFraming | None:
    """The encoder of a run in a protocol; `None` for the chunks of the AI SDK."""
    if protocol in (None, AI_SDK):
        return None
    format_ = get_format(protocol or AI_SDK)
    if format_.name == AG_UI:
        return EventFraming(AgUiEncoder(run.thread_id, run.id, run.message_id))
    if format_.name == CHAT:
        created = 0 if run.created_at is None else int(run.created_at.timestamp())
        return EventFraming(ChatEncoder(model=run.agent, created=created, live=()), DONE)
    if format_.encoder is None:
        known = ", ".join([AI_SDK, *(one.name for one in all_formats().values() if one.encoder is not None)])
        raise FormatError(f"{format_.name} cannot be streamed", hint=f"use one of {known}")
    return EventFraming(format_.encoder())
