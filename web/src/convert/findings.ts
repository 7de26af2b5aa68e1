/** What is to be told of a text: losses, notes, what is wrong with it; each with its place where it has one. */
import type { Inspection, Severity } from "../api/convert";
import { plural } from "../ui/format";
import { placeOf } from "./places";
import { linesOf, Positions, type Range } from "./positions";
import type { Mark } from "./rows";

export interface Finding {
  readonly id: string;
  readonly tone: Mark["tone"];
  readonly path: string;
  readonly what: string;
  readonly why: string;
  /** How bad a loss is; what is no loss has none. */
  readonly severity: Severity | null;
  /** Where it is shown: in the source, or in the canonical messages. */
  readonly side: "reading" | "writing";
  readonly ranges: readonly Range[];
}

/** How many are looked up in the text: each takes a moment. */
const MOST_PLACED = 2000;

export function findingsOf(inspection: Inspection, text: string): readonly Finding[] {
  const { problem, losses, notes, shape } = inspection;
  const positions = shape && shape !== "text" ? new Positions(text, shape) : null;
  const found: Finding[] = [];
  if (problem) {
    const range = placeOf(problem.where ?? "", text, positions);
    found.push({
      id: "problem",
      tone: "error",
      path: problem.where ?? "",
      what: problem.what,
      why: problem.hint ?? "",
      severity: null,
      side: "reading",
      ranges: range ? [range] : [],
    });
  }
  losses.forEach(({ path, what, why, severity, side }, index) => {
    const range = side === "reading" && index < MOST_PLACED ? positions?.locate(path) : null;
    const ranges = range ? [range] : [];
    found.push({ id: `loss-${index}`, tone: "loss", path, what, why, severity, side, ranges });
  });
  const lines = notes.some((note) => note.lines?.length) ? linesOf(text) : [];
  notes.forEach((note, index) => {
    const range = note.path ? positions?.locate(note.path) : null;
    const ranges = range ? [range] : (note.lines ?? []).flatMap((line) => lines[line - 1] ?? []);
    found.push({
      id: `note-${index}`,
      tone: "note",
      path: note.path ?? (note.lines?.length ? `line ${note.lines.slice(0, 5).join(", ")}` : ""),
      what: note.detail ? `${note.what}: ${note.detail}` : note.what,
      why: (note.times ?? 1) > 1 ? plural(note.times ?? 1, "time") : "",
      severity: null,
      side: "reading",
      ranges,
    });
  });
  // What is lost in writing is of the format that was chosen: what is of the text comes first.
  return [...found.filter((one) => one.side === "reading"), ...found.filter((one) => one.side === "writing")];
}

/** A kind of findings: how bad a loss is, or that it is no loss. */
export type Sort = Severity | "noted";

const ORDER: readonly Sort[] = ["lost", "changed", "repaired", "minor", "noted"];

export const sortOf = (finding: Finding): Sort => finding.severity ?? "noted";

/** How many there are of each kind, the worst first; only kinds that there are. */
export function sortsOf(findings: readonly Finding[]): readonly (readonly [Sort, number])[] {
  const counted = new Map<Sort, number>();
  for (const finding of findings) counted.set(sortOf(finding), (counted.get(sortOf(finding)) ?? 0) + 1);
  return ORDER.flatMap((sort) => (counted.has(sort) ? [[sort, counted.get(sort) ?? 0] as const] : []));
}

/** Marks for a text, sorted by where they begin. */
export function marksOf(findings: readonly Finding[]): readonly Mark[] {
  return findings
    .flatMap(({ id, tone, what, why, ranges }) =>
      ranges.map(({ start, end }) => ({ id, tone, start, end, why: why ? `${why}: ${what}` : what })),
    )
    .sort((one, other) => one.start - other.start || other.end - one.end);
}
