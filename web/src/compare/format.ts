/** Formats parts and facts as text. */
import type { ShownPart } from "../api/runs";
import { count, duration, money } from "../ui/format";
import { visible } from "../ui/sanitize";

const MAX_LENGTH = 20_000;

export function formatJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? "none";
  return visible(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);
}

export interface Piece {
  readonly name: string;
  readonly text: string;
}

const OMITTED = new Set([
  "type",
  "id",
  "state",
  "providerMetadata",
  "callProviderMetadata",
  "resultProviderMetadata",
]);

/** The contents of a part. */
export function contentsOf(part: ShownPart): readonly Piece[] {
  if (typeof part.text === "string") return [{ name: "", text: visible(part.text) }];
  if (part.type === "tool-call") {
    const output = part.output as { type?: string; value?: unknown } | undefined;
    return [
      { name: "input", text: formatJson(part.input) },
      ...(output ? [{ name: `output (${output.type})`, text: outputText(output) }] : []),
    ];
  }
  const rest = Object.fromEntries(Object.entries(part).filter(([name]) => !OMITTED.has(name)));
  return [{ name: "", text: formatJson(rest) }];
}

function outputText(output: { value?: unknown }): string {
  if (typeof output.value === "string") return visible(output.value.slice(0, MAX_LENGTH));
  return formatJson("value" in output ? output.value : output);
}

/** The value of a fact. Names of durations end with their unit. */
export function formatFact(name: string, value: string | number | null): string {
  if (value === null) return "none";
  if (typeof value === "string") return visible(value.slice(0, 500));
  if (name === "cost") return money(value);
  return name.endsWith("(s)") ? duration(value) : count(value);
}

const WITH_PERCENTAGE = /tokens|cost|\(s\)/;
const MAX_RATIO = 10;

/** The difference of two numbers: `+1`, `−424 (−1.5%)`. */
export function formatChange(name: string, a: string | number | null, b: string | number | null): string {
  if (typeof a !== "number" || typeof b !== "number" || a === b) return "";
  const sign = b > a ? "+" : "−";
  const difference = sign + formatFact(name, Math.abs(b - a));
  const ratio = a > 0 && WITH_PERCENTAGE.test(name) ? Math.abs(b - a) / a : Number.POSITIVE_INFINITY;
  if (ratio > MAX_RATIO) return difference;
  return `${difference} (${sign}${(ratio * 100).toFixed(ratio < 0.1 ? 1 : 0)}%)`;
}
