"""Commands of a shell: the command, its output and its exit code, for every agent."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.tool_views import Commit, ToolText

from .call_data import OUTPUT, CallData, Path, first_name, integer, parse_object, texts

SHELLS: Final = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash"})
SCRIPT_FLAGS: Final = frozenset({"-c", "-lc", "-ic"})

WALL_TIME: Final = re.compile(r"^Wall time: (?P<seconds>\d+(?:\.\d+)?) s(?:econds)?$", re.MULTILINE)
# The lines that agents write before the output, seen in recordings: Claude Code (`Exit code 1`),
# Codex' `shell` and its `exec_command`, which may still be running.
HEADS: Final = (
    re.compile(
        r"\AExit code:? (?P<code>-?\d+)(?:\nWall time: [^\n]*)?(?:\nTotal output lines: \d+)?(?:\n|\Z)"
        r"(?:Output:\n)?"
    ),
    re.compile(
        r"\A(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?Process exited with code (?P<code>-?\d+)(?:\n|\Z)"
        r"(?:Original token count: [^\n]*\n)?(?:Output:\n)?"
    ),
    re.compile(
        r"\A(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?(?P<running>Process running with session [^\n]*)"
        r"(?:\n|\Z)(?:Original token count: [^\n]*\n)?(?:Output:\n)?"
    ),
)
# Gemini CLI writes one line for each fact, the output among them.
LABELLED: Final = re.compile(r"^Exit Code: (?P<code>-?\d+)\s*$", re.MULTILINE)
# A command that begins in another folder: `cd src && make`.
CHANGE_FOLDER: Final = re.compile(
    r"""\A\s*cd\s+(?P<folder>"[^"\n]+"|'[^'\n]+'|(?:\\.|[^\s"'&;|()<>$`])+)[ \t]*"""
    r"""(?:&&|;|\n)\s*(?P<rest>\S.*)\Z""",
    re.DOTALL,
)
# What git prints for a commit: https://git-scm.com/docs/git-commit#_output
COMMITTED: Final = re.compile(
    r"^\[(?P<branch>detached HEAD|[^\s\]]+)(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\] (?P<subject>.+)$",
    re.MULTILINE,
)
COMMITS: Final = re.compile(r"\bgit\b[^\n|]*\bcommit\b(?P<options>[^\n|;&]*)")
PULL_REQUEST: Final = re.compile(
    r"https://[\w.-]+/[\w./-]+/(?:pull|merge_requests|pull-requests|pulls)/\d+(?=$|[\s)\]>,.])"
)
CREATES_PULL_REQUEST: Final = re.compile(r"\b(?:gh|glab|hub|tea)\b[^\n|]*\b(?:pr|mr|pull-request|pulls)\b")
MOST_COMMITS: Final = 50

CODES: Final = ("exitCode", "exit_code", "exit", "code", "return_code", "returncode")


class Result(NamedTuple):
    """The output of a command, and how it ended, as far as that is known."""

    output: ToolText | None = None
    errors: ToolText | None = None
    exit_code: int | None = None
    status: str = ""
    seconds: float | None = None


def command_of(data: CallData) -> str:
    """The command, without the shell that runs it."""
    members = (data.input.get(name) for name in ("command", "cmd", "script", "code"))
    given = next((value for value in members if value is not None), None)
    action: Json = data.input.get("action")  # a local shell call of OpenAI
    if given is None and is_object(action):
        given = action.get("command")
    if is_array(given):
        words = texts(given)
        is_script = len(words) == 3 and words[0] in SHELLS and words[1] in SCRIPT_FLAGS
        return words[2] if is_script else " ".join(words)
    if isinstance(given, str):
        return given
    named = data.input_text or data.word("chars", "input", "bash_id", "shell_id", "session_id")
    # Agents of the Agent Client Protocol may name the command only in the title, in backquotes.
    return named or ((data.part.title or "").strip("`") if data.acp else "")


def split_folder(command: str) -> tuple[str, str]:
    """A command without the `cd FOLDER &&` that it begins with, and that folder; empty if there is none."""
    found = CHANGE_FOLDER.match(command)
    if found is None:
        return command, ""
    folder = found["folder"]
    return found["rest"], folder[1:-1] if folder[0] in "\"'" else folder.replace("\\ ", " ")


def commits_of(command: str, output: str) -> tuple[Commit, ...]:
    """The commits that a command made, as git printed them."""
    called = COMMITS.search(command)
    if called is None:
        return ()
    amends = "--amend" in called["options"]
    found = COMMITTED.finditer(output)
    return tuple(
        Commit(hash=one["hash"], subject=one["subject"].strip(), branch=one["branch"], amends=amends)
        for one, _ in zip(found, range(MOST_COMMITS), strict=False)
    )


def pull_requests_of(command: str, output: str) -> tuple[str, ...]:
    """The addresses of pull requests that a command printed."""
    if CREATES_PULL_REQUEST.search(command) is None:
        return ()
    return tuple(dict.fromkeys(PULL_REQUEST.findall(output)))[:MOST_COMMITS]


def result_of(data: CallData) -> Result:
    """The output of a command, without the lines that the agent added."""
    if is_object(data.value):
        return _of_object(data.value, ("output", "value"))
    older = _older_object(data.text)
    if older is not None:
        return _of_object(older, None)
    terminal = _acp_terminal(data)
    if terminal is not None:
        return terminal
    result = _of_text(data.text)
    apart = _apart(data)
    note = data.detail("returnCodeInterpretation")
    return result._replace(
        output=apart.output if apart else result.output,
        errors=apart.errors if apart else None,
        exit_code=_find_code(found for _, found in data.details)
        if result.exit_code is None
        else result.exit_code,
        status=result.status or (note if isinstance(note, str) else ""),
    )


def _acp_terminal(data: CallData) -> Result | None:
    """The output of a terminal of the Agent Client Protocol, and how its command ended."""
    for path, found in data.details:
        if found.get("type") == "terminal" and isinstance(output := found.get("output"), str):
            status: Json = found.get("exitStatus")
            code = integer(status.get("exitCode")) if is_object(status) else None
            located = ToolText(path=(*path, "output")) if output.strip() else None
            return Result(located, exit_code=code)
    return None


def _apart(data: CallData) -> Result | None:
    """Standard output and standard error, where the agent keeps them apart and there is an error text."""
    for path, found in data.details:
        output, errors = found.get("stdout"), found.get("stderr")
        if isinstance(output, str) and isinstance(errors, str) and errors.strip():
            located = ToolText(path=(*path, "stdout")) if output.strip() else None
            return Result(located, ToolText(path=(*path, "stderr")))
    return None


def _find_code(places: Iterable[JsonObject]) -> int | None:
    codes = (integer(place.get(name)) for place in places for name in CODES)
    return next((code for code in codes if code is not None), None)


def _of_text(text: str) -> Result:
    for head in HEADS:
        found = head.match(text)
        if found is not None:
            groups = found.groupdict()
            code, time = groups.get("code"), WALL_TIME.search(found[0])
            return Result(
                output=_after(text, found.end()),
                exit_code=None if code is None else int(code),
                status=groups.get("running") or "",
                seconds=None if time is None else float(time["seconds"]),
            )
    labelled = LABELLED.search(text)
    return Result(_after(text, 0), exit_code=None if labelled is None else int(labelled["code"]))


def _after(text: str, end: int) -> ToolText | None:
    """The rest of an output after its head, which ends with a line."""
    if not text[end:].strip():
        return None
    return ToolText(path=OUTPUT.path, skip_lines=text.count("\n", 0, end)) if end else OUTPUT


def _of_object(value: JsonObject, path: Path | None) -> Result:
    """The result in an object. Without a path its texts are copied."""
    about: Json = value.get("metadata")
    places = [value, about] if is_object(about) else [value]

    def located(*names: str) -> ToolText | None:
        name = first_name(value, *names)
        if name is None:
            return None
        return ToolText(text=value[name]) if path is None else ToolText(path=(*path, name))

    seconds: Json = about.get("duration_seconds") if is_object(about) else None
    return Result(
        located("output", "stdout", "content"),
        located("stderr", "error"),
        _find_code(places),
        seconds=seconds if isinstance(seconds, float) else None,
    )


def _older_object(text: str) -> JsonObject | None:
    """The object that older versions of Codex wrote as the text of an output."""
    value = parse_object(text) if text.startswith('{"') else None
    return value if value is not None and "output" in value and is_object(value.get("metadata")) else None
