/** Everything that is done for a live thread, around the chat of the AI SDK. */
import type { useChat } from "@ai-sdk/react";
import { lastAssistantMessageIsCompleteWithToolCalls as isComplete, type UIMessage } from "ai";
import { getJson, Problem, sendJson } from "../api/client";
import type { Message, ToolCallPart, UserMessage } from "../partita.gen";
import { ChildFold } from "../stream/children";
import type { Answering } from "../viewing/viewing";
import { isClientTool, runClientTool } from "./clientTools";
import type { Given, LiveOptions, LiveState, LiveStatus, Sending } from "./live";
import { Reconnecting } from "./reconnecting";
import { canonical, type Facts } from "./split";
import { type Exchange, PageTransport } from "./transport";
import { fileParts, holds, isBroken, pathOf, sizeOf } from "./ui";

/** How long an answer that was stopped has to say so itself. */
const PATIENCE = 3000;
const TRIES = 20;
/** How long the stored messages have to come. */
const LOADING = 4000;
/** Milliseconds between two drawings of what comes. */
export const THROTTLE = 32;

type Chat = ReturnType<typeof useChat<UIMessage>>;

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class Work {
  /** The chat as it was drawn last. */
  chat!: Chat;
  readonly transport = new PageTransport((exchange, something) => this.answered(exchange, something));
  private readonly children = new ChildFold();
  private readonly reconnecting = new Reconnecting(() => void this.chat.resumeStream());
  private shown: ReadonlyMap<string, Message> = new Map();
  private shownSize = 0;
  /** When each message was first seen. */
  private readonly times = new Map<string, string>();
  /** Calls that the page has replied to, and whose replies are not sent yet. */
  private readonly given = new Set<string>();
  private after: LiveState["after"];
  private error: Error | null = null;
  private agent: string | undefined;
  private frame = 0;
  private waiters: (() => void)[] = [];
  private isOpen = true;

  constructor(
    private readonly threadId: string,
    private readonly options: { readonly current: LiveOptions },
    private readonly onState: (state: LiveState) => void,
  ) {}

  open(): void {
    this.isOpen = true;
  }

  close(): void {
    this.isOpen = false;
    this.reconnecting.cancel();
    cancelAnimationFrame(this.frame);
  }

  // What there is to see

  private get status(): LiveStatus {
    if (this.reconnecting.active) return "reconnecting";
    if (this.chat.status === "submitted") return "sending";
    if (this.chat.status === "streaming") return "streaming";
    const waits = this.transport.exchange.answered && !this.transport.exchange.ended && !this.error;
    return waits && this.chat.messages.length ? "waiting" : "idle";
  }

  private get isWorking(): boolean {
    return this.status !== "idle" && this.status !== "waiting";
  }

  /** Let the page know what there is now. */
  tell(): void {
    if (!this.isOpen) return;
    const { status } = this;
    const messages = this.chat.messages.flatMap((one) =>
      canonical(one, this.children, this.shown, this.facts),
    );
    const size = sizeOf(messages);
    // An answer that is told again from its beginning is not drawn until it has come to where it was.
    if (this.transport.exchange.resumes && this.isWorking && size < this.shownSize) return;
    this.shown = new Map(messages.map((one) => [one.id, one]));
    this.shownSize = size;
    const last = messages.at(-1);
    this.onState({
      messages,
      after: this.after,
      writing: status !== "idle" && last?.role === "assistant" ? last.id : null,
      busy: status !== "idle",
      status,
      error: this.error,
    });
    if (!this.isWorking) for (const resolve of this.waiters.splice(0)) resolve();
  }

  private readonly facts: Facts = ({ id, role }) => {
    const known = this.options.current.stored.find((one) => one.id === id)?.createdAt;
    const createdAt = this.times.get(id) ?? known ?? new Date().toISOString();
    this.times.set(id, createdAt);
    const runId = role === "assistant" ? (this.transport.exchange.runId ?? undefined) : undefined;
    return { threadId: this.threadId, createdAt, ...(runId ? { runId } : {}) };
  };

  /** What sub-agents do does not change the message: it is drawn with the next frame. */
  hear(part: { readonly type: string; readonly data?: unknown }): void {
    if (part.type !== "data-child") return;
    this.children.feed(part.data);
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.tell());
  }

  // What comes of requests

  private answered(exchange: Exchange, something: boolean): void {
    this.reconnecting.mended();
    this.error = null;
    if (exchange.resumes) this.children.clear();
    else this.given.clear();
    if (!something) void this.settle();
  }

  failed(error: Error): void {
    const { exchange } = this.transport;
    if (isBroken(error) && (exchange.resumes || exchange.answered) && this.isOpen) this.reconnecting.broken();
    else if (!exchange.ended) this.error = error; // an agent that failed says so in its message
  }

  finished({ isAbort, isError }: { readonly isAbort: boolean; readonly isError: boolean }): void {
    if (this.reconnecting.active || !this.isOpen) return;
    if (this.transport.exchange.ended || isAbort || isError) void this.settle();
  }

  /** All is stored: what was live goes once the stored messages are there. */
  private async settle(): Promise<void> {
    const { number, answered } = this.transport.exchange;
    await this.options.current.onSettled().catch(() => undefined);
    const end = Date.now() + LOADING;
    while (answered && this.isOpen && !this.isStored && Date.now() < end) await pause(THROTTLE);
    if (!this.isOpen || number !== this.transport.exchange.number || this.isWorking) return;
    this.children.clear();
    this.after = undefined;
    this.transport.exchange.ended = true;
    this.chat.clearError();
    this.chat.setMessages([]);
    this.shownSize = 0;
  }

  /** Whether the stored messages that are shown have all that was live. */
  private get isStored(): boolean {
    const { stored } = this.options.current;
    return [...this.shown.values()].every((live) => {
      const found = stored.find((one) => one.id === live.id);
      return found && sizeOf([found]) >= sizeOf([live]);
    });
  }

  private async whenIdle(): Promise<void> {
    while (this.isWorking) await new Promise<void>((resolve) => this.waiters.push(resolve));
  }

  /** Do what a request is needed for; who asked learns that it was refused. */
  private async follow(request: () => Promise<void>): Promise<void> {
    this.error = null;
    this.children.clear();
    await request();
    if (this.error) throw this.error;
  }

  // What a person does

  wake(): void {
    if (!this.isWorking) void this.chat.resumeStream();
  }

  async send({ text, files = [], agent }: Sending): Promise<void> {
    await this.whenIdle();
    this.after = undefined;
    const parts = files.map((file) => ({ type: "file" as const, ...file }));
    await this.follow(() => this.chat.sendMessage({ text, files: parts }, this.asked(agent)));
  }

  async edit(message: UserMessage, text: string): Promise<void> {
    await this.whenIdle();
    this.after = this.before(message)?.id ?? message.parentId ?? null;
    const parts = [...fileParts(message), { type: "text" as const, text }];
    this.chat.setMessages([{ id: message.id, role: "user", parts }]);
    await this.follow(() => this.chat.sendMessage({ parts, messageId: message.id }, this.asked()));
  }

  async regenerate(messageId: string): Promise<void> {
    await this.whenIdle();
    const { stored } = this.options.current;
    const place = stored.findIndex((one) => one.id === messageId);
    this.after = stored.slice(0, place + 1).findLast((one) => one.role === "user")?.id;
    this.chat.setMessages([{ id: messageId, role: "assistant", parts: [] }]);
    await this.follow(() => this.chat.regenerate({ messageId, ...this.asked() }));
  }

  private before(message: Message): Message | undefined {
    const { stored } = this.options.current;
    return stored[stored.findIndex((one) => one.id === message.id) - 1];
  }

  /** Who is asked: whoever is chosen in this thread, unless somebody is named. */
  private asked(agent = this.options.current.agent ?? this.agent): { body: object } {
    this.agent = agent;
    return { body: agent ? { agent } : {} };
  }

  /** Who goes on with an answer: whoever began it. */
  private goingOn(): { body: object } {
    return this.asked(this.agent ?? this.options.current.last);
  }

  async stop(): Promise<void> {
    if (this.reconnecting.active) {
      this.reconnecting.cancel();
      await this.settle();
      return;
    }
    const path = `${pathOf("api/chat", this.threadId)}/stop`;
    for (let tries = 0; tries < TRIES && this.status !== "idle"; tries++) {
      const { stopped } = await sendJson<{ stopped: boolean }>("POST", path, {});
      if (stopped) break;
      await pause(100); // it has not begun yet
    }
    if (this.status === "waiting") await this.settle();
    await Promise.race([this.whenIdle(), pause(PATIENCE)]);
    await this.chat.stop();
  }

  async answer(call: ToolCallPart, { approved, reason }: Answering): Promise<void> {
    const id = call.approval?.id;
    if (!id) throw new Problem(0, "This call asks nothing.");
    await this.reply(
      call.id,
      () =>
        this.chat.addToolApprovalResponse({
          id,
          approved,
          reason: reason || undefined,
          options: this.goingOn(),
        }),
      { what: "answer", body: { approvalId: id, approved, reason: reason || null } },
    );
  }

  async giveOutput({ id: toolCallId, name: tool }: ToolCallPart, given: Given): Promise<void> {
    const said = "output" in given ? given : { state: "output-error" as const, ...given };
    await this.reply(
      toolCallId,
      () => this.chat.addToolOutput({ tool, toolCallId, ...said, options: this.goingOn() }),
      { what: "output", body: { toolCallId, ...given } },
    );
  }

  /** Reply to a call: in the chat, where it goes on by itself, or else to the run that it is of. */
  private async reply(
    callId: string,
    inChat: () => void | PromiseLike<void>,
    toRun: { readonly what: "answer" | "output"; readonly body: object },
  ): Promise<void> {
    await this.whenIdle();
    const { stored } = this.options.current;
    const holder = stored.findLast((one) => holds(one, callId));
    if (!this.chat.messages.some((one) => JSON.stringify(one).includes(JSON.stringify(callId)))) {
      const last = stored.at(-1);
      if (!last || holder !== last || !last.content.parts.some((part) => part.id === callId)) {
        if (!holder?.runId) throw new Problem(0, "Nobody waits for this any more.");
        await sendJson("POST", `${pathOf("api/runs", holder.runId)}/${toRun.what}`, toRun.body);
        await this.options.current.onSettled();
        return;
      }
      await this.seed(last.id);
    }
    this.given.add(callId);
    this.error = null;
    await inChat();
  }

  /** Put a stored message into the chat, in its own words. */
  private async seed(messageId: string): Promise<void> {
    const path = `${pathOf("api/threads", this.threadId)}/messages`;
    const query = { ids: messageId, format: "ai-sdk-ui-v7", bare: true };
    this.chat.setMessages([...(await getJson<UIMessage[]>(path, query))]);
  }

  // What the chat asks

  /** A tool that is for the page is run at once. */
  run(call: { readonly toolName: string; readonly toolCallId: string }): void {
    if (!isClientTool(call.toolName)) return;
    this.given.add(call.toolCallId);
    const output = runClientTool(call.toolName);
    const { toolName: tool, toolCallId } = call;
    void this.chat.addToolOutput({ tool, toolCallId, output, options: this.goingOn() });
  }

  /** Whether the answer goes on by itself: something was replied, and nothing else is waited for. */
  goesOn(messages: UIMessage[]): boolean {
    const last = messages.at(-1);
    if (!this.given.size || last?.role !== "assistant") return false;
    return (
      last.parts.some((part) => "state" in part && part.state === "approval-responded") ||
      isComplete({ messages })
    );
  }
}
