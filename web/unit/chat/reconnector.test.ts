import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Reconnector } from "../../src/chat/reconnector";

describe("a reconnector", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("doubles its delay up to a limit, and resets it after a success", () => {
    const times: number[] = [];
    const start = Date.now();
    const retry = new Reconnector(() => {
      times.push(Date.now() - start);
      if (times.length < 7) retry.failed();
      else retry.succeeded();
    });
    retry.failed();
    expect(retry.active).toBe(true);
    vi.runAllTimers();
    expect(times).toEqual([300, 900, 2100, 4500, 9300, 14300, 19300]);
    expect(retry.active).toBe(false);
    retry.failed();
    vi.advanceTimersByTime(300);
    expect(times).toHaveLength(8);
  });

  it("can be cancelled", () => {
    const attempt = vi.fn();
    const retry = new Reconnector(attempt);
    retry.failed();
    retry.cancel();
    vi.runAllTimers();
    expect(attempt).not.toHaveBeenCalled();
    expect(retry.active).toBe(false);
  });
});
