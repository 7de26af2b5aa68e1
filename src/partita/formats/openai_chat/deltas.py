"""A choice of an answer: the next delta of it, or the whole message."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from partita.types.chunks import CustomChunk
from partita.types.json import Json, JsonObject, is_array, is_object

from .answer import Answer
from .details import visible_text
from .looking import is_empty, items, objects, word
from .media import picture

Form: TypeAlias = Literal["delta", "message"]
Take: TypeAlias = Callable[[Answer, Json, Form], bool]
"""Takes a field of a delta or a message; whether it was understood."""

OF_THE_CHOICE: Final = frozenset({"index", "delta", "message", "finish_reason", "logprobs", "text"})
"""What is read of a choice. `text` is what Together repeats of the delta."""

OF_THE_SPEAKER: Final = frozenset({"role", "index", "reasoning_content", "reasoning", "reasoning_details"})
"""What says who speaks, and the reasoning, which is read before the rest."""


def take_choice(answer: Answer, choice: JsonObject, forms: tuple[Form, ...]) -> bool:
    """Take a choice in the first of the `forms` that it has; whether all of it was understood."""
    answer.end_with(choice.get("finish_reason"))
    answer.note({key: value for key, value in choice.items() if key not in OF_THE_CHOICE})
    _take_logprobs(answer, choice.get("logprobs"))
    for form in forms:
        said = choice.get(form)
        if said is not None:
            return is_object(said) and _take_message(answer, said, form)
    return True


def _take_message(answer: Answer, said: JsonObject, form: Form) -> bool:
    understood = _take_reasoning(answer, said, form)
    for key, take in TAKERS.items():
        value = said.get(key)
        understood &= is_empty(value) or take(answer, value, form)
    answer.note(
        {key: value for key, value in said.items() if key not in TAKERS and key not in OF_THE_SPEAKER}
    )
    return understood


def _take_reasoning(answer: Answer, said: JsonObject, form: Form) -> bool:
    """Take reasoning from the first place that has some: servers say the same in several."""
    details, reasoning = said.get("reasoning_details"), said.get("reasoning")
    answer.words.details.hear(details, whole=form == "message")
    places = {
        "reasoning_content": word(said, "reasoning_content"),
        "reasoning": word(reasoning, "content") if is_object(reasoning) else word(said, "reasoning"),
        "reasoning_details": visible_text(details),
    }
    field = next((field for field, words in places.items() if words), "")
    if field:
        answer.words.say("reasoning", places[field])
        answer.words.field = field
    return is_empty(reasoning) or bool(places["reasoning"])


def _take_logprobs(answer: Answer, logprobs: Json) -> None:
    if not is_object(logprobs):
        return
    answer.words.logprobs["text"].extend(items(logprobs.get("content")))
    answer.words.logprobs["refusal"].extend(items(logprobs.get("refusal")))
    rest = {key: value for key, value in logprobs.items() if key not in ("content", "refusal")}
    answer.note({"logprobs": {key: value for key, value in rest.items() if not is_empty(value)}})


def _content(answer: Answer, content: Json, form: Form) -> bool:
    """Text, or a list of items: Mistral changes between the two within one answer."""
    if isinstance(content, str):
        answer.words.say("text", content)
        return True
    taken = [_take_item(answer, item) for item in items(content)]
    return is_array(content) and all(taken)


def _take_item(answer: Answer, item: Json) -> bool:
    match item:
        case str(text) | {"type": "text", "text": str(text)}:
            answer.words.say("text", text)
        case {"type": "refusal", "refusal": str(text)}:
            answer.words.say("refusal", text)
        case {"type": "thinking", "thinking": thinking}:
            answer.words.signature = word(item, "signature") or answer.words.signature
            for piece in [thinking] if isinstance(thinking, str) else items(thinking):
                answer.words.say("reasoning", piece if isinstance(piece, str) else word(piece, "text"))
            answer.words.field = "thinking"
        case {"type": str(kind)}:
            if not picture(answer.outlet, item):
                namespace = answer.outlet.namespace
                answer.outlet.emit(CustomChunk(f"{namespace}.{kind}", {namespace: item}))
        case _:
            return False
    return True


def _refusal(answer: Answer, refusal: Json, form: Form) -> bool:
    answer.words.say("refusal", refusal if isinstance(refusal, str) else "")
    return isinstance(refusal, str)


def _tool_calls(answer: Answer, calls: Json, form: Form) -> bool:
    """Pieces of calls; in a message every one is a call of its own."""
    answer.words.make_room()
    for place, call in enumerate(objects(calls)):
        answer.calls.take(call, answer.id, place if form == "message" else None)
    return is_array(calls) and all(map(is_object, calls))


def _function_call(answer: Answer, call: Json, form: Form) -> bool:
    if is_object(call):
        answer.calls.take_legacy(call)
    return is_object(call)


def _executed_tools(answer: Answer, tools: Json, form: Form) -> bool:
    for tool in objects(tools):
        answer.server_tools.take(tool, answer.id)
    return is_array(tools) and all(map(is_object, tools))


def _audio(answer: Answer, audio: Json, form: Form) -> bool:
    if is_object(audio):
        answer.audio.take(audio)
    return is_object(audio)


def _images(answer: Answer, images: Json, form: Form) -> bool:
    taken = [picture(answer.outlet, image) for image in items(images)]
    return is_array(images) and all(taken)


def _annotations(answer: Answer, annotations: Json, form: Form) -> bool:
    """Citations of pages become sources; others, such as files that were read, are kept to be sent back."""
    for annotation in items(annotations):
        cited = annotation.get("url_citation") if is_object(annotation) else None
        if is_object(cited) and word(cited, "url"):
            citation = answer.sources.cite(cited)
            answer.words.citations += [] if citation is None else [citation]
        else:
            answer.annotations.append(annotation)
    return is_array(annotations)


def _extra_content(answer: Answer, extra: Json, form: Form) -> bool:
    answer.words.extra["extra_content"] = extra
    return True


TAKERS: Final[Mapping[str, Take]] = {
    "content": _content,
    "refusal": _refusal,
    "tool_calls": _tool_calls,
    "function_call": _function_call,
    "executed_tools": _executed_tools,
    "audio": _audio,
    "images": _images,
    "annotations": _annotations,
    "extra_content": _extra_content,
}
"""The fields of a delta or a message, in the order they are told."""
