"""A router that has its helper do something, and then is done."""

from partita.runtime.scripted.script import as_script
from partita.runtime.scripted.service import ScriptedService
from tests.runtime.replay.recordings import call, text

ROUTER = ScriptedService(
    as_script(
        {
            "scenes": [
                {
                    "steps": [
                        {
                            "parts": [
                                text("The helper knows."),
                                call(
                                    "route",
                                    {
                                        "primitiveType": "agent",
                                        "primitiveId": "helper",
                                        "input": "weather?",
                                        "reason": "it can look it up",
                                    },
                                ),
                            ],
                            "usage": {"inputTokens": 7, "outputTokens": 2},
                        },
                        {
                            "parts": [call("finish", {"answer": "Sunny."})],
                            "usage": {"inputTokens": 9, "outputTokens": 1},
                        },
                    ]
                }
            ]
        }
    ),
    name="router",
)
