// Generated from the Python types. Do not edit; run this instead:
//     python -m partita.types.typescript > web/src/partita.gen.ts
//
// The declarations say what Partita writes. It reads more: a message may come with a string or a list of
// parts for its content, and without the fields that are derived.

declare const unknownTag: unique symbol;

/**
 * A type that these declarations do not know: any string when the program runs. The brand keeps it apart
 * from every known type, so that comparing `type` narrows a union that has an open end.
 */
export type UnknownTag = `${string & { readonly [unknownTag]: true }}`;

/** What kind of message it is; an event is a notice, not talk. */
export type MessageType =
  | "text"
  | "tool"
  | "event";

/** Whether a text is still coming. */
export type PartState =
  | "streaming"
  | "done";

/** How far a tool call has come. */
export type ToolState =
  | "input-streaming"
  | "input-available"
  | "approval-requested"
  | "approval-responded"
  | "output-available"
  | "output-error"
  | "output-denied";

/** Why a call never gave an output. */
export type Interruption =
  | "aborted"
  | "timeout"
  | "lost";

/** What a network may choose to run. */
export type PrimitiveType =
  | "agent"
  | "workflow"
  | "tool";

/** How far a run has come. */
export type RunStatus =
  | "pending"
  | "running"
  | "completed"
  | "failed"
  | "cancelled"
  | "interrupted";

/** Who spoke, in the old shape. */
export type LegacyRole =
  | "system"
  | "user"
  | "assistant"
  | "tool";

/** Instructions to the model. */
export interface SystemMessage {
  readonly role: "system";
  readonly id: string;
  readonly threadId?: string;
  readonly type: MessageType;
  readonly createdAt?: string;
  readonly resourceId?: string;
  readonly parentId?: string;
  readonly runId?: string;
  readonly seq?: number;
  readonly internal?: boolean;
  readonly content: SystemContent;
  readonly [key: string]: unknown;
}

/** What a system message says. */
export interface SystemContent {
  readonly parts: readonly SystemPart[];
  readonly format: 2;
  readonly content?: string;
  readonly metadata?: unknown;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Words for the reader. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly state?: PartState;
  readonly citations?: readonly Citation[];
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Which words of a text rest on which source. */
export interface Citation {
  readonly source: UrlCitationSource | DocumentCitationSource;
  readonly startIndex?: number;
  readonly endIndex?: number;
  readonly citedText?: string;
  readonly [key: string]: unknown;
}

/** A web page that a text cites. */
export interface UrlCitationSource {
  readonly sourceType: "url";
  readonly id: string;
  readonly url: string;
  readonly title?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly type?: "source";
  readonly [key: string]: unknown;
}

/** A document that a text cites. */
export interface DocumentCitationSource {
  readonly sourceType: "document";
  readonly id: string;
  readonly mediaType: string;
  readonly title: string;
  readonly filename?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly type?: "source";
  readonly [key: string]: unknown;
}

/** Data of the application, by name; with an id it is replaced in place. */
export interface DataPart {
  readonly type: "data";
  readonly name: string;
  readonly data?: unknown;
  readonly id?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A part of another format that fits nowhere in this one, kept whole. */
export interface ForeignPart {
  readonly type: "foreign";
  readonly format: string;
  readonly value: unknown;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A part whose type this version does not know, kept whole. */
export interface UnknownPart {
  readonly type: UnknownTag;
  readonly [key: string]: unknown;
}

/** What a person said. */
export interface UserMessage {
  readonly role: "user";
  readonly id: string;
  readonly threadId?: string;
  readonly type: MessageType;
  readonly createdAt?: string;
  readonly resourceId?: string;
  readonly parentId?: string;
  readonly runId?: string;
  readonly seq?: number;
  readonly internal?: boolean;
  readonly content: UserContent;
  readonly [key: string]: unknown;
}

/** What a user says. */
export interface UserContent {
  readonly parts: readonly UserPart[];
  readonly format: 2;
  readonly content?: string;
  readonly metadata?: unknown;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A picture. The url is `https:`, `data:` or `blob:sha256:…`. */
export interface ImagePart {
  readonly type: "image";
  readonly url: string;
  readonly mediaType?: string;
  readonly name?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A file. The url is `https:`, `data:` or `blob:sha256:…`. */
export interface FilePart {
  readonly type: "file";
  readonly url: string;
  readonly mediaType: string;
  readonly filename?: string;
  readonly providerReference?: Readonly<Record<string, string>>;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A file the model made while reasoning. */
export interface ReasoningFilePart {
  readonly type: "reasoning-file";
  readonly url: string;
  readonly mediaType: string;
  readonly filename?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** What an agent said and did. */
export interface AssistantMessage {
  readonly role: "assistant";
  readonly id: string;
  readonly threadId?: string;
  readonly type: MessageType;
  readonly createdAt?: string;
  readonly resourceId?: string;
  readonly parentId?: string;
  readonly runId?: string;
  readonly seq?: number;
  readonly internal?: boolean;
  readonly content: AssistantContent;
  readonly [key: string]: unknown;
}

/** What an assistant says and does. */
export interface AssistantContent {
  readonly parts: readonly AssistantPart[];
  readonly usage?: Usage;
  readonly networkExecution?: NetworkExecution;
  readonly format: 2;
  readonly content?: string;
  readonly metadata?: unknown;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Words the model wrote for itself. `thinking` is read as this too. */
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly id?: string;
  readonly state?: PartState;
  readonly tokenCount?: number;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A call and, once there is one, its output: the merged view that is stored and shown. */
export interface ToolCallPart {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  readonly state: ToolState;
  readonly input?: unknown;
  readonly rawInput?: unknown;
  readonly inputEncoding?: "json" | "text";
  readonly output?: ToolOutput;
  readonly approval?: Approval;
  readonly title?: string;
  readonly dynamic?: boolean;
  readonly unavailable?: boolean;
  readonly providerExecuted?: boolean;
  readonly preliminary?: boolean;
  readonly callProviderMetadata?: Readonly<Record<string, unknown>>;
  readonly resultProviderMetadata?: Readonly<Record<string, unknown>>;
  readonly toolMetadata?: Readonly<Record<string, unknown>>;
  readonly children?: readonly Message[];
  readonly resultMessage?: ToolMessage;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Plain text. */
export interface TextOutput {
  readonly type: "text";
  readonly value: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Any JSON value. */
export interface JsonOutput {
  readonly type: "json";
  readonly value: unknown;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The tool failed and said so in words. */
export interface ErrorTextOutput {
  readonly type: "error-text";
  readonly value: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The tool failed and said so in JSON. */
export interface ErrorJsonOutput {
  readonly type: "error-json";
  readonly value: unknown;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Someone did not allow the call. */
export interface ExecutionDeniedOutput {
  readonly type: "execution-denied";
  readonly reason?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Text, images and files, for the model to look at. */
export interface ContentOutput {
  readonly type: "content";
  readonly value: readonly ContentItem[];
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The call never ended. A timeout reported as a refusal would mislead the model. */
export interface InterruptedOutput {
  readonly type: "interrupted";
  readonly reason: Interruption;
  readonly message?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The question whether a call may run, and the answer once there is one. */
export interface Approval {
  readonly id: string;
  readonly approved?: boolean;
  readonly reason?: string;
  readonly requestReason?: string;
  readonly isAutomatic?: boolean;
  readonly signature?: string;
  readonly descriptor?: unknown;
  readonly inputSchemaInput?: unknown;
  readonly respondedBy?: string;
  readonly respondedAt?: string;
  readonly [key: string]: unknown;
}

/** Results of tools, apart from their calls: the model's view. */
export interface ToolMessage {
  readonly role: "tool";
  readonly id: string;
  readonly threadId?: string;
  readonly type: MessageType;
  readonly createdAt?: string;
  readonly resourceId?: string;
  readonly parentId?: string;
  readonly runId?: string;
  readonly seq?: number;
  readonly internal?: boolean;
  readonly content: ToolContent;
  readonly [key: string]: unknown;
}

/** What tools gave back. */
export interface ToolContent {
  readonly parts: readonly ToolPart[];
  readonly format: 2;
  readonly content?: string;
  readonly metadata?: unknown;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The output of one call, in the model's view, where calls and results stand apart. */
export interface ToolResultPart {
  readonly type: "tool-result";
  readonly id: string;
  readonly name: string;
  readonly output: ToolOutput;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The boundary of one model call. */
export interface StepStartPart {
  readonly type: "step-start";
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A web page the answer rests on. */
export interface SourceUrlPart {
  readonly type: "source-url";
  readonly sourceId: string;
  readonly url: string;
  readonly title?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A document the answer rests on. */
export interface SourceDocumentPart {
  readonly type: "source-document";
  readonly sourceId: string;
  readonly mediaType: string;
  readonly title: string;
  readonly filename?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Content of one provider, `provider.kind`; its payload lives in the provider metadata. */
export interface CustomPart {
  readonly type: "custom";
  readonly kind: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** What the user said while the agent was at work. */
export interface SteeringMessagePart {
  readonly type: "steering-message";
  readonly id: string;
  readonly parts: readonly (TextPart | FilePart | ForeignPart | UnknownPart)[];
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Token counts. `raw` is the provider's object, unchanged. */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly reasoningTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly raw?: unknown;
  readonly [key: string]: unknown;
}

/** One turn of a network: what the router chose, why, and what came of it. */
export interface NetworkExecution {
  readonly primitiveType: PrimitiveType;
  readonly primitiveId: string;
  readonly selectionReason?: string;
  readonly input?: unknown;
  readonly finalResult?: NetworkResult;
  readonly iteration?: number;
  readonly [key: string]: unknown;
}

/** What the chosen primitive returned, or why it failed. While it runs or waits for a client, there are `messages` and nothing else. */
export interface NetworkResult {
  readonly text?: string;
  readonly toolCalls?: readonly ToolCallPart[];
  readonly messages?: readonly Message[];
  readonly value?: unknown;
  readonly error?: string;
  readonly interrupted?: Interruption;
  readonly [key: string]: unknown;
}

/** The next piece of a text. */
export interface TextDelta {
  readonly type: "text-delta";
  readonly id: string;
  readonly delta: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The next piece of reasoning. */
export interface ReasoningDelta {
  readonly type: "reasoning-delta";
  readonly id: string;
  readonly delta: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The next piece of a call's input, as text. */
export interface ToolInputDelta {
  readonly type: "tool-input-delta";
  readonly toolCallId: string;
  readonly inputTextDelta: string;
  readonly [key: string]: unknown;
}

/** A message begins, or goes on under the same id. */
export interface MessageStart {
  readonly type: "start";
  readonly messageId?: string;
  readonly messageMetadata?: unknown;
  readonly [key: string]: unknown;
}

/** The message is whole. */
export interface MessageFinish {
  readonly type: "finish";
  readonly finishReason?: string;
  readonly messageMetadata?: unknown;
  readonly [key: string]: unknown;
}

/** The work was stopped. What came so far stays. */
export interface MessageAbort {
  readonly type: "abort";
  readonly reason?: string;
  readonly [key: string]: unknown;
}

/** Metadata to merge into the message. */
export interface MessageMetadata {
  readonly type: "message-metadata";
  readonly messageMetadata?: unknown;
  readonly [key: string]: unknown;
}

/** Something failed. It is reported beside the message, never inside it. */
export interface ErrorChunk {
  readonly type: "error";
  readonly errorText: string;
  readonly [key: string]: unknown;
}

/** One model call begins. */
export interface StepStart {
  readonly type: "start-step";
  readonly [key: string]: unknown;
}

/** One model call has ended. */
export interface StepFinish {
  readonly type: "finish-step";
  readonly [key: string]: unknown;
}

/** Forget what the current step has brought: it is tried again. */
export interface StepReset {
  readonly type: "reset-step";
  readonly [key: string]: unknown;
}

/** A text begins. */
export interface TextStart {
  readonly type: "text-start";
  readonly id: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A text is whole. */
export interface TextEnd {
  readonly type: "text-end";
  readonly id: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly citations?: readonly Citation[];
  readonly [key: string]: unknown;
}

/** A piece of reasoning begins. */
export interface ReasoningStart {
  readonly type: "reasoning-start";
  readonly id: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A piece of reasoning is whole. Signatures often come here. */
export interface ReasoningEnd {
  readonly type: "reasoning-end";
  readonly id: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A file the model made. */
export interface FileChunk {
  readonly type: "file";
  readonly url: string;
  readonly mediaType: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A file the model made while reasoning. */
export interface ReasoningFileChunk {
  readonly type: "reasoning-file";
  readonly url: string;
  readonly mediaType: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A web page the answer rests on. */
export interface SourceUrlChunk {
  readonly type: "source-url";
  readonly sourceId: string;
  readonly url: string;
  readonly title?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A document the answer rests on. */
export interface SourceDocumentChunk {
  readonly type: "source-document";
  readonly sourceId: string;
  readonly mediaType: string;
  readonly title: string;
  readonly filename?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Content of one provider. */
export interface CustomChunk {
  readonly type: "custom";
  readonly kind: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** What the user said while the agent was at work. */
export interface SteeringMessageChunk {
  readonly type: "steering-message";
  readonly id: string;
  readonly parts: readonly (TextPart | FilePart | ForeignPart | UnknownPart)[];
  readonly [key: string]: unknown;
}

/** The model begins to write the input of a call. */
export interface ToolInputStart {
  readonly type: "tool-input-start";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly toolMetadata?: Readonly<Record<string, unknown>>;
  readonly dynamic?: boolean;
  readonly title?: string;
  readonly inputEncoding?: "json" | "text";
  readonly [key: string]: unknown;
}

/** The input of a call is whole. */
export interface ToolInputAvailable {
  readonly type: "tool-input-available";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input?: unknown;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly toolMetadata?: Readonly<Record<string, unknown>>;
  readonly dynamic?: boolean;
  readonly title?: string;
  readonly [key: string]: unknown;
}

/** The input of a call is no good. */
export interface ToolInputError {
  readonly type: "tool-input-error";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly errorText: string;
  readonly input?: unknown;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly toolMetadata?: Readonly<Record<string, unknown>>;
  readonly dynamic?: boolean;
  readonly title?: string;
  readonly [key: string]: unknown;
}

/** May this call run? */
export interface ToolApprovalRequest {
  readonly type: "tool-approval-request";
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly approvalDescriptor?: unknown;
  readonly inputSchemaInput?: unknown;
  readonly reason?: string;
  readonly isAutomatic?: boolean;
  readonly signature?: string;
  readonly [key: string]: unknown;
}

/** The answer to an approval request. */
export interface ToolApprovalResponse {
  readonly type: "tool-approval-response";
  readonly approvalId: string;
  readonly approved: boolean;
  readonly reason?: string;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** What the tool gave back; a preliminary output is followed by another. */
export interface ToolOutputAvailable {
  readonly type: "tool-output-available";
  readonly toolCallId: string;
  readonly output?: unknown;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly toolMetadata?: Readonly<Record<string, unknown>>;
  readonly dynamic?: boolean;
  readonly preliminary?: boolean;
  readonly [key: string]: unknown;
}

/** The tool failed. */
export interface ToolOutputError {
  readonly type: "tool-output-error";
  readonly toolCallId: string;
  readonly errorText: string;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly toolMetadata?: Readonly<Record<string, unknown>>;
  readonly dynamic?: boolean;
  readonly [key: string]: unknown;
}

/** The call was not allowed to run. */
export interface ToolOutputDenied {
  readonly type: "tool-output-denied";
  readonly toolCallId: string;
  readonly [key: string]: unknown;
}

/** What came of a call, typed: content to look at, a refusal and its reason, an interruption. */
export interface ToolOutputChunk {
  readonly type: "tool-output-typed";
  readonly toolCallId: string;
  readonly output: ToolOutput;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly toolMetadata?: Readonly<Record<string, unknown>>;
  readonly preliminary?: boolean;
  readonly [key: string]: unknown;
}

/** A network has chosen what runs next. */
export interface NetworkExecutionStart {
  readonly type: "network-execution-start";
  readonly primitiveType: PrimitiveType;
  readonly primitiveId: string;
  readonly selectionReason?: string;
  readonly input?: unknown;
  readonly iteration?: number;
  readonly [key: string]: unknown;
}

/** What the chosen primitive gave back. */
export interface NetworkExecutionEnd {
  readonly type: "network-execution-end";
  readonly finalResult?: NetworkResult;
  readonly [key: string]: unknown;
}

/** A chunk for the message of a sub-agent, found by the calls that lead to it. */
export interface ChildChunk {
  readonly type: "child";
  readonly path: readonly string[];
  readonly chunk: Chunk;
  readonly [key: string]: unknown;
}

/** A whole message of a sub-agent: the prompt it was given, for one. */
export interface ChildMessage {
  readonly type: "child-message";
  readonly path: readonly string[];
  readonly message: Message;
  readonly [key: string]: unknown;
}

/** A chunk whose type this version does not know, kept whole. */
export interface UnknownChunk {
  readonly type: UnknownTag;
  readonly [key: string]: unknown;
}

/** Data of the application. Its type is open: `data-NAME`. */
export interface DataChunk {
  readonly type: `data-${string}`;
  readonly data?: unknown;
  readonly id?: string;
  readonly transient?: boolean;
  readonly [key: string]: unknown;
}

/** One more chunk. */
export interface ChunkEvent {
  readonly type: "chunk";
  readonly chunk: Chunk;
  readonly rawAgentMessage?: unknown;
  readonly rawText?: string;
  readonly [key: string]: unknown;
}

/** The agent said something that amounts to no chunk: it is kept all the same. */
export interface RawEvent {
  readonly type: "raw";
  readonly rawAgentMessage?: unknown;
  readonly rawText?: string;
  readonly [key: string]: unknown;
}

/** The agent failed. */
export interface ErrorEvent {
  readonly type: "error";
  readonly message: string;
  readonly name?: string;
  readonly details?: unknown;
  readonly rawAgentMessage?: unknown;
  readonly rawText?: string;
  readonly [key: string]: unknown;
}

/** The agent is done. */
export interface CompleteEvent {
  readonly type: "complete";
  readonly agentType?: string;
  readonly agentResult?: unknown;
  readonly usage?: Usage;
  readonly rawAgentMessage?: unknown;
  readonly rawText?: string;
  readonly [key: string]: unknown;
}

/** Someone stopped the agent. */
export interface CancelledEvent {
  readonly type: "cancelled";
  readonly reason?: string;
  readonly rawAgentMessage?: unknown;
  readonly rawText?: string;
  readonly [key: string]: unknown;
}

/** Words, in the old shape. */
export interface LegacyText {
  readonly type: "text";
  readonly text: string;
  readonly [key: string]: unknown;
}

/** Words the model wrote for itself, in the old shape. */
export interface LegacyThinking {
  readonly type: "thinking";
  readonly reasoning: string;
  readonly tokenCount?: number;
  readonly [key: string]: unknown;
}

/** A picture, in the old shape: a url, or bare base64. */
export interface LegacyImage {
  readonly type: "image";
  readonly data: string;
  readonly mediaType: string;
  readonly name?: string;
  readonly [key: string]: unknown;
}

/** A file, in the old shape: a url, or bare base64. */
export interface LegacyFile {
  readonly type: "file";
  readonly data: string;
  readonly mediaType: string;
  readonly filename?: string;
  readonly [key: string]: unknown;
}

/** A call of a tool, in the old shape. */
export interface LegacyToolCall {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly [key: string]: unknown;
}

/** What a tool gave back, in the old shape: a typed output, or any JSON in even older data. */
export interface LegacyToolResult {
  readonly type: "tool-result";
  readonly id: string;
  readonly name: string;
  readonly output: unknown;
  readonly [key: string]: unknown;
}

/** A conversation: who owns it, what it is about, and which branch is the current one. */
export interface Thread {
  readonly id: string;
  readonly resourceId?: string;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly agent?: string;
  readonly project?: string;
  readonly activeLeafId?: string;
  readonly messageCount?: number;
  readonly createdAt?: string;
  readonly updatedAt?: string;
  readonly [key: string]: unknown;
}

/** A run: what is at work, for which thread, who holds it, and how it ended. */
export interface Run {
  readonly id: string;
  readonly threadId: string;
  readonly status: RunStatus;
  readonly messageId?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly usage?: Usage;
  readonly cost?: number;
  readonly error?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly agentResult?: unknown;
  readonly leaseOwner?: string;
  readonly leaseExpiresAt?: string;
  readonly createdAt?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly [key: string]: unknown;
}

/**
 * A message with one content. Deprecated: `upgrade` makes the message of its role.
 * @deprecated Use `Message`. Removed in version 1.0.
 */
export interface LegacyMessage {
  readonly id: string;
  readonly role: LegacyRole;
  readonly content: LegacyContent | string;
  readonly timestamp: string;
  readonly parentId?: string;
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A message, told apart by its role. */
export type Message =
  | SystemMessage
  | UserMessage
  | AssistantMessage
  | ToolMessage;

/** What a system message may hold. */
export type SystemPart =
  | TextPart
  | DataPart
  | ForeignPart
  | UnknownPart;

/** What a user message may hold. */
export type UserPart =
  | TextPart
  | ImagePart
  | FilePart
  | ReasoningFilePart
  | DataPart
  | ForeignPart
  | UnknownPart;

/** What an assistant message may hold. */
export type AssistantPart =
  | TextPart
  | ReasoningPart
  | ToolCallPart
  | StepStartPart
  | ImagePart
  | FilePart
  | ReasoningFilePart
  | SourceUrlPart
  | SourceDocumentPart
  | DataPart
  | CustomPart
  | SteeringMessagePart
  | ForeignPart
  | UnknownPart;

/** What a tool message may hold. */
export type ToolPart =
  | ToolResultPart
  | ForeignPart
  | UnknownPart;

/** Any part of any message. */
export type Part =
  | TextPart
  | DataPart
  | ForeignPart
  | UnknownPart
  | ImagePart
  | FilePart
  | ReasoningFilePart
  | ReasoningPart
  | ToolCallPart
  | StepStartPart
  | SourceUrlPart
  | SourceDocumentPart
  | CustomPart
  | SteeringMessagePart
  | ToolResultPart;

/** What a tool may give back for the model to look at. */
export type ContentItem =
  | TextPart
  | ImagePart
  | FilePart
  | ForeignPart
  | UnknownPart;

/** What a tool gave back. */
export type ToolOutput =
  | TextOutput
  | JsonOutput
  | ErrorTextOutput
  | ErrorJsonOutput
  | ExecutionDeniedOutput
  | ContentOutput
  | InterruptedOutput;

/** One piece of a stream, told apart by its type. */
export type Chunk =
  | TextDelta
  | ReasoningDelta
  | ToolInputDelta
  | MessageStart
  | MessageFinish
  | MessageAbort
  | MessageMetadata
  | ErrorChunk
  | StepStart
  | StepFinish
  | StepReset
  | TextStart
  | TextEnd
  | ReasoningStart
  | ReasoningEnd
  | FileChunk
  | ReasoningFileChunk
  | SourceUrlChunk
  | SourceDocumentChunk
  | CustomChunk
  | SteeringMessageChunk
  | ToolInputStart
  | ToolInputAvailable
  | ToolInputError
  | ToolApprovalRequest
  | ToolApprovalResponse
  | ToolOutputAvailable
  | ToolOutputError
  | ToolOutputDenied
  | ToolOutputChunk
  | NetworkExecutionStart
  | NetworkExecutionEnd
  | ChildChunk
  | ChildMessage
  | UnknownChunk
  | DataChunk;

/** What an agent service says while it works. */
export type AgentStreamEvent =
  | ChunkEvent
  | RawEvent
  | ErrorEvent
  | CompleteEvent
  | CancelledEvent;

/** The one content of a message of the old shape. */
export type LegacyContent =
  | LegacyText
  | LegacyThinking
  | LegacyImage
  | LegacyFile
  | LegacyToolCall
  | LegacyToolResult
  | UnknownPart;
