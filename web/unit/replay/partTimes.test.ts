import { describe, expect, it } from "vitest";
import type { TimelineEvent } from "../../src/api/runs";
import type { AssistantMessage, Chunk } from "../../src/partita.gen";
import { RunHistory } from "../../src/replay/runHistory";

const FIRST: AssistantMessage = {
  role: "assistant",
  id: "m",
  type: "text",
  content: { parts: [], format: 2 },
};

const historyOf = (...events: readonly (readonly [number, object])[]) =>
  new RunHistory(
    events.map(
      ([time, chunk], position): TimelineEvent => ({ seq: position + 1, time, chunk: chunk as Chunk }),
    ),
    FIRST,
    "r",
  );

const childChunk =
  (...path: readonly string[]) =>
  (chunk: object) => ({ type: "child", path, chunk });

describe("the time of a part at a position", () => {
  it("is known after the part has ended", () => {
    const history = historyOf(
      [0, { type: "start", messageId: "m" }],
      [5, { type: "start-step" }],
      [10, { type: "reasoning-start", id: "0" }],
      [200, { type: "reasoning-end", id: "0" }],
      [300, { type: "reasoning-start", id: "0" }],
      [340, { type: "reasoning-end", id: "0" }],
    );
    history.at(6);
    expect(history.times.at(6, "m", "1")).toMatchObject({ start: 10, end: 200 });
    expect(history.times.at(6, "m", "2")).toMatchObject({ start: 300, end: 340 });
    expect(history.times.at(3, "m", "1")).toBeUndefined();
    expect(history.times.at(5, "m", "2")).toBeUndefined();
    history.at(2);
    expect(history.times.at(4, "m", "1")).toMatchObject({ start: 10, end: 200 });
    expect(history.times.at(6, "m", "0")).toBeUndefined();
    expect(history.times.at(6, "other", "1")).toBeUndefined();
  });

  it("spans a call from the start of its input to its last output", () => {
    const history = historyOf(
      [10, { type: "tool-input-start", toolCallId: "c", toolName: "oven" }],
      [20, { type: "tool-input-available", toolCallId: "c", toolName: "oven", input: {} }],
      [30, { type: "tool-output-available", toolCallId: "c", output: 1, preliminary: true }],
      [90, { type: "tool-output-available", toolCallId: "c", output: 2 }],
    );
    history.at(4);
    expect(history.times.at(3, "m", "0")).toBeUndefined();
    expect(history.times.at(4, "m", "0")).toMatchObject({ start: 10, end: 90 });
  });

  it("is known for parts of sub-agents by their paths", () => {
    const child = childChunk("c");
    const deep = childChunk("c", "d");
    const history = historyOf(
      [0, { type: "text-start", id: "0" }],
      [1, { type: "tool-input-available", toolCallId: "c", toolName: "task", input: {} }],
      [10, child({ type: "start", messageId: "a" })],
      [20, child({ type: "reasoning-start", id: "0" })],
      [50, child({ type: "reasoning-end", id: "0" })],
      [60, child({ type: "tool-input-available", toolCallId: "d", toolName: "task", input: {} })],
      [70, deep({ type: "reasoning-start", id: "0" })],
      [77, deep({ type: "reasoning-end", id: "0" })],
      [80, child({ type: "tool-output-available", toolCallId: "d", output: 1 })],
    );
    history.at(9);
    expect(history.times.at(9, "m", "1.children.0.0")).toMatchObject({ start: 20, end: 50 });
    expect(history.times.at(9, "m", "1.children.0.1")).toMatchObject({ start: 60, end: 80 });
    expect(history.times.at(9, "m", "1.children.0.1.children.0.0")).toMatchObject({ start: 70, end: 77 });
    expect(history.times.at(9, "m", "1")).toBeUndefined();
  });

  it("is that of the part at that position if a step was restarted", () => {
    const history = historyOf(
      [0, { type: "start-step" }],
      [10, { type: "reasoning-start", id: "0" }],
      [20, { type: "reasoning-end", id: "0" }],
      [30, { type: "reset-step" }],
      [40, { type: "reasoning-start", id: "0" }],
      [70, { type: "reasoning-end", id: "0" }],
    );
    history.at(6);
    expect(history.times.at(3, "m", "1")).toMatchObject({ start: 10, end: 20 });
    expect(history.times.at(5, "m", "1")).toBeUndefined();
    expect(history.times.at(6, "m", "1")).toMatchObject({ start: 40, end: 70 });
  });
});
