"""The real `ai` packages, called from Python: their results are the expected ones."""

import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import IO, Self

from partita.types.json import JsonObject, dumps, loads
from tests.node import node

HERE = Path(__file__).parent


class RealPackage:
    """One Node process that runs releases 5, 6 and 7; use it as a context manager.

    A request is `{"op": …, "version": 5 | 6 | 7, …}`; the rest of it, and the answer, by `op`:

    `accumulate`      `chunks` or `sse`, `message`, `mode: "sse"`, `trace`
                      → `final`, `state` (where it differs), `snapshots`, `error`, `errorChunks`,
                      `invalidChunks`, `parsed`, `trace`
    `chunk_valid`     `chunk` → `valid`
    `full_stream`     `parts` of a model's stream, `tools`, `options` → `parts`, `chunks` of one run
    `generate`        `messages` → `prompt` that `generateText` gives to a model, `error`
    `model_messages`  `messages`, `options` → `result`, `error`
    `partial_json`    `text` → `state`, `value`
    `validate`        `messages`, `options` → `success`, `data`, `error`
    """

    def __enter__(self) -> Self:
        command = [node(), "real.mjs"]
        self._complaints: IO[bytes] = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            command,
            cwd=HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._process.kill()
        with self._complaints, self._process:
            pass  # closes the pipes, which ends the process, and waits for it

    def ask(self, request: JsonObject) -> JsonObject:
        """Return the response to one request."""
        return self.ask_many([request])[0]

    def ask_many(self, requests: Sequence[JsonObject]) -> list[JsonObject]:
        """Return the responses to `requests`, in their order."""
        # Node writes while we still write: writing everything before reading would block forever.
        lines = [dumps(request) + b"\n" for request in requests]
        writer = Thread(target=self._write, args=(lines,), daemon=True)
        writer.start()
        answers = [self._read() for _ in requests]
        writer.join()
        for request, answer in zip(requests, answers, strict=True):
            if "failure" in answer:
                raise RuntimeError(f"bad request {str(request)[:500]}\n{answer['failure']}")
        return answers

    def _write(self, lines: Iterable[bytes]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.writelines(lines)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the process has exited: reading raises the error

    def _read(self) -> JsonObject:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._complaints.seek(0)
            complaints = self._complaints.read().decode(errors="replace")
            raise RuntimeError(f"node ended before it answered:\n{complaints[-2000:]}")
        answer: JsonObject = loads(line)
        return answer
