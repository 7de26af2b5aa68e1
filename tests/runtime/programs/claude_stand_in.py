"""A stand-in for `claude` that speaks stream-json."""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.runtime.programs.stand_in import (
    BEHAVIOUR,
    FLOOD,
    hang,
    misbehave,
    read_line,
    write_line,
    write_pids,
)

SESSION = "new-session"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", action="store_true", required=True)
    for name in ("--output-format", "--input-format", "--permission-prompt-tool"):
        parser.add_argument(name, required=True)
    for name in ("--resume", "--model", "--append-system-prompt", "--permission-mode", "--max-turns"):
        parser.add_argument(name)
    parser.add_argument("--verbose", action="store_true", required=True)
    parser.add_argument("--include-partial-messages", action="store_true", required=True)
    return parser.parse_args()


class StandIn:
    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.session = given.resume or SESSION
        self.count = 0
        self.message = "m1"

    def emit(self, kind: str, **fields: Any) -> None:
        self.count += 1
        parent = fields.pop("parent_tool_use_id", None)
        write_line(
            {
                "type": kind,
                **fields,
                "parent_tool_use_id": parent,
                "session_id": self.session,
                "uuid": f"uuid-{self.count}",
            }
        )

    def stream(self, event: dict[str, Any]) -> None:
        self.emit("stream_event", event=event)

    def assistant(self, id: str | None, block: dict[str, Any], parent: str | None = None) -> None:
        message = {"role": "assistant", "type": "message", "model": "m", "content": [block], "usage": {}}
        if id is not None:
            message["id"] = self.message if id == "m1" else id
        self.emit("assistant", message=message, parent_tool_use_id=parent)

    def block(self, index: int, start: dict[str, Any], deltas: list[dict[str, Any]]) -> None:
        self.stream({"type": "content_block_start", "index": index, "content_block": start})
        for delta in deltas:
            self.stream({"type": "content_block_delta", "index": index, "delta": delta})
        self.stream({"type": "content_block_stop", "index": index})

    def run(self, prompt: Any) -> int:
        tools = ["Bash", "Task"]
        self.emit("system", subtype="init", cwd=str(Path.cwd()), tools=tools, model=self.given.model or "m")
        start = {"role": "assistant", "content": []}
        if "billed" in BEHAVIOUR:  # like the real program: message ids, and the usage of each response
            self.message = f"msg_{str(prompt).split()[-1]}"
            start |= {"model": "m", "usage": {"input_tokens": 5, "output_tokens": 1}}
        self.stream({"type": "message_start", "message": {"id": self.message, **start}})
        self.block(
            0,
            {"type": "thinking", "thinking": ""},
            [
                {"type": "thinking_delta", "thinking": "Which colour?"},
                {"type": "signature_delta", "signature": "c2lnbmVk"},
            ],
        )
        self.assistant("m1", {"type": "thinking", "thinking": "Which colour?", "signature": "c2lnbmVk"})
        text = f"You said: {prompt}"
        pieces = [text[:7], text[7:]]
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
        self.block(1, {"type": "text", "text": ""}, deltas)
        self.assistant("m1", {"type": "text", "text": text})
        if "billed" in BEHAVIOUR:
            delta = {"stop_reason": "end_turn"}
            self.stream({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}})
        misbehave()
        if "tool" in BEHAVIOUR:
            self.tool()
        if "sub-agent" in BEHAVIOUR:
            self.sub_agent()
        if FLOOD and "flood" in BEHAVIOUR:
            self.call("c-flood", "x" * FLOOD)
        return self.result()

    def call(self, id: str, output: str) -> None:
        self.assistant("m1", {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "cat big"}})
        self.send_result(id, output)

    def send_result(self, id: str, output: str, is_error: bool = False) -> None:
        block = {"type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error}
        self.emit("user", message={"role": "user", "content": [block]})

    def tool(self) -> None:
        given = {"command": "paint fence"}
        self.assistant("m1", {"type": "tool_use", "id": "c1", "name": "Bash", "input": given})
        request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": given, "tool_use_id": "c1"}
        write_line({"type": "control_request", "request_id": "q1", "request": request})
        if "withdraw" in BEHAVIOUR:
            write_line({"type": "control_cancel_request", "request_id": "q1"})
            self.send_result("c1", "not needed", is_error=True)
            return
        reply = self.wait_for("q1")
        if reply is None:
            return
        if reply.get("behavior") == "allow":
            self.send_result("c1", f"painted {reply['updatedInput']['command']}")
        else:
            self.send_result("c1", reply["message"], is_error=True)

    def wait_for(self, request: str) -> dict[str, Any] | None:
        """The response to a permission request; an interruption ends the turn instead."""
        if "stubborn" in BEHAVIOUR:
            hang()
        while (message := read_line()) is not None:
            if message["type"] == "control_response" and message["response"]["request_id"] == request:
                response: dict[str, Any] = message["response"]["response"]
                return response
            if message["type"] == "control_request" and message["request"]["subtype"] == "interrupt":
                done: dict[str, Any] = {
                    "subtype": "success",
                    "request_id": message["request_id"],
                    "response": {},
                }
                write_line({"type": "control_response", "response": done})
                self.result(subtype="error_during_execution", is_error=True)
                sys.exit(self.leave())
        sys.exit(9)

    def leave(self) -> int:
        while read_line() is not None:
            pass
        return 0

    def sub_agent(self) -> None:
        given = {"description": "count nails", "prompt": "Count the nails", "subagent_type": "helper"}
        self.assistant("m1", {"type": "tool_use", "id": "c2", "name": "Task", "input": given})
        self.assistant("m2", {"type": "text", "text": "There are seven."}, parent="c2")
        self.send_result("c2", "seven")

    def result(self, **changes: Any) -> int:
        if "no-result" in BEHAVIOUR:
            return 0
        fields: dict[str, Any] = {
            "subtype": "success",
            "is_error": False,
            "result": "done",
            "num_turns": 1,
            "total_cost_usd": 0.25,
            "usage": {"input_tokens": 5, "output_tokens": 7},
        }
        if "billed" in BEHAVIOUR:  # the totals of the session so far
            turns = 2 if self.given.resume else 1
            fields |= {"total_cost_usd": 0.25 * turns, "modelUsage": {"m": {"outputTokens": 7 * turns}}}
        if "api-error" in BEHAVIOUR:
            fields |= {"is_error": True, "result": "the shop is closed"}
        self.emit("result", **{**fields, **changes})
        return 1 if "api-error" in BEHAVIOUR else 4 if "exit-code" in BEHAVIOUR else 0


def main() -> int:
    given = arguments()
    first = read_line()
    assert first is not None
    assert first["request"]["subtype"] == "initialize"
    done: dict[str, Any] = {
        "subtype": "success",
        "request_id": first["request_id"],
        "response": {"commands": []},
    }
    write_line({"type": "control_response", "response": done})
    prompt = read_line()
    assert prompt is not None
    agent = StandIn(given)
    code = agent.run(prompt["message"]["content"])
    if "leaves-child" in BEHAVIOUR:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        write_pids([os.getpid(), child.pid])
        return code
    if "stays" in BEHAVIOUR:  # it has sent its result and does not exit
        hang()
    if "no-result" not in BEHAVIOUR:
        agent.leave()
    return code


sys.exit(main())
