/** How far a call has come, in a sign and a few words that need no colour. */
import type { ToolCallPart } from "../partita.gen";

export type Tone = "quiet" | "ok" | "busy" | "asks" | "warn" | "bad";

export interface CallState {
  /** The state on the card: that of the call, or that nothing came because something stopped it. */
  readonly name: ToolCallPart["state"] | "interrupted";
  readonly tone: Tone;
  readonly words: string;
  /** The reason that somebody gave. */
  readonly reason: string;
}

const INTERRUPTIONS: ReadonlyMap<string, string> = new Map([
  ["aborted", "Stopped"],
  ["timeout", "Timed out"],
  ["lost", "Lost: no result"],
]);

/** The state of a call. What came of it counts for more than what its state says. `waits`: for this side. */
export function stateOf(call: ToolCallPart, live: boolean, waits = false): CallState {
  const said = (
    tone: Tone,
    words: string,
    reason?: string,
    name: CallState["name"] = call.state,
  ): CallState => ({ name, tone, words, reason: reason ?? "" });
  const { output, approval } = call;
  const denied = () => {
    const why = output?.type === "execution-denied" ? output.reason : undefined;
    return said("bad", `Denied${by(call)}`, why ?? approval?.reason, "output-denied");
  };
  if (output?.type === "interrupted")
    return said("warn", INTERRUPTIONS.get(output.reason) ?? "Interrupted", output.message, "interrupted");
  if (output?.type === "execution-denied") return denied();
  if (output?.type === "error-text" || output?.type === "error-json")
    return said("bad", "Failed", undefined, "output-error");
  switch (call.state) {
    case "input-streaming":
      return live ? said("busy", "Writing input") : said("warn", "Input not whole");
    case "input-available":
      if (waits) return said("asks", "Waiting for your side");
      return live ? said("busy", "Running") : said("warn", "No result");
    case "approval-requested":
      return said("asks", "Waiting for approval", approval?.requestReason);
    case "approval-responded":
      if (approval?.approved === false) return denied();
      return live
        ? said("busy", `Approved${by(call)}, running`, approval?.reason)
        : said("warn", `Approved${by(call)}, no result`, approval?.reason);
    case "output-denied":
      return denied();
    case "output-error":
      return said("bad", "Failed");
    case "output-available":
      if (call.preliminary)
        return live ? said("busy", "Running, output so far") : said("warn", "Preliminary only");
      return said("ok", "Done", approval?.approved ? approval.reason : undefined);
  }
}

function by(call: ToolCallPart): string {
  if (call.approval?.isAutomatic) return " automatically";
  return call.approval?.respondedBy ? ` by ${call.approval.respondedBy}` : "";
}

/** What else is to be known about a call. */
export function notesOf(call: ToolCallPart): string[] {
  const isApproved =
    call.approval?.approved === true && call.state !== "approval-responded" && !call.approval.isAutomatic;
  return [
    ...(isApproved ? [`approved${by(call)}`] : []),
    ...(call.providerExecuted ? ["run by the provider"] : []),
    ...(call.unavailable ? ["the tool is gone"] : []),
  ];
}
