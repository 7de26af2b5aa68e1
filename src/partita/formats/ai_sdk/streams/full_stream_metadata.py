"""What the parts of `fullStream` say of a run → message metadata: usage, model, steps, errors, abort.

The SDK leaves this to the application (`messageMetadata` of `toUIMessageStream`) and drops it otherwise.
"""

from collections.abc import Callable
from typing import Final

from partita.formats.usages import add_usages, ai_sdk_usage
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage

KEPT: Final = {
    "start-step": frozenset({"warnings"}),
    "finish-step": frozenset({"usage", "finishReason", "rawFinishReason", "providerMetadata", "response"}),
    "finish": frozenset({"totalUsage", "rawFinishReason"}),
}
"""The members that metadata has a place for, by the type of the part."""

RESPONSE: Final = {"id": "responseId", "modelId": "model", "timestamp": "timestamp"}
"""The members of a response that metadata has a place for, and their names there."""


class StepMetadata:
    """Collects the metadata of a message: its last step, all usage and, if there are several, every step."""

    def __init__(self, error_text: Callable[[Json], str]) -> None:
        self._error_text = error_text
        self._errors: list[str] = []
        self._warnings: JsonObject = {}
        self._steps: list[JsonObject] = []
        self._usages: list[Usage] = []

    def __call__(self, part: JsonObject) -> JsonObject | None:
        """The metadata of the message, once its last part is here."""
        match part["type"]:
            case "start-step":
                warnings = part.get("warnings")
                self._warnings = {"warnings": warnings} if warnings else {}
            case "finish-step":
                self._add_step(part)
            case "error":
                self._errors.append(self._error_text(part.get("error")))
            case "abort":
                reason = {"reason": part["reason"]} if isinstance(part.get("reason"), str) else {}
                return {"ended": {"status": "cancelled", **reason}}
            case "finish":
                return self.finish(part)
            case _:
                pass
        return None

    def finish(self, part: JsonObject | None = None) -> JsonObject | None:
        """The metadata, with the `finish` part if there was one. It is returned once."""
        if part is None and not self._steps and not self._errors:
            return None
        end: JsonObject = {} if part is None else part
        total = end.get("totalUsage")
        usage = ai_sdk_usage(total) if is_object(total) and total else _sum(self._usages)
        metadata: JsonObject = {
            **(self._steps[-1] if self._steps else {}),
            **{key: end[key] for key in ("finishReason", "rawFinishReason") if end.get(key) is not None},
            **({} if usage is None else {"usage": to_json(usage)}),
            **({"steps": self._steps} if len(self._steps) > 1 else {}),
            **({"errors": self._errors} if self._errors else {}),
        }
        self._steps, self._usages, self._errors = [], [], []
        return metadata or None

    def _add_step(self, part: JsonObject) -> None:
        response, usage = part.get("response"), part.get("usage")
        step: JsonObject = {
            **{key: part[key] for key in KEPT["finish-step"] - {"usage", "response"} if part.get(key)},
            **{
                ours: response[theirs]
                for theirs, ours in RESPONSE.items()
                if is_object(response) and response.get(theirs) is not None
            },
            **self._warnings,
        }
        self._warnings = {}
        if is_object(usage) and usage:
            self._usages.append(ai_sdk_usage(usage))
            step["usage"] = to_json(self._usages[-1])
        if step:
            self._steps.append(step)


def _sum(usages: list[Usage]) -> Usage | None:
    return None if not usages else usages[0] if len(usages) == 1 else add_usages(usages)


def losses_in(part: JsonObject, key: str) -> list[str]:
    """The paths in a member that metadata has no place for; the member itself if there is no place for it."""
    if key not in KEPT.get(part["type"], ()):
        return [key]
    value = part[key]
    if key != "response" or not is_object(value):
        return []
    return [
        f"response.{name}" for name in value if name not in RESPONSE and value[name] not in (None, {}, [])
    ]
