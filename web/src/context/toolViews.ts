/**
 * Views of tool calls. The server computes them: stored messages arrive with their views. For any other call (from a
 * running stream, from a replay, or with a large output just loaded) the page requests the view.
 */
import { useCallback, useEffect, useMemo, useSyncExternalStore } from "react";
import type {
  Message,
  Notice,
  Part,
  PartView,
  Prompt,
  ToolCallPart,
  ToolOutput,
  ToolView,
} from "../partita.gen";
import { useRenderContext } from "./renderContext";

/** Views by JSON Pointer into their message. */
type ViewsOfMessage = Readonly<Record<string, PartView>>;
type Classify = (calls: readonly object[]) => Promise<readonly ToolView[]>;

/** Characters of an output that are sent; the server does not inspect more. */
const MAX_OUTPUT_LENGTH = 64 * 1024;
/** Calls per request. */
const MAX_CALLS = 50;
/** Milliseconds between a response and the next request. */
const REQUEST_PAUSE = 50;

const known = new WeakMap<object, ToolView>();
const texts = new WeakMap<object, Notice | Prompt>();

/** Stores the views that arrived with a message under their parts. */
export function rememberViews(message: Message, views: ViewsOfMessage = {}): void {
  for (const [pointer, view] of Object.entries(views)) {
    let found: unknown = message;
    for (const step of pointer.split("/").slice(1)) found = (found as Record<string, unknown>)?.[step];
    if (typeof found !== "object" || !found) continue;
    if (view.kind === "notice" || view.kind === "prompt") texts.set(found, view);
    else known.set(found, view);
  }
}

/** Stores the views that arrived with messages: those of each message at the same index. */
export function rememberAllViews(messages: readonly Message[], views: readonly ViewsOfMessage[] = []): void {
  for (const [index, message] of messages.entries()) rememberViews(message, views[index]);
}

/** What is displayed instead of a part that an agent added for itself, such as a slash command. */
export function noticeOf(part: Part): Notice | undefined {
  const view = texts.get(part);
  return view?.kind === "notice" ? view : undefined;
}

/** What the user wrote, apart from what an editor or an agent added to it; undefined if nothing was added. */
export function promptOf(part: Part): Prompt | undefined {
  const view = texts.get(part);
  return view?.kind === "prompt" ? view : undefined;
}

/** The view of a call, if it has been received. */
export const viewOf = (part: ToolCallPart, toolViews?: ToolViews): ToolView | undefined =>
  toolViews?.of(part) ?? known.get(part);

/** Copies the view of a part to another form of the same part. */
export function shareView(from: object, to: object): void {
  const view = known.get(from);
  if (view) known.set(to, view);
}

/** The view if there is no server: name, input and output, or the nested messages. */
const plainView = ({ title, name, children }: ToolCallPart): ToolView => ({
  kind: children?.length ? "agent" : "other",
  title: title ?? name,
});

/** Requests views, one request at a time. Of each call only the newest state is sent. */
export class ToolViews {
  private readonly pending = new Map<string, ToolCallPart>();
  private readonly latest = new Map<string, ToolView>();
  private readonly listeners = new Map<string, Set<() => void>>();
  private isBusy = false;

  constructor(private readonly classify: Classify) {}

  /** The view of a call; while it is requested, the view of an earlier state of the call. */
  of(part: ToolCallPart): ToolView | undefined {
    return known.get(part) ?? this.latest.get(part.id);
  }

  request(part: ToolCallPart): void {
    if (known.has(part) || isTooLong(part)) return;
    this.pending.set(part.id, part);
    if (!this.isBusy) void this.sendRequests();
  }

  subscribe(id: string, listener: () => void): () => void {
    const all = this.listeners.get(id) ?? new Set();
    this.listeners.set(id, all.add(listener));
    return () => {
      all.delete(listener);
      if (!all.size) this.listeners.delete(id);
    };
  }

  private async sendRequests(): Promise<void> {
    this.isBusy = true;
    await Promise.resolve(); // calls of one render share a request
    while (this.pending.size) {
      const parts = [...this.pending.values()].slice(0, MAX_CALLS);
      for (const part of parts) this.pending.delete(part.id);
      const views = await this.classify(parts.map(requestBody)).catch(() => []);
      for (const [index, part] of parts.entries())
        this.store(part, views[index] ?? this.latest.get(part.id) ?? plainView(part));
      await new Promise((resolve) => setTimeout(resolve, REQUEST_PAUSE));
    }
    this.isBusy = false;
  }

  private store(part: ToolCallPart, view: ToolView): void {
    known.set(part, view);
    this.latest.set(part.id, view);
    for (const listener of this.listeners.get(part.id) ?? []) listener();
  }
}

/** A long input that is still streaming is not sent with every delta. */
const isTooLong = ({ state, rawInput }: ToolCallPart): boolean =>
  state === "input-streaming" && typeof rawInput === "string" && rawInput.length > MAX_OUTPUT_LENGTH;

/** A call without the members that its view does not depend on. */
function requestBody({
  type,
  id,
  name,
  state,
  input,
  rawInput,
  title,
  toolMetadata,
  ...rest
}: ToolCallPart): object {
  const child = rest.children?.[0];
  const { role, id: childId } = child ?? {};
  return {
    ...{ type, id, name, state, input, rawInput, title, toolMetadata },
    ...(rest.output ? { output: truncated(rest.output) } : {}),
    ...(child ? { children: [{ role, id: childId, content: { format: 2, parts: [] } }] } : {}),
  };
}

function truncated(output: ToolOutput): ToolOutput {
  const short = (value: unknown) =>
    typeof value === "string" ? value.slice(0, MAX_OUTPUT_LENGTH + 1) : value;
  if (output.type === "content")
    return {
      ...output,
      value: output.value.map((item) =>
        item.type === "text" ? { ...item, text: short(item.text) as string } : item,
      ),
    };
  return "value" in output ? ({ ...output, value: short(output.value) } as ToolOutput) : output;
}

/** The view of a call; undefined until it has been received. */
export function useToolView(part: ToolCallPart): ToolView | undefined {
  const { toolViews } = useRenderContext();
  const subscribe = useCallback(
    (listener: () => void) => toolViews?.subscribe(part.id, listener) ?? (() => {}),
    [toolViews, part.id],
  );
  const view = useSyncExternalStore(subscribe, () => viewOf(part, toolViews));
  useEffect(() => toolViews?.request(part), [toolViews, part]);
  const plain = useMemo(() => plainView(part), [part]);
  return view ?? (toolViews ? undefined : plain);
}
