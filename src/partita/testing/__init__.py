"""The test kit: what every agent service must do, as checks to run on yours.

CANDIDATE = Candidate(make=MyService, failing=lambda: MyService(broken=True))

@pytest.mark.parametrize("check", checks_for(CANDIDATE), ids=str)
async def test_my_service_keeps_the_contract(check: Check) -> None:
    await check(CANDIDATE)
"""

from .candidate import Candidate as Candidate
from .candidate import Check as Check
from .candidate import ContractError as ContractError
from .kit import CHECKS as CHECKS
from .kit import check_service as check_service
from .kit import checks_for as checks_for
