/** A message as `useChat` of AI SDK 7 holds it → the canonical message that everything here is drawn from. */
import type { UIMessage } from "ai";
import type {
  AssistantPart,
  DataPart,
  Message,
  NetworkExecution,
  ToolCallPart,
  ToolOutput,
} from "../partita.gen";
import type { ChildFold } from "./children";
import { isObject } from "./metadata";
import { networkCall } from "./reduce";
import { asOutput } from "./reduce_tools";
import { shared } from "./shared";

type Fields = Readonly<Record<string, unknown>>;

const NETWORK_KEY = "networkExecution";

/** The address that the server gives a stored file. */
const STORED = /^(?:\/[^?#]*)?\/api\/blobs\/([0-9a-f]{64})$/;

const OURS_ALONE = new Set(["image", "data", "foreign", "tool-call", "tool-result"]);

/** Members of a UI part that mean the same in a canonical call. */
const SAME = [
  "input",
  "rawInput",
  "inputEncoding",
  "approval",
  "title",
  "providerExecuted",
  "preliminary",
  "callProviderMetadata",
  "resultProviderMetadata",
  "providerMetadata",
];

/**
 * The canonical message. `children` holds what sub-agents have done so far; `before` is what this function gave
 * for the same message last time: what has not changed since stays the very same object.
 */
export function fromUi(message: UIMessage, children?: ChildFold, before?: Message): Message {
  const parts: AssistantPart[] = [];
  let network: NetworkExecution | undefined;
  for (const raw of message.parts as readonly unknown[]) {
    const found = message.role === "assistant" ? networkOf(raw) : undefined;
    if (found && !network) network = found;
    else parts.push(partOf(raw, message.role, children));
  }
  const { id, role, parts: _parts, metadata: all, ...rest } = message as UIMessage & Fields;
  const { approvals, metadata } = withoutApprovals(all);
  const made = {
    ...rest,
    role,
    id,
    type: parts.some((part) => part.type === "tool-call") ? "tool" : "text",
    content: {
      format: 2,
      parts: approvals ? parts.map((part) => withApproval(part, approvals)) : parts,
      ...(metadata === undefined ? {} : { metadata }),
      ...(network ? { networkExecution: withMessages(network, children?.messages(networkCall(id))) } : {}),
    },
  } as Message;
  return before?.id === id ? shared(before, made) : made;
}

function partOf(raw: unknown, role: string, children?: ChildFold): AssistantPart {
  if (!isObject(raw) || typeof raw.type !== "string" || OURS_ALONE.has(raw.type)) return foreign(raw);
  if (raw.type.startsWith("data-")) return dataOf(raw, raw.type);
  if (raw.type === "dynamic-tool" || raw.type.startsWith("tool-"))
    return role === "assistant" ? callOf(raw, raw.type, children) : foreign(raw);
  const { url } = raw;
  if (typeof url === "string" && STORED.test(url))
    return { ...raw, url: url.replace(STORED, "blob:sha256:$1") } as unknown as AssistantPart;
  return raw as unknown as AssistantPart; // the others are written alike
}

const foreign = (value: unknown): AssistantPart => ({ type: "foreign", format: "ai-sdk-ui", value });

function dataOf({ type: _type, ...rest }: Fields, type: string): DataPart {
  return { ...rest, type: "data", name: type.slice("data-".length) } as DataPart;
}

function callOf(raw: Fields, type: string, children?: ChildFold): AssistantPart {
  const dynamic = type === "dynamic-tool";
  const name = dynamic ? raw.toolName : type.slice("tool-".length);
  const { toolCallId: id, state } = raw;
  if (typeof id !== "string" || typeof name !== "string" || typeof state !== "string") return foreign(raw);
  const output = outputOf(raw);
  const { toolMetadata, drawn } = withoutChildren(raw.toolMetadata);
  const below = children?.messages(id) ?? childMessages(raw) ?? childMessages({ childMessages: drawn });
  return {
    type: "tool-call",
    id,
    name,
    state: state as ToolCallPart["state"],
    ...Object.fromEntries(SAME.filter((key) => raw[key] !== undefined).map((key) => [key, raw[key]])),
    ...(toolMetadata === undefined ? {} : { toolMetadata: toolMetadata as ToolCallPart["toolMetadata"] }),
    ...(output ? { output } : {}),
    ...(dynamic ? { dynamic } : {}),
    ...(dynamic && raw.dynamic === false ? { unavailable: true } : {}),
    ...(below?.length ? { children: below } : {}),
  };
}

function outputOf(raw: Fields): ToolOutput | undefined {
  const error = raw.errorText;
  if (typeof error === "string" && (raw.output === undefined || raw.state === "output-error"))
    return { type: "error-text", value: error };
  return asOutput(raw.output);
}

/** Tool metadata, and the messages of a sub-agent that a stream carries in it. */
function withoutChildren(metadata: unknown): { readonly toolMetadata?: unknown; readonly drawn?: unknown } {
  if (!isObject(metadata) || !Array.isArray(metadata.childMessages)) return { toolMetadata: metadata };
  const { childMessages: drawn, ...toolMetadata } = metadata;
  return Object.keys(toolMetadata).length ? { toolMetadata, drawn } : { drawn };
}

/** Metadata, and who answered the approvals of the message, which a stream carries in it. */
function withoutApprovals(all: unknown): { readonly approvals?: Fields; readonly metadata?: unknown } {
  if (!isObject(all) || !isObject(all.approvals)) return { metadata: all };
  const { approvals, ...metadata } = all;
  return Object.keys(metadata).length
    ? { approvals: approvals as Fields, metadata }
    : { approvals: approvals as Fields };
}

function withApproval(part: AssistantPart, approvals: Fields): AssistantPart {
  if (part.type !== "tool-call") return part;
  const { approval } = part as ToolCallPart;
  const fact = approval ? approvals[approval.id] : undefined;
  return isObject(fact) ? ({ ...part, approval: { ...approval, ...fact } } as AssistantPart) : part;
}

function childMessages(raw: Fields): readonly Message[] | undefined {
  if (!Array.isArray(raw.childMessages)) return undefined;
  return raw.childMessages.filter(isUiMessage).map((one) => fromUi(one));
}

const isUiMessage = (value: unknown): value is UIMessage =>
  isObject(value) &&
  typeof value.id === "string" &&
  typeof value.role === "string" &&
  Array.isArray(value.parts);

/** The network execution that a call stands for, which the server has marked. */
function networkOf(raw: unknown): NetworkExecution | undefined {
  if (!isObject(raw) || raw.type !== "dynamic-tool" || !isObject(raw.toolMetadata)) return undefined;
  const network = raw.toolMetadata[NETWORK_KEY];
  return isObject(network) ? (network as unknown as NetworkExecution) : undefined;
}

/** The execution with what came live; what its end says itself comes first. */
function withMessages(network: NetworkExecution, messages?: readonly Message[]): NetworkExecution {
  if (!messages?.length || network.finalResult?.messages?.length) return network;
  return { ...network, finalResult: { ...network.finalResult, messages } };
}
