"""Third-party clients in their own processes, against a real server: `make full` installs them.

A client runs its scenarios and prints what it has in the end; here is what that must be.
"""

from typing import Any

from partita.store.store import Store
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage, text_of

from .conftest import SHOW_MAP, run_client

NO_AGENT = "no agent 'absent'"
NO_MORE_STEPS = "the script has no more steps"
PLACE = SHOW_MAP["input"]


async def test_ag_ui(address: str, store: Store) -> None:
    saw = await run_client("ag_ui.mjs", address)

    conversation = saw["talk"]["messages"]
    assert [one["content"] for one in conversation[1:]] == [
        "How tall is it?",
        "Forty-one metres.",
        "Which colour has it?",
        "Forty-one metres.",
    ]
    assert saw["talk"]["new"] == [conversation[2]]
    assert await ids_of(store, "talk") == [one["id"] for one in conversation[1:]]

    approval = saw["approval"]
    (interrupt,) = approval["interrupts"]
    assert interrupt["reason"] == "tool_call"
    assert (approval["left"], approval["outcome"]) == ([], {"type": "success"})
    assert len(approval["pending"]) == 1
    assert texts_of(approval) == ["May I?", "Look.", "Done."]
    assert results(approval) == ["Bell is off", "shown"]
    assert await calls_of(store, "approval") == {
        "switch_off": "output-available",
        "show_map": "output-available",
    }
    assert results(saw["denial"])[0] == "The call was not allowed."

    assert saw["waiting"]["outcome"] == {"type": "success"}
    assert results(saw["waiting"]) == ["dark"]
    assert texts_of(saw["waiting"]) == ["Good night."]

    assert texts_of(saw["media"]) == ["Forty-one metres."]
    question, _ = (await store.messages.list("media")).items
    assert isinstance(question, UserMessage)
    assert [part.type for part in question.parts] == ["text", "file"]
    assert saw["failed_tool"]["outcome"] == {"type": "success"}
    assert texts_of(saw["failed_tool"]) == ["Look.", "There it is."]
    assert await calls_of(store, "failed_tool") == {"show_map": "output-error"}

    thoughts = [one["content"] for one in saw["reasoning"]["messages"] if one["role"] == "reasoning"]
    assert thoughts == ["Paint lasts."] * 2

    assert saw["failure"]["event"]["type"] == "RUN_ERROR"
    assert saw["failure"]["event"]["message"] == NO_MORE_STEPS
    assert saw["unknown"]["status"] == 404
    assert NO_AGENT in saw["unknown"]["message"]
    assert saw["abort"]["running"] is False
    assert "TEXT_MESSAGE_CONTENT" in saw["abort"]["types"]


async def test_assistant_ui(address: str, store: Store) -> None:
    saw = await run_client("assistant_ui.mjs", address)

    conversation = saw["talk"]
    assert conversation["roles"] == ["user", "assistant", "user", "assistant"]
    assert all(body["tools"] == {} for body in conversation["bodies"])
    assert len(await ids_of(store, conversation["bodies"][0]["id"])) == 4

    received = saw["context"]["received"]
    assert received["instructions"] == "Be brief."
    assert received["body"]["callSettings"] == {"temperature": 0.2}
    assert received["body"]["config"] == {"modelName": "small"}

    tools = saw["tools"]
    assert tools["tools"]["show_map"]["description"] == "Shows a place."
    assert tools["tools"]["show_map"]["parameters"]["required"] == ["place"]
    assert (tools["places"], tools["sent"]) == (["Slettnes"], 2)
    assert tools["text"] == "Look.There it is."
    (call,) = tools["calls"]
    assert (call["args"], call["result"]) == (PLACE, {"shown": "Slettnes"})

    assert saw["approval"]["text"] == "May I?Done."
    assert saw["approval"]["call"]["result"] == "Bell is off"

    branches = saw["branches"]
    submit, regenerate = "submit-message", "regenerate-message"
    assert branches["triggers"] == [submit, submit, regenerate, submit]
    assert branches["question"] == "How old is it?"
    assert await ids_of(store, branches["thread"]) == branches["ids"]

    assert saw["cancel"]["status"] == {"type": "incomplete", "reason": "cancelled"}
    assert saw["failure"]["status"]["error"]["message"] == NO_MORE_STEPS
    assert NO_AGENT in saw["unknown"]["status"]["error"]["message"]


async def test_openai(address: str, store: Store) -> None:
    saw = await run_client("openai.mjs", address)

    assert {"quick", "keeper", "guide"} <= set(saw["models"]["ids"])
    for response in (saw["whole"]["first"], saw["whole"]["second"]):
        assert content(response) == "Forty-one metres."
        assert response["choices"][0]["finish_reason"] == "stop"
    chunks = saw["stream"]["chunks"]
    deltas = [choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"]]
    assert "".join(deltas) == "I look.\n\nForty-one."
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert saw["usage"]["whole"]["prompt_tokens"] == 11
    assert saw["usage"]["streamed"]["completion_tokens"] == 7

    first = saw["tools"]["first"]["choices"][0]
    (call,) = first["message"]["tool_calls"]
    assert first["finish_reason"] == "tool_calls"
    assert call["function"]["parsed_arguments"] == PLACE
    assert content(saw["tools"]["second"]) == "There it is."
    assert saw["runner"] == {
        "text": "There it is.",
        "places": ["Slettnes"],
        "roles": ["user", "assistant", "tool", "assistant"],
    }

    assert saw["thread"]["text"] == "There it is."
    assert await calls_of(store, "kept") == {"show_map": "output-available"}
    assert saw["approval"]["choice"]["message"]["content"] == "May I?"
    assert saw["approval"]["choice"]["finish_reason"] == "stop"
    assert saw["reasoning"]["message"]["reasoning_content"] == "Paint lasts."

    assert (saw["unknown"]["status"], saw["unknown"]["code"]) == (404, "model_not_found")
    assert (saw["invalid"]["status"], saw["invalid"]["type"]) == (400, "invalid_request_error")
    assert saw["invalid"]["param"] == "$.messages[0].role"
    assert (saw["failure"]["status"], saw["failure"]["type"]) == (502, "server_error")
    assert saw["failed_stream"]["message"] == NO_MORE_STEPS
    assert saw["abort"]["text"].startswith("on and ")


async def test_openai_compatible(address: str) -> None:
    saw = await run_client("openai_compatible.mjs", address)

    assert saw["whole"]["text"] == "Forty-one metres."
    assert saw["stream"]["text"] == "I look.\n\nForty-one."
    for name in ("counted", "streamed_count"):
        assert (saw[name]["usage"]["inputTokens"], saw[name]["usage"]["outputTokens"]) == (11, 7)
    for name in ("reasoning", "streamed_reasoning"):
        assert saw[name]["reasoning"] == ["Paint lasts."]
    for name in ("tools", "streamed_tools"):
        assert saw[name]["steps"] == ["Look.", "There it is."]
        assert (saw[name]["places"], saw[name]["finishReason"]) == (["Slettnes"], "stop")
    assert saw["turns"]["text"] == "Forty-one metres."

    assert saw["unknown"]["status"] == 404
    assert saw["unknown"]["message"].startswith(NO_AGENT)
    assert (saw["failure"]["status"], saw["failure"]["message"]) == (502, NO_MORE_STEPS)
    assert saw["failed_stream"]["errors"] == [NO_MORE_STEPS]


async def test_litellm(address: str) -> None:
    saw = await run_client("litellm_client.py", address)

    assert saw["whole"] == ["Forty-one metres."] * 2
    text = "I look.\n\nForty-one."
    assert saw["stream"] == {"text": text, "built": text, "reason": "stop"}
    assert saw["asynchronous"] == "Forty-one metres."
    for name in ("tools", "streamed_tools"):
        assert saw[name] == {
            "calls": [["show_map", PLACE]],
            "reason": "tool_calls",
            "text": "There it is.",
        }
    assert saw["reasoning"] == {"whole": "Paint lasts.", "streamed": "Paint lasts."}

    assert (saw["unknown"]["name"], saw["unknown"]["status"]) == ("NotFoundError", 404)
    assert NO_AGENT in saw["unknown"]["message"]
    assert (saw["invalid"]["name"], saw["invalid"]["status"]) == ("BadRequestError", 400)
    assert saw["failure"]["status"] == 502
    for name in ("failure", "failed_stream"):
        assert NO_MORE_STEPS in saw[name]["message"]


def content(response: JsonObject) -> Any:
    """The text of a completion."""
    return response["choices"][0]["message"]["content"]


def texts_of(outcome: JsonObject) -> list[str]:
    """The texts of the assistant, of a client of AG-UI."""
    texts = [one.get("content") for one in outcome["messages"] if one["role"] == "assistant"]
    return [text for text in texts if text]


def results(outcome: JsonObject) -> list[str]:
    """The outputs of tools, of a client of AG-UI."""
    return [one["content"] for one in outcome["messages"] if one["role"] == "tool"]


async def ids_of(store: Store, thread_id: str) -> list[str]:
    """The ids of the messages that a thread has."""
    return [message.id for message in (await store.messages.list(thread_id)).items]


async def calls_of(store: Store, thread_id: str) -> dict[str, str]:
    """The state of each call in the last answer of a thread, which has text."""
    response = (await store.messages.list(thread_id)).items[-1]
    assert isinstance(response, AssistantMessage)
    assert text_of(response)
    return {part.name: part.state for part in response.parts if isinstance(part, ToolCallPart)}
