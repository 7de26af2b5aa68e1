"""The turns of a request while they are gathered, under the API's rules.

Neighbours of one role become one turn, every call that waits has its result in the very next turn, and
results come before words.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from partita.errors import ConversionError
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantPart, SystemPart, UserPart
from partita.types.parts import ForeignPart, TextPart
from partita.types.tools import ToolResultPart

from .outputs import missing_block, result_block
from .plain_steps import PlainStep
from .turns import Turn, assistant_turn, user_turn
from .words import ANTHROPIC, APART, FORM, INDEX, MESSAGES, PLACE, STRING, fields_of, own_of

OPENING: Final = "Go on."
"""What a talk begins with that begins with the model: the API insists on the user."""

HOISTED: Final = "the API takes instructions only before the talk"
NO_CALL: Final = "a result whose call is not right before it"
TRIMMED: Final = "the API takes no answer to go on with that ends in white space"
BEGUN: Final = "the API insists on a talk that the user begins"
JOINED: Final = "neighbours of one role are one turn"
ONLY_TEXT: Final = "instructions are text"


class Talk:
    """Turns, instructions, and what could not be put in them."""

    def __init__(self, served: frozenset[str] | None, *, is_faithful: bool = False) -> None:
        """`served` are the names of the server tools that are declared; `None` when nobody knows.

        A faithful talk is spelled as its messages say that they were, and tells where it joins turns.
        """
        self.system: list[JsonObject] = []
        self.turns: list[JsonObject] = []
        self.losses: list[Loss] = []
        self.is_opened = False
        """Whether a turn had to be put before all others."""
        self._served, self._is_faithful = served, is_faithful
        self._waiting: Collection[str] = ()
        """Calls of the last answer that wait for their results, in their order."""
        self._answered: Collection[str] = ()
        """Those that a server answered."""
        self._results: dict[str, tuple[Json, JsonObject]] = {}
        self._strings: set[int] = set()
        self._has_only_results = False

    def instruct(self, parts: Sequence[SystemPart], path: str, marks: JsonObject) -> int | None:
        """Take instructions. `path` is that of the parts."""
        self.settle()
        blocks = [
            block for index, part in enumerate(parts) if (block := self._line(part, f"{path}[{index}]"))
        ]
        if marks.get(PLACE) == MESSAGES and self._is_faithful:
            return self._say("system", blocks, path, {**marks, APART: True})
        if self.turns:
            self.losses.append(Loss(_message(path), "the place of the instructions", HOISTED, "repaired"))
        self.system += blocks
        return None

    def say(self, parts: Sequence[UserPart], path: str, marks: JsonObject) -> int | None:
        """Take what the user said; the number of its turn, if it begins one."""
        self.settle()
        return self._say("user", user_turn(parts, path, self.losses), path, marks)

    def reply(
        self,
        parts: Sequence[tuple[int, AssistantPart]],
        path: str,
        marks: JsonObject,
        results: Mapping[str, ToolResultPart],
    ) -> tuple[Turn, int | None]:
        """Take what the model said and did; `results` are those right behind it, by call."""
        self.settle()
        turn = assistant_turn(parts, path, self.losses, results, self._served)
        begun = self._say("assistant", turn.blocks, path, marks)
        self._waiting, self._answered = turn.waiting, turn.served
        return turn, begun

    def reply_plainly(self, step: PlainStep, path: str, marks: JsonObject) -> int | None:
        """Take what the model said and did, with the results of all its calls."""
        self.settle()
        self.losses += step.unsent
        begun = self._say("assistant", step.blocks, path, marks)
        self.losses += step.unlike
        self._waiting = step.results
        self._results = {call: (None, block) for call, block in step.results.items()}
        return begun

    def answer(self, results: Sequence[tuple[str, Json]]) -> None:
        """Take results, each with its path, for the calls of the last answer."""
        for path, part in results:
            if isinstance(part, ToolResultPart) and part.id in self._waiting and part.id not in self._results:
                own = own_of(part.provider_metadata) or {}
                self._results[part.id] = own.get(INDEX), result_block(part, path, self.losses)
            elif not (isinstance(part, ToolResultPart) and part.id in self._answered):
                self.losses.append(Loss.of(path, part, NO_CALL))

    @property
    def awaits_results(self) -> bool:
        """Whether the next turn begins with results."""
        return bool(self._waiting)

    def end(self) -> None:
        """Nothing more comes."""
        self.settle()
        if not self.turns:
            if self._is_faithful:
                return
            raise ConversionError(
                "no message to send", where="$", hint="give at least one that says something"
            )
        self._trim(self.turns[-1])
        for index in self._strings:
            match self.turns[index]["content"]:
                case [{"type": "text", "text": str(text), **rest}] if not rest:
                    self.turns[index]["content"] = text
                case _:
                    pass
        if self.turns[0]["role"] == "assistant":
            self.is_opened = True
            self.turns.insert(0, {"role": "user", "content": [{"type": "text", "text": OPENING}]})
            if self._is_faithful:
                self.losses.append(Loss("$", OPENING, BEGUN, "repaired"))

    def settle(self) -> None:
        """Give every call of the last answer its result, in the order of the calls or that they came in."""
        waiting, results = self._waiting, self._results
        self._waiting, self._answered, self._results = (), (), {}
        if not waiting:
            return
        indexes = {call: index for call, (index, _) in results.items() if isinstance(index, int)}
        calls = list(waiting)
        if indexes:
            order = {call: place for place, call in enumerate(calls)} | indexes
            calls.sort(key=order.__getitem__)
        self._say("user", [results[call][1] if call in results else missing_block(call) for call in calls])
        self._has_only_results = True

    def _say(
        self, role: str, blocks: list[JsonObject], path: str = "$", marks: JsonObject | None = None
    ) -> int | None:
        if not blocks:
            return None
        marks = marks or {}
        keeps = self._is_faithful
        had_only_results, self._has_only_results = self._has_only_results, False
        is_next = bool(self.turns) and self.turns[-1]["role"] == role
        if is_next and not (keeps and marks.get(APART)):
            if keeps and not had_only_results:
                self.losses.append(Loss(_message(path), "where the message begins", JOINED, "repaired"))
            self.turns[-1]["content"] += blocks
            return len(self.turns) - 1 if had_only_results else None
        self.turns.append({"role": role, "content": blocks, **(fields_of(marks) if keeps else {})})
        if keeps and marks.get(FORM) == STRING:
            self._strings.add(len(self.turns) - 1)
        return len(self.turns) - 1

    def _trim(self, last: JsonObject) -> None:
        """Words of the model that it goes on with may not end in white space."""
        block: JsonObject = last["content"][-1]
        if last["role"] == "assistant" and block["type"] == "text":
            trimmed = block["text"].rstrip()
            if trimmed != block["text"]:
                self.losses.append(Loss("$", "white space at the end", TRIMMED, "repaired"))
                last["content"][-1] = {**block, "text": trimmed}

    def _line(self, part: SystemPart, path: str) -> JsonObject | None:
        match part:
            case TextPart():
                turn = Turn(path, self.losses)
                turn.text(part, "")
                return turn.blocks[0] if turn.blocks else None
            case ForeignPart(format=format, value={"type": str()}) if format == ANTHROPIC:
                return dict(part.value)
            case _:
                self.losses.append(Loss.of(path, part, ONLY_TEXT))
                return None


def _message(path: str) -> str:
    return path.removesuffix(".content.parts")
