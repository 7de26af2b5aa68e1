/** The component of each kind of tool call. Loaded by `loadBodies`. */
import type { ComponentType } from "react";
import type { PartPlace } from "../context/renderContext";
import type { ToolView } from "../partita.gen";
import { Agent, Network } from "./Agent";
import { Changes } from "./Changes";
import type { Call } from "./call";
import { FileRead } from "./FileRead";
import { GenericCall } from "./GenericCall";
import { Plan } from "./Plan";
import { Questions } from "./Questions";
import { SearchResults } from "./SearchResults";
import { Terminal } from "./Terminal";
import { TodoList } from "./TodoList";
import { Fetch, WebSearch } from "./Web";

export { Approval } from "./Approval";
export { ClientCall } from "./ClientCall";
export { JsonTree } from "./JsonTree";
export { LongText } from "./LongText";

export type Kind = ToolView["kind"];
type Of<K extends Kind> = Extract<ToolView, { readonly kind: K }>;

export interface BodyProps<K extends Kind = Kind> {
  readonly call: Call<Of<K>>;
  readonly place: PartPlace;
  /** The call is running. */
  readonly isBusy: boolean;
}

const BODIES: { readonly [K in Kind]: ComponentType<BodyProps<K>> } = {
  command: Terminal,
  edit: Changes,
  read: FileRead,
  search: SearchResults,
  todos: TodoList,
  plan: Plan,
  question: Questions,
  fetch: Fetch,
  "web-search": WebSearch,
  agent: Agent,
  network: Network,
  other: GenericCall,
};

/** The component for the body of a call. GenericCall kinds show input and output. */
export const bodyOf = (view: ToolView): ComponentType<BodyProps> =>
  (BODIES[view.kind] ?? GenericCall) as ComponentType<BodyProps>;
