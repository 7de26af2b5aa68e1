import { describe, expect, it } from "vitest";
import type { TimelineEvent } from "../../src/api/runs";
import type { AssistantMessage, Chunk } from "../../src/partita.gen";
import { Frames } from "../../src/replay/fold";

const BEGUN: AssistantMessage = {
  role: "assistant",
  id: "m1",
  type: "text",
  content: { parts: [], format: 2 },
};

const asEvents = (chunks: readonly object[]): TimelineEvent[] =>
  chunks.map((chunk, place) => ({ seq: place + 1, time: place, chunk: chunk as Chunk }));

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

describe("the messages of a run at any place", () => {
  it("are the same whichever way one comes there", () => {
    const frames = new Frames(LONG, BEGUN, "r");
    const places = [0, 700, 5, 699, 4, 3, 2, 707, 350, 349, 351, 706, 1];
    for (const place of places) {
      expect(frames.at(place)).toEqual(new Frames(LONG, BEGUN, "r").at(place));
    }
  });

  it("are several where a start with another id follows a finish", () => {
    const messages = new Frames(LONG, BEGUN, "r").at(LONG.length);
    expect(messages.map(({ id, internal, runId }) => [id, internal, runId])).toEqual([
      ["m1", undefined, "r"],
      ["m2", true, "r"],
    ]);
    expect(messages[1]?.content.usage).toEqual({ inputTokens: 3 });
  });

  it("stay the same objects while nothing changes in them", () => {
    const frames = new Frames(LONG, BEGUN, "r");
    const [first] = frames.at(706);
    expect(frames.at(707)[0]).toBe(first);
  });

  it("know who answered a question", () => {
    const asked = asEvents([
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
    const frames = new Frames(asked, BEGUN, "r");
    const approval = (place: number) =>
      (frames.at(place)[0]?.content.parts[0] as { approval?: object } | undefined)?.approval;
    expect(approval(3)).toEqual({ id: "a" });
    expect(approval(5)).toMatchObject({
      approved: true,
      respondedBy: "ada",
      respondedAt: "2026-03-01T12:00:00Z",
    });
  });
});
