"""Google's Gemini."""

from collections.abc import Iterator

from google.genai import Client
from google.genai.types import Content, FunctionDeclaration, GenerateContentConfig, Part, Tool

from .weather import DESCRIPTION, SCHEMA, weather

MODEL = "gemini-2.5-flash"
TOOL = FunctionDeclaration(name="weather", description=DESCRIPTION, parameters_json_schema=SCHEMA)


def ask(client: Client, question: str) -> str:
    """Call the model and the tool until the answer is complete, and return it."""
    contents = [Content(role="user", parts=[Part(text=question)])]
    config = GenerateContentConfig(tools=[Tool(function_declarations=[TOOL])])
    while True:
        response = client.models.generate_content(model=MODEL, contents=contents, config=config)
        calls = response.function_calls or []
        if not calls:
            return response.text or ""
        contents.append(Content(role="model", parts=[Part(function_call=call) for call in calls]))
        results = [
            Part.from_function_response(
                name=call.name or "", response={"output": weather(**(call.args or {}))}
            )
            for call in calls
        ]
        contents.append(Content(role="user", parts=results))


def stream(client: Client, question: str) -> Iterator[str]:
    """Yield the text of the answer as it is streamed, without tools."""
    for piece in client.models.generate_content_stream(model=MODEL, contents=question):
        if piece.text:
            yield piece.text
