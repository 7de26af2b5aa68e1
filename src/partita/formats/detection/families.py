"""All signs, in an order that decides where two are equally sure: the narrower format first."""

from typing import Final

from . import (
    a2a,
    ag_ui,
    agents,
    ai_sdk,
    anthropic,
    applications,
    bedrock,
    chat_servers,
    cohere,
    exports,
    gemini,
    langchain,
    mastra,
    mcp,
    openai_chat,
    openai_responses,
    otel,
    own,
    pydantic_ai,
)
from .sign import Sign

SIGNS: Final[tuple[Sign, ...]] = tuple(
    sign
    for family in (
        mastra,
        applications,
        own,
        ai_sdk,
        agents,
        pydantic_ai,
        langchain,
        otel,
        ag_ui,
        a2a,
        mcp,
        gemini,
        bedrock,
        cohere,
        anthropic,
        openai_responses,
        chat_servers,
        openai_chat,
        exports,
    )
    for sign in family.SIGNS
)
