"""`partita fixture`: write a stored run or thread as a recording that tests replay."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partita.errors import NotFoundError, PartitaError, StoreError
from partita.views.text import counted

from .blocking import opened_store
from .completion import complete_runs
from .options import replace_option, resource_option, store_option
from .output import print_json, print_notice
from .view.text import json_escaped

if TYPE_CHECKING:
    from partita.runtime.recordings.recording import Recording
    from partita.runtime.recordings.redaction import CleanedRecording
    from partita.store.store import Store
    from partita.types.json import JsonObject


@click.command(
    short_help="Write a run or thread as a recording for tests.",
    epilog="""\b
Examples:
  partita fixture last -o tests/recordings/weather.json
  partita fixture 0198a3c2 --replace "Ada Lovelace"  to stdout, without that name
  partita fixture last -o weather.json --json        print a JSON report
""",
)
@click.argument("run", metavar="RUN|THREAD", shell_complete=complete_runs)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write. Default: stdout.",
)
@replace_option
@store_option
@resource_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON report. Requires -o.")
def fixture(
    *,
    run: str,
    output: Path | None,
    replace: tuple[str, ...],
    url: str | None,
    resource: str | None,
    as_json: bool,
) -> None:
    """Write the model requests and responses of a run, or of all runs of a thread, as a recording for tests.

    RUN and THREAD are an id or the beginning of one; `last` is the newest run. `partita runs` and `partita
    threads` list them. In a test, the fixture `partita_replay` serves the recording as a model, or as the API
    of its provider. Secrets are replaced. An existing recording is overwritten, but no other file.
    """
    if as_json and output is None:
        raise click.UsageError("--json requires -o FILE")
    from partita.formats.redaction.custom import Custom
    from partita.formats.redaction.defaults import default_customs
    from partita.formats.redaction.redactor import Rules
    from partita.runtime.recordings.recording import to_bytes, write_recording
    from partita.runtime.recordings.redaction import clean

    if output is not None:
        _refuse_other_file(output)
    with opened_store(url, resource) as (store, wait):
        recording = wait(_record(store, run))
    cleaned = clean(recording, Rules(custom=(*default_customs(), *(Custom(text) for text in replace))))
    if output is None:
        data, stdout = to_bytes(cleaned.recording), sys.stdout.buffer
        stdout.write(json_escaped(data) if stdout.isatty() else data)
    else:
        write_recording(output, cleaned.recording)
    if as_json:
        print_json(_report(cleaned, output))
    else:
        _print_report(cleaned, output)


async def _record(store: "Store", given: str) -> "Recording":
    """Record the run with this id or the thread that begins with it, or else the run that begins with it."""
    from partita.runtime.recordings.run_recording import record_run, record_thread

    from .lookup import LAST, find_run, find_thread

    if given == LAST:
        return await record_run(store, await find_run(store, given))
    run = await store.runs.get(given)
    if run is not None:
        return await record_run(store, run)
    try:
        thread = await find_thread(store, given)
    except NotFoundError:
        return await record_run(store, await find_run(store, given))
    return await record_thread(store, thread)


def _refuse_other_file(path: Path) -> None:
    """Refuse to overwrite a file that is not a recording."""
    from partita.runtime.recordings.recording import read_recording

    if not path.exists():
        return
    try:
        read_recording(path)
    except PartitaError:
        raise StoreError(
            "the file exists and is not a recording", where=str(path), hint="use another name, or delete it"
        ) from None


def _print_report(cleaned: "CleanedRecording", output: Path | None) -> None:
    recording = cleaned.recording
    where = "" if output is None else f"{output}: "
    responses = counted(len(recording.exchanges), "response")
    print_notice(f"{where}{responses} of {recording.origin.kind} {recording.origin.id}")
    for finding in cleaned.findings:
        print_notice(f"replaced {finding.preview} with {finding.mark}, {finding.times} times")
    if not recording.is_http:
        print_notice("usable as a model only: the run called no API, or its HTTP requests were not recorded")


def _report(cleaned: "CleanedRecording", output: Path | None) -> "JsonObject":
    recording = cleaned.recording
    return {
        recording.origin.kind: recording.origin.id,
        "file": str(output),
        "answers": len(recording.exchanges),
        "endpoint": recording.is_http,
        "replaced": [
            {"kind": one.kind, "preview": one.preview, "mark": one.mark, "times": one.times}
            for one in cleaned.findings
        ],
    }


COMMAND = fixture
