import { useMemo } from "react";
import type { ToolCallPart, ToolOutput, ToolResultPart, ToolState } from "../partita.gen";
import { ToolCard } from "../tools/ToolCard";
import { shareView } from "../viewing/toolViews";
import type { PartProps } from "./PartView";

const STATES: Readonly<Partial<Record<ToolOutput["type"], ToolState>>> = {
  "error-text": "output-error",
  "error-json": "output-error",
  "execution-denied": "output-denied",
  interrupted: "output-error",
};

/** What a tool gave back, where results stand apart from their calls: a call of which nothing else is known. */
export function ToolResultView({ part, place }: PartProps<ToolResultPart>) {
  const call = useMemo(() => {
    const made: ToolCallPart = {
      type: "tool-call",
      id: part.id,
      name: part.name,
      state: STATES[part.output.type] ?? "output-available",
      output: part.output,
    };
    shareView(part, made);
    return made;
  }, [part]);
  return <ToolCard call={call} place={place} />;
}
