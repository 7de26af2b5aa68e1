/** The parts of two runs as rows: what differs stands alone, what is the same is put together to be folded. */
import type { PartDiff } from "../api/runs";

export interface Difference {
  readonly part: PartDiff;
  /** Which difference it is, from 0 on. */
  readonly number: number;
}

export type Row =
  | { readonly kind: "difference"; readonly difference: Difference }
  | { readonly kind: "same"; readonly parts: readonly PartDiff[]; readonly first: number };

export function rowsOf(parts: readonly PartDiff[]): readonly Row[] {
  const rows: Row[] = [];
  let number = 0;
  parts.forEach((part, place) => {
    const last = rows.at(-1);
    if (part.kind !== "same") {
      rows.push({ kind: "difference", difference: { part, number } });
      number += 1;
    } else if (last?.kind === "same") {
      rows[rows.length - 1] = { ...last, parts: [...last.parts, part] };
    } else rows.push({ kind: "same", parts: [part], first: place });
  });
  return rows;
}

/** How many of each: `2 changed, 1 only in A`. */
export function summary(parts: readonly PartDiff[]): string {
  const count = (kind: PartDiff["kind"]) => parts.filter((part) => part.kind === kind).length;
  const told = [
    [count("changed"), "changed"],
    [count("removed"), "only in A"],
    [count("added"), "only in B"],
    [count("same"), "the same"],
  ] as const;
  return told.flatMap(([number, what]) => (number ? [`${number} ${what}`] : [])).join(", ");
}
