"""Recorded payloads: every one converts to every format, and no leaf is lost in silence."""

from collections.abc import Sequence
from zlib import crc32

import pytest

from partita.errors import PartitaError
from partita.formats.converting import read, write
from partita.formats.registry import all_formats, get_format
from partita.types.json import Json, dumps
from tests.converting import spelled
from tests.leaves import changed, leaves
from tests.recordings import FIXTURES, ROOTS, Recording, recordings
from tests.sampling import FULL, picked, sampled

TARGETS = sorted(name for name, one in all_formats().items() if one.dump)
FORMATS = sorted({recording.format for recording in recordings(FIXTURES)})
LEAVES = 3
"""So many leaves of each recording are changed."""


def chosen(format_: str, one_in: int) -> list[Recording]:
    """All of our own recordings of a format, and about one in so many of the others."""
    own, *others = ([one for one in recordings(root) if one.format == format_] for root in ROOTS)
    return [*own, *(one for some in others for one in sampled(some, one_in, lambda one: one.name))]


def targets(recording: Recording) -> list[str]:
    """A few formats to convert a recording to: its own, where that can be written, and others by turns."""
    start = crc32(recording.name.encode())
    others = [TARGETS[(start + step) % len(TARGETS)] for step in ((0, 7) if FULL else (0,))]
    return sorted({*others, *([recording.format] if recording.format in TARGETS else [])})


def conversions(payload: Json, source: str, names: Sequence[str]) -> list[bytes | None]:
    """What conversions to formats give, with their losses; nothing where one is refused."""
    given = dumps(payload)
    try:
        loaded = read(payload, get_format(source))
    except PartitaError:
        return [None] * len(names)
    finally:
        assert dumps(payload) == given
    found: list[bytes | None] = []
    for name in names:
        try:
            dumped = write(loaded, get_format(name))
        except PartitaError:
            found.append(None)
        else:
            losses = [tuple(loss) for loss in (*loaded.losses, *dumped.losses)]
            found.append(dumps([dumped.payload, losses]))
    return found


def test_we_have_recordings_of_every_format_that_was_recorded() -> None:
    assert {recording.format for recording in recordings()} == set(FORMATS)


@pytest.mark.parametrize("format_", FORMATS)
def test_a_recording_converts_to_anything(format_: str) -> None:
    refused: dict[str, str] = {}
    for recording in chosen(format_, 12):
        loaded = read(recording.payload(), get_format(format_))
        if loaded.request is not None and not loaded.messages:
            continue  # a prompt that is stored elsewhere: APIs refuse a request without messages
        for target in TARGETS if FULL else targets(recording):
            try:
                write(loaded, get_format(target))
            except PartitaError as error:
                refused[f"{recording.name} to {target}"] = str(error)
    assert not refused


@pytest.mark.parametrize("format_", FORMATS)
def test_no_leaf_of_a_recording_is_lost_in_silence(format_: str) -> None:
    found = {recording.name: lost_leaves(recording) for recording in chosen(format_, 48)}
    assert {name: lost for name, lost in found.items() if lost} == {}


def lost_leaves(recording: Recording) -> list[str]:
    """Leaves whose change shows in neither the output nor the losses of a conversion, and is not refused."""
    payload, names = recording.payload(), targets(recording)
    before = conversions(payload, recording.format, names)
    lost: list[str] = []
    for path in picked(list(leaves(payload)), LEAVES):
        after = conversions(changed(payload, path), recording.format, names)
        for name, first, second in zip(names, before, after, strict=True):
            if first is not None and first == second:
                lost.append(f"{spelled(path)} in {name}")
    return lost
