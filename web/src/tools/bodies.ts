/** Who draws the body of which kind of call. */
import type { ComponentType } from "react";
import type { PartPlace } from "../viewing/viewing";
import { Agent, Network } from "./Agent";
import { Changes } from "./Changes";
import type { Call } from "./call";
import { FileRead } from "./FileRead";
import type { Kind } from "./kinds";
import { Plan } from "./Plan";
import { Questions } from "./Questions";
import { SearchFound } from "./SearchFound";
import { Terminal } from "./Terminal";
import { TodoList } from "./TodoList";
import { Unknown } from "./Unknown";
import { Fetch, WebSearch } from "./Web";

export interface BodyProps {
  readonly call: Call;
  readonly place: PartPlace;
  /** It is at work now. */
  readonly isBusy: boolean;
}

export const BODIES: Readonly<Record<Kind, ComponentType<BodyProps>>> = {
  terminal: Terminal,
  change: Changes,
  read: FileRead,
  search: SearchFound,
  todo: TodoList,
  plan: Plan,
  question: Questions,
  fetch: Fetch,
  websearch: WebSearch,
  agent: Agent,
  network: Network,
  unknown: Unknown,
};
