"""The chat of a harbour office: a FastAPI application with Partita mounted in it."""

import os
from http.cookies import SimpleCookie
from pathlib import Path

from fastapi import FastAPI

from partita import Agent, asgi, tool
from partita.server import Connection

SCRIPT = Path(__file__).with_name("script.json")
MODEL = os.environ.get(
    "MODEL", f"scripted:{SCRIPT}"
)  # a script needs no API key; or anthropic:claude-sonnet-5


@tool
def tide(harbour: str) -> dict[str, str]:
    """The times of high and low tide in a harbour today."""
    return {"harbour": harbour, "high": "14:20", "low": "20:35"}


@tool(approval="always")
def book_berth(boat: str, nights: int) -> str:
    """Book a berth for a boat. The user must allow it first."""
    return f"Berth 7 is booked for the {boat}, {nights} nights."


def visitor(request: Connection) -> str | None:
    """The user of a request: the random id that the web app has stored in a cookie."""
    cookie = SimpleCookie(request.headers.get("cookie", "")).get("visitor")
    return cookie.value if cookie is not None and len(cookie.value) == 36 else None


office = Agent(MODEL, tools=[tide, book_berth], name="office", instructions="You work in a harbour office.")
chat = asgi(
    office,
    store=os.environ.get("DATABASE_URL", "sqlite:///chat.db"),
    user=visitor,
    origins=["http://localhost:3000", "http://127.0.0.1:3000"],
)
app = FastAPI(lifespan=chat.lifespan)
app.mount("/", chat)
