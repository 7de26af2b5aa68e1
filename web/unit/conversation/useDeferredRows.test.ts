// @vitest-environment happy-dom
import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { deferredRows, useDeferredRows } from "../../src/conversation/useDeferredRows";

const IDS = ["a", "b", "c", "d", "e", "f", "g"];

describe("deferred rows", () => {
  it.each([
    ["are none of a few", ["a", "b", "c"], [], []],
    ["are none of the rendered ones", IDS, IDS, []],
    ["are those farthest from the middle", IDS, [], ["a", "b", "f", "g"]],
    ["are only new ones", IDS, ["c", "d", "e"], ["g"]],
  ])("%s", (_, ready, rendered, deferred) => {
    expect([...deferredRows(ready, new Set(rendered))].toSorted()).toEqual(deferred);
  });
});

describe("a list", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const nextFrame = () => act(() => vi.advanceTimersToNextFrame());

  it("renders its first rows at once, and later rows a few per frame while it scrolls", () => {
    const { result, rerender } = renderHook(({ ready, isScrolling }) => useDeferredRows(ready, isScrolling), {
      initialProps: { ready: IDS, isScrolling: true },
    });
    expect(result.current.size).toBe(0);
    rerender({ ready: ["h", "i", "j", "k", "l", "m", "n"], isScrolling: true });
    expect(result.current.size).toBe(4);
    nextFrame();
    expect(result.current.size).toBe(1);
    nextFrame();
    expect(result.current.size).toBe(0);
  });

  it("defers no rows when it does not scroll", () => {
    const { result, rerender } = renderHook(({ ready, isScrolling }) => useDeferredRows(ready, isScrolling), {
      initialProps: { ready: ["z"], isScrolling: true },
    });
    rerender({ ready: IDS, isScrolling: false });
    expect(result.current.size).toBe(0);
  });
});
