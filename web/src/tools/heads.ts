/** A call in one line: what it is, and what it is about. */
import {
  Bot,
  FileDiff,
  FileText,
  FolderSearch,
  Globe,
  ListTodo,
  type LucideIcon,
  MessageCircleQuestionMark,
  Network,
  NotebookPen,
  SearchCheck,
  SquareTerminal,
  Wrench,
} from "lucide-react";
import { plural } from "../ui/format";
import { agentName, aimOf, networkOf, networkPrompt, promptOf } from "./agents";
import { type Call, detail, hasSucceeded, word } from "./call";
import { counts } from "./diffs";
import { foundBy, patternOf, placeOf } from "./finding";
import { isObject, oneLine, written } from "./json";
import { type Kind, toolName } from "./kinds";
import { queryOf, urlOf } from "./links";
import { changesOf, isWrite, pathOf } from "./patches";
import { questionsOf, todosOf } from "./plans";
import { filesOf, rangeOf } from "./reading";
import { commandOf, ranOf } from "./shell";

export interface Head {
  readonly label: string;
  readonly gist: string;
  /** The gist is code or a path. */
  readonly isCode?: boolean;
  readonly notes?: readonly string[];
  /** How it ended, when that is not well although the call is done. */
  readonly failure?: string;
  readonly plus?: number;
  readonly minus?: number;
}

export const ICONS: Readonly<Record<Kind, LucideIcon>> = {
  terminal: SquareTerminal,
  change: FileDiff,
  read: FileText,
  search: FolderSearch,
  todo: ListTodo,
  plan: NotebookPen,
  question: MessageCircleQuestionMark,
  fetch: Globe,
  websearch: SearchCheck,
  agent: Bot,
  network: Network,
  unknown: Wrench,
};

const HEADS: Readonly<Record<Kind, (call: Call) => Head>> = {
  terminal: ofCommand,
  change: ofChange,
  read: (call) => ({ label: "Read", gist: filesOf(call), isCode: true, notes: [rangeOf(call)] }),
  search: ofSearch,
  todo: ofTodos,
  plan: (call) => ({ label: "Plan", gist: word(call, "plan").replace(/^[#\s]+/, "") }),
  question: ofQuestions,
  fetch: ofFetch,
  websearch: (call) => ({ label: "Web search", gist: queryOf(call) }),
  agent: (call) => ({ label: agentName(call), gist: aimOf(call) || promptOf(call) }),
  network: ofNetwork,
  unknown: ofUnknown,
};

/** The head of a call. Only its beginning is looked at, whatever it holds. */
export function headOf(call: Call, kind: Kind): Head {
  const head = HEADS[kind](call);
  return { ...head, label: oneLine(head.label, 60), gist: oneLine(head.gist, 240) };
}

function ofCommand(call: Call): Head {
  const { code } = ranOf(call);
  const notes = call.input.run_in_background === true ? ["in the background"] : [];
  const label = "Shell";
  const head = { label, gist: commandOf(call), isCode: true };
  return code
    ? { ...head, notes, failure: `Exit ${code}` }
    : { ...head, notes: [...notes, code === 0 ? "exit 0" : ""] };
}

function ofChange(call: Call): Head {
  const changes = changesOf(call);
  const label = isWrite(call) || changes[0]?.kind === "add" ? "Write" : "Edit";
  const gist = changes.length > 1 ? plural(changes.length, "file") : (changes[0]?.path ?? pathOf(call));
  return { label, gist, isCode: changes.length <= 1, ...counts(changes) };
}

const LISTS = new Set(["list", "ls", "list_dir", "list_directory"]);

function ofSearch(call: Call): Head {
  const name = call.part.name.toLowerCase();
  const label = LISTS.has(name) ? "List" : name === "glob" ? "Find files" : "Search";
  const place = placeOf(call);
  const pattern = patternOf(call);
  const gist = [pattern, place && pattern ? `in ${place}` : place].filter(Boolean).join(" ");
  if (!hasSucceeded(call) || call.given.large.length) return { label, gist, isCode: true };
  const { groups, total } = foundBy(call);
  const note =
    groups.length || total
      ? `${plural(total ?? groups.length, "found", "found")}`
      : total === 0
        ? "nothing found"
        : "";
  return { label, gist, isCode: true, notes: [note] };
}

function ofTodos(call: Call): Head {
  const todos = todosOf(call);
  const done = todos.filter((one) => one.progress === "done").length;
  const active = todos.find((one) => one.progress === "active")?.text;
  const gist = active ?? word(call, "explanation", "subject", "description");
  return { label: "To do", gist, notes: todos.length ? [`${done} of ${todos.length} done`] : [] };
}

function ofQuestions(call: Call): Head {
  const questions = questionsOf(call);
  const label = questions.length > 1 ? plural(questions.length, "question") : "Question";
  return { label, gist: questions[0]?.text ?? "" };
}

function ofFetch(call: Call): Head {
  const code = detail(call, "code", "status");
  return { label: "Fetch", gist: urlOf(call), notes: [typeof code === "number" ? String(code) : ""] };
}

function ofNetwork(call: Call): Head {
  const network = networkOf(call.part);
  if (!network) return ofUnknown(call);
  const turn = typeof network.iteration === "number" ? [`turn ${network.iteration}`] : [];
  return {
    label: String(network.primitiveId),
    gist: networkPrompt(network) || aimOf(call),
    notes: [String(network.primitiveType), ...turn],
  };
}

function ofUnknown(call: Call): Head {
  const values = Object.entries(call.input).slice(0, 6);
  const isFlat = values.every(([, value]) => !isObject(value) && !Array.isArray(value));
  const pairs = isFlat
    ? values.map(([name, value]) => `${name}: ${written(value).slice(0, 80)}`).join(", ")
    : "";
  return {
    label: call.part.title ?? toolName(call.part.name),
    gist: pairs || call.words.slice(0, 200),
    isCode: true,
  };
}
