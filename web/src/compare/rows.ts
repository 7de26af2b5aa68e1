/** The parts of two runs as rows: one row per difference; consecutive equal parts are one collapsible row. */
import type { PartDiff } from "../api/runs";

export interface Difference {
  readonly part: PartDiff;
  /** The index of the difference. */
  readonly number: number;
}

export type Row =
  | { readonly kind: "difference"; readonly difference: Difference }
  | { readonly kind: "same"; readonly parts: readonly PartDiff[]; readonly first: number };

export function rowsOf(parts: readonly PartDiff[]): readonly Row[] {
  const rows: Row[] = [];
  let number = 0;
  parts.forEach((part, index) => {
    const last = rows.at(-1);
    if (part.kind !== "same") {
      rows.push({ kind: "difference", difference: { part, number } });
      number += 1;
    } else if (last?.kind === "same") {
      rows[rows.length - 1] = { ...last, parts: [...last.parts, part] };
    } else rows.push({ kind: "same", parts: [part], first: index });
  });
  return rows;
}

/** The counts: `2 changed, 1 only in A`. */
export function summary(parts: readonly PartDiff[]): string {
  const count = (kind: PartDiff["kind"]) => parts.filter((part) => part.kind === kind).length;
  const counts = [
    [count("changed"), "changed"],
    [count("removed"), "only in A"],
    [count("added"), "only in B"],
    [count("same"), "equal"],
  ] as const;
  return counts.flatMap(([number, what]) => (number ? [`${number} ${what}`] : [])).join(", ");
}
