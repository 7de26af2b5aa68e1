import { describe, expect, it } from "vitest";
import type { TimelineEvent } from "../../src/api/runs";
import type { Chunk } from "../../src/partita.gen";
import { density, kindOf, Outline } from "../../src/replay/segments";
import { stepped, walkOf } from "../../src/replay/steps";
import { counter, gist, stopwatch, titleOf } from "../../src/replay/told";

const events = (...told: readonly (readonly [number, object | null])[]): TimelineEvent[] =>
  told.map(([time, chunk], place) => ({ seq: place + 1, time, ...(chunk ? { chunk: chunk as Chunk } : {}) }));

const RUN = events(
  [0, { type: "start", messageId: "m" }],
  [5, { type: "start-step" }],
  [10, { type: "reasoning-start", id: "0" }],
  [20, { type: "reasoning-delta", id: "0", delta: "Hm" }],
  [30, { type: "reasoning-end", id: "0" }],
  [40, { type: "tool-input-start", toolCallId: "c", toolName: "oven" }],
  [45, null],
  [50, { type: "tool-input-available", toolCallId: "c", toolName: "oven", input: {} }],
  [60, { type: "child", path: ["c"], chunk: { type: "text-start", id: "0" } }],
  [70, { type: "child", path: ["c"], chunk: { type: "text-end", id: "0" } }],
  [80, { type: "tool-output-available", toolCallId: "c", output: 1, preliminary: true }],
  [90, { type: "tool-output-available", toolCallId: "c", output: 2 }],
  [95, { type: "start-step" }],
  [100, { type: "text-start", id: "0" }],
  [110, { type: "text-delta", id: "0", delta: "Done" }],
  [115, { type: "data-partita-call-end" }],
  [120, { type: "tool-input-available", toolCallId: "d", toolName: "bell", input: {} }],
  [150, { type: "finish" }],
);

function outlined(run: readonly TimelineEvent[], cut: number): Outline {
  const outline = new Outline();
  outline.add(run.slice(0, cut));
  outline.add(run.slice(cut));
  return outline;
}

describe("what a run was doing when", () => {
  it.each([0, 4, 9, RUN.length])("is the same however it comes, cut at %i", (cut) => {
    expect(outlined(RUN, cut).segments()).toEqual([
      { kind: "reasoning", from: 10, to: 30 },
      { kind: "text", from: 60, to: 70 },
      { kind: "tool", from: 40, to: 90, name: "oven" },
      { kind: "text", from: 100, to: 110 }, // never ended: as far as it came
      { kind: "tool", from: 120, to: 150, name: "bell" }, // still waits for its output
    ]);
  });

  it("tells where steps and parts begin", () => {
    const outline = outlined(RUN, 0);
    expect(outline.steps).toEqual([5, 95]);
    expect(outline.parts).toEqual([3, 6, 9, 14, 17]);
  });

  it("tells kinds of events apart", () => {
    expect(RUN.map(kindOf).join(" ")).toBe(
      "message step reasoning reasoning reasoning tool bytes tool text text tool tool step text text note tool message",
    );
  });

  it("counts events in equal stretches", () => {
    expect(density([0, 1, 2, 9, 10], 10, 5)).toEqual([2, 1, 0, 0, 2]);
    expect(density([0, 0], 0, 3)).toEqual([2, 0, 0]);
  });
});

describe("steps", () => {
  const parts = [3, 6, 9];
  it.each([
    ["event-on", 3, 4],
    ["event-on", 12, 12],
    ["event-back", 0, 0],
    ["part-on", 0, 3],
    ["part-on", 3, 6],
    ["part-on", 9, 12],
    ["part-back", 9, 6],
    ["part-back", 8, 6],
    ["part-back", 3, 0],
    ["start", 5, 0],
    ["end", 5, 12],
  ] as const)("%s from %i leads to %i", (walk, from, to) => {
    expect(stepped(walk, from, 12, parts)).toBe(to);
  });

  const key = (name: string, shiftKey = false, ctrlKey = false) => ({
    key: name,
    shiftKey,
    ctrlKey,
    altKey: false,
    metaKey: false,
  });
  it("are what keys mean", () => {
    expect(walkOf(key("ArrowLeft"))).toBe("event-back");
    expect(walkOf(key("ArrowRight", true))).toBe("part-on");
    expect(walkOf(key("Home"))).toBe("start");
    expect(walkOf(key("ArrowRight", false, true))).toBeNull();
    expect(walkOf(key("x"))).toBeNull();
  });
});

describe("words for events", () => {
  it.each([
    [0, "0.0 s", "0:00.0"],
    [12_449, "12.4 s", "0:12.4"],
    [59_960, "1 min 0 s", "0:59.9"],
    [63_000, "1 min 3 s", "1:03.0"],
    [7_510_000, "2 h 5 min 10 s", "2:05:10.0"],
  ])("%i ms are %s", (time, long, short) => {
    expect(stopwatch(time)).toBe(long);
    expect(counter(time)).toBe(short);
  });

  it("say what is in a chunk, below whom, and no tricks", () => {
    expect(RUN.slice(5, 9).map((event) => `${titleOf(event)}: ${gist(event)}`)).toEqual([
      "tool-input-start: oven",
      "bytes: bytes that gave no chunk",
      "tool-input-available: oven",
      "› text-start: ",
    ]);
    const [trick] = events([0, { type: "text-delta", id: "0", delta: "a\u202eb\nc" }]);
    expect(trick && gist(trick)).toBe("a⟦U+202E⟧b c");
  });
});
