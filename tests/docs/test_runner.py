"""What reads and runs the blocks of the documentation does so, and sees when a page is wrong."""

from pathlib import Path

import pytest

from tests.tables import each_row

from .blocks import ROOT, Block, read_blocks
from .console import Step, matches, read_steps
from .sh import is_run, look_at, read_commands
from .shell import Shell, goes_on
from .test_languages import READ, YAML
from .test_scripts import check

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


def test_blocks_are_found_wherever_they_stand() -> None:
    found = list(read_blocks(ROOT / "page.md", PAGE))
    assert [(block.language, block.line, block.file, block.marks) for block in found] == [
        ("python", 4, "tools/bell.py", frozenset()),
        ("text", 9, None, frozenset()),
        ("console", 13, None, {"background"}),
    ]
    assert found[0].text == 'def ring():\n    return "dong"\n'
    assert found[1].text == "```json\n"


def test_steps_are_commands_and_what_is_below_them() -> None:
    text = "$ partita search \\\n    lamp\nfound\n\n2 more\n$ true\n"
    assert list(read_steps(text)) == [
        Step("partita search \\\n    lamp", "found\n\n2 more"),
        Step("true", ""),
    ]


PRINTED = {
    "the same": ("a\nb", "a\nb\n", True),
    "spaces at the ends of lines": ("a\nb", "a  \nb\n\n", True),
    "another line": ("a\nb", "a\nc\n", False),
    "a line more": ("a", "a\nb\n", False),
    "a line less": ("a\nb", "a\n", False),
    "any lines": ("a\n…\nz", "a\nb\nc\nz\n", True),
    "no lines for any": ("a\n…\nz", "a\nz\n", True),
    "anything in a line": ("at …, done", "at 12:30, done\n", True),
    "anything in a line is in one line": ("at …, done", "at 12:30\n, done\n", False),
    "nothing, and nothing was": ("", "", True),
    "nothing, but something was": ("", "a\n", False),
    "marks of patterns are themselves": ("(a.b)*", "(axb)\n", False),
}


@each_row(("expected", "printed", "same"), PRINTED.values(), ids=PRINTED)
def test_what_is_printed_is_compared(expected: str, printed: str, same: bool) -> None:
    assert matches(expected, printed) is same


def test_a_shell_keeps_its_folder_its_variables_and_the_last_code(shell: Shell) -> None:
    shell.write("inner/note.txt", "at /home/ada\n")
    assert shell.run("cd inner && export WORD=oil").code == 0
    assert shell.run('echo "$WORD" && cat note.txt; pwd; false').output == (
        "oil\nat /home/ada\n/home/ada/desk/inner\n"
    )
    assert shell.run("echo $?").output == "1\n"


def test_partita_on_the_path_is_the_real_one(shell: Shell) -> None:
    printed = shell.run("partita formats | head -n 1; partita show nothing; echo $?").output
    assert printed.splitlines()[0].startswith("canonical")
    assert printed.splitlines()[-1] == "1"
    assert "error: " in printed


def test_what_goes_on_is_waited_for_and_stopped_with_the_page(shell: Shell) -> None:
    said = shell.start("while true; do echo tick; sleep 0.1; done", "tick\n…\ntick")
    assert said.startswith("tick\n")
    assert shell.run("echo meanwhile").output == "meanwhile\n"


LASTING = {
    "partita": False,  # without a terminal it only says what there is
    "partita serve --port 7272": True,
    "partita watch": True,
    "sleep 9 &": True,
    "partita serve --help": False,
    "partita threads": False,
    "true && false": False,
}


@each_row(("command", "lasts"), LASTING.items())
def test_what_goes_on_is_known(command: str, lasts: bool) -> None:
    assert goes_on(command) is lasts


def test_commands_of_a_block_are_its_lines() -> None:
    text = "# first\npartita import \\\n  --agent codex   # one\n\nmake run\n"
    first, second = read_commands(text)
    assert (first.split(), is_run(first)) == (["partita", "import", "--agent", "codex", "#", "one"], True)
    assert (second, is_run(second)) == ("make run", False)


@each_row(
    "command",
    [
        "make run",
        "pip install 'partita[postgres]'",
        "npm install ai @ai-sdk/react",
        "git clone there && cd there && make test",
        "PARTITA_STORE=x partita import --agent codex | cat",
        "claude mcp add partita -- partita import --json",
    ],
)
def test_what_is_there_can_be_named(command: str) -> None:
    look_at(command)


@each_row(
    ("command", "missing"),
    [
        ("make coffee", "no target coffee"),
        ("pip install 'partita[coffee]'", "no extra coffee"),
        ("pip install coffee", "knows coffee"),
        ("npm install @coffee/cup", "has @coffee/cup"),
        ("partita brew", "no command brew"),
        ("cd there; partita import --hot", "--hot"),
        ("claude mcp add partita -- partita brew", "no command brew"),
        ("brew coffee", "what is brew"),
    ],
)
def test_what_is_not_there_cannot(command: str, missing: str) -> None:
    with pytest.raises(AssertionError, match=missing):
        look_at(command)


WRONG = {
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


@each_row(("language", "text"), WRONG.items(), ids=WRONG)
def test_a_block_that_is_not_what_it_says_is_seen(language: str, text: str) -> None:
    with pytest.raises((ValueError, AssertionError, SyntaxError, YAML.YAMLError)):
        READ[language](text)


def script(line: int, text: str) -> Block:
    return Block(ROOT / "docs/page.md", line, "tsx", frozenset(), None, text)


def test_a_script_that_does_not_fit_its_packages_is_seen(tmp_path: Path) -> None:
    good = (
        "import { useChat } from '@ai-sdk/react'; export const C = () => <b>{useChat().messages.length}</b>;"
    )
    bad = "import { useChat } from '@ai-sdk/react'; useChat({ id: 1 });"
    said = check(tmp_path, [script(1, good), script(2, bad)])
    assert "line-2.tsx" in said
    assert "line-1.tsx" not in said
