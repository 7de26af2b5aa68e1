"""To-do lists, plans, and questions to the user."""

from partita.types.json import Json, JsonObject, is_array, is_object

from .bodies import Prose
from .calls import Call, first_text, objects
from .card import Card, named
from .results import errors
from .rows import Row, Rows
from .text import counted, one_line

BOXES: dict[str, tuple[str, str]] = {
    "completed": ("[x]", "dim"),
    "done": ("[x]", "dim"),
    "in_progress": ("[>]", "bold"),
    "in-progress": ("[>]", "bold"),
    "active": ("[>]", "bold"),
    "cancelled": ("[-]", "dim"),
    "deleted": ("[-]", "dim"),
    "blocked": ("[!]", "yellow"),
}
OPEN = ("[ ]", "")
PLAN_ROWS = 12


def draw_list(call: Call) -> Card:
    """A list of things to do, with boxes; how many are done."""
    items = todos_of(call)
    boxes = [_box(item) for item in items]
    rows = [
        Row(one_line(_words(item)), style, f"{box} ", style, prose=True)
        for item, (box, style) in zip(items, boxes, strict=True)
    ]
    done = f"{sum(box == '[x]' for box, _ in boxes)} of {len(items)} done" if items else ""
    words = call.word("explanation", "subject", "description", "taskId")
    return Card(named("to do", words, 100), [Rows(rows), *errors(call)], notes=[done] if done else [])


def todos_of(call: Call) -> list[JsonObject]:
    """The things to do that a call names, wherever its agent puts them."""
    for name in ("todos", "plan", "items", "tasks"):
        found = objects(call.input.get(name))
        if found:
            return found
    told = call.detail("newTodos", "tasks", "todos")
    return objects(told)


def _words(item: JsonObject) -> str:
    return first_text(item, "content", "step", "text", "description", "subject", "title", "task") or "…"


def _box(item: JsonObject) -> tuple[str, str]:
    if item.get("completed") is True:
        return BOXES["completed"]
    return BOXES.get(first_text(item, "status", "state").lower(), OPEN)


def draw_question(call: Call) -> Card:
    """What the user was asked, the choices, and the answer."""
    questions = objects(call.input.get("questions")) or [call.input]
    answers: Json = call.detail("answers")
    rows: list[Row] = []
    for question in questions:
        words = first_text(question, "question", "text", "prompt", "message", "title")
        rows.append(Row(one_line(words), "bold", prose=True))
        rows.extend(_choices(question))
        answer = answers.get(words) if is_object(answers) else None
        if answer is not None:
            rows.append(Row(one_line(_answer(answer)), "green", "→ ", "green", prose=True))
    if not is_object(answers) and call.given.text and not call.failed:
        rows.append(Row(one_line(call.given.text, 400), "green", "→ ", "green", prose=True))
    count = len(questions)
    return Card(named("question" if count == 1 else counted(count, "question")), [Rows(rows), *errors(call)])


def _choices(question: JsonObject) -> list[Row]:
    options: Json = question.get("options") or question.get("choices")
    rows: list[Row] = []
    for option in options if is_array(options) else []:
        label = (
            option
            if isinstance(option, str)
            else first_text(option, "label", "text")
            if is_object(option)
            else ""
        )
        about = first_text(option, "description") if is_object(option) else ""
        rows.append(Row(one_line(f"{label}: {about}" if about else label), prefix="- ", prose=True))
    return rows


def _answer(answer: Json) -> str:
    return ", ".join(map(str, answer)) if is_array(answer) else str(answer)


def draw_plan(call: Call) -> Card:
    """The plan that was put to the user."""
    plan = call.word("plan") or first_text({"plan": call.detail("plan")}, "plan")
    body = [Prose(plan, call.look, PLAN_ROWS)] if plan else []
    return Card(named("plan"), [*body, *errors(call)])
