"""One history in the words of each API: tools, reasoning, images and errors, and what only that API has."""

from partita.types.json import JsonObject

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PDF = "JVBERi0xLjQKJSVFT0YK"
KEEPER = "You keep the register of lighthouses. Answer in metres."
QUESTION = "How tall is the tower in the picture, and is its lamp lit?"
THOUGHT = "The register has heights; the lamp has a log of its own."
LEAD = "I look both up."
ANSWER = "The tower is 39 metres tall. Its lamp could not be reached."
MORE = "Read this list and tell me which tower is older."

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"tower": {"type": "string"}},
    "required": ["tower"],
}

CHAT: JsonObject = {
    "model": "gpt-5",
    "temperature": 0.2,
    "tools": [
        {
            "type": "function",
            "function": {"name": "height", "description": "The height of a tower.", "parameters": SCHEMA},
        }
    ],
    "messages": [
        {"role": "system", "content": KEEPER},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": QUESTION},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
            ],
        },
        {
            "role": "assistant",
            "content": LEAD,
            "tool_calls": [
                {
                    "id": "call_height",
                    "type": "function",
                    "function": {"name": "height", "arguments": '{"tower":"Slettnes"}'},
                },
                {
                    "id": "call_lamp",
                    "type": "function",
                    "function": {"name": "lamp", "arguments": '{"tower":"Slettnes"}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "call_height", "content": '{"metres":39}'},
        {"role": "tool", "tool_call_id": "call_lamp", "content": "Error: no answer from the lamp"},
        {"role": "assistant", "content": ANSWER},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": MORE},
                {
                    "type": "file",
                    "file": {"filename": "towers.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
                },
            ],
        },
    ],
}

RESPONSES: JsonObject = {
    "model": "gpt-5",
    "store": False,
    "instructions": KEEPER,
    "tools": [
        {"type": "function", "name": "height", "description": "The height of a tower.", "parameters": SCHEMA}
    ],
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": QUESTION},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "low"},
            ],
        },
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": THOUGHT}],
            "encrypted_content": "gAAAAB-opaque",
        },
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": LEAD, "annotations": []}],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_height",
            "name": "height",
            "arguments": '{"tower":"Slettnes"}',
            "status": "completed",
        },
        {
            "type": "function_call",
            "id": "fc_2",
            "call_id": "call_lamp",
            "name": "lamp",
            "arguments": '{"tower":"Slettnes"}',
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": "call_height", "output": '{"metres":39}'},
        {"type": "function_call_output", "call_id": "call_lamp", "output": "Error: no answer from the lamp"},
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {"type": "search", "query": "Slettnes lamp"},
        },
        {
            "type": "message",
            "id": "msg_2",
            "role": "assistant",
            "status": "completed",
            "content": [
                {
                    "type": "output_text",
                    "text": ANSWER,
                    "annotations": [
                        {
                            "type": "url_citation",
                            "url": "https://example.com/slettnes",
                            "title": "Slettnes",
                            "start_index": 0,
                            "end_index": 28,
                        }
                    ],
                }
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": MORE},
                {
                    "type": "input_file",
                    "filename": "towers.pdf",
                    "file_data": f"data:application/pdf;base64,{PDF}",
                },
            ],
        },
    ],
}

ANTHROPIC: JsonObject = {
    "model": "claude-opus-5",
    "max_tokens": 1024,
    "system": [{"type": "text", "text": KEEPER, "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "height", "description": "The height of a tower.", "input_schema": SCHEMA}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": QUESTION},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": THOUGHT, "signature": "EqQB-signed"},
                {"type": "redacted_thinking", "data": "hidden-words"},
                {"type": "text", "text": LEAD},
                {"type": "tool_use", "id": "toolu_height", "name": "height", "input": {"tower": "Slettnes"}},
                {"type": "tool_use", "id": "toolu_lamp", "name": "lamp", "input": {"tower": "Slettnes"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_height",
                    "content": [
                        {"type": "text", "text": "39 metres, as drawn:"},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                        },
                    ],
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_lamp",
                    "content": "no answer from the lamp",
                    "is_error": True,
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {
                    "type": "server_tool_use",
                    "id": "srvtoolu_1",
                    "name": "web_search",
                    "input": {"query": "Slettnes lamp"},
                },
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srvtoolu_1",
                    "content": [
                        {
                            "type": "web_search_result",
                            "url": "https://example.com/slettnes",
                            "title": "Slettnes",
                            "encrypted_content": "opaque-page",
                            "page_age": None,
                        }
                    ],
                },
                {"type": "text", "text": ANSWER},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "text", "text": MORE},
                {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
                    "title": "towers.pdf",
                },
            ],
        },
    ],
}

GEMINI: JsonObject = {
    "systemInstruction": {"parts": [{"text": KEEPER}]},
    "tools": [
        {
            "functionDeclarations": [
                {
                    "name": "height",
                    "description": "The height of a tower.",
                    "parametersJsonSchema": SCHEMA,
                }
            ]
        }
    ],
    "generationConfig": {"temperature": 0.2},
    "contents": [
        {
            "role": "user",
            "parts": [{"text": QUESTION}, {"inlineData": {"mimeType": "image/png", "data": PNG}}],
        },
        {
            "role": "model",
            "parts": [
                {"text": THOUGHT, "thought": True},
                {"text": LEAD},
                {
                    "functionCall": {"name": "height", "args": {"tower": "Slettnes"}},
                    "thoughtSignature": "c2lnbmVk",
                },
                {"functionCall": {"name": "lamp", "args": {"tower": "Slettnes"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "height", "response": {"metres": 39}}},
                {"functionResponse": {"name": "lamp", "response": {"error": "no answer from the lamp"}}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"executableCode": {"language": "PYTHON", "code": "print(39 * 3.28)"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "127.92\n"}},
                {"text": ANSWER},
            ],
        },
        {
            "role": "user",
            "parts": [{"text": MORE}, {"inlineData": {"mimeType": "application/pdf", "data": PDF}}],
        },
    ],
}

BEDROCK: JsonObject = {
    "modelId": "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "system": [{"text": KEEPER}, {"cachePoint": {"type": "default"}}],
    "inferenceConfig": {"maxTokens": 1024, "temperature": 0.2},
    "toolConfig": {
        "tools": [
            {
                "toolSpec": {
                    "name": "height",
                    "description": "The height of a tower.",
                    "inputSchema": {"json": SCHEMA},
                }
            },
            {"cachePoint": {"type": "default"}},
        ],
        "toolChoice": {"auto": {}},
    },
    "messages": [
        {
            "role": "user",
            "content": [{"text": QUESTION}, {"image": {"format": "png", "source": {"bytes": PNG}}}],
        },
        {
            "role": "assistant",
            "content": [
                {
                    "reasoningContent": {
                        "reasoningText": {"text": THOUGHT, "signature": "YmVkcm9jay1zaWduZWQ="}
                    }
                },
                {"reasoningContent": {"redactedContent": "aGlkZGVuLXRvd2Vy"}},
                {"text": LEAD},
                {
                    "toolUse": {
                        "toolUseId": "tooluse_height",
                        "name": "height",
                        "input": {"tower": "Slettnes"},
                    }
                },
                {"toolUse": {"toolUseId": "tooluse_lamp", "name": "lamp", "input": {"tower": "Slettnes"}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "toolResult": {
                        "toolUseId": "tooluse_height",
                        "content": [{"json": {"metres": 39}}],
                        "status": "success",
                    }
                },
                {
                    "toolResult": {
                        "toolUseId": "tooluse_lamp",
                        "content": [{"text": "no answer from the lamp"}],
                        "status": "error",
                    }
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {
                    "citationsContent": {
                        "content": [{"text": ANSWER}],
                        "citations": [
                            {
                                "title": "Slettnes",
                                "location": {"web": {"url": "https://example.com/slettnes"}},
                            }
                        ],
                    }
                }
            ],
        },
        {
            "role": "user",
            "content": [
                {"text": MORE},
                {"document": {"format": "pdf", "name": "towers", "source": {"bytes": PDF}}},
                {"cachePoint": {"type": "default", "ttl": "5m"}},
            ],
        },
    ],
}

COHERE: JsonObject = {
    "model": "command-a-03-2025",
    "temperature": 0.2,
    "tools": [
        {
            "type": "function",
            "function": {"name": "height", "description": "The height of a tower.", "parameters": SCHEMA},
        }
    ],
    "messages": [
        {"role": "system", "content": KEEPER},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": QUESTION},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
            ],
        },
        {
            "role": "assistant",
            "tool_plan": THOUGHT,
            "tool_calls": [
                {
                    "id": "height_1",
                    "type": "function",
                    "function": {"name": "height", "arguments": '{"tower":"Slettnes"}'},
                },
                {
                    "id": "lamp_1",
                    "type": "function",
                    "function": {"name": "lamp", "arguments": '{"tower":"Slettnes"}'},
                },
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "height_1",
            "content": [{"type": "document", "document": {"data": {"metres": 39}}}],
        },
        {"role": "tool", "tool_call_id": "lamp_1", "content": "Error: no answer from the lamp"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "One is known."},
                {"type": "text", "text": f"{LEAD} {ANSWER}"},
            ],
            "citations": [
                {
                    "start": 33,
                    "end": 42,
                    "text": "39 metres",
                    "sources": [{"type": "tool", "id": "height_1:0", "tool_output": {"metres": 39}}],
                    "type": "TEXT_CONTENT",
                    "content_index": 1,
                }
            ],
        },
        {"role": "user", "content": MORE},
    ],
}

HISTORIES: dict[str, JsonObject] = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "bedrock-converse": BEDROCK,
    "cohere": COHERE,
}

ANSWERS: dict[str, JsonObject] = {
    "openai-chat": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1767323045,
        "model": "gpt-5",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "call_age",
                            "type": "function",
                            "function": {"name": "age", "arguments": '{"tower":"Slettnes"}'},
                        }
                    ],
                },
            }
        ],
    },
    "openai-responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1767323045,
        "model": "gpt-5",
        "status": "completed",
        "output": [
            {"type": "reasoning", "id": "rs_9", "summary": [], "encrypted_content": "gAAAAB-more"},
            {
                "type": "function_call",
                "id": "fc_9",
                "call_id": "call_age",
                "name": "age",
                "arguments": '{"tower":"Slettnes"}',
                "status": "completed",
            },
        ],
    },
    "anthropic": {
        "id": "msg_9",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "The list has years.", "signature": "EqQB-more"},
            {"type": "tool_use", "id": "call_age", "name": "age", "input": {"tower": "Slettnes"}},
        ],
        "usage": {"input_tokens": 900, "output_tokens": 31},
    },
    "gemini": {
        "responseId": "r9",
        "modelVersion": "gemini-3-pro",
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {
                            "functionCall": {"id": "call_age", "name": "age", "args": {"tower": "Slettnes"}},
                            "thoughtSignature": "bW9yZQ==",
                        }
                    ],
                },
                "finishReason": "STOP",
            }
        ],
    },
    "bedrock-converse": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {
                        "reasoningContent": {
                            "reasoningText": {"text": "The list has years.", "signature": "YmVkcm9jay1tb3Jl"}
                        }
                    },
                    {"toolUse": {"toolUseId": "call_age", "name": "age", "input": {"tower": "Slettnes"}}},
                ],
            }
        },
        "stopReason": "tool_use",
        "usage": {"inputTokens": 900, "outputTokens": 31, "totalTokens": 931},
        "metrics": {"latencyMs": 812},
    },
    "cohere": {
        "id": "0c1d5f0e-7a55-4c36-9a0e-51b2a8f0d001",
        "finish_reason": "TOOL_CALL",
        "message": {
            "role": "assistant",
            "tool_plan": "The list has years.",
            "tool_calls": [
                {
                    "id": "call_age",
                    "type": "function",
                    "function": {"name": "age", "arguments": '{"tower":"Slettnes"}'},
                }
            ],
        },
        "usage": {"tokens": {"input_tokens": 900, "output_tokens": 31}},
    },
}
"""What each API answers: it thinks, where it does so aloud, and calls a tool."""
