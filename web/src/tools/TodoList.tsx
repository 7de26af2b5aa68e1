import { Circle, CircleCheckBig, CircleDot, CircleSlash, TriangleAlert } from "lucide-react";
import type { TodoStatus } from "../partita.gen";
import { visible } from "../ui/sanitize";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { GenericCall } from "./GenericCall";
import { Output } from "./Output";
import styles from "./TodoList.module.css";

const ICONS = {
  pending: Circle,
  in_progress: CircleDot,
  completed: CircleCheckBig,
  cancelled: CircleSlash,
  blocked: TriangleAlert,
} as const;
const LABELS: Readonly<Record<TodoStatus, string>> = {
  pending: "to do",
  in_progress: "in progress",
  completed: "done",
  cancelled: "cancelled",
  blocked: "blocked",
};

/** To-do items with their status. */
export function TodoList(props: BodyProps<"todos">) {
  const { call } = props;
  const { todos = [], explanation } = call.view;
  if (!todos.length) return <GenericCall {...props} />;
  return (
    <>
      {explanation && <p className={styles.explanation}>{visible(explanation)}</p>}
      <ul className={styles.list}>
        {todos.map(({ text, status = "pending" }, at) => {
          const Icon = ICONS[status];
          return (
            <li key={at} className={styles.item} data-status={status}>
              <Icon size={15} aria-hidden className={styles.icon} />
              <span className="visually-hidden">{LABELS[status]}: </span>
              <span className={styles.text}>{visible(text)}</span>
              {status !== "pending" && status !== "completed" && (
                <span className={styles.status}>{LABELS[status]}</span>
              )}
            </li>
          );
        })}
      </ul>
      {hasFailed(call) && <Output call={call} label="Error" />}
    </>
  );
}
