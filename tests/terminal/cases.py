"""The command lines that the tests run. Every command must have one."""

from dataclasses import dataclass

from .sample_data import THREAD

HOOK = b'{"transcript_path": "logs/5b0f6f0e-2f8e-4b52-9d3b-1a52ad1fb6a1.jsonl"}'
HELLO = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize",'
    b'"params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}\n'
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sessions","arguments":{}}}\n'
)


@dataclass(frozen=True)
class Case:
    """A command line, its input, and the expected kind of output."""

    words: str
    """The arguments, as in a shell."""

    code: int = 0
    given: bytes = b""
    """The standard input in a pipe. On a terminal, only Ctrl-D is typed."""

    json: bool | None = True
    """Whether it has --json; `None` if its output is always JSON."""

    colours: bool = False
    fits: bool = True
    """Whether its lines fit the width. Paths, scripts, JSON and logs are not wrapped."""

    stops_after: str = ""
    """The text after which Ctrl-C is pressed, for a command that runs until then."""

    silent: bool = False
    """Whether its standard output is empty."""


CASES: dict[str, list[Case]] = {
    "agents": [Case("agents", colours=True)],
    "backup": [
        Case("backup out.backup"),
        Case("backup --check store.db", 1, silent=True),
    ],
    "compact": [Case("compact")],
    "completion": [Case("completion bash", json=False, fits=False)],
    "config": [Case("config", colours=True), Case("config --json", json=None, fits=False)],
    "config edit": [Case("config edit --help", json=False, fits=False)],
    "config get": [Case("config get serve.port"), Case("config get store", fits=False)],
    "config init": [Case("config init", json=False, fits=False, silent=True)],
    "config path": [Case("config path", fits=False)],
    "config set": [Case("config set serve.port many", 1, json=False, silent=True)],
    "config trust": [Case("config trust --revoke", 1, json=False, silent=True)],
    "config unset": [Case("config unset serve.port", 1, json=False, fits=False, silent=True)],
    "convert": [
        Case("convert messages.json --to model", json=None, fits=False),
        Case("convert wrong.json --from ui --to model", 1, json=None, silent=True),
    ],
    "diff": [Case("diff last {other} --no-pager", colours=True)],
    "doctor": [Case("doctor", 1, colours=True)],
    "export": [
        Case(f"export {THREAD}", json=False, fits=False),
        Case(f"export {THREAD} --to jsonl", json=False, fits=False),
        Case("export --all --to html -o out", silent=True),
    ],
    "fixture": [Case("fixture last", json=None, fits=False), Case("fixture last -o run.json", silent=True)],
    "fold": [Case("fold stream.jsonl", json=None, fits=False)],
    "fork": [Case("fork moon last"), Case(f"fork {THREAD} 9999", 1, silent=True)],
    "formats": [Case("formats")],
    "hook": [Case("hook claude-code", given=HOOK, silent=True, fits=False)],
    "import": [
        Case("import logs/5b0f6f0e-2f8e-4b52-9d3b-1a52ad1fb6a1.jsonl --workers 1"),
        Case("import logs --workers 1"),
        Case("import logs --workers 1 --dry-run"),
        Case("import mastra.db --from mastra"),
        Case("import messages.json --from ui --thread t"),
        Case("import --demo"),
    ],
    "keys": [Case("keys --help", json=False, fits=False)],
    "keys create": [Case("keys create --role admin")],
    "keys list": [Case("keys list")],
    "keys revoke": [Case("keys revoke 0123456789abcdef", 1, json=False, silent=True)],
    "mcp": [Case("mcp", given=HELLO, json=None, fits=False)],
    "migrate": [Case("migrate --list"), Case("migrate --dry-run"), Case("migrate")],
    "open": [Case("open nobody-knows-it", 1, json=False, silent=True)],
    "pin": [Case(f"pin {THREAD}", silent=True)],
    "rename": [Case(f"rename {THREAD} Title", silent=True)],
    "replay": [
        Case("replay last --speed 20", colours=True),
        Case("replay last --at-once", colours=True),
    ],
    "reproject": [Case("reproject last --dry-run", colours=True), Case("reproject --all --dry-run")],
    "resume": [Case(f"resume {THREAD}", 1, silent=True)],
    "retention": [Case("retention --threads 1d"), Case("retention", silent=True)],
    "rm": [Case("rm nobody-knows-it --yes", 1, silent=True)],
    "runs": [Case("runs", colours=True), Case("runs --agent nobody", 1, silent=True)],
    "search": [Case("search evil", colours=True), Case("search nowhere-at-all", 1, silent=True)],
    "serve": [
        Case("serve --port 0 --no-import", json=False, stops_after="Partita is at"),
    ],
    "show": [
        Case(f"show {THREAD} --no-pager", colours=True),
        Case(f"show {THREAD} --full --internal --no-pager", colours=True),
        Case(f"show {THREAD} --to ui", json=None, fits=False),
        Case(f"show {THREAD} --raw", json=False, fits=False, silent=True),
        Case("show nobody-knows-it", 1, silent=True),
    ],
    "stats": [Case("stats --no-pager", colours=True), Case("stats --by agent", colours=True)],
    "tag": [Case(f"tag {THREAD} odd")],
    "threads": [Case("threads", colours=True), Case("threads --text nowhere-at-all", silent=True)],
    "tour": [Case("tour --fast", json=False, colours=True)],
    "watch": [Case("watch logs", stops_after=" messages", fits=False)],
}
EVERY = [case for cases in CASES.values() for case in cases]
