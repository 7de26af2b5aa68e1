/**
 * What tool calls are. The server decides that: views come with the messages that it stores, and are asked for
 * when the page has a call from elsewhere: from a running stream, a replay, or with a large output just loaded.
 */
import { useCallback, useEffect, useMemo, useSyncExternalStore } from "react";
import type { Message, ToolCallPart, ToolOutput, ToolView } from "../partita.gen";
import { useViewing } from "./viewing";

/** Views by JSON Pointer into their message. */
export type ViewsOfMessage = Readonly<Record<string, ToolView>>;
export type Classify = (calls: readonly object[]) => Promise<readonly ToolView[]>;

/** So many characters of an output decide what a call is; the server looks at no more. */
const LONGEST = 64 * 1024;
/** So many calls are sent at once. */
const MOST = 50;
/** Milliseconds between an answer and the next request. */
const PAUSE = 50;

const known = new WeakMap<object, ToolView>();

/** Keep the views that came with a message, for the parts that they are of. */
export function rememberViews(message: Message, views: ViewsOfMessage = {}): void {
  for (const [pointer, view] of Object.entries(views)) {
    let found: unknown = message;
    for (const step of pointer.split("/").slice(1)) found = (found as Record<string, unknown>)?.[step];
    if (typeof found === "object" && found) known.set(found, view);
  }
}

/** Let one part have the view of another, of which it is a form. */
export function shareView(from: object, to: object): void {
  const view = known.get(from);
  if (view) known.set(to, view);
}

/** What is drawn where the server cannot be asked: name, input and output, or the messages below. */
const plainView = ({ title, name, children }: ToolCallPart): ToolView => ({
  kind: children?.length ? "agent" : "other",
  title: title ?? name,
});

/** Asks for views: one request at a time, of each call only its newest state. */
export class ToolViews {
  private readonly waiting = new Map<string, ToolCallPart>();
  private readonly latest = new Map<string, ToolView>();
  private readonly listeners = new Map<string, Set<() => void>>();
  private isBusy = false;

  constructor(private readonly classify: Classify) {}

  /** The view of a call; while it is asked for, that of an earlier state of the same call. */
  of(part: ToolCallPart): ToolView | undefined {
    return known.get(part) ?? this.latest.get(part.id);
  }

  want(part: ToolCallPart): void {
    if (known.has(part) || isTooLong(part)) return;
    this.waiting.set(part.id, part);
    if (!this.isBusy) void this.request();
  }

  subscribe(id: string, listener: () => void): () => void {
    const all = this.listeners.get(id) ?? new Set();
    this.listeners.set(id, all.add(listener));
    return () => {
      all.delete(listener);
      if (!all.size) this.listeners.delete(id);
    };
  }

  private async request(): Promise<void> {
    this.isBusy = true;
    await Promise.resolve(); // all calls that are drawn together are sent together
    while (this.waiting.size) {
      const parts = [...this.waiting.values()].slice(0, MOST);
      for (const part of parts) this.waiting.delete(part.id);
      const views = await this.classify(parts.map(sent)).catch(() => []);
      for (const [at, part] of parts.entries())
        this.keep(part, views[at] ?? this.latest.get(part.id) ?? plainView(part));
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
    this.isBusy = false;
  }

  private keep(part: ToolCallPart, view: ToolView): void {
    known.set(part, view);
    this.latest.set(part.id, view);
    for (const listener of this.listeners.get(part.id) ?? []) listener();
  }
}

/** A long input that is being written is not sent again and again. */
const isTooLong = ({ state, rawInput }: ToolCallPart): boolean =>
  state === "input-streaming" && typeof rawInput === "string" && rawInput.length > LONGEST;

/** A call without what its view does not depend on. */
function sent({
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
    ...(rest.output ? { output: cut(rest.output) } : {}),
    ...(child ? { children: [{ role, id: childId, content: { format: 2, parts: [] } }] } : {}),
  };
}

function cut(output: ToolOutput): ToolOutput {
  const short = (value: unknown) => (typeof value === "string" ? value.slice(0, LONGEST + 1) : value);
  if (output.type === "content")
    return {
      ...output,
      value: output.value.map((item) =>
        item.type === "text" ? { ...item, text: short(item.text) as string } : item,
      ),
    };
  return "value" in output ? ({ ...output, value: short(output.value) } as ToolOutput) : output;
}

/** The view of a call; undefined for the moment in which it is not known. */
export function useToolView(part: ToolCallPart): ToolView | undefined {
  const { toolViews } = useViewing();
  const subscribe = useCallback(
    (listener: () => void) => toolViews?.subscribe(part.id, listener) ?? (() => {}),
    [toolViews, part.id],
  );
  const view = useSyncExternalStore(subscribe, () => toolViews?.of(part) ?? known.get(part));
  useEffect(() => toolViews?.want(part), [toolViews, part]);
  const plain = useMemo(() => plainView(part), [part]);
  return view ?? (toolViews ? undefined : plain);
}
