"""A stand-in for an agent that speaks the Agent Client Protocol."""

import sys
from typing import Any

from tests.runtime.programs.stand_in import BEHAVIOUR, misbehave, read_line, write_line

SESSION = "garden-1"
OPTIONS = [
    {"optionId": "forever", "name": "Always", "kind": "allow_always"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


class Agent:
    session = SESSION
    count = 0
    prompt_id: Any = None

    def serve(self) -> int:
        while (message := read_line()) is not None:
            params = message.get("params", {})
            match message.get("method"):
                case "initialize":
                    self.initialize(message["id"], params)
                case "session/new" if "login" in BEHAVIOUR:
                    error = {"code": -32000, "message": "Authentication required"}
                    write_line({"jsonrpc": "2.0", "id": message["id"], "error": error})
                case "session/new":
                    models = {"models": {"currentModelId": "m"}} if "models" in BEHAVIOUR else {}
                    self.respond(message["id"], {"sessionId": SESSION, **models})
                case "session/load":
                    self.session = params["sessionId"]
                    self.update("user_message_chunk", content={"type": "text", "text": "old question"})
                    self.update("agent_message_chunk", content={"type": "text", "text": "old answer"})
                    self.respond(message["id"], None)
                case "session/prompt":
                    self.prompt_id = message["id"]
                    self.turn(params["prompt"][-1]["text"])
                case "session/cancel":
                    self.respond(self.prompt_id, {"stopReason": "cancelled"})
                case "session/set_model":
                    self.respond(message["id"], {})
                case _:
                    pass
        return 0

    def initialize(self, id: Any, params: dict[str, Any]) -> None:
        assert params["protocolVersion"] == 1
        self.respond(
            id,
            {
                "protocolVersion": 9 if "new-version" in BEHAVIOUR else 1,
                "agentCapabilities": {"loadSession": "no-load" not in BEHAVIOUR},
                "authMethods": [{"id": "key", "name": "Garden key"}],
                "agentInfo": {"name": "gardener", "version": "2"},
            },
        )

    def respond(self, id: Any, result: Any) -> None:
        write_line({"jsonrpc": "2.0", "id": id, "result": result})

    def update(self, what: str, **fields: Any) -> None:
        params = {"sessionId": self.session, "update": {"sessionUpdate": what, **fields}}
        write_line({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request, with ids like those of the client, and return the response."""
        number, self.count = self.count, self.count + 1
        given = {"sessionId": self.session, **params}
        write_line({"jsonrpc": "2.0", "id": number, "method": method, "params": given})
        while (message := read_line()) is not None:
            if message.get("method") == "session/cancel":
                self.respond(self.prompt_id, {"stopReason": "cancelled"})
            elif message.get("id") == number and "method" not in message:
                return message
        sys.exit(0)

    def turn(self, prompt: str) -> None:
        self.update("agent_thought_chunk", content={"type": "text", "text": "Rain?"})
        for piece in ("I heard ", prompt):
            self.update("agent_message_chunk", content={"type": "text", "text": piece})
        plan = [{"content": "dig", "priority": "high", "status": "pending"}]
        self.update("plan", entries=plan)
        misbehave()
        if "permission" in BEHAVIOUR:
            self.permission()
        if "files" in BEHAVIOUR:
            self.files()
        if "terminal" in BEHAVIOUR:
            self.terminal()
        if "prompt-error" in BEHAVIOUR:
            error = {"code": -32603, "message": "the spade broke"}
            write_line({"jsonrpc": "2.0", "id": self.prompt_id, "error": error})
            return
        if "models" in BEHAVIOUR:  # reports model, title and cost of the session
            spent = {"amount": 0.5 if self.session == SESSION else 0.75, "currency": "USD"}
            self.update("usage_update", used=5, size=100, cost=spent)
            self.update("session_info_update", title="Beds and paths")
        usage = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
        self.respond(self.prompt_id, {"stopReason": "end_turn", "usage": usage})

    def permission(self) -> None:
        self.update("tool_call", toolCallId="c1", title="Dig a hole", kind="execute", status="pending")
        call = {"toolCallId": "c1", "kind": "execute", "title": "Dig a hole", "rawInput": {"depth": 2}}
        reply = self.ask("session/request_permission", toolCall=call, options=OPTIONS)
        chosen = reply["result"]["outcome"].get("optionId")
        content = [{"type": "content", "content": {"type": "text", "text": f"chose {chosen}"}}]
        status = "completed" if chosen == "yes" else "failed"
        self.update("tool_call_update", toolCallId="c1", status=status, content=content)

    def files(self) -> None:
        read = self.ask("fs/read_text_file", path="seeds.txt", line=2, limit=1)
        outside = self.ask("fs/read_text_file", path="/etc/passwd")
        written = self.ask("fs/write_text_file", path="beds/one.txt", content="carrots\n")
        words = f"{read['result']['content']}|{outside['error']['code']}|{'result' in written}"
        self.update("agent_message_chunk", content={"type": "text", "text": words})

    def terminal(self) -> None:
        code = "print('water'); raise SystemExit(5)"
        made = self.ask("terminal/create", command=sys.executable, args=["-c", code])
        name = made["result"]["terminalId"]
        self.update("tool_call", toolCallId="t1", title="Water", kind="execute", status="in_progress")
        self.ask("terminal/wait_for_exit", terminalId=name)
        self.ask("terminal/output", terminalId=name)
        content = [{"type": "terminal", "terminalId": name}]
        self.update("tool_call_update", toolCallId="t1", status="completed", content=content)
        self.ask("terminal/release", terminalId=name)
        missing = self.ask("terminal/output", terminalId=name)
        assert "error" in missing
        if "left-terminal" in BEHAVIOUR:
            self.ask("terminal/create", command=sys.executable, args=["-c", "import time; time.sleep(600)"])


sys.exit(Agent().serve())
