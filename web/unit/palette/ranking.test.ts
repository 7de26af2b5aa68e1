import { describe, expect, it } from "vitest";
import { type Entry, rank } from "../../src/palette/ranking";

const NOW = Date.parse("2026-11-19T00:00:00Z");
const DAY = 86_400_000;

const session = (name: string, days: number, also?: string): Entry => ({
  id: name,
  section: "Sessions",
  name,
  also,
  time: NOW - days * DAY,
});
const command = (name: string): Entry => ({ id: name, section: "Commands", name });

const names = (query: string, entries: readonly Entry[]) =>
  rank(query, entries, NOW).map(({ section, items }) => [section, items.map(({ entry }) => entry.name)]);

describe("rank", () => {
  it("shows recent sessions and all commands without a query", () => {
    const sessions = Array.from({ length: 9 }, (_, index) => session(`Session ${index}`, index));
    const commands = Array.from({ length: 20 }, (_, index) => command(`Command ${index}`));
    const found = rank("", [...sessions, ...commands], NOW);
    expect(found.map(({ section, items }) => [section, items.length])).toEqual([
      ["Sessions", 6],
      ["Commands", 20],
    ]);
    expect(found[0]?.items[0]?.entry.name).toBe("Session 0");
  });

  it("puts the section with the best match first", () => {
    const entries = [session("The theme of the lamp", 1), command("Theme: Dark")];
    expect(names("theme", entries)).toEqual([
      ["Commands", ["Theme: Dark"]],
      ["Sessions", ["The theme of the lamp"]],
    ]);
  });

  it("puts newer sessions before older ones, but a better match before both", () => {
    const entries = [session("A new lamp", 300), session("The old lamp", 1), session("Lamp range", 500)];
    expect(names("lamp", entries)).toEqual([["Sessions", ["Lamp range", "The old lamp", "A new lamp"]]]);
  });

  it("finds a session by its project, after those with a matching title, and marks only the title", () => {
    const entries = [session("Fix the range", 1, "Codex lighthouse"), session("A lighthouse", 200)];
    expect(names("lighthouse", entries)).toEqual([["Sessions", ["A lighthouse", "Fix the range"]]]);
    const [best] = rank("fix lighthouse", entries, NOW);
    expect(best?.items).toEqual([{ entry: entries[0], highlights: [[0, 3]] }]);
  });
});
