"""Those who tell what a rollout says, each of one matter. Items and events both turn to them."""

from typing import NamedTuple

from .answers import Answers
from .calls import Calls
from .prompts import Prompts
from .responses import Responses
from .spawns import Spawns
from .telling import Telling


class Crew(NamedTuple):
    """The tellers of one rollout."""

    telling: Telling
    prompts: Prompts
    responses: Responses
    answers: Answers
    calls: Calls
    spawns: Spawns


def crew_for(telling: Telling) -> Crew:
    """A crew that shares what is known of the record at hand."""
    prompts, responses = Prompts(telling), Responses(telling)
    answers, calls = Answers(telling, prompts, responses), Calls(telling, responses)
    return Crew(telling, prompts, responses, answers, calls, Spawns(telling))
