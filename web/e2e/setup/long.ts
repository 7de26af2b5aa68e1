/** A thread of 10,000 messages, written directly to the store. */
import { python } from "./site";

export const MANY = 10_000;

const WRITE = `
import asyncio, sys
from datetime import UTC, datetime, timedelta
from partita.store.connection import open_store
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, TextPart
from partita import TextOutput

WORDS = "The keeper climbs the stairs and trims the lamp before the fog comes in. "
CODE = "\\n\\n\`\`\`python\\nfor step in range(199):\\n    climb(step)\\n\`\`\`\\n\\n| lamp | range |\\n|---|---|\\n| old | 12 |\\n"

def message(number, at):
    id = f"m{number}"
    if number % 4 == 0:
        return UserMessage(id=id, content=f"Question {number}: and **then**?", created_at=at)
    parts = [ReasoningPart("Which step comes next? " * (number % 5))] if number % 5 else []
    if number % 3 == 0:
        parts.append(ToolCallPart(id=f"c{number}", name="Bash", state="output-available",
            input={"command": f"measure --step {number}"}, output=TextOutput("a line of output\\n" * (number % 40))))
    parts.append(TextPart(f"Answer {number}. " + WORDS * (number * 7 % 19) + (CODE if number % 11 == 0 else "")))
    return AssistantMessage(id=id, content=parts, created_at=at)

async def main(url, count):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    async with open_store(url) as store:
        await store.threads.create("long", title="A long watch", agent="demo")
        messages = [message(number, start + timedelta(seconds=20 * number)) for number in range(count)]
        for first in range(0, count, 2000):
            await store.messages.save(messages[first : first + 2000], thread_id="long")

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
`;

/** Writes the thread to the store with this URL. */
export const writeLong = (store: string, count = MANY): Promise<string> =>
  python(WRITE, store, String(count));
