"""Cases with known answers: what the real packages gave for them."""

from partita.stream.state import Version
from partita.types.json import JsonObject
from tests.conformance.comparison import difference
from tests.harness import JOBS, run
from tests.recordings import cases
from tests.tables import each_row

VERSIONS: tuple[Version, ...] = (6, 7)
LEFT_OUT = {
    "zod-dependent": "another zod gives another result",
    "js-number": "numbers that do not survive a double",
}


def known(job: str) -> list[JsonObject]:
    return [case for case in cases(f"ai-sdk/{job}.jsonl") if not LEFT_OUT.keys() & set(case["tags"])]


@each_row("version", VERSIONS)
@each_row("job", sorted(JOBS))
def test_every_case_gives_what_the_real_package_gives(job: str, version: Version) -> None:
    wrong = {
        case["id"]: told
        for case in known(job)
        if (told := difference(run(job, case, version), case["expected"][str(version)]))
    }
    assert not wrong
