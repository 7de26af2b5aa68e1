// @vitest-environment happy-dom
import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { lateOf, usePace } from "../../src/conversation/usePace";

const IDS = ["a", "b", "c", "d", "e", "f", "g"];

describe("which rows must wait", () => {
  it.each([
    ["none of a few", ["a", "b", "c"], [], []],
    ["none that are drawn", IDS, IDS, []],
    ["those farthest from the middle", IDS, [], ["a", "b", "f", "g"]],
    ["only new ones", IDS, ["c", "d", "e"], ["g"]],
  ])("%s", (_, coming, drawn, late) => {
    expect([...lateOf(coming, new Set(drawn))].toSorted()).toEqual(late);
  });
});

describe("the pace of a list", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const nextFrame = () => act(() => vi.advanceTimersToNextFrame());

  it("draws what opens at once, and what comes while it runs a few in each frame", () => {
    const { result, rerender } = renderHook(({ coming, runs }) => usePace(coming, runs), {
      initialProps: { coming: IDS, runs: true },
    });
    expect(result.current.size).toBe(0);
    rerender({ coming: ["h", "i", "j", "k", "l", "m", "n"], runs: true });
    expect(result.current.size).toBe(4);
    nextFrame();
    expect(result.current.size).toBe(1);
    nextFrame();
    expect(result.current.size).toBe(0);
  });

  it("lets nothing wait when the list rests", () => {
    const { result, rerender } = renderHook(({ coming, runs }) => usePace(coming, runs), {
      initialProps: { coming: ["z"], runs: true },
    });
    rerender({ coming: IDS, runs: false });
    expect(result.current.size).toBe(0);
  });
});
