"""All registered formats with their test data: a data file for each, and recordings.

A data file `data/NAME.json` may have these members:

- `payloads`: payloads by name. They are read and written back; possible losses are listed in `losses`.
- `streams`: lists of events by name.
- `other_forms`: payloads in a form that `dump` does not write; `written_otherwise`: the starts
  of names of recordings in such a form.
- `adds`: members that `dump` writes where a payload had none, as paths with `*` for numbers.
- `keeps_steps`: a step is written even if none of its parts can be written.
- `text`: paths in events of text deltas; `not_split_beside`: members that belong to the whole
  event, so that its text cannot be split; `closes`: see `check_stream`.
- `cut_calls`: streams that end inside the input `{"place": "Slet…` of a call.
- `refused`: payloads that must be refused, and `damage`: unusual payloads that must be read.
- `losses`: possible losses of payloads and streams, as paths with `*` for numbers.
- `history` and `response`: for APIs of models, a request, and a response that continues it. What the API
  accepts is in `tests/rules`.
- `reads_streams_of`: the name of a format whose streams this format reads too.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from partita.formats.format import Format
from partita.formats.registry import all_formats
from partita.testing.full_conversation import full_conversation
from partita.types.json import Json, JsonObject, is_array, loads
from tests.recordings import ROOTS, Recording, recordings
from tests.sampling import picked, sampled

FEW: Final = 3
"""How many streams of another format are tested."""

DATA: Final = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Subject:
    """A format with its test data."""

    name: str

    @property
    def format(self) -> Format:
        """The format."""
        return all_formats()[self.name]

    @cached_property
    def data(self) -> JsonObject:
        """The data file."""
        found: JsonObject = loads((DATA / f"{self.name}.json").read_bytes())
        return found

    def payloads(self, one_in: int = 12) -> dict[str, Json]:
        """Return payloads that `load` reads: of the data file, recordings, and a written conversation."""
        found: dict[str, Json] = dict(self.data.get("payloads", {}))
        if "history" in self.data:
            found["history"] = self.data["history"]
        if self.format.load is None:
            return found
        if self.format.dump is not None:
            found["everything"] = written(self.name)
        for one in self._recordings(one_in):
            if one.path.suffix == ".json" or self.format.decoder is None:
                found[one.name] = payload_of(one)
        return found

    def streams(self, one_in: int = 12) -> dict[str, list[Json]]:
        """Return lists of events that the decoder reads."""
        if self.format.decoder is None:
            return {}
        if "reads_streams_of" in self.data:
            others = SUBJECTS[self.data["reads_streams_of"]].streams(one_in)
            return dict(picked(list(others.items()), FEW))
        found: dict[str, list[Json]] = dict(self.data.get("streams", {}))
        for one in self._recordings(one_in):
            if one.path.suffix == ".jsonl":
                events = payload_of(one)
                found[one.name] = events if is_array(events) else [events]
        return found

    def _recordings(self, one_in: int) -> list[Recording]:
        """Return all of our own recordings of the format, and one in `one_in` of the shared ones."""
        family, is_response = self.name.removesuffix("-response"), self.name.endswith("-response")
        own, *others = (
            [
                one
                for one in recordings(root)
                if one.format == family and (".response." in one.path.name or not is_response)
            ]
            for root in ROOTS
        )
        return [*own, *(one for some in others for one in sampled(some, one_in, lambda one: one.name))]


@cache
def payload_of(recording: Recording) -> Json:
    """Return the content of a recording."""
    return recording.payload()


@cache
def written(name: str) -> Json:
    """Return the full conversation in a format."""
    dump = all_formats()[name].dump
    assert dump is not None
    return dump(full_conversation()).payload


SUBJECTS: Final = {name: Subject(name) for name in all_formats()}
READ: Final = [name for name, one in SUBJECTS.items() if one.format.load or one.format.decoder]
WRITTEN: Final = [name for name, one in SUBJECTS.items() if one.format.dump]
BOTH_WAYS: Final = [name for name in WRITTEN if SUBJECTS[name].format.load]
STREAMED: Final = [name for name, one in SUBJECTS.items() if one.format.decoder]
