"""A run watched: while it goes on, once more as it was, or at one point of it."""

from typing import Annotated, Final, TypeAlias

import msgspec
from litestar import get
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, HeaderParameter, QueryParameter
from litestar.types import ControllerRouterHandler
from msgspec import Meta

from partita.errors import FormatError
from partita.formats.registry import get_format
from partita.runtime.replay.playing import play_sse
from partita.runtime.replay.retelling import is_imported
from partita.runtime.replay.stepping import Stepper
from partita.runtime.session.sse import follow_sse, place_of
from partita.server.forms import framing_for
from partita.server.hub import Caller
from partita.server.replies import Reply
from partita.server.streaming import EventStream
from partita.stream.targets import Target
from partita.types.json import Json
from partita.types.runs import Run

from .parameters import routes_for_callers
from .runs import run_of

LARGEST_SEQ: Final = 2**53
RAW: Final = "raw"
EVENTS: Final = {
    200: ResponseSpec(
        str,
        media_type="text/event-stream",
        description="Server-sent events: a chunk each, then `[DONE]`.",
        generate_examples=False,
    )
}

After: TypeAlias = Annotated[
    int, QueryParameter(ge=0, le=LARGEST_SEQ, description="Only what comes after this number.")
]
Version: TypeAlias = Annotated[
    str | None,
    QueryParameter(
        description="The release of the AI SDK that reads it, `7` or `5.0.92`; `raw`: as it is stored.",
        max_length=40,
    ),
]
SdkVersion: TypeAlias = Annotated[
    str | None, HeaderParameter(name="x-ai-sdk-version", description="The same as a header.", max_length=40)
]
As: TypeAlias = Annotated[
    str | None,
    QueryParameter(
        name="as",
        description="In whose words: `ai-sdk` if nothing is said, `openai-chat` or `ag-ui`.",
        max_length=40,
    ),
]
LastEventId: TypeAlias = Annotated[
    str | None,
    HeaderParameter(
        name="last-event-id", description="The last event that was seen: a browser says it itself."
    ),
]


# While it goes on


@get("/api/runs/{run_id:str}/stream", tags=["runs"], summary="A run as it goes on", responses=EVENTS)
async def stream_run(
    *,
    caller: Caller,
    run_id: FromPath[str],
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
    settings = caller.hub.settings
    events = follow_sse(
        caller.session,
        run_id,
        version=_target(caller, version or sdk_version),
        after=max(after, place_of(last_event_id, run_id)),
        ids=True,
        keep_alive=settings.keep_alive,
        framing=framing,
    )
    return EventStream(events, stall=settings.limits.stall_seconds)


# Once more


@get("/api/runs/{run_id:str}/replay", tags=["runs"], summary="A run once more", responses=EVENTS)
async def replay_run(
    *,
    caller: Caller,
    run_id: FromPath[str],
    speed: Annotated[
        float, QueryParameter(ge=0, description="1: as it was, 10: ten times as fast, 0: at once.")
    ] = 1.0,
    after: After = 0,
    longest_pause: Annotated[
        float | None, QueryParameter(name="longestPause", ge=0, description="No pause is longer, in seconds.")
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
    settings = caller.hub.settings
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


@get("/api/runs/{run_id:str}/at", tags=["runs"], summary="A run at one point")
async def run_at(
    caller: Caller,
    run_id: FromPath[str],
    seq: Annotated[
        int | None,
        QueryParameter(ge=0, le=LARGEST_SEQ, description="The number of a chunk; without it, the end."),
    ] = None,
    format: Annotated[str, QueryParameter(description="The format of the messages.")] = "canonical",
    internal: Annotated[bool, QueryParameter(description="Internal messages too.")] = False,
) -> Reply[MomentOfRun]:
    """The messages of a run as they were when a chunk had just come, imported runs included."""
    dump = get_format(format).dump
    if dump is None:
        raise FormatError(f"{format} can be read but not written", hint="GET /api/formats tells which can")
    await _check_log(caller, run_id)
    stepper = await Stepper.open(caller.store, run_id)
    if seq is None:
        messages = stepper.ended()
    else:
        stepper.seek(seq)
        messages = stepper.snapshot()
    last = stepper.last
    moment = MomentOfRun(
        run_id,
        stepper.seq,
        stepper.place,
        len(stepper),
        None if last is None else last.time.isoformat(),
        dump([message for message in messages if internal or not message.internal]).payload,
    )
    return Reply(moment)


async def _check_log(caller: Caller, run_id: str) -> Run:
    """Say before the answer begins that there is no such run, or that its log was dropped."""
    run = await run_of(caller, run_id)
    if not is_imported(run):
        await caller.store.read_log(run_id, limit=0)
    return run


def _target(caller: Caller, version: str | None) -> Target | None:
    if version is None:
        return caller.hub.settings.client
    return None if version == RAW else Target.parse(version)


REPLAY: Final[list[ControllerRouterHandler]] = [routes_for_callers(stream_run, replay_run, run_at)]
