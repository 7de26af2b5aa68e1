"""A stand-in for `codex`: `exec --json`, and the app server."""

import sys
from pathlib import Path
from typing import Any

from tests.runtime.programs.stand_in import BEHAVIOUR, misbehave, read_line, write_line

THREAD = "thread-of-its-own"
USAGE = {"input_tokens": 11, "cached_input_tokens": 3, "output_tokens": 4, "reasoning_output_tokens": 1}


def execute(prompt_text: list[str]) -> int:
    thread = prompt_text[prompt_text.index("resume") + 1] if "resume" in prompt_text else THREAD
    assert prompt_text[-1] == "-"
    prompt = sys.stdin.read()
    write_line({"type": "thread.started", "thread_id": thread})
    write_line({"type": "turn.started"})
    write_line({"type": "item.completed", "item": {"id": "i0", "type": "reasoning", "text": "Hm."}})
    command = {"id": "i1", "type": "command_execution", "command": "saw plank"}
    write_line(
        {"type": "item.started", "item": {**command, "aggregated_output": "", "status": "in_progress"}}
    )
    misbehave()
    done = {"aggregated_output": "two planks", "exit_code": 0, "status": "completed"}
    write_line({"type": "item.completed", "item": {**command, **done}})
    text = f"{Path.cwd().name}: {prompt}"
    write_line({"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": text}})
    if "turn-failed" in BEHAVIOUR:
        write_line({"type": "turn.failed", "error": {"message": "out of wood"}})
        return 1
    write_line({"type": "turn.completed", "usage": USAGE})
    return 0


class Server:
    thread = THREAD

    def notify(self, method: str, **params: Any) -> None:
        write_line({"method": method, "params": {"threadId": self.thread, "turnId": "t1", **params}})

    def item(self, phase: str, **item: Any) -> None:
        self.notify(f"item/{phase}", item=item)

    def serve(self) -> int:
        while (message := read_line()) is not None:
            match message.get("method"):
                case "initialize":
                    assert message["params"]["clientInfo"]["name"] == "partita"
                    write_line({"id": message["id"], "result": {"userAgent": "stand-in"}})
                case "thread/start" | "thread/resume" if "no-thread" in BEHAVIOUR:
                    write_line({"id": message["id"], "error": {"code": -32600, "message": "no such thread"}})
                case "thread/start" | "thread/resume":
                    self.thread = message["params"].get("threadId", THREAD)
                    policy = message["params"]["approvalPolicy"]
                    thread = {"id": self.thread, "preview": policy}
                    write_line({"id": message["id"], "result": {"thread": thread, "model": "m"}})
                    write_line({"method": "thread/started", "params": {"thread": thread}})
                case "turn/start":
                    write_line(
                        {"id": message["id"], "result": {"turn": {"id": "t1", "status": "inProgress"}}}
                    )
                    self.turn(message["params"]["input"][0]["text"])
                case "turn/interrupt":
                    write_line({"id": message["id"], "result": {}})
                    self.end("interrupted")
                case _:
                    pass
        return 0

    def turn(self, prompt: str) -> None:
        self.notify("turn/started", turn={"id": "t1", "status": "inProgress"})
        self.item("started", type="agentMessage", id="i1", text="")
        self.notify("item/agentMessage/delta", itemId="i1", delta="I saw ")
        self.notify("item/agentMessage/delta", itemId="i1", delta=prompt)
        self.item("completed", type="agentMessage", id="i1", text=f"I saw {prompt}")
        misbehave()
        if "unknown-request" in BEHAVIOUR:
            write_line({"id": 90, "method": "garden/water", "params": {}})
            reply = read_line()
            assert reply is not None
            assert reply["error"]["code"] == -32601
        if "approval" in BEHAVIOUR:
            self.approval()
            return
        self.end("completed")

    def approval(self) -> None:
        work: dict[str, Any] = {"type": "commandExecution", "id": "c1", "command": "rm nail", "cwd": "/shed"}
        self.item("started", **work, status="inProgress")
        params = {"threadId": self.thread, "turnId": "t1", "itemId": "c1", "reason": "it is sharp"}
        write_line({"id": 2, "method": "item/commandExecution/requestApproval", "params": params})
        while (message := read_line()) is not None:
            if message.get("method") == "turn/interrupt":
                write_line({"id": message["id"], "result": {}})
                self.end("interrupted")
                return
            if message.get("id") == 2 and "result" in message:
                break
        else:
            return
        self.notify("serverRequest/resolved", requestId=2)
        allowed = message["result"]["decision"] == "accept"
        outcome = {"aggregatedOutput": "gone", "exitCode": 0, "status": "completed"}
        self.item("completed", **work, **(outcome if allowed else {"status": "declined"}))
        self.end("completed")

    def end(self, status: str) -> None:
        counts = {"inputTokens": 11, "cachedInputTokens": 3, "outputTokens": 4, "totalTokens": 15}
        self.notify("thread/tokenUsage/updated", tokenUsage={"total": counts, "last": counts})
        error = {"message": "out of wood"} if "turn-failed" in BEHAVIOUR else None
        status = "failed" if error else status
        self.notify("turn/completed", turn={"id": "t1", "status": status, "error": error})


sys.exit(execute(sys.argv[1:]) if "exec" in sys.argv else Server().serve())
