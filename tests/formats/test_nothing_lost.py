"""Recorded payloads: every one converts to every format, and no leaf is lost in silence."""

from zlib import crc32

import pytest

from partita.errors import PartitaError
from partita.formats.converting import convert
from partita.formats.registry import all_formats
from tests.converting import silent, spelled
from tests.leaves import leaves
from tests.recordings import CORPORA, Recording, recordings
from tests.sampling import FULL, picked, sampled
from tests.tables import each_row

pytestmark = pytest.mark.skipif(not CORPORA.is_dir(), reason="the corpora are not here")

TARGETS = sorted(name for name, one in all_formats().items() if one.dump)
RECORDINGS: list[Recording] = recordings() if CORPORA.is_dir() else []


def named(recording: Recording) -> str:
    return recording.name


CONVERTED = sampled(RECORDINGS, 12, named)
CHANGED = sampled(RECORDINGS, 24, named)


def targets(recording: Recording) -> list[str]:
    """A few formats to convert a recording to: its own, where that can be written, and others by turns."""
    start = crc32(recording.name.encode())
    others = [TARGETS[(start + step) % len(TARGETS)] for step in (0, 7)]
    return sorted({*others, *([recording.format] if recording.format in TARGETS else [])})


@each_row("recording", CONVERTED, ids=named)
def test_a_recording_converts_to_anything(recording: Recording) -> None:
    payload = recording.payload()
    for target in TARGETS if FULL else targets(recording):
        convert(payload, recording.format, target)


@each_row("recording", CHANGED, ids=named)
def test_no_leaf_of_a_recording_is_lost_in_silence(recording: Recording) -> None:
    payload = recording.payload()
    some = picked(list(leaves(payload)), 8)
    for target in targets(recording):
        try:
            convert(payload, recording.format, target)
        except PartitaError:
            continue
        assert [spelled(path) for path in silent(payload, recording.format, target, some)] == []
