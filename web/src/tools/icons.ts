/** The icon of each kind of tool call. */
import {
  Bot,
  FileDiff,
  FileText,
  FolderSearch,
  Globe,
  ListTodo,
  type LucideIcon,
  MessageCircleQuestionMark,
  Network as NetworkIcon,
  NotebookPen,
  SearchCheck,
  SquareTerminal,
  Wrench,
} from "lucide-react";
import type { Kind } from "./bodies";

const ICONS: Readonly<Record<Kind, LucideIcon>> = {
  command: SquareTerminal,
  edit: FileDiff,
  read: FileText,
  search: FolderSearch,
  todos: ListTodo,
  plan: NotebookPen,
  question: MessageCircleQuestionMark,
  fetch: Globe,
  "web-search": SearchCheck,
  agent: Bot,
  network: NetworkIcon,
  other: Wrench,
};

export const iconOf = ({ kind }: { readonly kind: string }): LucideIcon => ICONS[kind as Kind] ?? Wrench;
