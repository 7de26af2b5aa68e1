/** Whether a call failed, by its state or by its view: a command may end with an exit code. */

import type { RenderContext } from "../context/renderContext";
import { viewOf } from "../context/toolViews";
import type { ToolCallPart } from "../partita.gen";
import { stateOf } from "../tools/states";

export const hasFailed = (call: ToolCallPart, toolViews?: RenderContext["toolViews"]): boolean =>
  stateOf(call, true).tone === "bad" || viewOf(call, toolViews)?.failure !== undefined;
