import { describe, expect, it } from "vitest";
import { ago, clock, day, duration } from "../../src/ui/format";

const at = (day: number, hour = 11, minute = 2) => new Date(2026, 6, day, hour, minute).toISOString();

describe("times", () => {
  it.each([
    [0.0004, "0 ms"],
    [0.84, "840 ms"],
    [0.9996, "1 s"],
    [1, "1 s"],
    [4.21, "4.2 s"],
    [9.96, "10 s"],
    [59.4, "59 s"],
    [59.6, "1 min"],
    [119.6, "2 min"],
    [180, "3 min"],
    [200, "3 min 20 s"],
    [3599.7, "1 h"],
    [7200, "2 h"],
    [7500, "2 h 5 min"],
    [86_400, "1 d"],
    [273_600, "3 d 4 h"],
  ])("of %d seconds are %s", (seconds, shown) => {
    expect(duration(seconds)).toBe(shown);
  });

  it("are relative, then a clock time, then a day with a clock time", () => {
    const now = Date.parse(at(22, 11, 2));
    const shown = (iso: string) => ago(iso, now);
    expect(shown(new Date(now - 20_000).toISOString())).toBe("just now");
    expect(shown(at(22, 10, 57))).toBe("5 min ago");
    expect(shown(at(22, 9, 0))).toBe("09:00");
    expect(shown(at(21, 23, 59))).toBe("Tue 23:59");
    expect(shown(at(16))).toBe("Thu 11:02");
    expect(shown(at(15))).toBe("15 Jul 2026, 11:02");
  });

  it("in the future are never relative", () => {
    const now = Date.parse(at(22, 11, 2));
    expect(ago(at(22, 11, 30), now)).toBe("11:30");
    expect(ago(at(23), now)).toBe("23 Jul 2026, 11:02");
  });

  it("have a function for the clock and one for the day", () => {
    expect([clock(at(3)), day(at(3))]).toEqual(["11:02", "3 Jul 2026"]);
  });
});
