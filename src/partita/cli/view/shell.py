"""Commands of a shell: what was run, what it printed, how it ended."""

import re
from typing import NamedTuple

from rich.text import Text

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, is_array, is_object, loads

from .bodies import folded
from .calls import Call, first_text, whole_number
from .card import Card
from .results import value_rows
from .rows import Row, Rows
from .text import lines_of, one_line, safe

HEAD, TAIL = 6, 6
SHELLS = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash"})
SCRIPT_FLAGS = frozenset({"-c", "-lc", "-ic"})

# What agents put around the output of a command, by age and kind, before they show it to the model.
HEADS = (
    re.compile(
        r"\AExit code:? (?P<code>-?\d+)(?:\nWall time: [^\n]*)?(?:\nTotal output lines: \d+)?\n(?:Output:\n)?"
    ),
    re.compile(
        r"\A(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?Process exited with code (?P<code>-?\d+)\n"
        r"(?:Original token count: [^\n]*\n)?(?:Output:\n)?"
    ),
    re.compile(
        r"\A(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?(?P<running>Process running with session [^\n]*)\n"
        r"(?:Original token count: [^\n]*\n)?(?:Output:\n)?"
    ),
)
LABELLED = re.compile(r"^Exit Code: (?P<code>-?\d+)\s*$", re.MULTILINE)
CODES = ("exitCode", "exit_code", "exit", "code")


class Ran(NamedTuple):
    """What a command printed, and how it ended if anybody said so."""

    output: str
    code: int | None = None
    note: str = ""


def draw_shell(call: Call) -> Card:
    """`$ command`, the first and last lines it printed, and its exit code when it is not 0."""
    ran = result_of(call)
    title, more = _command_rows(command_of(call))
    printed = folded(lines_of(ran.output), call.look, HEAD, TAIL)
    if not printed and ran.code is None:
        printed = value_rows(call)
    folder = call.word("workdir", "cwd", "dir_path", "directory")
    notes = [
        f"in {call.look.path(folder)}" if folder.rstrip("/") not in ("", ".", call.look.project) else "",
        "in the background" if call.input.get("run_in_background") is True else "",
        one_line(ran.note, 80),
    ]
    return Card(
        title,
        [Rows([*more, *printed])],
        ending=f"exit {ran.code}" if ran.code not in (None, 0) else "",
        notes=notes,
        failed=ran.code not in (None, 0),
    )


def _command_rows(command: str) -> tuple[Text, list[Row]]:
    """The first line for the title, the others for below it."""
    first, *others = safe(command).strip("\n").split("\n")
    title = Text.assemble(("$ ", "bold green"), (first, "bold"))
    return title, [Row(line, "bold", "> ") for line in others]


def command_of(call: Call) -> str:
    """The command, without the shell around it."""
    given: Json = call.input.get("command", call.input.get("cmd", call.input.get("script")))
    action: Json = call.input.get("action")
    if given is None and is_object(action):
        given = action.get("command")
    if is_array(given):
        words = [word for word in given if isinstance(word, str)]
        if len(words) == 3 and words[0] in SHELLS and words[1] in SCRIPT_FLAGS:
            return words[2]
        return " ".join(words)
    return (
        given if isinstance(given, str) else call.words or call.word("chars", "input", "bash_id", "shell_id")
    )


def result_of(call: Call) -> Ran:
    """What the command printed, freed from what the agent put around it."""
    value = call.given.value
    text = call.given.text
    if not is_object(value) and text.startswith('{"'):
        value = _parsed(text)
    if is_object(value):
        return _of_object(value)
    ran = _of_text(text)
    code = ran.code if ran.code is not None else _told_code(call)
    note = call.detail("returnCodeInterpretation")
    return ran._replace(code=code, note=ran.note or (note if isinstance(note, str) else ""))


def _told_code(call: Call) -> int | None:
    return next((code for name in CODES if (code := whole_number(call.detail(name))) is not None), None)


def _of_text(text: str) -> Ran:
    for head in HEADS:
        match = head.match(text)
        if match is not None:
            found = match.groupdict()
            code = found.get("code")
            return Ran(text[match.end() :], None if code is None else int(code), found.get("running") or "")
    match = LABELLED.search(text)
    return Ran(text, None if match is None else int(match["code"]))


def _of_object(value: JsonObject) -> Ran:
    about: Json = value.get("metadata")
    codes = (value, about) if is_object(about) else (value,)
    code = next(
        (n for place in codes for name in CODES if (n := whole_number(place.get(name))) is not None), None
    )
    texts = [first_text(value, "output", "stdout", "content"), first_text(value, "stderr", "error")]
    return Ran("\n".join(text for text in texts if text), code)


def _parsed(text: str) -> Json:
    """The object that older agents wrote as the text of an output; nothing when it is not such a one."""
    try:
        value = loads(text)
    except DecodeError:
        return None
    return value if is_object(value) and "output" in value and is_object(value.get("metadata")) else None
