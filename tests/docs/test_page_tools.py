"""The helpers that read, check and run the blocks of the documentation."""

from pathlib import Path

import pytest

from tests.tables import each_row

from .blocks import ROOT, Block, read_blocks
from .command_checks import can_run, check_command, read_commands
from .console_blocks import Step, matches, read_steps
from .shell import Shell, keeps_running
from .test_languages import CHECKS, YAML
from .test_scripts import type_errors

PAGE = """
1. In a list:

    ```python file=tools/bell.py
    def ring():
        return "dong"
    ```

````text
```json
````

```console background
$ partita serve
```
""".splitlines()


def test_blocks_are_found_in_lists_and_around_other_fences() -> None:
    found = list(read_blocks(ROOT / "page.md", PAGE))
    assert [(block.language, block.line, block.file, block.marks) for block in found] == [
        ("python", 4, "tools/bell.py", frozenset()),
        ("text", 9, None, frozenset()),
        ("console", 13, None, {"background"}),
    ]
    assert found[0].text == 'def ring():\n    return "dong"\n'
    assert found[1].text == "```json\n"


def test_a_console_block_is_split_into_commands_and_their_outputs() -> None:
    text = "$ partita search \\\n    lamp\nfound\n\n2 more\n$ true\n"
    assert list(read_steps(text)) == [
        Step("partita search \\\n    lamp", "found\n\n2 more"),
        Step("true", ""),
    ]


OUTPUTS = {
    "the same": ("a\nb", "a\nb\n", True),
    "spaces at the ends of lines": ("a\nb", "a  \nb\n\n", True),
    "another line": ("a\nb", "a\nc\n", False),
    "an additional line": ("a", "a\nb\n", False),
    "a missing line": ("a\nb", "a\n", False),
    "any lines": ("a\n…\nz", "a\nb\nc\nz\n", True),
    "any lines match no line": ("a\n…\nz", "a\nz\n", True),
    "any text in a line": ("at …, done", "at 12:30, done\n", True),
    "any text does not match a line break": ("at …, done", "at 12:30\n, done\n", False),
    "no output": ("", "", True),
    "unexpected output": ("", "a\n", False),
    "characters of regular expressions are literal": ("(a.b)*", "(axb)\n", False),
}


@each_row(("expected", "output", "is_match"), OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_is_compared_with_the_page(expected: str, output: str, is_match: bool) -> None:
    assert matches(expected, output) is is_match


def test_a_shell_keeps_its_folder_its_variables_and_the_last_exit_code(shell: Shell) -> None:
    shell.write("inner/note.txt", "at /home/ada\n")
    assert shell.run("cd inner && export WORD=oil").code == 0
    assert shell.run('echo "$WORD" && cat note.txt; pwd; false').output == (
        "oil\nat /home/ada\n/home/ada/desk/inner\n"
    )
    assert shell.run("echo $?").output == "1\n"


def test_a_shell_runs_the_partita_under_test(shell: Shell) -> None:
    output = shell.run("partita formats | head -n 1; partita show nothing; echo $?").output
    assert output.splitlines()[0].startswith("canonical")
    assert output.splitlines()[-1] == "1"
    assert "error: " in output


def test_a_shell_waits_for_the_output_of_a_command_that_keeps_running(shell: Shell) -> None:
    output = shell.start("while true; do echo tick; sleep 0.1; done", "tick\n…\ntick")
    assert output.startswith("tick\n")
    assert shell.run("echo meanwhile").output == "meanwhile\n"


KEEP_RUNNING = {
    "partita": False,  # without a terminal it only prints help
    "partita serve --port 7272": True,
    "partita watch": True,
    "sleep 9 &": True,
    "partita serve --help": False,
    "partita threads": False,
    "true && false": False,
}


@each_row(("command", "expected"), KEEP_RUNNING.items())
def test_commands_that_keep_running_are_known(command: str, expected: bool) -> None:
    assert keeps_running(command) is expected


def test_each_line_of_an_sh_block_is_a_command() -> None:
    text = "# first\npartita import \\\n  --agent codex   # one\n\nmake run\n"
    first, second = read_commands(text)
    assert (first.split(), can_run(first)) == (["partita", "import", "--agent", "codex", "#", "one"], True)
    assert (second, can_run(second)) == ("make run", False)


@each_row(
    "command",
    [
        "make run",
        "pip install 'partita[postgres]'",
        "pip install '../..[postgres]' fastapi",
        "npm install ai @ai-sdk/react",
        "npx create-next-app@16 web && npm install --prefix web ai@7",
        "git clone there && cd there && make test",
        "PARTITA_STORE=x partita import --agent codex | cat",
        "claude mcp add partita -- partita import --json",
    ],
)
def test_a_command_that_names_existing_things_passes(command: str) -> None:
    check_command(command)


@each_row(
    ("command", "error"),
    [
        ("make coffee", "no target coffee"),
        ("pip install 'partita[coffee]'", "unknown extra coffee"),
        ("pip install coffee", "unknown package coffee"),
        ("npm install @coffee/cup", "unknown package @coffee/cup"),
        ("partita brew", "no command brew"),
        ("cd there; partita import --hot", "--hot"),
        ("claude mcp add partita -- partita brew", "no command brew"),
        ("brew coffee", "unknown program brew"),
    ],
)
def test_a_command_that_names_something_unknown_fails(command: str, error: str) -> None:
    with pytest.raises(AssertionError, match=error):
        check_command(command)


INVALID = {
    "json": "{'a': 1}",
    "jsonl": '{"a": 1}\n{',
    "toml": "a = ",
    "yaml": "a: [",
    "python": "def",
    "nginx": "server { listen 80; ",
    "caddyfile": "}{",
    "console": "partita threads",
    "dockerfile": "from here",
    "xml": "<a>",
}


@each_row(("language", "text"), INVALID.items(), ids=INVALID)
def test_a_block_that_is_not_valid_in_its_language_fails(language: str, text: str) -> None:
    with pytest.raises((ValueError, AssertionError, SyntaxError, YAML.YAMLError)):
        CHECKS[language](text)


def script(line: int, text: str) -> Block:
    return Block(ROOT / "docs/page.md", line, "tsx", frozenset(), None, text)


def test_a_script_with_wrong_types_fails(tmp_path: Path) -> None:
    good = (
        "import { useChat } from '@ai-sdk/react'; export const C = () => <b>{useChat().messages.length}</b>;"
    )
    bad = "import { useChat } from '@ai-sdk/react'; useChat({ id: 1 });"
    errors = type_errors(tmp_path, [script(1, good), script(2, bad)])
    assert "line-2.tsx" in errors
    assert "line-1.tsx" not in errors
