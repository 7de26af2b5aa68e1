/** The turns of a conversation: a prompt of the user, and everything until the next one. */
import { isQuestion, type Row } from "./rows";
import { callsOf } from "./slices";

export interface Turn {
  /** From 1. */
  readonly number: number;
  /** Its first message. */
  readonly messageId: string;
  readonly rows: readonly Row[];
  readonly hasQuestion: boolean;
  readonly isRunning: boolean;
}

/** What is known about a turn from the outline. */
export interface TurnFacts {
  readonly startedAt: string | null;
  readonly seconds: number;
  readonly calls: number;
  readonly failed: number;
  readonly tokens: number;
  readonly cost: number | null;
}

export function turnsOf(rows: readonly Row[], isRunning: boolean): readonly Turn[] {
  const starts = rows.flatMap((row, index) => (index === 0 || isQuestion(row) ? [index] : []));
  let number = 0;
  return starts.map((start, index) => {
    const first = rows[start] as Row;
    const hasQuestion = isQuestion(first);
    if (hasQuestion) number += 1;
    return {
      number,
      messageId: first.id,
      rows: rows.slice(start, starts[index + 1]),
      hasQuestion,
      isRunning: isRunning && index === starts.length - 1,
    };
  });
}

export function factsOf(turn: Turn): TurnFacts {
  let [calls, failed, tokens] = [0, 0, 0];
  let cost: number | null = null;
  let end = 0;
  for (const { stored } of turn.rows) {
    if (!stored) continue;
    calls += callsOf(stored);
    failed += stored.failed;
    tokens += stored.tokens;
    if (stored.cost !== null) cost = (cost ?? 0) + stored.cost;
    for (const time of [stored.createdAt, stored.endedAt]) if (time) end = Math.max(end, Date.parse(time));
  }
  const startedAt = turn.rows[0]?.stored?.createdAt ?? null;
  const seconds = startedAt && end ? Math.max(0, (end - Date.parse(startedAt)) / 1000) : 0;
  return { startedAt, seconds, calls, failed, tokens, cost };
}
