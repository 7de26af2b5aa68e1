import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Reconnecting } from "../../src/chat/retries";

describe("trying again", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("waits longer each time, up to a bound, and begins anew once it worked", () => {
    const times: number[] = [];
    const start = Date.now();
    const retry = new Reconnecting(() => {
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

  it("can be called off", () => {
    const attempt = vi.fn();
    const retry = new Reconnecting(attempt);
    retry.failed();
    retry.cancel();
    vi.runAllTimers();
    expect(attempt).not.toHaveBeenCalled();
    expect(retry.active).toBe(false);
  });
});
