"""The test kit: what every agent service must do, as checks to run on yours.

CANDIDATE = Candidate(make=MyService, failing=lambda: MyService(broken=True))

@pytest.mark.parametrize("check", checks_for(CANDIDATE), ids=str)
async def test_my_service_keeps_the_contract(check: Check) -> None:
    await check(CANDIDATE)

`check_format` does the same for formats: it tries the laws that hold for every format.

And tests from real runs: `Replay` is what the pytest fixture `partita_replay` gives.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .candidate import Candidate as Candidate
    from .candidate import Check as Check
    from .candidate import ContractError as ContractError
    from .endpoint import Endpoint as Endpoint
    from .format_laws import LawError as LawError
    from .format_laws import check_format as check_format
    from .kit import CHECKS as CHECKS
    from .kit import check_service as check_service
    from .kit import checks_for as checks_for
    from .matching import RecordingError as RecordingError
    from .replay import Replay as Replay

_HOMES = {
    "Candidate": "candidate",
    "Check": "candidate",
    "ContractError": "candidate",
    "CHECKS": "kit",
    "check_service": "kit",
    "checks_for": "kit",
    "Endpoint": "endpoint",
    "LawError": "format_laws",
    "check_format": "format_laws",
    "RecordingError": "matching",
    "Replay": "replay",
}
"""Each name is loaded when it is first used: who replays a recording needs no kit, and no store."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
