"""Samples of valid Gemini requests."""

from typing import Final

from partita.types.json import Json, JsonObject

SCHEMA: Final[JsonObject] = {"type": "object", "properties": {"hours": {"type": "number"}}}

FULL_REQUEST: Final[JsonObject] = {
    "systemInstruction": {"role": "system", "parts": [{"text": "You bake."}, {"text": "You rest."}]},
    "contents": [
        {
            "role": "user",
            "parts": [
                {"text": "What is this?", "partMetadata": {"page": 3}},
                {"inlineData": {"mimeType": "image/png", "data": "iVBORw==", "displayName": "loaf"}},
                {"fileData": {"fileUri": "https://films.example/knead"}, "videoMetadata": {"fps": 2}},
                {
                    "fileData": {"fileUri": "gs://bread/book.pdf", "mimeType": "application/pdf"},
                    "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"},
                },
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "Rye or spelt?", "thought": True},
                {"text": "I knead.", "thoughtSignature": "c2F5"},
                {
                    "functionCall": {"id": "c1", "name": "knead", "args": {"minutes": 9}},
                    "thoughtSignature": "Y2FsbA==",
                },
                {"functionCall": {"id": "c2", "name": "knead", "args": {"minutes": 2}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "knead", "response": {"output": "soft"}}},
                {
                    "functionResponse": {
                        "id": "c2",
                        "name": "knead",
                        "response": {"output": "a picture"},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": "QUJD"}}],
                        "scheduling": "SILENT",
                    }
                },
                {"text": "And now?"},
            ],
        },
        {
            "role": "model",
            "parts": [
                {
                    "executableCode": {"language": "PYTHON", "code": "print(3)", "id": "k1"},
                    "thoughtSignature": "Y29kZQ==",
                },
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "3\n", "id": "k1"}},
                {"toolCall": {"toolType": "FILE_SEARCH", "args": {"q": "rye"}, "id": "f1"}},
                {"toolResponse": {"toolType": "FILE_SEARCH", "response": {"n": 1}, "id": "f1"}},
                {"inlineData": {"mimeType": "image/png", "data": "QUI="}, "thought": True},
                {"inlineData": {"mimeType": "audio/L16", "data": "QUIA"}, "thoughtSignature": "ZHJhdw=="},
                {"text": "Three."},
                {"text": "", "thoughtSignature": "ZW5k"},
            ],
        },
        {"role": "user", "parts": [{"text": "Go on."}]},
        {"role": "user", "parts": [{"text": "Or rest."}]},
    ],
    "tools": [
        {
            "functionDeclarations": [
                {"name": "knead", "description": "Knead it.", "parametersJsonSchema": SCHEMA},
                {"name": "rest", "parameters": {"type": "OBJECT", "properties": {"h": {"type": "NUMBER"}}}},
                {"name": "bake", "behavior": "NON_BLOCKING"},
            ]
        },
        {"codeExecution": {}},
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    "generationConfig": {"temperature": 0.5, "thinkingConfig": {"thinkingBudget": 128}},
    "labels": {"team": "ovens"},
}
"""A request with all current members."""

OLDER_REQUEST: Final[JsonObject] = {
    "contents": [
        {"role": "user", "parts": [{"text": "Bake and rest."}]},
        {
            "role": "model",
            "parts": [
                {"functionCall": {"name": "bake", "args": {"loaves": 1}}},
                {"functionCall": {"name": "rest", "args": {}}},
                {"functionCall": {"name": "bake", "args": {"loaves": 2}}},
            ],
        },
        {
            "role": "function",
            "parts": [
                {"functionResponse": {"name": "bake", "response": {"loaves": ["rye"]}}},
                {"functionResponse": {"name": "rest", "response": {"error": "no time"}}},
                {"functionResponse": {"name": "bake", "response": {"error": {"code": 3}}}},
            ],
        },
        {"role": "model", "parts": [{"text": "One loaf."}]},
        {"role": "user", "parts": [{"text": "Thanks."}, {"hologram": {"beam": 7}}]},
    ],
}
"""Calls without ids, results with a separate role, and an unknown part."""

SNAKE_CASE_REQUEST: Final[JsonObject] = {
    "system_instruction": {"parts": [{"text": "You bake."}]},
    "contents": [
        {
            "role": "user",
            "parts": [
                {"inline_data": {"mime_type": "image/png", "data": "iVBORw=="}},
                {"file_data": {"mime_type": "text/csv", "file_uri": "https://files.example/a"}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {
                    "function_call": {"name": "knead", "args": {"how_long": 9}},
                    "thought_signature": "Y2FsbA==",
                }
            ],
        },
        {
            "role": "user",
            "parts": [{"function_response": {"name": "knead", "response": {"mime_type": "dough"}}}],
        },
    ],
    "generation_config": {"top_p": 0.5},
}

REQUESTS: Final[dict[str, Json]] = {
    "all members": FULL_REQUEST,
    "older": OLDER_REQUEST,
    "in snake case": SNAKE_CASE_REQUEST,
}

BODY: Final[JsonObject] = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "Which flour?", "thought": True},
                    {"text": "Röggli. ", "thoughtSignature": "c2F5"},
                    {"functionCall": {"id": "c1", "name": "knead", "args": {"minutes": 9}}},
                ],
            },
            "finishReason": "STOP",
            "index": 0,
            "avgLogprobs": -0.25,
            "safetyRatings": [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"}],
            "groundingMetadata": {
                "groundingChunks": [{"web": {"uri": "https://bread.example/rye", "title": "Rye"}}],
                "groundingSupports": [
                    {"segment": {"endIndex": 8, "text": "Röggli."}, "groundingChunkIndices": [0]}
                ],
                "webSearchQueries": ["bread of the alps"],
            },
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 14,
        "candidatesTokenCount": 13,
        "thoughtsTokenCount": 5,
        "totalTokenCount": 32,
    },
    "modelVersion": "gemini-9",
    "responseId": "r1",
    "createTime": "2026-03-01T09:00:00Z",
}
"""A response with all members."""
