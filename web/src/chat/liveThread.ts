/**
 * A thread with a run that is followed: sends messages and replies, and folds the chunks of the run into messages
 * with the same reducer that a replay uses.
 */

import { getJson, type Listing, Problem, request, sendJson } from "../api/client";
import { eventsOf } from "../api/events";
import type { ApprovalResponse } from "../context/renderContext";
import type { Chunk, Message, Run, ToolCallPart, Usage, UserMessage } from "../partita.gen";
import { InvalidChunkError } from "../stream/metadata";
import { MessageSequence } from "../stream/reduce";
import { isClientTool, runClientTool } from "./clientTools";
import type { ClientToolResult, LiveOptions, LiveState, LiveStatus, OutgoingMessage } from "./live";
import { callsOf, fileParts, holds, isBroken, needsApproval, pathOf, sizeOf } from "./messages";
import { Reconnector } from "./reconnector";

/** Milliseconds that a stopped run has to end by itself. */
const STOP_TIMEOUT = 3000;
const STOP_ATTEMPTS = 20;
/** Milliseconds to wait for the stored messages after a run has ended. */
const LOADING_TIMEOUT = 4000;
/** Milliseconds between two state updates. */
const THROTTLE = 32;

const ACTIVE: readonly Run["status"][] = ["pending", "running"];
const DONE = "[DONE]";

/** The message of a request to `POST /api/chat`, in the format of the AI SDK. */
interface ChatMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly object[];
}

interface ChatRequest {
  readonly message: ChatMessage;
  readonly trigger?: "submit-message" | "regenerate-message";
  readonly messageId?: string;
  readonly agent?: string;
}

/** The followed run: its messages so far, and the sequence number of the last chunk. */
class FollowedRun {
  readonly messages: MessageSequence;
  seq = 0;

  private hasStarted = false;

  /** `continued` is the stored message that the run may continue. It is shown after the run has changed it. */
  constructor(
    readonly id: string,
    continued?: Message,
  ) {
    this.messages = new MessageSequence(id, continued ? [continued] : []);
  }

  feed(chunk: Chunk): void {
    try {
      this.messages.feed(chunk);
      this.hasStarted = true;
    } catch (error) {
      if (!(error instanceof InvalidChunkError)) throw error; // an invalid chunk is skipped, as in a replay
    }
  }

  shown(): readonly Message[] {
    return this.hasStarted ? this.messages.messages() : [];
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class LiveThread {
  private readonly reconnector = new Reconnector(() => void this.follow());
  private run: FollowedRun | null = null;
  /** The user's message that is not stored yet. */
  private sent: UserMessage | null = null;
  private connection: AbortController | null = null;
  private isSending = false;
  private after: LiveState["after"];
  private error: Error | null = null;
  private agent: string | undefined;
  /** Counts requests and followed runs: results of an earlier one are ignored. */
  private generation = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private waiters: (() => void)[] = [];
  private isOpen = true;
  private lastReply: Promise<unknown> = Promise.resolve();
  /** When each message was first shown. */
  private readonly times = new Map<string, string>();
  private readonly decorated = new WeakMap<Message, Message>();

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
    this.generation += 1;
    this.connection?.abort();
    this.reconnector.cancel();
    clearTimeout(this.timer);
  }

  // State

  private get status(): LiveStatus {
    if (this.reconnector.active) return "reconnecting";
    if (this.isSending) return "sending";
    if (!this.connection) return "idle";
    if (!this.run?.shown().length) return "sending";
    return this.run.shown().some(needsApproval) ? "waiting" : "streaming";
  }

  private get isWorking(): boolean {
    return this.status !== "idle" && this.status !== "waiting";
  }

  private messages(): readonly Message[] {
    const messages = [...(this.sent ? [this.sent as Message] : []), ...(this.run?.shown() ?? [])];
    return messages.map((one) => this.decorate(one));
  }

  /** The message with what the store adds to it: thread, run, time, usage. */
  private decorate(message: Message): Message {
    const known = this.decorated.get(message);
    if (known) return known;
    const { id, role } = message;
    const stored = this.options.current.stored.find((one) => one.id === id)?.createdAt;
    const createdAt = this.times.get(id) ?? message.createdAt ?? stored ?? new Date().toISOString();
    this.times.set(id, createdAt);
    const runId = role === "assistant" ? this.run?.id : undefined;
    const usage = (message.content.metadata as { usage?: Usage } | null | undefined)?.usage;
    const content =
      usage && role === "assistant" && !message.content.usage
        ? { ...message.content, usage }
        : message.content;
    const made = {
      ...message,
      content,
      threadId: this.threadId,
      createdAt,
      ...(runId ? { runId } : {}),
    } as Message;
    this.decorated.set(message, made);
    return made;
  }

  private update(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.isOpen) return;
    const { status } = this;
    const messages = this.messages();
    const last = messages.at(-1);
    this.onState({
      messages,
      after: this.after,
      streamingId: status !== "idle" && last?.role === "assistant" ? last.id : null,
      busy: status !== "idle",
      status,
      error: this.error,
    });
    if (!this.isWorking) for (const resolve of this.waiters.splice(0)) resolve();
  }

  private updateSoon(): void {
    this.timer ??= setTimeout(() => this.update(), THROTTLE);
  }

  private async whenIdle(): Promise<void> {
    while (this.isWorking) await new Promise<void>((resolve) => this.waiters.push(resolve));
  }

  // Requests and streams

  /** Sends a request and follows its run until it ends. Throws if the server rejects the request. */
  private async sendChat({ agent, ...body }: ChatRequest, continued?: Message): Promise<void> {
    this.generation += 1;
    const { generation } = this;
    this.error = null;
    this.isSending = true;
    this.update();
    try {
      const response = await request("api/chat", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ id: this.threadId, ...this.requestAgent(agent), ...body }),
      });
      const runId = response.headers.get("x-partita-run-id") as string;
      // The run is followed by its id: the same stream serves a reload, another page and a lost connection.
      void response.body?.cancel();
      if (generation !== this.generation) return;
      this.run = new FollowedRun(runId, continued);
    } catch (error) {
      if (generation !== this.generation) return;
      this.error = error as Error;
      this.sent = null;
      this.after = undefined;
      this.isSending = false;
      this.update();
      throw error;
    }
    await this.follow();
  }

  /** Follows a run that another page or request has started. */
  followRun(runId: string): void {
    if (this.isWorking || this.connection) return;
    this.generation += 1;
    this.error = null;
    const last = this.options.current.stored.at(-1);
    // A message that this run has written is rebuilt from its first chunk.
    this.run = new FollowedRun(runId, last?.role === "assistant" && last.runId !== runId ? last : undefined);
    void this.follow();
  }

  /** Reads the stream of the run from where the last connection ended. */
  private async follow(): Promise<void> {
    const { run, generation } = this;
    if (!run || !this.isOpen) return;
    const connection = new AbortController();
    this.connection = connection;
    let isComplete = false;
    try {
      const path = `${pathOf("api/runs", run.id)}/stream`;
      const response = await request(path, {
        query: { version: "raw", after: run.seq },
        signal: connection.signal,
        headers: { accept: "text/event-stream" },
      });
      this.reconnector.succeeded();
      this.isSending = false;
      this.updateSoon();
      for await (const { id, data } of eventsOf(response)) {
        if (generation !== this.generation) return;
        if (data === DONE) {
          isComplete = true;
          break;
        }
        run.feed(JSON.parse(data) as Chunk);
        run.seq = Number(id?.split(":").at(-1) ?? run.seq) || run.seq;
        this.updateSoon();
      }
    } catch (error) {
      if (generation !== this.generation) return;
      if (!isBroken(error)) {
        this.error = error as Error;
        isComplete = true;
      }
    } finally {
      if (this.connection === connection) this.connection = null;
      this.isSending = false;
    }
    if (generation !== this.generation || !this.isOpen) return;
    if (!isComplete) {
      this.reconnector.failed();
      this.update();
      return;
    }
    this.update();
    if (!(await this.runClientTools(run))) await this.settle();
  }

  /** The run has ended and is stored: remove the live messages once the stored ones are loaded. */
  private async settle(): Promise<void> {
    const { generation } = this;
    await this.options.current.onSettled().catch(() => undefined);
    const end = Date.now() + LOADING_TIMEOUT;
    while (this.isOpen && !this.isStored && Date.now() < end) await pause(THROTTLE);
    if (!this.isOpen || generation !== this.generation) return;
    this.run = null;
    this.sent = null;
    this.after = undefined;
    this.update();
  }

  /** Whether the stored messages that are loaded have everything that is live. */
  private get isStored(): boolean {
    const { stored } = this.options.current;
    return this.messages().every((live) => {
      const found = stored.find((one) => one.id === live.id);
      return found && sizeOf([found]) >= sizeOf([live]);
    });
  }

  // Actions of the user

  async send({ text, files = [], agent }: OutgoingMessage): Promise<void> {
    await this.whenIdle();
    this.after = undefined;
    const parts = [...files.map((file) => ({ type: "file" as const, ...file })), ...textParts(text)];
    await this.sendChat({ message: this.userMessage(crypto.randomUUID(), parts), agent });
  }

  async edit(message: UserMessage, text: string): Promise<void> {
    await this.whenIdle();
    const { stored } = this.options.current;
    const before = stored[stored.findIndex((one) => one.id === message.id) - 1];
    this.after = before?.id ?? message.parentId ?? null;
    const parts = [...fileParts(message), ...textParts(text)];
    await this.sendChat({ message: this.userMessage(message.id, parts), messageId: message.id });
  }

  async regenerate(messageId: string): Promise<void> {
    await this.whenIdle();
    const { stored } = this.options.current;
    const place = stored.findIndex((one) => one.id === messageId);
    this.after = stored.slice(0, place + 1).findLast((one) => one.role === "user")?.id;
    this.sent = null;
    this.run = null;
    const message: ChatMessage = { id: messageId, role: "assistant", parts: [] };
    await this.sendChat({ message, messageId, trigger: "regenerate-message" });
  }

  /** Shows a message of the user at once, and returns it in the form of a request. */
  private userMessage(id: string, parts: readonly object[]): ChatMessage {
    this.run = null;
    this.sent = { id, role: "user", type: "text", content: { format: 2, parts } } as unknown as UserMessage;
    return { id, role: "user", parts };
  }

  /** The agent of the message, of the thread, or of the last request. */
  private requestAgent(agent = this.options.current.agent ?? this.agent): { agent?: string } {
    this.agent = agent;
    return agent ? { agent } : {};
  }

  async stop(): Promise<void> {
    if (this.reconnector.active) {
      this.reconnector.cancel();
      await this.settle();
      return;
    }
    const path = `${pathOf("api/chat", this.threadId)}/stop`;
    for (let tries = 0; tries < STOP_ATTEMPTS && this.status !== "idle"; tries++) {
      const { stopped } = await sendJson<{ stopped: boolean }>("POST", path, {});
      if (stopped) break;
      await pause(100); // the run has not started yet
    }
    const end = Date.now() + STOP_TIMEOUT;
    while (this.status !== "idle" && Date.now() < end) await pause(THROTTLE);
    this.connection?.abort();
  }

  async respondToApproval(call: ToolCallPart, { approved, reason }: ApprovalResponse): Promise<void> {
    const approvalId = call.approval?.id;
    if (!approvalId) throw new Problem(0, "This call does not need an approval.");
    await this.reply(call.id, "approval", { approvalId, approved, reason: reason || null });
  }

  async addToolOutput({ id: toolCallId }: ToolCallPart, given: ClientToolResult): Promise<void> {
    await this.reply(toolCallId, "output", { toolCallId, ...given });
  }

  /** Sends a reply to the run of a call. If the run has ended and no other call is pending, starts the next run. */
  private async reply(callId: string, what: "approval" | "output", body: object): Promise<void> {
    // One after the other: only the last one finds that no call is pending.
    const sent = this.lastReply.then(() => this.sendReply(callId, what, body));
    this.lastReply = sent.catch(() => undefined);
    const answered = await sent;
    if (answered === "active") return; // the stream continues
    if (answered && !isWaiting(answered)) await this.continue(answered);
    else await this.settle();
  }

  /** Returns the last message with the reply, if the run has ended. */
  private async sendReply(
    callId: string,
    what: "approval" | "output",
    body: object,
  ): Promise<Message | "active" | undefined> {
    await this.whenIdle();
    const { stored } = this.options.current;
    const live = this.messages();
    const holder = [...stored, ...live].findLast((one) => holds(one, callId));
    if (!holder?.runId) throw new Problem(0, "No run is waiting for this reply.");
    this.error = null;
    const run = await sendJson<Run>("POST", `${pathOf("api/runs", holder.runId)}/${what}`, body);
    if (ACTIVE.includes(run.status)) return "active";
    const isLast = holder.id === [...stored, ...live].at(-1)?.id;
    const { items } = await getJson<Listing<Message>>(`${pathOf("api/threads", this.threadId)}/messages`, {
      ids: holder.id,
    });
    return isLast ? items[0] : undefined;
  }

  /** Continues a message whose calls have their results. */
  private async continue(message: Message): Promise<void> {
    const agent = this.agent ?? this.options.current.last;
    await this.sendChat({ message: { id: message.id, role: "assistant", parts: [] }, agent }, message);
  }

  /** Runs the client-side tools that the run has called. Returns whether there were any. */
  private async runClientTools(run: FollowedRun): Promise<boolean> {
    const last = run.shown().at(-1);
    const calls = (last?.content.parts ?? []).filter(
      (part): part is ToolCallPart =>
        part.type === "tool-call" && part.state === "input-available" && isClientTool(part.name as string),
    );
    for (const call of calls) await this.addToolOutput(call, { output: runClientTool(call.name) });
    return calls.length > 0;
  }
}

const textParts = (text: string): readonly object[] => (text ? [{ type: "text", text }] : []);

/** Whether a call of a message waits for an approval or an output. */
const isWaiting = (message: Message): boolean =>
  needsApproval(message) ||
  callsOf(message).some((call) => call.state === "input-available" && call.output === undefined);
