/** Parts and facts as text. */
import type { ShownPart } from "../api/runs";
import { count, duration, money } from "../ui/format";
import { visible } from "../ui/hostile";

const LONGEST = 20_000;

export function json(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? "nothing";
  return visible(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}

export interface Piece {
  readonly name: string;
  readonly text: string;
}

const OWN = new Set([
  "type",
  "id",
  "state",
  "providerMetadata",
  "callProviderMetadata",
  "resultProviderMetadata",
]);

/** What a part holds, piece by piece. */
export function piecesOfPart(part: ShownPart): readonly Piece[] {
  if (typeof part.text === "string") return [{ name: "", text: visible(part.text) }];
  if (part.type === "tool-call") {
    const output = part.output as { type?: string; value?: unknown } | undefined;
    return [
      { name: "input", text: json(part.input) },
      ...(output ? [{ name: `output (${output.type})`, text: outputText(output) }] : []),
    ];
  }
  const rest = Object.fromEntries(Object.entries(part).filter(([name]) => !OWN.has(name)));
  return [{ name: "", text: json(rest) }];
}

function outputText(output: { value?: unknown }): string {
  if (typeof output.value === "string") return visible(output.value.slice(0, LONGEST));
  return json("value" in output ? output.value : output);
}

/** A fact as people read it. */
export function fact(name: string, value: string | number | null): string {
  if (value === null) return "none";
  if (typeof value === "string") return visible(value.slice(0, 500));
  if (name === "cost") return money(value);
  return name.startsWith("seconds") ? duration(value) : count(value);
}

const WITH_SHARE = /tokens|cost|seconds/;
const LARGEST_SHARE = 10;

/** How the second number differs from the first: `+1`, `−424 (−1.5 %)`. */
export function change(name: string, a: string | number | null, b: string | number | null): string {
  if (typeof a !== "number" || typeof b !== "number" || a === b) return "";
  const sign = b > a ? "+" : "−";
  const told = sign + fact(name, Math.abs(b - a));
  const share = a > 0 && WITH_SHARE.test(name) ? Math.abs(b - a) / a : Number.POSITIVE_INFINITY;
  if (share > LARGEST_SHARE) return told;
  return `${told} (${sign}${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %)`;
}
