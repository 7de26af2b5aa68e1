"""Whether someone must allow a call before it runs."""

import inspect

from partita.runtime.failures import report_failure
from partita.types.json import Json

from .tool import Tool


async def needs_approval(tool: Tool, input: Json) -> bool:
    """What the policy of a tool says about an input. In doubt someone is asked.

    A policy that raises is in doubt, and so is one that gives anything but `False`, such as one that forgot
    to return.
    """
    if not callable(tool.approval):
        return tool.approval != "never"
    try:
        answer: object = tool.approval(input)
        if inspect.isawaitable(answer):
            answer = await answer
    except Exception as error:
        report_failure(error, call_id=f"approval of {tool.name}", tool=tool.name)
        return True
    return answer is not False
