import { describe, expect, it } from "vitest";
import { chartOf, ticksOf } from "../../src/outline/waterfall";
import { callAt, turnAt } from "./overview";

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString();
const ran = (from: number, to: number | null) => ({
  startedAt: at(from),
  endedAt: to === null ? null : at(to),
});
const TURN = turnAt("q", 5, { startedAt: at(0), endedAt: at(60) });

describe("the chart of a turn", () => {
  const chart = chartOf(
    TURN,
    [
      callAt("a", "0", ran(10, 20)),
      callAt("a", "1", ran(12, 25)),
      callAt("b", "0", { kind: "agent", ...ran(30, 50) }),
      callAt("b", "0.children.0.0", ran(35, 40)),
      callAt("b", "1"),
    ],
    0,
  );
  const seconds = (span: { from: number; to: number } | null) => span && [span.from / 1000, span.to / 1000];

  it("has a bar for each call, and the time of the model before it", () => {
    expect(chart.bars.map(({ depth, span, model }) => [depth, seconds(span), seconds(model)])).toEqual([
      [0, [10, 20], [0, 10]],
      [0, [12, 25], null],
      [0, [30, 50], [25, 30]],
      [1, [35, 40], [30, 35]],
      [0, null, null],
    ]);
    expect(seconds(chart.last)).toEqual([50, 60]);
    expect([chart.length, chart.tools]).toEqual([60_000, 35_000]);
  });

  it("counts the tokens of a response once", () => {
    expect(chart.bars.map(({ isFirst }) => isFirst)).toEqual([true, false, true, true, false]);
  });

  it("goes on while the turn is running", () => {
    const running = chartOf(
      { ...TURN, endedAt: at(10), running: true },
      [callAt("a", "0", { state: "running", ...ran(10, null) })],
      Date.parse(at(30)),
    );
    expect(running.bars.map(({ span }) => seconds(span))).toEqual([[10, 30]]);
    expect(running.length).toBe(30_000);
  });

  it("has no axis without times", () => {
    const unknown = chartOf(turnAt("q", 1), [callAt("a", "0")], 0);
    expect([unknown.length, unknown.last, unknown.bars.length]).toEqual([0, null, 1]);
  });
});

describe("the time axis", () => {
  it.each([
    [400, [0, 100, 200, 300, 400]],
    [12_000, [0, 2000, 4000, 6000, 8000, 10_000, 12_000]],
    [60_000, [0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000]],
    [7_000_000, [0, 1_200_000, 2_400_000, 3_600_000, 4_800_000, 6_000_000]],
  ])("of %i ms has round marks", (length, ticks) => {
    expect(ticksOf(length).map(Math.round)).toEqual(ticks);
  });
});
