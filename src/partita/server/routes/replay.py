"""A run watched: while it goes on, once more as it was, or at one point of it."""

from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from partita.errors import FormatError
from partita.formats.registry import get_format
from partita.runtime.replay.message_chunks import is_imported
from partita.runtime.replay.playback import play_sse
from partita.runtime.replay.stepper import Stepper
from partita.runtime.session.sse import follow_sse, last_event_seq
from partita.server.callers import ActingCaller, CallerView
from partita.server.dialects.dialect import framing_for
from partita.server.endpoints import Header, Query, ResponseSpec, get
from partita.server.responses import EventStream
from partita.stream.targets import Target
from partita.types.json import Json
from partita.types.threads import Run

from .runs import run_of

LARGEST_SEQ: Final = 2**53
RAW: Final = "raw"
EVENTS: Final = ResponseSpec(
    "Server-sent events: a chunk each, then `[DONE]`.", media_type="text/event-stream"
)

After: TypeAlias = Annotated[
    int, Query(ge=0, le=LARGEST_SEQ, description="Only what comes after this number.")
]
Version: TypeAlias = Annotated[
    str | None,
    Query(
        description="The release of the AI SDK that reads it, `7` or `5.0.92`; `raw`: as it is stored.",
        max_length=40,
    ),
]
SdkVersion: TypeAlias = Annotated[
    str | None, Header(name="x-ai-sdk-version", description="The same as a header.", max_length=40)
]
As: TypeAlias = Annotated[
    str | None,
    Query(
        name="as",
        description="In whose words: `ai-sdk` if nothing is said, `openai-chat` or `ag-ui`.",
        max_length=40,
    ),
]
LastEventId: TypeAlias = Annotated[
    str | None,
    Header(name="last-event-id", description="The last event that was seen: a browser says it itself."),
]


# While it goes on


@get("/api/runs/{run_id}/stream", tags=["runs"], summary="A run as it goes on", responses={200: EVENTS})
async def stream_run(
    *,
    caller: ActingCaller,
    run_id: str,
    after: After = 0,
    version: Version = None,
    sdk_version: SdkVersion = None,
    last_event_id: LastEventId = None,
    told_as: As = None,
) -> EventStream:
    """What was said, then what comes, until the run ends, as server-sent events with ids. Who comes back
    with the last id goes on there. To leave does not stop the run. An imported run has no chunks of its own:
    a replay tells it. With `as` it is told in the events of another protocol.
    """
    run = await _check_log(caller, run_id)
    framing = framing_for(told_as, run)
    settings = caller.state.settings
    events = follow_sse(
        caller.session,
        run_id,
        version=_target(caller, version or sdk_version),
        after=max(after, last_event_seq(last_event_id, run_id)),
        ids=True,
        keep_alive=settings.keep_alive,
        framing=framing,
    )
    return EventStream(events, stall=settings.limits.stall_seconds)


# Once more


@get("/api/runs/{run_id}/replay", tags=["runs"], summary="A run once more", responses={200: EVENTS})
async def replay_run(
    *,
    caller: ActingCaller,
    run_id: str,
    speed: Annotated[
        float, Query(ge=0, description="1: as it was, 10: ten times as fast, 0: at once.")
    ] = 1.0,
    after: After = 0,
    longest_pause: Annotated[
        float | None, Query(name="longestPause", ge=0, description="No pause is longer, in seconds.")
    ] = None,
    version: Version = None,
    sdk_version: SdkVersion = None,
    told_as: As = None,
) -> EventStream:
    """The chunks of a run with the pauses that there were, shorter ones, or none. A run that is still at
    work is followed from there on. Of an imported run, its messages are told once more.
    """
    run = await _check_log(caller, run_id)
    framing = framing_for(told_as, run)
    settings = caller.state.settings
    events = play_sse(
        caller.store,
        run_id,
        speed=speed,
        after=after,
        longest_pause=longest_pause,
        version=_target(caller, version or sdk_version),
        keep_alive=settings.keep_alive,
        framing=framing,
    )
    return EventStream(events, stall=settings.limits.stall_seconds)


# At one point


class MomentOfRun(msgspec.Struct, rename="camel"):
    """A run as it was at one point."""

    run_id: str
    seq: Annotated[int, Meta(description="The number of the last chunk that had come; 0 before the first.")]
    place: Annotated[int, Meta(description="How many chunks had come.")]
    chunks: Annotated[int, Meta(description="How many there are in all, as far as the run has come now.")]
    time: Annotated[str | None, Meta(description="When the last of them came.")]
    messages: Annotated[Json, Meta(description="The messages as they were, in the format asked for.")]


@get("/api/runs/{run_id}/at", tags=["runs"], summary="A run at one point")
async def run_at(
    caller: ActingCaller,
    run_id: str,
    seq: Annotated[
        int | None,
        Query(ge=0, le=LARGEST_SEQ, description="The number of a chunk; without it, the end."),
    ] = None,
    format: Annotated[str, Query(description="The format of the messages.")] = "canonical",
    internal: Annotated[bool, Query(description="Internal messages too.")] = False,
) -> MomentOfRun:
    """The messages of a run as they were when a chunk had just come, imported runs included."""
    dump = get_format(format).dump
    if dump is None:
        raise FormatError(f"{format} can be read but not written", hint="GET /api/formats tells which can")
    await _check_log(caller, run_id)
    stepper = await Stepper.open(caller.store, run_id)
    if seq is None:
        messages = stepper.finish()
    else:
        stepper.seek(seq)
        messages = stepper.snapshot()
    last = stepper.last
    return MomentOfRun(
        run_id,
        stepper.seq,
        stepper.position,
        len(stepper),
        None if last is None else last.time.isoformat(),
        dump([message for message in messages if internal or not message.internal]).payload,
    )


async def _check_log(caller: CallerView, run_id: str) -> Run:
    """Say before the answer begins that there is no such run, or that its log was dropped."""
    run = await run_of(caller, run_id)
    if not is_imported(run):
        await caller.store.logs.read(run_id, limit=0)
    return run


def _target(caller: CallerView, version: str | None) -> Target | None:
    if version is None:
        return caller.state.settings.client
    return None if version == RAW else Target.parse(version)
