"""Cases with known answers, where the folder that holds them is there."""

from pathlib import Path

import pytest

from partita.stream.rules import Version
from partita.types.json import JsonObject, loads
from tests.conformance.comparison import difference
from tests.harness import JOBS, run
from tests.tables import each_row

CORPUS = Path(__file__).parents[2] / "shared" / "corpora" / "ai-sdk"
VERSIONS: tuple[Version, ...] = (6, 7)
LEFT_OUT = {
    "zod-dependent": "another zod gives another result",
    "js-number": "numbers that do not survive a double",
}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpora are not here")


def cases(job: str) -> list[JsonObject]:
    lines = (CORPUS / f"{job}.jsonl").read_bytes().splitlines()
    return [case for case in map(loads, lines) if not LEFT_OUT.keys() & set(case["tags"])]


@each_row("version", VERSIONS)
@each_row("job", sorted(JOBS))
def test_every_case_gives_what_the_real_package_gives(job: str, version: Version) -> None:
    wrong = {
        case["id"]: told
        for case in cases(job)
        if (told := difference(run(job, case, version), case["expected"][str(version)]))
    }
    assert not wrong
