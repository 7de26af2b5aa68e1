import { describe, expect, it } from "vitest";
import type { TimelineEvent } from "../../src/api/runs";
import type { AssistantMessage, Chunk } from "../../src/partita.gen";
import { RunHistory } from "../../src/replay/runHistory";

const FIRST: AssistantMessage = {
  role: "assistant",
  id: "m1",
  type: "text",
  content: { parts: [], format: 2 },
};

const asEvents = (chunks: readonly object[]): TimelineEvent[] =>
  chunks.map((chunk, position) => ({ seq: position + 1, time: position, chunk: chunk as Chunk }));

const LONG = asEvents([
  { type: "start", messageId: "m1" },
  { type: "text-start", id: "0" },
  ...Array.from({ length: 700 }, (_, word) => ({ type: "text-delta", id: "0", delta: `${word} ` })),
  { type: "text-end", id: "0" },
  { type: "finish" },
  { type: "start", messageId: "m2", messageMetadata: { internal: true, usage: { inputTokens: 3 } } },
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta: "second" },
]);

describe("the messages of a run at any position", () => {
  it("do not depend on the positions requested before", () => {
    const history = new RunHistory(LONG, FIRST, "r");
    const positions = [0, 700, 5, 699, 4, 3, 2, 707, 350, 349, 351, 706, 1];
    for (const position of positions) {
      expect(history.at(position)).toEqual(new RunHistory(LONG, FIRST, "r").at(position));
    }
  });

  it("are several if a start with another id follows a finish", () => {
    const messages = new RunHistory(LONG, FIRST, "r").at(LONG.length);
    expect(messages.map(({ id, internal, runId }) => [id, internal, runId])).toEqual([
      ["m1", undefined, "r"],
      ["m2", true, "r"],
    ]);
    expect(messages[1]?.content.usage).toEqual({ inputTokens: 3 });
  });

  it("are the same objects while they do not change", () => {
    const history = new RunHistory(LONG, FIRST, "r");
    const [first] = history.at(706);
    expect(history.at(707)[0]).toBe(first);
  });

  it("contain who responded to an approval", () => {
    const chunks = asEvents([
      { type: "start" },
      { type: "tool-input-available", toolCallId: "c", toolName: "bell", input: {} },
      { type: "tool-approval-request", approvalId: "a", toolCallId: "c" },
      {
        type: "data-partita-decision",
        data: { approvalId: "a", by: "ada", at: "2026-03-01T12:00:00Z" },
        transient: true,
      },
      { type: "tool-approval-response", approvalId: "a", approved: true },
    ]);
    const history = new RunHistory(chunks, FIRST, "r");
    const approval = (position: number) =>
      (history.at(position)[0]?.content.parts[0] as { approval?: object } | undefined)?.approval;
    expect(approval(3)).toEqual({ id: "a" });
    expect(approval(5)).toMatchObject({
      approved: true,
      respondedBy: "ada",
      respondedAt: "2026-03-01T12:00:00Z",
    });
  });
});
