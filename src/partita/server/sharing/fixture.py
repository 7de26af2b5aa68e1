"""A thread as a recording, for tests: its messages, and what was asked and answered, run by run."""

from partita.runtime.recordings.files import origin_of, written
from partita.runtime.recordings.recording import Recording
from partita.types.codec import to_json

from .cleaning import Cleaned


def fixture(cleaned: Cleaned) -> bytes:
    """The file. `partita_replay` serves it; see `partita fixture`, which writes the same of a run."""
    thread = cleaned.thread
    recording = Recording(
        origin=origin_of("thread", thread.id, agent=thread.agent, title=thread.title),
        exchanges=[exchange for run in cleaned.runs for exchange in run.exchanges],
        messages=[to_json(message) for message in cleaned.messages],
    )
    return written(recording)
