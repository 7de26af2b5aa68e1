"""Recorded responses of real providers, served over HTTP, give the same messages as the recordings."""

from partita.formats.registry import get_format
from partita.types.chunks import CompleteEvent, ErrorEvent
from partita.types.json import JsonObject, dumps, loads
from tests.recordings import FAMILIES as FOLDERS
from tests.recordings import answers, cases_in, is_own, truth_about
from tests.runtime.scripted_server import JSON, ScriptedResponse, ScriptedServer
from tests.tables import each_row

from .families import FAMILIES, framed
from .service_calls import chunks, fold, raw

STEP = 4
"""One in four of the shared recordings without a wire format is used, and all of our own."""


def bodies(folder: str) -> dict[str, tuple[bytes, list[JsonObject]]]:
    """The bodies of a folder, and the events in each."""
    found: dict[str, tuple[bytes, list[JsonObject]]] = {}
    for number, path in enumerate(answers(folder, ".jsonl")):
        wire = path.parents[1] / "wire" / f"{path.stem}.sse"
        if is_own(path) or wire.exists() or number % STEP == 0:
            events = cases_in(path)
            found[path.stem] = (wire.read_bytes() if wire.exists() else framed(events), events)
    return found


SERVED = [folder for folder, name in FOLDERS.items() if name in FAMILIES]
"""The folders of the APIs that the runtime supports."""


@each_row("folder", SERVED)
async def test_streamed_recordings(folder: str) -> None:
    family, recordings = FAMILIES[FOLDERS[folder]], bodies(folder)
    decoder = get_format(family.format_name).decoder
    assert decoder is not None
    wrong: dict[str, str] = {}
    async with ScriptedServer(
        *(ScriptedResponse(body=body, piece=16_384) for body, _ in recordings.values())
    ) as server:
        service = family.service(server.address)
        for name, (body, recorded) in recordings.items():
            events = [event async for event in service.invoke("Hi")]
            reading = decoder()
            expected = [chunk for event in recorded for chunk in reading.feed(event)] + reading.finish()
            if fold(chunks(events)) != fold(expected):
                wrong[name] = "another message"
            elif raw(events) != body:
                wrong[name] = "other bytes"
            elif not isinstance(events[-1], CompleteEvent | ErrorEvent):
                wrong[name] = "no end"
        await service.aclose()
    assert not wrong


@each_row("folder", SERVED)
async def test_complete_recordings(folder: str) -> None:
    family = FAMILIES[FOLDERS[folder]]
    paths = answers(folder, ".response.json")
    others = [path for path in paths if not is_own(path)][::STEP]
    bodies = {path: loads(path.read_bytes()) for path in [*filter(is_own, paths), *others]}
    ends: dict[str, str] = {}
    plays = [ScriptedResponse(body=dumps(body), content_type=JSON) for body in bodies.values()]
    async with ScriptedServer(*plays) as server:
        service = family.service(server.address)
        for path in bodies:
            *_, last = [event async for event in service.invoke("Hi")]
            failed = bool(truth_about(path)["errors"])
            if isinstance(last, ErrorEvent) != failed:
                ends[path.name] = str(last)
        await service.aclose()
    assert not ends
