/** What the drawing of messages needs from where it is drawn: the page, a replay, or a shared file. */
import { type ComponentType, createContext, useContext } from "react";
import type { Message, ToolCallPart } from "../partita.gen";
import type { ToolViews } from "./toolViews";

/** Where a part is: for links to it, and to find its times. */
export interface PartPlace {
  readonly threadId?: string;
  readonly messageId: string;
  /** `2`, or `2.children.0.1` for a sub-agent's. */
  readonly path: string;
}

export interface Timing {
  readonly startedAt?: string;
  readonly endedAt?: string;
}

/** The bytes of a blob, or a piece of them, and how many there are. */
export interface BlobPiece {
  readonly data: Uint8Array<ArrayBuffer>;
  readonly size: number;
  readonly mediaType: string;
}

export interface Answering {
  readonly approved: boolean;
  readonly reason?: string;
}

/** What can be done about a call that waits for this side. */
export interface Replying {
  /** Run it here, and give what came of it; absent where this page does not know the tool. */
  readonly run?: () => Promise<void>;
  readonly give: (output: unknown) => Promise<void>;
  readonly decline: (why: string) => Promise<void>;
}

export interface ThreadBelow {
  readonly messages: readonly Message[];
  readonly place: PartPlace;
  /** Somebody has opened what it is in: it is not to be opened once more. */
  readonly open?: boolean;
}

export interface Viewing {
  readonly threadId?: string;
  /** A message at work: texts are still coming. */
  readonly live: boolean;
  /** How long a part took, if it is known. */
  readonly timing: (place: PartPlace) => Timing | undefined;
  /** The bytes behind `blob:sha256:…`. From `first` up to `last`, both included; without them, all. */
  readonly loadBlob: (url: string, first?: number, last?: number) => Promise<BlobPiece>;
  /** Where to ask what a call is whose view did not come with it; absent where there is no server. */
  readonly toolViews?: ToolViews;
  /** An address for `<img>`, `<audio>`, `<a download>`; null when it must not be loaded. */
  readonly blobHref: (url: string) => string | null;
  /** Allow or refuse a call that waits; absent where nobody can. */
  readonly answer?: (call: ToolCallPart, answer: Answering) => Promise<void>;
  /** How to reply to a call whose tool runs on this side; undefined for one that does not wait. */
  readonly replying?: (call: ToolCallPart) => Replying | undefined;
  /** The address of a part or a message, to be copied; absent where there is none. */
  readonly linkTo?: (place: Omit<PartPlace, "path"> & { path?: string }) => string;
  /** Show the agent's own events that a message came from; absent where there are none. */
  readonly showRaw?: (messageId: string) => void;
  /** The part or message that the address names: what it is folded in stands open. */
  readonly target?: Omit<PartPlace, "threadId">;
  /** Draws the messages of a sub-agent or of a network below a call. */
  readonly Messages: ComponentType<ThreadBelow>;
}

const NOWHERE: Viewing = {
  live: false,
  timing: () => undefined,
  loadBlob: () => Promise.reject(new Error("there are no blobs here")),
  blobHref: () => null,
  Messages: () => null,
};

const Context = createContext<Viewing>(NOWHERE);

export const ViewingProvider = Context.Provider;
export const useViewing = (): Viewing => useContext(Context);
