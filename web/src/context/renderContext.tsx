/** What the components that render messages need from their surroundings: the page, a replay or a shared file. */
import { type ComponentType, createContext, useContext } from "react";
import type { BlobPiece } from "../api/blobs";
import type { Message, ToolCallPart } from "../partita.gen";
import type { ToolViews } from "./toolViews";

export type { BlobPiece };

/** The position of a part, for links and for its timing. */
export interface PartPlace {
  readonly threadId?: string;
  readonly messageId: string;
  /** `2`, or `2.children.0.1` for a part of a sub-agent. */
  readonly path: string;
}

export interface Timing {
  readonly startedAt?: string;
  readonly endedAt?: string;
}

export interface ApprovalResponse {
  readonly approved: boolean;
  readonly reason?: string;
}

/** The actions on a pending call of a client-side tool. */
export interface ClientCallActions {
  /** Runs the tool in the browser and sends its output. Absent if this page does not have the tool. */
  readonly run?: () => Promise<void>;
  readonly submit: (output: unknown) => Promise<void>;
  readonly decline: (reason: string) => Promise<void>;
}

/** The actions on a response that failed, was stopped or was interrupted. */
export interface EndActions {
  /** Asks the same question again. */
  readonly retry: () => void;
  /** Asks the agent to continue. Absent if there is nothing to continue. */
  readonly resume?: () => void;
  /** What else may help. */
  readonly hint?: string;
}

export interface MessagesProps {
  readonly messages: readonly Message[];
  readonly place: PartPlace;
  /** The user has already opened the container: render the messages unfolded. */
  readonly open?: boolean;
}

export interface RenderContext {
  readonly threadId?: string;
  /** The message is still streaming. */
  readonly live: boolean;
  /** The agent is still working: a call without a result is running. */
  readonly active?: boolean;
  /** Consecutive calls are folded into one line. */
  readonly groupCalls?: boolean;
  /** The folder of the project: paths are displayed relative to it, and opened in it. */
  readonly folder?: string;
  /** When a part started and ended, if known. */
  readonly timing: (place: PartPlace) => Timing | undefined;
  /** The bytes of `blob:sha256:…` from `first` to `last`, inclusive; without them, all bytes. */
  readonly loadBlob: (url: string, first?: number, last?: number) => Promise<BlobPiece>;
  /** Requests the view of a call that arrived without one. Absent if there is no server. */
  readonly toolViews?: ToolViews;
  /** A URL for `<img>`, `<audio>` and `<a download>`; null if the blob must not be loaded. */
  readonly blobHref: (url: string) => string | null;
  /** Approves or denies a pending call. Absent if that is not possible here. */
  readonly respondToApproval?: (call: ToolCallPart, response: ApprovalResponse) => Promise<void>;
  /** The actions on a client-side call; undefined if the call is not pending. */
  readonly clientCallActions?: (call: ToolCallPart) => ClientCallActions | undefined;
  /** The actions on a response that did not complete; undefined if the session has continued since. */
  readonly endActions?: (message: Message) => EndActions | undefined;
  /** A permalink to a part or a message. Absent if there are no permalinks. */
  readonly linkTo?: (place: Omit<PartPlace, "path"> & { path?: string }) => string;
  /** Opens the agent's raw events of a message. Absent if there are none. */
  readonly showRaw?: (messageId: string) => void;
  /** The part or message in the page's address. Everything that contains it renders unfolded. */
  readonly target?: Omit<PartPlace, "threadId">;
  /** Renders the messages of a sub-agent or network. Passed in because the tool components must not import it. */
  readonly Messages: ComponentType<MessagesProps>;
}

const DEFAULT: RenderContext = {
  live: false,
  timing: () => undefined,
  loadBlob: () => Promise.reject(new Error("Blobs are not available here.")),
  blobHref: () => null,
  Messages: () => null,
};

const Context = createContext<RenderContext>(DEFAULT);

export const RenderProvider = Context.Provider;
export const useRenderContext = (): RenderContext => useContext(Context);

/** Whether a call without a result is running. */
export const isActive = ({ live, active = false }: RenderContext): boolean => live || active;

/** When the message was created: calls without a timing start then. */
export const MessageTime = createContext<string | undefined>(undefined);

/** Whether the target of the page's address is this message or part, or inside it. */
export function containsTarget(place: PartPlace, target: RenderContext["target"]): boolean {
  if (target?.messageId !== place.messageId) return false;
  return !place.path || `${target.path}.`.startsWith(`${place.path}.`);
}

/** Seconds between start and end, or until `now` while the part is running; null if unknown. */
export function elapsedSeconds(timing: Timing | undefined, now = Number.NaN): number | null {
  if (!timing?.startedAt) return null;
  const end = timing.endedAt ? Date.parse(timing.endedAt) : now;
  const seconds = (end - Date.parse(timing.startedAt)) / 1000;
  return seconds >= 0 ? seconds : null;
}
