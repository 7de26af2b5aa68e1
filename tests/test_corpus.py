"""Cases with known results, recorded from the real packages."""

from partita.stream.state import Version
from partita.types.json import JsonObject
from tests.conformance.comparison import difference
from tests.harness import JOBS, run
from tests.recordings import cases
from tests.tables import each_row

VERSIONS: tuple[Version, ...] = (6, 7)
EXCLUDED = {
    "zod-dependent": "the result depends on the version of zod",
    "js-number": "numbers that a double cannot represent",
}


def known(job: str) -> list[JsonObject]:
    return [case for case in cases(f"ai-sdk/{job}.jsonl") if not EXCLUDED.keys() & set(case["tags"])]


@each_row("version", VERSIONS)
@each_row("job", sorted(JOBS))
def test_every_case_gives_the_result_of_the_real_package(job: str, version: Version) -> None:
    wrong = {
        case["id"]: found
        for case in known(job)
        if (found := difference(run(job, case, version), case["expected"][str(version)]))
    }
    assert not wrong
