/** The colours of models, agents and projects: each has the same in every chart and table of the page. */
import type { Split, Stat } from "../api/analytics";
import { MAX_SERIES, sum } from "./charts/stack";
import { labelOf } from "./labels";

/** The labels with colours of their own, in the order of the colours. */
export type Order = readonly string[];

/** The labels by their part of the cost, tokens and sessions, without what has no name. */
export function orderOf(split: Split, stats: readonly Stat[]): Order {
  const measures = [
    (it: Stat) => it.cost ?? 0,
    (it: Stat) => it.inputTokens + it.outputTokens,
    (it: Stat) => it.threads / 2,
  ];
  const totals = measures.map((value) => sum(stats.map(value)) || 1);
  const part = (stat: Stat) => sum(measures.map((value, index) => value(stat) / (totals[index] ?? 1)));
  return stats
    .filter(({ key }) => key[0])
    .sort((first, second) => part(second) - part(first))
    .map(({ key }) => labelOf(split, key[0]));
}

/** The number of the colour of a label: the last for those without their own. */
export function colourIn(order: Order, label: string): number {
  const place = order.indexOf(label);
  return place < 0 || place >= MAX_SERIES ? MAX_SERIES : place;
}
