"""The test kit: checks that every agent service must pass, to run on your own.

CANDIDATE = Candidate(make=MyService, failing=lambda: MyService(broken=True))

@pytest.mark.parametrize("check", checks_for(CANDIDATE), ids=str)
async def test_my_service_keeps_the_contract(check: Check) -> None:
    await check(CANDIDATE)

`check_format` does the same for formats: it tests the laws that hold for every format.

`Replay` replays recorded runs in tests. The pytest fixture `partita_replay` returns one.
"""

from typing import TYPE_CHECKING

from partita.lazy import lazy_exports

if TYPE_CHECKING:
    from partita.runtime.recordings.recording import Exchange as Exchange
    from partita.runtime.recordings.recording import Origin as Origin
    from partita.runtime.recordings.recording import RecordedRequest as RecordedRequest
    from partita.runtime.recordings.recording import RecordedResponse as RecordedResponse
    from partita.runtime.recordings.recording import Recording as Recording

    from .contract import Candidate as Candidate
    from .contract import Check as Check
    from .contract import ContractError as ContractError
    from .endpoint import Endpoint as Endpoint
    from .endpoint import Incoming as Incoming
    from .endpoint import Outgoing as Outgoing
    from .format_laws import LawError as LawError
    from .format_laws import check_format as check_format
    from .providers import Provider as Provider
    from .replay import Replay as Replay
    from .request_matcher import RecordingError as RecordingError
    from .service_checks import CHECKS as CHECKS
    from .service_checks import check_service as check_service
    from .service_checks import checks_for as checks_for


# The same names at run time, by the module that defines them: each module is imported on first use.
EXPORTS: dict[str, tuple[str, ...]] = {
    "partita.runtime.recordings.recording": (
        "Exchange",
        "Origin",
        "RecordedRequest",
        "RecordedResponse",
        "Recording",
    ),
    "partita.testing.contract": (
        "Candidate",
        "Check",
        "ContractError",
    ),
    "partita.testing.endpoint": (
        "Endpoint",
        "Incoming",
        "Outgoing",
    ),
    "partita.testing.format_laws": (
        "LawError",
        "check_format",
    ),
    "partita.testing.providers": ("Provider",),
    "partita.testing.replay": ("Replay",),
    "partita.testing.request_matcher": ("RecordingError",),
    "partita.testing.service_checks": (
        "CHECKS",
        "check_service",
        "checks_for",
    ),
}

if not TYPE_CHECKING:  # type checkers would accept every name of a module with `__getattr__`
    __getattr__, __dir__, __all__ = lazy_exports(__name__, EXPORTS)
