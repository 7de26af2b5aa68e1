import { Circle, CircleCheckBig, CircleDot, CircleSlash, TriangleAlert } from "lucide-react";
import type { TodoStatus } from "../partita.gen";
import { visible } from "../ui/hostile";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { Output } from "./Output";
import styles from "./TodoList.module.css";
import { Unknown } from "./Unknown";

const SIGNS = {
  pending: Circle,
  in_progress: CircleDot,
  completed: CircleCheckBig,
  cancelled: CircleSlash,
  blocked: TriangleAlert,
} as const;
const SAID: Readonly<Record<TodoStatus, string>> = {
  pending: "to do",
  in_progress: "in progress",
  completed: "done",
  cancelled: "dropped",
  blocked: "blocked",
};

/** Things to do, each with how far it is. */
export function TodoList(props: BodyProps<"todos">) {
  const { call } = props;
  const { todos = [], explanation } = call.view;
  if (!todos.length) return <Unknown {...props} />;
  return (
    <>
      {explanation && <p className={styles.why}>{visible(explanation)}</p>}
      <ul className={styles.list}>
        {todos.map(({ text, status = "pending" }, at) => {
          const Sign = SIGNS[status];
          return (
            <li key={at} className={styles.item} data-status={status}>
              <Sign size={15} aria-hidden className={styles.sign} />
              <span className="visually-hidden">{SAID[status]}: </span>
              <span className={styles.text}>{visible(text)}</span>
              {status !== "pending" && status !== "completed" && (
                <span className={styles.said}>{SAID[status]}</span>
              )}
            </li>
          );
        })}
      </ul>
      {hasFailed(call) && <Output call={call} label="Error" />}
    </>
  );
}
