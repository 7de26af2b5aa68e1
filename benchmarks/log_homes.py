"""A home directory with logs of Claude Code: generated, or copies of the logs in a folder."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

from partita.types.json import JsonObject

from .store_messages import words

UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
SESSION = re.compile(rb'"sessionId": ?"([0-9a-f-]{36})"')
IDS = (b'"msg_', b'"toolu_', b'"req_')


def make_home(home: Path, size: int, source: Path | None) -> int:
    """Fill a home with about `size` bytes of logs. Returns the number of bytes."""
    total = number = 0
    while total < size:
        for name, data in logs_of(source) if source else generated(number):
            path = home / ".claude" / "projects" / f"-bench-{number}" / name_for(name, data, number)
            path.parent.mkdir(parents=True, exist_ok=True)
            renewed = renew(data, number)
            path.write_bytes(renewed)
            total += len(renewed)
            if total >= size:
                break
        number += 1
    return total


def logs_of(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The session files below a folder, unpacked."""
    for path in sorted(folder.rglob("*.jsonl*")):
        if "stream-json" in path.parts or "malformed" in path.parts:
            continue
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        if data:
            yield path.relative_to(folder), data


def name_for(name: Path, data: bytes, number: int) -> Path:
    """The path of a copy: sub-agents stay below their session."""
    stem = name.name.partition(".")[0]
    if stem.startswith("agent-"):
        above = [part for part in name.parts if UUID.fullmatch(part.encode())]
        folder = Path(_renewed(above[0].encode(), number).decode()) / "subagents" if above else Path()
        return folder / f"{stem}.jsonl"
    found = SESSION.search(data)
    old = found.group(1) if found else str(name).encode()
    return Path(f"{_renewed(old, number).decode()}.jsonl")


def renew(data: bytes, number: int) -> bytes:
    """The same log with other ids, so that it is not taken for a copy."""
    data = UUID.sub(lambda match: _renewed(match.group(), number), data)
    for prefix in IDS:
        data = data.replace(prefix, prefix + b"%dx" % number)
    return data


def _renewed(uuid: bytes, number: int) -> bytes:
    digest = hashlib.md5(uuid + b"%d" % number).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}".encode()


def generated(seed: int) -> Iterator[tuple[Path, bytes]]:
    """Sessions like those of a coding agent: prompts, responses, calls, outputs."""
    for number in range(20):
        random = Random(seed * 1000 + number)
        session = _renewed(b"%d" % number, seed).decode()
        yield Path(f"{session}.jsonl"), generated_session(random, session, random.randrange(5, 40))


def generated_session(random: Random, session: str, turns: int) -> bytes:
    """One session."""
    lines: list[bytes] = []
    parent: str | None = None

    def add(kind: str, message: JsonObject, **fields: object) -> None:
        nonlocal parent
        uuid = f"{random.getrandbits(32):08x}-0000-4000-8000-{random.getrandbits(48):012x}"
        seconds = len(lines)
        record = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/user/projects/lighthouse",
            "sessionId": session,
            "version": "2.1.98",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": uuid,
            "timestamp": f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.000Z",
            **fields,
        }
        lines.append(json.dumps(record).encode())
        parent = uuid

    for turn in range(turns):
        add("user", {"role": "user", "content": words(random, 200)})
        for step in range(random.randrange(1, 12)):
            message = {
                "id": f"msg_{session[:8]}{turn}s{step}",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5-20250929",
                "stop_reason": "tool_use",
                "usage": {"input_tokens": 5, "output_tokens": 100, "cache_read_input_tokens": 9000},
            }
            request = {"requestId": f"req_{session[:8]}{turn}s{step}"}
            call = f"toolu_{session[:8]}{turn}s{step}"
            add(
                "assistant", {**message, "content": [{"type": "text", "text": words(random, 300)}]}, **request
            )
            use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": words(random, 60)}}
            add("assistant", {**message, "content": [use]}, **request)
            output = words(random, random.randrange(50, 6000))
            result = {"type": "tool_result", "tool_use_id": call, "content": output}
            structured = {"stdout": output, "stderr": "", "interrupted": False}
            add("user", {"role": "user", "content": [result]}, toolUseResult=structured)
    return b"\n".join(lines) + b"\n"
