import { describe, expect, it } from "vitest";
import type { TimelineEvent } from "../../src/api/runs";
import type { AssistantMessage, Chunk } from "../../src/partita.gen";
import { Frames } from "../../src/replay/fold";

const BEGUN: AssistantMessage = {
  role: "assistant",
  id: "m",
  type: "text",
  content: { parts: [], format: 2 },
};

const framesOf = (...told: readonly (readonly [number, object])[]) =>
  new Frames(
    told.map(([time, chunk], place): TimelineEvent => ({ seq: place + 1, time, chunk: chunk as Chunk })),
    BEGUN,
    "r",
  );

const below =
  (...path: readonly string[]) =>
  (chunk: object) => ({ type: "child", path, chunk });

describe("how long a part took, at a moment of a replay", () => {
  it("is known once it is over, and not before", () => {
    const frames = framesOf(
      [0, { type: "start", messageId: "m" }],
      [5, { type: "start-step" }],
      [10, { type: "reasoning-start", id: "0" }],
      [200, { type: "reasoning-end", id: "0" }],
      [300, { type: "reasoning-start", id: "0" }],
      [340, { type: "reasoning-end", id: "0" }],
    );
    frames.at(6);
    expect(frames.times.at(6, "m", "1")).toMatchObject({ start: 10, end: 200 });
    expect(frames.times.at(6, "m", "2")).toMatchObject({ start: 300, end: 340 });
    expect(frames.times.at(3, "m", "1")).toBeUndefined();
    expect(frames.times.at(5, "m", "2")).toBeUndefined();
    frames.at(2);
    expect(frames.times.at(4, "m", "1")).toMatchObject({ start: 10, end: 200 });
    expect(frames.times.at(6, "m", "0")).toBeUndefined();
    expect(frames.times.at(6, "other", "1")).toBeUndefined();
  });

  it("is, for a call, from the first word of its input to its last output", () => {
    const frames = framesOf(
      [10, { type: "tool-input-start", toolCallId: "c", toolName: "oven" }],
      [20, { type: "tool-input-available", toolCallId: "c", toolName: "oven", input: {} }],
      [30, { type: "tool-output-available", toolCallId: "c", output: 1, preliminary: true }],
      [90, { type: "tool-output-available", toolCallId: "c", output: 2 }],
    );
    frames.at(4);
    expect(frames.times.at(3, "m", "0")).toBeUndefined();
    expect(frames.times.at(4, "m", "0")).toMatchObject({ start: 10, end: 90 });
  });

  it("is known of what sub-agents did, at their own places", () => {
    const child = below("c");
    const deep = below("c", "d");
    const frames = framesOf(
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
    frames.at(9);
    expect(frames.times.at(9, "m", "1.children.0.0")).toMatchObject({ start: 20, end: 50 });
    expect(frames.times.at(9, "m", "1.children.0.1")).toMatchObject({ start: 60, end: 80 });
    expect(frames.times.at(9, "m", "1.children.0.1.children.0.0")).toMatchObject({ start: 70, end: 77 });
    expect(frames.times.at(9, "m", "1")).toBeUndefined();
  });

  it("is that of the part that stood there then, where a step was begun anew", () => {
    const frames = framesOf(
      [0, { type: "start-step" }],
      [10, { type: "reasoning-start", id: "0" }],
      [20, { type: "reasoning-end", id: "0" }],
      [30, { type: "reset-step" }],
      [40, { type: "reasoning-start", id: "0" }],
      [70, { type: "reasoning-end", id: "0" }],
    );
    frames.at(6);
    expect(frames.times.at(3, "m", "1")).toMatchObject({ start: 10, end: 20 });
    expect(frames.times.at(5, "m", "1")).toBeUndefined();
    expect(frames.times.at(6, "m", "1")).toMatchObject({ start: 40, end: 70 });
  });
});
