/** To-do lists, and questions to the user. */
import { type Call, detail, hasFailed } from "./call";
import { firstText, isObject, type JsonObject, member, objects, written } from "./json";

export type Progress = "open" | "active" | "done" | "dropped" | "blocked";

const PROGRESS: ReadonlyMap<string, Progress> = new Map(
  Object.entries({
    completed: "done",
    complete: "done",
    done: "done",
    in_progress: "active",
    "in-progress": "active",
    inprogress: "active",
    active: "active",
    running: "active",
    cancelled: "dropped",
    canceled: "dropped",
    deleted: "dropped",
    blocked: "blocked",
    failed: "blocked",
  }),
);

export interface Todo {
  readonly text: string;
  readonly progress: Progress;
}

/** The things to do that a call names, wherever its agent puts them. */
export function todosOf(call: Call): Todo[] {
  for (const name of ["todos", "plan", "items", "tasks"]) {
    const found = objects(call.input[name]);
    if (found.length) return found.map(todoOf);
  }
  return objects(detail(call, "newTodos", "tasks", "todos")).map(todoOf);
}

function todoOf(item: JsonObject): Todo {
  const text = firstText(item, "content", "step", "text", "description", "subject", "title", "task") || "…";
  const state = firstText(item, "status", "state").toLowerCase();
  return { text, progress: item.completed === true ? "done" : (PROGRESS.get(state) ?? "open") };
}

export interface Choice {
  readonly label: string;
  readonly about: string;
}

export interface Question {
  readonly text: string;
  readonly choices: readonly Choice[];
  readonly answer: string;
}

/** What the user was asked, the choices, and the answer. */
export function questionsOf(call: Call): Question[] {
  const asked = objects(call.input.questions);
  const answers = detail(call, "answers");
  const questions = (asked.length ? asked : [call.input]).map((question) => {
    const text = firstText(question, "question", "text", "prompt", "message", "title");
    const answer = isObject(answers)
      ? (member(answers, text) ?? member(answers, firstText(question, "id")))
      : undefined;
    return { text, choices: choicesOf(question), answer: answerOf(answer) };
  });
  if (questions.some((one) => one.answer) || hasFailed(call)) return questions;
  // Only the words for the model are there: they stand under the last question.
  return questions.map((one, at) =>
    at === questions.length - 1 ? { ...one, answer: call.given.text } : one,
  );
}

function choicesOf(question: JsonObject): Choice[] {
  const options = question.options ?? question.choices;
  return (Array.isArray(options) ? options : []).map((option) =>
    typeof option === "string"
      ? { label: option, about: "" }
      : { label: firstText(option, "label", "text", "title"), about: firstText(option, "description") },
  );
}

function answerOf(answer: unknown): string {
  if (answer === undefined || answer === null) return "";
  if (isObject(answer) && Array.isArray(answer.answers)) return answer.answers.map(String).join(", ");
  return Array.isArray(answer) ? answer.map((one) => written(one)).join(", ") : written(answer);
}
