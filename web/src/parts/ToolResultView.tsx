import { useMemo } from "react";
import { shareView } from "../context/toolViews";
import type { ToolCallPart, ToolOutput, ToolResultPart, ToolState } from "../partita.gen";
import { ToolCard } from "../tools/ToolCard";
import type { PartProps } from "./PartView";

const STATES: Readonly<Partial<Record<ToolOutput["type"], ToolState>>> = {
  "error-text": "output-error",
  "error-json": "output-error",
  "execution-denied": "output-denied",
  interrupted: "output-error",
};

/** A tool result without its call, displayed as a call of which only the output is known. */
export function ToolResultView({ part, place }: PartProps<ToolResultPart>) {
  const call = useMemo(() => {
    const toolCall: ToolCallPart = {
      type: "tool-call",
      id: part.id,
      name: part.name,
      state: STATES[part.output.type] ?? "output-available",
      output: part.output,
    };
    shareView(part, toolCall);
    return toolCall;
  }, [part]);
  return <ToolCard call={call} place={place} />;
}
