"""`partita fixture`: write a stored run as a recording that tests replay."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partita.errors import PartitaError, StoreError

from .blocking import opened_store
from .completion import complete_runs
from .options import resource_option, store_option
from .output import print_json, print_notice
from .view.text import json_escaped

if TYPE_CHECKING:
    from partita.runtime.recordings.redaction import CleanedRecording
    from partita.types.json import JsonObject


@click.command(
    short_help="Write a run as a recording for tests.",
    epilog="""\b
Examples:
  partita fixture last -o tests/recordings/weather.json
  partita fixture 0198a3c2 --hide "Ada Lovelace"  to stdout, without that name
  partita fixture last -o weather.json --json     print a JSON report
""",
)
@click.argument("run", shell_complete=complete_runs)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write. Default: stdout.",
)
@click.option("--hide", multiple=True, metavar="TEXT", help="Also replace this text everywhere.")
@store_option
@resource_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON report. Requires -o.")
def fixture(
    *,
    run: str,
    output: Path | None,
    hide: tuple[str, ...],
    url: str | None,
    resource: str | None,
    as_json: bool,
) -> None:
    """Write the model requests and responses of RUN as a recording for tests.

    RUN is an id, the beginning of one, or `last`; `partita runs` lists them. In a test, the fixture
    `partita_replay` serves the recording as a model, or as the API of its provider. Secrets are replaced. An
    existing recording is overwritten; any other existing file is not.
    """
    if as_json and output is None:
        raise click.UsageError("--json requires -o FILE")
    from partita.formats.redaction.custom import Custom
    from partita.formats.redaction.redactor import Rules
    from partita.runtime.recordings.recording import to_bytes, write_recording
    from partita.runtime.recordings.redaction import clean
    from partita.runtime.recordings.run_recording import record_run

    from .lookup import find_run

    if output is not None:
        _refuse_other_file(output)
    with opened_store(url, resource) as (store, wait):
        recording = wait(record_run(store, wait(find_run(store, run))))
    cleaned = clean(recording, Rules(custom=tuple(Custom(text) for text in hide)))
    if output is None:
        data, stdout = to_bytes(cleaned.recording), sys.stdout.buffer
        stdout.write(json_escaped(data) if stdout.isatty() else data)
    else:
        write_recording(output, cleaned.recording)
    if as_json:
        print_json(_report(cleaned, output))
    else:
        _print_report(cleaned, output)


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
    count = len(recording.exchanges)
    where = "" if output is None else f"{output}: "
    print_notice(f"{where}{count} {'response' if count == 1 else 'responses'} of run {recording.origin.id}")
    for finding in cleaned.findings:
        print_notice(f"replaced {finding.preview} with {finding.mark}, {finding.times} times")
    if not recording.is_http:
        print_notice("usable as a model only: the run called no API, or its HTTP requests were not recorded")


def _report(cleaned: "CleanedRecording", output: Path | None) -> "JsonObject":
    recording = cleaned.recording
    return {
        "run": recording.origin.id,
        "file": str(output),
        "answers": len(recording.exchanges),
        "endpoint": recording.is_http,
        "replaced": [
            {"kind": one.kind, "preview": one.preview, "mark": one.mark, "times": one.times}
            for one in cleaned.findings
        ],
    }


COMMAND = fixture
