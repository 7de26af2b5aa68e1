import { describe, expect, it } from "vitest";
import type { TimelineEvent } from "../../src/api/runs";
import type { Chunk } from "../../src/partita.gen";
import { counter, stopwatch, summaryOf, titleOf } from "../../src/replay/eventText";
import { positionAfter, stepForKey } from "../../src/replay/navigation";
import { density, kindOf, Outline } from "../../src/replay/segments";

const events = (...chunks: readonly (readonly [number, object | null])[]): TimelineEvent[] =>
  chunks.map(([time, chunk], position) => ({
    seq: position + 1,
    time,
    ...(chunk ? { chunk: chunk as Chunk } : {}),
  }));

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

describe("the outline of a run", () => {
  it.each([0, 4, 9, RUN.length])(
    "has the same segments if events arrive in two pages, split at %i",
    (cut) => {
      expect(outlined(RUN, cut).segments()).toEqual([
        { kind: "reasoning", from: 10, to: 30 },
        { kind: "text", from: 60, to: 70 },
        { kind: "tool", from: 40, to: 90, name: "oven" },
        { kind: "text", from: 100, to: 110 }, // not ended: up to its last delta
        { kind: "tool", from: 120, to: 150, name: "bell" }, // still pending
      ]);
    },
  );

  it("has the starts of steps and parts", () => {
    const outline = outlined(RUN, 0);
    expect(outline.steps).toEqual([5, 95]);
    expect(outline.parts).toEqual([3, 6, 9, 14, 17]);
  });

  it("classifies events", () => {
    expect(RUN.map(kindOf).join(" ")).toBe(
      "message step reasoning reasoning reasoning tool bytes tool text text tool tool step text text note tool message",
    );
  });

  it("counts events in equal bins", () => {
    expect(density([0, 1, 2, 9, 10], 10, 5)).toEqual([2, 1, 0, 0, 2]);
    expect(density([0, 0], 0, 3)).toEqual([2, 0, 0]);
  });
});

describe("steps", () => {
  const parts = [3, 6, 9];
  it.each([
    ["event-forward", 3, 4],
    ["event-forward", 12, 12],
    ["event-back", 0, 0],
    ["part-forward", 0, 3],
    ["part-forward", 3, 6],
    ["part-forward", 9, 12],
    ["part-back", 9, 6],
    ["part-back", 8, 6],
    ["part-back", 3, 0],
    ["start", 5, 0],
    ["end", 5, 12],
  ] as const)("%s from %i leads to %i", (step, from, to) => {
    expect(positionAfter(step, from, 12, parts)).toBe(to);
  });

  const key = (name: string, shiftKey = false, ctrlKey = false) => ({
    key: name,
    shiftKey,
    ctrlKey,
    altKey: false,
    metaKey: false,
  });
  it("have keys", () => {
    expect(stepForKey(key("ArrowLeft"))).toBe("event-back");
    expect(stepForKey(key("ArrowRight", true))).toBe("part-forward");
    expect(stepForKey(key("Home"))).toBe("start");
    expect(stepForKey(key("ArrowRight", false, true))).toBeNull();
    expect(stepForKey(key("x"))).toBeNull();
  });
});

describe("texts of events", () => {
  it.each([
    [0, "0.0 s", "0:00.0"],
    [12_449, "12.4 s", "0:12.4"],
    [59_960, "1 min 0 s", "1:00.0"],
    [63_000, "1 min 3 s", "1:03.0"],
    [7_510_000, "2 h 5 min 10 s", "2:05:10.0"],
  ])("%i ms are %s", (time, long, short) => {
    expect(stopwatch(time)).toBe(long);
    expect(counter(time)).toBe(short);
  });

  it("contain the content and the nesting of a chunk, with hidden characters visible", () => {
    expect(RUN.slice(5, 9).map((event) => `${titleOf(event)}: ${summaryOf(event)}`)).toEqual([
      "tool-input-start: oven",
      "bytes: bytes without a chunk",
      "tool-input-available: oven",
      "› text-start: ",
    ]);
    const [hidden] = events([0, { type: "text-delta", id: "0", delta: "a\u202eb\nc" }]);
    expect(hidden && summaryOf(hidden)).toBe("a⟦U+202E⟧b c");
  });
});
