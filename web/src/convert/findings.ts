/** The findings of an inspection: losses, notes and errors, with their ranges in the text. */
import type { Inspection, Severity } from "../api/convert";
import { plural } from "../ui/format";
import { rangeOfError } from "./errorPositions";
import { linesOf, Positions, type Range } from "./positions";
import type { Mark } from "./rows";

export interface Finding {
  readonly id: string;
  readonly tone: Mark["tone"];
  readonly path: string;
  readonly what: string;
  readonly why: string;
  /** The severity of a loss; null for other findings. */
  readonly severity: Severity | null;
  /** Whether the path refers to the source (`$…`) or to the canonical messages (`messages…`). */
  readonly side: "reading" | "writing";
  readonly ranges: readonly Range[];
}

/** Losses that are located in the text. Each lookup takes time. */
const MAX_LOCATED = 2000;

export function findingsOf(inspection: Inspection, text: string): readonly Finding[] {
  const { problem, losses, notes, shape } = inspection;
  const positions = shape && shape !== "text" ? new Positions(text, shape) : null;
  const found: Finding[] = [];
  if (problem) {
    const range = rangeOfError(problem.where ?? "", text, positions);
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
    const range = side === "reading" && index < MAX_LOCATED ? positions?.locate(path) : null;
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
  // Losses of reading come first: losses of writing depend on the selected target format.
  return [...found.filter((one) => one.side === "reading"), ...found.filter((one) => one.side === "writing")];
}

/** The severity of a loss, or `noted` for other findings. */
export type FindingKind = Severity | "noted";

const ORDER: readonly FindingKind[] = ["lost", "changed", "repaired", "minor", "noted"];

export const kindOf = (finding: Finding): FindingKind => finding.severity ?? "noted";

/** The number of findings by kind, the most severe first. */
export function countByKind(findings: readonly Finding[]): readonly (readonly [FindingKind, number])[] {
  const counted = new Map<FindingKind, number>();
  for (const finding of findings) counted.set(kindOf(finding), (counted.get(kindOf(finding)) ?? 0) + 1);
  return ORDER.flatMap((kind) => (counted.has(kind) ? [[kind, counted.get(kind) ?? 0] as const] : []));
}

/** The marks of findings, sorted by their start. */
export function marksOf(findings: readonly Finding[]): readonly Mark[] {
  return findings
    .flatMap(({ id, tone, what, why, ranges }) =>
      ranges.map(({ start, end }) => ({ id, tone, start, end, why: why ? `${why}: ${what}` : what })),
    )
    .sort((one, other) => one.start - other.start || other.end - one.end);
}
