/** The keys that go to the next question, error, edit or sub-agent, and say which one it is. */
import { useRef } from "react";
import { type Filter, nextStop, type Stop, stopsOf } from "../outline/model";
import { count } from "../ui/format";
import { toast } from "../ui/Toasts";
import { isQuestion, type Row } from "./rows";
import type { Position } from "./usePosition";
import type { Turns } from "./useTurns";

export type StopKind = Exclude<Filter, "all">;

interface Options {
  readonly rows: readonly Row[];
  readonly turns: Turns;
  readonly position: Position;
  readonly onShow: (place: { readonly messageId: string; readonly part: string | null }) => void;
}

const NAMES: Readonly<Record<StopKind, readonly [one: string, many: string]>> = {
  question: ["Question", "questions"],
  error: ["Error", "errors"],
  edit: ["Edit", "edits"],
  agent: ["Sub-agent", "sub-agents"],
};
const SHOWN_MS = 2500;

export function useStops({ rows, turns, position, onShow }: Options): (kind: StopKind, by: 1 | -1) => void {
  const dismiss = useRef<(() => void) | null>(null);
  const announce = (text: string) => {
    dismiss.current?.();
    dismiss.current = toast(text, { milliseconds: SHOWN_MS });
  };
  return (kind, by) => {
    const [one, many] = NAMES[kind];
    const stops = kind === "question" ? questionsOf(rows) : turns.nodes && stopsOf(turns.nodes, kind);
    if (!stops) return announce("The outline is still loading");
    const at = position.get();
    const row = at ? rows.findIndex(({ id }) => id === at.messageId) : -1;
    const index = nextStop(stops, { row, part: at?.part ?? null }, by);
    const stop = stops[index];
    if (!stop) return announce(`No ${stops.length ? (by > 0 ? "more " : "earlier ") : ""}${many}`);
    onShow(stop);
    announce(`${one} ${count(index + 1)} of ${count(stops.length)}`);
  };
}

const questionsOf = (rows: readonly Row[]): readonly Stop[] =>
  rows.flatMap((row, index) => (isQuestion(row) ? [{ messageId: row.id, part: null, row: index }] : []));
