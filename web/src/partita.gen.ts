// Generated from the Python types. Do not edit; run this instead:
//     python -m partita.types.typescript > web/src/partita.gen.ts
//
// The declarations describe what Partita writes. It also reads messages whose content is a string or a list
// of parts, and messages without the fields that are derived.

declare const unknownTag: unique symbol;

/**
 * A type that these declarations do not know: any string at run time. The brand distinguishes it from every
 * known type, so that comparing `type` narrows the union.
 */
export type UnknownTag = `${string & { readonly [unknownTag]: true }}`;

/** The kind of a message; an event is a notice, not part of the conversation. */
export type MessageType =
  | "text"
  | "tool"
  | "event";

/** Whether a text is still streaming. */
export type PartState =
  | "streaming"
  | "done";

/** The state of a tool call. */
export type ToolState =
  | "input-streaming"
  | "input-available"
  | "approval-requested"
  | "approval-responded"
  | "output-available"
  | "output-error"
  | "output-denied";

/** Why a call has no output. */
export type Interruption =
  | "aborted"
  | "timeout"
  | "lost";

/** The kind of a primitive of a network. */
export type PrimitiveType =
  | "agent"
  | "workflow"
  | "tool";

/** The status of a run. */
export type RunStatus =
  | "pending"
  | "running"
  | "completed"
  | "failed"
  | "cancelled"
  | "interrupted";

/** The role of a legacy message. */
export type LegacyRole =
  | "system"
  | "user"
  | "assistant"
  | "tool";

/** The status of an item of a to-do list. */
export type TodoStatus =
  | "pending"
  | "in_progress"
  | "completed"
  | "cancelled"
  | "blocked";

/** What happened to a file. */
export type ChangeKind =
  | "add"
  | "update"
  | "delete";

/** How a call ended. */
export type OverviewState =
  | "done"
  | "failed"
  | "running"
  | "denied"
  | "interrupted";

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

/** The content of a system message. */
export interface SystemContent {
  readonly parts: readonly SystemPart[];
  readonly format: 2;
  readonly content?: string;
  readonly metadata?: unknown;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Text for the user. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly state?: PartState;
  readonly citations?: readonly Citation[];
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A range of a text and the source that it cites. */
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

/** Named data of the application. Data with the same name and id replaces it. */
export interface DataPart {
  readonly type: "data";
  readonly name: string;
  readonly data?: unknown;
  readonly id?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A part of another format that has no canonical equivalent, kept unchanged. */
export interface ForeignPart {
  readonly type: "foreign";
  readonly format: string;
  readonly value: unknown;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A part of an unknown type, kept unchanged. */
export interface UnknownPart {
  readonly type: UnknownTag;
  readonly [key: string]: unknown;
}

/** A message of the user. */
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

/** The content of a user message. */
export interface UserContent {
  readonly parts: readonly UserPart[];
  readonly format: 2;
  readonly content?: string;
  readonly metadata?: unknown;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** An image. The url is `https:`, `data:` or `blob:sha256:…`. */
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

/** A file that the model generated while reasoning. */
export interface ReasoningFilePart {
  readonly type: "reasoning-file";
  readonly url: string;
  readonly mediaType: string;
  readonly filename?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A message of the assistant: texts, reasoning, tool calls, files. */
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

/** The content of an assistant message. */
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

/** Reasoning of the model. The type `thinking` is read as this, too. */
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly id?: string;
  readonly state?: PartState;
  readonly tokenCount?: number;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A tool call and, if there is one, its output, merged as they are stored and shown. */
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

/** The tool failed with an error text. */
export interface ErrorTextOutput {
  readonly type: "error-text";
  readonly value: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The tool failed with an error as JSON. */
export interface ErrorJsonOutput {
  readonly type: "error-json";
  readonly value: unknown;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The call was denied. */
export interface ExecutionDeniedOutput {
  readonly type: "execution-denied";
  readonly reason?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Text, images and files for the model. */
export interface ContentOutput {
  readonly type: "content";
  readonly value: readonly ContentItem[];
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The call did not finish. Reporting a timeout as a denial would mislead the model. */
export interface InterruptedOutput {
  readonly type: "interrupted";
  readonly reason: Interruption;
  readonly message?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** An approval request for a tool call, and the response if there is one. */
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

/** Results of tools, separate from their calls. */
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

/** The content of a tool message. */
export interface ToolContent {
  readonly parts: readonly ToolPart[];
  readonly format: 2;
  readonly content?: string;
  readonly metadata?: unknown;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The output of one call, where calls and results are separate (see `tool_results`). */
export interface ToolResultPart {
  readonly type: "tool-result";
  readonly id: string;
  readonly name: string;
  readonly output: ToolOutput;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The start of a step (one model call). */
export interface StepStartPart {
  readonly type: "step-start";
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A web page that the response is based on. */
export interface SourceUrlPart {
  readonly type: "source-url";
  readonly sourceId: string;
  readonly url: string;
  readonly title?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A document that the response is based on. */
export interface SourceDocumentPart {
  readonly type: "source-document";
  readonly sourceId: string;
  readonly mediaType: string;
  readonly title: string;
  readonly filename?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Provider-specific content of kind `provider.kind`; its payload is in the provider metadata. */
export interface CustomPart {
  readonly type: "custom";
  readonly kind: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** What the user sent while the agent was running. */
export interface SteeringMessagePart {
  readonly type: "steering-message";
  readonly id: string;
  readonly parts: readonly (TextPart | FilePart | ForeignPart | UnknownPart)[];
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Token counts. `raw` is the provider's usage object, unchanged. */
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

/** One iteration of a network: what the router selected, why, and the result. */
export interface NetworkExecution {
  readonly primitiveType: PrimitiveType;
  readonly primitiveId: string;
  readonly selectionReason?: string;
  readonly input?: unknown;
  readonly finalResult?: NetworkResult;
  readonly iteration?: number;
  readonly [key: string]: unknown;
}

/** What the selected primitive returned, or why it failed. While it runs or waits for a client, only `messages` is set. */
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

/** The next piece of a reasoning. */
export interface ReasoningDelta {
  readonly type: "reasoning-delta";
  readonly id: string;
  readonly delta: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The next piece of the input of a call, as text. */
export interface ToolInputDelta {
  readonly type: "tool-input-delta";
  readonly toolCallId: string;
  readonly inputTextDelta: string;
  readonly [key: string]: unknown;
}

/** A message starts, or continues if it has the id of the current one. */
export interface MessageStart {
  readonly type: "start";
  readonly messageId?: string;
  readonly messageMetadata?: unknown;
  readonly [key: string]: unknown;
}

/** The message is complete. */
export interface MessageFinish {
  readonly type: "finish";
  readonly finishReason?: string;
  readonly messageMetadata?: unknown;
  readonly [key: string]: unknown;
}

/** The stream was aborted. The parts so far stay in the message. */
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

/** An error. It is not part of the message. */
export interface ErrorChunk {
  readonly type: "error";
  readonly errorText: string;
  readonly [key: string]: unknown;
}

/** A step (one model call) starts. */
export interface StepStart {
  readonly type: "start-step";
  readonly [key: string]: unknown;
}

/** A step is complete. */
export interface StepFinish {
  readonly type: "finish-step";
  readonly [key: string]: unknown;
}

/** Remove the parts of the current step, because it is retried. */
export interface StepReset {
  readonly type: "reset-step";
  readonly [key: string]: unknown;
}

/** A text starts. */
export interface TextStart {
  readonly type: "text-start";
  readonly id: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A text is complete. */
export interface TextEnd {
  readonly type: "text-end";
  readonly id: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly citations?: readonly Citation[];
  readonly [key: string]: unknown;
}

/** A reasoning starts. */
export interface ReasoningStart {
  readonly type: "reasoning-start";
  readonly id: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A reasoning is complete. Signatures often arrive here. */
export interface ReasoningEnd {
  readonly type: "reasoning-end";
  readonly id: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A file that the model generated. */
export interface FileChunk {
  readonly type: "file";
  readonly url: string;
  readonly mediaType: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A file that the model generated while reasoning. */
export interface ReasoningFileChunk {
  readonly type: "reasoning-file";
  readonly url: string;
  readonly mediaType: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A web page that the response is based on. */
export interface SourceUrlChunk {
  readonly type: "source-url";
  readonly sourceId: string;
  readonly url: string;
  readonly title?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** A document that the response is based on. */
export interface SourceDocumentChunk {
  readonly type: "source-document";
  readonly sourceId: string;
  readonly mediaType: string;
  readonly title: string;
  readonly filename?: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Provider-specific content. */
export interface CustomChunk {
  readonly type: "custom";
  readonly kind: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** What the user sent while the agent was running. */
export interface SteeringMessageChunk {
  readonly type: "steering-message";
  readonly id: string;
  readonly parts: readonly (TextPart | FilePart | ForeignPart | UnknownPart)[];
  readonly [key: string]: unknown;
}

/** The input of a call starts. */
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

/** The input of a call is complete. */
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

/** The input of a call is invalid. */
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

/** A call needs approval. */
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

/** The response to an approval request. */
export interface ToolApprovalResponse {
  readonly type: "tool-approval-response";
  readonly approvalId: string;
  readonly approved: boolean;
  readonly reason?: string;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The output of a tool. A preliminary output is followed by another. */
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

/** The call was denied. */
export interface ToolOutputDenied {
  readonly type: "tool-output-denied";
  readonly toolCallId: string;
  readonly [key: string]: unknown;
}

/** A typed output: content, a denial with its reason, or an interruption. */
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

/** A network has selected the primitive that runs next. */
export interface NetworkExecutionStart {
  readonly type: "network-execution-start";
  readonly primitiveType: PrimitiveType;
  readonly primitiveId: string;
  readonly selectionReason?: string;
  readonly input?: unknown;
  readonly iteration?: number;
  readonly [key: string]: unknown;
}

/** The result of the selected primitive. */
export interface NetworkExecutionEnd {
  readonly type: "network-execution-end";
  readonly finalResult?: NetworkResult;
  readonly [key: string]: unknown;
}

/** A chunk for the message of a sub-agent. `path` has the ids of the calls that lead to it. */
export interface ChildChunk {
  readonly type: "child";
  readonly path: readonly string[];
  readonly chunk: Chunk;
  readonly [key: string]: unknown;
}

/** A whole message of a sub-agent, such as its prompt. */
export interface ChildMessage {
  readonly type: "child-message";
  readonly path: readonly string[];
  readonly message: Message;
  readonly [key: string]: unknown;
}

/** A chunk of an unknown type, kept unchanged. */
export interface UnknownChunk {
  readonly type: UnknownTag;
  readonly [key: string]: unknown;
}

/** Data of the application, of type `data-NAME`. */
export interface DataChunk {
  readonly type: `data-${string}`;
  readonly data?: unknown;
  readonly id?: string;
  readonly transient?: boolean;
  readonly [key: string]: unknown;
}

/** A chunk. */
export interface ChunkEvent {
  readonly type: "chunk";
  readonly chunk: Chunk;
  readonly rawAgentMessage?: unknown;
  readonly rawText?: string;
  readonly [key: string]: unknown;
}

/** A message of the agent without a chunk, such as a ping. */
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

/** The agent has completed. */
export interface CompleteEvent {
  readonly type: "complete";
  readonly agentType?: string;
  readonly agentResult?: unknown;
  readonly usage?: Usage;
  readonly rawAgentMessage?: unknown;
  readonly rawText?: string;
  readonly [key: string]: unknown;
}

/** The agent was stopped. */
export interface CancelledEvent {
  readonly type: "cancelled";
  readonly reason?: string;
  readonly rawAgentMessage?: unknown;
  readonly rawText?: string;
  readonly [key: string]: unknown;
}

/** Text of a legacy message. */
export interface LegacyText {
  readonly type: "text";
  readonly text: string;
  readonly [key: string]: unknown;
}

/** Reasoning of a legacy message. */
export interface LegacyThinking {
  readonly type: "thinking";
  readonly reasoning: string;
  readonly tokenCount?: number;
  readonly [key: string]: unknown;
}

/** An image of a legacy message: a URL or base64. */
export interface LegacyImage {
  readonly type: "image";
  readonly data: string;
  readonly mediaType: string;
  readonly name?: string;
  readonly [key: string]: unknown;
}

/** A file of a legacy message: a URL or base64. */
export interface LegacyFile {
  readonly type: "file";
  readonly data: string;
  readonly mediaType: string;
  readonly filename?: string;
  readonly [key: string]: unknown;
}

/** A tool call of a legacy message. */
export interface LegacyToolCall {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly [key: string]: unknown;
}

/** The result of a tool in a legacy message: a typed output, or any JSON in older data. */
export interface LegacyToolResult {
  readonly type: "tool-result";
  readonly id: string;
  readonly name: string;
  readonly output: unknown;
  readonly [key: string]: unknown;
}

/** A conversation: its owner, title and metadata, and its active branch. */
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

/** One execution of an agent in a thread: its status, lease, usage and result. */
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
 * A message with a single content item. Deprecated: `upgrade` converts it.
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

/** A command of a shell, or code that was run. */
export interface CommandView {
  readonly kind: "command";
  readonly command?: string;
  readonly description?: string;
  readonly directory?: string;
  readonly exitCode?: number;
  readonly output?: ToolText;
  readonly errors?: ToolText;
  readonly status?: string;
  readonly commits?: readonly Commit[];
  readonly pullRequests?: readonly string[];
  readonly title: string;
  readonly subject?: string;
  readonly subjectIsCode?: boolean;
  readonly notes?: readonly string[];
  readonly failed?: boolean;
  readonly failure?: string;
  readonly seconds?: number;
  readonly shownItems?: readonly number[];
  readonly [key: string]: unknown;
}

/** A text of a call: the text itself, or where the call holds it. `path` leads to a member of the call's JSON. The path `["output"]` is the text of the output; texts of a content output are joined by line breaks. The text begins after `skip_lines` lines and has `line_count` lines, if that is given. With a `separator`, each line begins with its number and that separator, which are not part of the text; a line without the separator is empty. */
export interface ToolText {
  readonly text?: string;
  readonly path?: readonly (string | number)[];
  readonly skipLines?: number;
  readonly lineCount?: number;
  readonly separator?: string;
  readonly [key: string]: unknown;
}

/** A commit that a command made. */
export interface Commit {
  readonly hash: string;
  readonly subject: string;
  readonly branch?: string;
  readonly amends?: boolean;
  readonly [key: string]: unknown;
}

/** Files that were changed or written. */
export interface EditView {
  readonly kind: "edit";
  readonly changes?: readonly FileChange[];
  readonly title: string;
  readonly subject?: string;
  readonly subjectIsCode?: boolean;
  readonly notes?: readonly string[];
  readonly failed?: boolean;
  readonly failure?: string;
  readonly seconds?: number;
  readonly shownItems?: readonly number[];
  readonly [key: string]: unknown;
}

/** What happened to one file. */
export interface FileChange {
  readonly path: string;
  readonly change?: ChangeKind;
  readonly movedTo?: string;
  readonly hunks?: readonly Hunk[];
  readonly added?: number;
  readonly removed?: number;
  readonly [key: string]: unknown;
}

/** Consecutive lines of a change, and where they begin in the old and the new file, if that is known. */
export interface Hunk {
  readonly lines?: readonly string[];
  readonly text?: ToolText;
  readonly oldStart?: number;
  readonly newStart?: number;
  readonly [key: string]: unknown;
}

/** A file that was read. */
export interface ReadView {
  readonly kind: "read";
  readonly path?: string;
  readonly text?: ToolText;
  readonly firstLine?: number;
  readonly remark?: string;
  readonly title: string;
  readonly subject?: string;
  readonly subjectIsCode?: boolean;
  readonly notes?: readonly string[];
  readonly failed?: boolean;
  readonly failure?: string;
  readonly seconds?: number;
  readonly shownItems?: readonly number[];
  readonly [key: string]: unknown;
}

/** A search in files, a search for files, or a list of a directory. */
export interface SearchView {
  readonly kind: "search";
  readonly pattern?: string;
  readonly files?: readonly FoundFile[];
  readonly remarks?: readonly string[];
  readonly total?: number;
  readonly title: string;
  readonly subject?: string;
  readonly subjectIsCode?: boolean;
  readonly notes?: readonly string[];
  readonly failed?: boolean;
  readonly failure?: string;
  readonly seconds?: number;
  readonly shownItems?: readonly number[];
  readonly [key: string]: unknown;
}

/** A file that was found, and the lines found in it. */
export interface FoundFile {
  readonly path: string;
  readonly matches?: readonly Match[];
  readonly count?: number;
  readonly [key: string]: unknown;
}

/** A line that was found, or a line around one. */
export interface Match {
  readonly text: string;
  readonly line?: number;
  readonly context?: boolean;
  readonly [key: string]: unknown;
}

/** A to-do list. */
export interface TodoView {
  readonly kind: "todos";
  readonly todos?: readonly Todo[];
  readonly explanation?: string;
  readonly title: string;
  readonly subject?: string;
  readonly subjectIsCode?: boolean;
  readonly notes?: readonly string[];
  readonly failed?: boolean;
  readonly failure?: string;
  readonly seconds?: number;
  readonly shownItems?: readonly number[];
  readonly [key: string]: unknown;
}

/** An item of a to-do list. */
export interface Todo {
  readonly text: string;
  readonly status?: TodoStatus;
  readonly [key: string]: unknown;
}

/** A plan that was presented to the user, in Markdown. */
export interface PlanView {
  readonly kind: "plan";
  readonly plan?: ToolText;
  readonly title: string;
  readonly subject?: string;
  readonly subjectIsCode?: boolean;
  readonly notes?: readonly string[];
  readonly failed?: boolean;
  readonly failure?: string;
  readonly seconds?: number;
  readonly shownItems?: readonly number[];
  readonly [key: string]: unknown;
}

/** Questions to the user. */
export interface QuestionView {
  readonly kind: "question";
  readonly questions?: readonly Question[];
  readonly title: string;
  readonly subject?: string;
  readonly subjectIsCode?: boolean;
  readonly notes?: readonly string[];
  readonly failed?: boolean;
  readonly failure?: string;
  readonly seconds?: number;
  readonly shownItems?: readonly number[];
  readonly [key: string]: unknown;
}

/** A question to the user, and the answer if there is one. */
export interface Question {
  readonly text: string;
  readonly choices?: readonly Choice[];
  readonly answer?: string;
  readonly [key: string]: unknown;
}

/** A choice of a question. */
export interface Choice {
  readonly label: string;
  readonly description?: string;
  readonly [key: string]: unknown;
}

/** A web page that was fetched. */
export interface FetchView {
  readonly kind: "fetch";
  readonly url?: string;
  readonly prompt?: string;
  readonly title: string;
  readonly subject?: string;
  readonly subjectIsCode?: boolean;
  readonly notes?: readonly string[];
  readonly failed?: boolean;
  readonly failure?: string;
  readonly seconds?: number;
  readonly shownItems?: readonly number[];
  readonly [key: string]: unknown;
}

/** A web search. */
export interface WebSearchView {
  readonly kind: "web-search";
  readonly links?: readonly Link[];
  readonly title: string;
  readonly subject?: string;
  readonly subjectIsCode?: boolean;
  readonly notes?: readonly string[];
  readonly failed?: boolean;
  readonly failure?: string;
  readonly seconds?: number;
  readonly shownItems?: readonly number[];
  readonly [key: string]: unknown;
}

/** A result of a web search. */
export interface Link {
  readonly url: string;
  readonly title?: string;
  readonly text?: string;
  readonly [key: string]: unknown;
}

/** A sub-agent. What it did is in the `children` of the call. */
export interface AgentView {
  readonly kind: "agent";
  readonly agent?: string;
  readonly description?: string;
  readonly prompt?: ToolText;
  readonly title: string;
  readonly subject?: string;
  readonly subjectIsCode?: boolean;
  readonly notes?: readonly string[];
  readonly failed?: boolean;
  readonly failure?: string;
  readonly seconds?: number;
  readonly shownItems?: readonly number[];
  readonly [key: string]: unknown;
}

/** A turn of a network of agents, which the call's tool metadata describes under `networkExecution`. */
export interface NetworkView {
  readonly kind: "network";
  readonly prompt?: ToolText;
  readonly title: string;
  readonly subject?: string;
  readonly subjectIsCode?: boolean;
  readonly notes?: readonly string[];
  readonly failed?: boolean;
  readonly failure?: string;
  readonly seconds?: number;
  readonly shownItems?: readonly number[];
  readonly [key: string]: unknown;
}

/** Any other tool: it is drawn as its input and its output. */
export interface OtherView {
  readonly kind: "other";
  readonly title: string;
  readonly subject?: string;
  readonly subjectIsCode?: boolean;
  readonly notes?: readonly string[];
  readonly failed?: boolean;
  readonly failure?: string;
  readonly seconds?: number;
  readonly shownItems?: readonly number[];
  readonly [key: string]: unknown;
}

/** A part that an agent added for itself, such as a slash command: what it was, and its text. */
export interface Notice {
  readonly kind: "notice";
  readonly label: string;
  readonly text?: string;
  readonly hidden?: boolean;
  readonly [key: string]: unknown;
}

/** A text of a user message, apart from what an editor or an agent added to it. */
export interface Prompt {
  readonly kind: "prompt";
  readonly text: string;
  readonly added?: readonly Notice[];
  readonly [key: string]: unknown;
}

/** What happened on a branch of a thread. */
export interface ThreadOverview {
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly seconds: number;
  readonly turns: readonly OverviewTurn[];
  readonly calls: readonly OverviewCall[];
  readonly files: readonly ChangedFile[];
  readonly commits: readonly MadeCommit[];
  readonly pullRequests: readonly MadePullRequest[];
  readonly branch: string | null;
  readonly branchUrl: string | null;
  readonly repositoryUrl: string | null;
  readonly commands: number;
  readonly failed: number;
  readonly agents: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | null;
  readonly resume: ResumeCommand | null;
  readonly [key: string]: unknown;
}

/** A prompt of the user and everything until the next one. */
export interface OverviewTurn {
  readonly messageId: string;
  readonly title: string;
  readonly answerId: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly seconds: number;
  readonly responses: number;
  readonly calls: number;
  readonly failed: number;
  readonly edits: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | null;
  readonly running: boolean;
  readonly [key: string]: unknown;
}

/** A tool call on one line. */
export interface OverviewCall {
  readonly messageId: string;
  readonly part: string;
  readonly kind: string;
  readonly title: string;
  readonly subject: string;
  readonly state: OverviewState;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly added: number;
  readonly removed: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cost: number | null;
  readonly [key: string]: unknown;
}

/** A file that the thread changed: how many lines differ in the end, and the calls that changed it. */
export interface ChangedFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly created: boolean;
  readonly deleted: boolean;
  readonly edits: readonly PartPlace[];
  readonly [key: string]: unknown;
}

/** The place of a call: its message, and the path of the part in it. */
export interface PartPlace {
  readonly messageId: string;
  readonly part: string;
  readonly [key: string]: unknown;
}

/** A commit that a command made. */
export interface MadeCommit {
  readonly messageId: string;
  readonly part: string;
  readonly hash: string;
  readonly subject: string;
  readonly branch: string;
  readonly url: string | null;
  readonly [key: string]: unknown;
}

/** A pull request that a command made or found. */
export interface MadePullRequest {
  readonly messageId: string;
  readonly part: string;
  readonly url: string;
  readonly [key: string]: unknown;
}

/** How to continue a session in a terminal. */
export interface ResumeCommand {
  readonly command: string;
  readonly directory: string | null;
  readonly [key: string]: unknown;
}

/** The files that a thread changed, with their diffs. */
export interface ThreadDiff {
  readonly files: readonly FileDiff[];
  readonly [key: string]: unknown;
}

/** A file that the thread changed, with all its edits as one diff. */
export interface FileDiff {
  readonly path: string;
  readonly movedFrom: string | null;
  readonly added: number;
  readonly removed: number;
  readonly created: boolean;
  readonly deleted: boolean;
  readonly combined: boolean;
  readonly hunks: readonly DiffHunk[];
  readonly lineCount: number;
  readonly [key: string]: unknown;
}

/** Consecutive lines of a diff, where they begin if that is known, and the calls that made the changes. */
export interface DiffHunk {
  readonly lines: readonly string[];
  readonly oldStart: number | null;
  readonly newStart: number | null;
  readonly edits: readonly PartPlace[];
  readonly [key: string]: unknown;
}

/** A message. The role determines its type. */
export type Message =
  | SystemMessage
  | UserMessage
  | AssistantMessage
  | ToolMessage;

/** The parts of a system message. */
export type SystemPart =
  | TextPart
  | DataPart
  | ForeignPart
  | UnknownPart;

/** The parts of a user message. */
export type UserPart =
  | TextPart
  | ImagePart
  | FilePart
  | ReasoningFilePart
  | DataPart
  | ForeignPart
  | UnknownPart;

/** The parts of an assistant message. */
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

/** The parts of a tool message. */
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

/** An item of the content that a tool returns for the model. */
export type ContentItem =
  | TextPart
  | ImagePart
  | FilePart
  | ForeignPart
  | UnknownPart;

/** The output of a tool. */
export type ToolOutput =
  | TextOutput
  | JsonOutput
  | ErrorTextOutput
  | ErrorJsonOutput
  | ExecutionDeniedOutput
  | ContentOutput
  | InterruptedOutput;

/** A chunk of a stream. The type determines its members. */
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

/** An event of an agent service. */
export type AgentStreamEvent =
  | ChunkEvent
  | RawEvent
  | ErrorEvent
  | CompleteEvent
  | CancelledEvent;

/** The content of a legacy message. */
export type LegacyContent =
  | LegacyText
  | LegacyThinking
  | LegacyImage
  | LegacyFile
  | LegacyToolCall
  | LegacyToolResult
  | UnknownPart;

/** What a tool call is and did. */
export type ToolView =
  | CommandView
  | EditView
  | ReadView
  | SearchView
  | TodoView
  | PlanView
  | QuestionView
  | FetchView
  | WebSearchView
  | AgentView
  | NetworkView
  | OtherView;

/** What is displayed for a part. */
export type PartView =
  | ToolView
  | Notice
  | Prompt;
