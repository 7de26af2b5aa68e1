import { Circle, CircleCheckBig, CircleDot, CircleSlash, TriangleAlert } from "lucide-react";
import { visible } from "../ui/hostile";
import type { BodyProps } from "./bodies";
import { hasFailed, word } from "./call";
import { Output } from "./Output";
import { type Progress, todosOf } from "./plans";
import styles from "./TodoList.module.css";
import { Unknown } from "./Unknown";

const SIGNS = {
  open: Circle,
  active: CircleDot,
  done: CircleCheckBig,
  dropped: CircleSlash,
  blocked: TriangleAlert,
} as const;
const SAID: Readonly<Record<Progress, string>> = {
  open: "to do",
  active: "in progress",
  done: "done",
  dropped: "dropped",
  blocked: "blocked",
};

/** Things to do, each with how far it is. */
export function TodoList(props: BodyProps) {
  const { call } = props;
  const todos = todosOf(call);
  const why = word(call, "explanation");
  if (!todos.length) return <Unknown {...props} />;
  return (
    <>
      {why && <p className={styles.why}>{visible(why)}</p>}
      <ul className={styles.list}>
        {todos.map(({ text, progress }, at) => {
          const Sign = SIGNS[progress];
          return (
            <li key={at} className={styles.item} data-progress={progress}>
              <Sign size={15} aria-hidden className={styles.sign} />
              <span className="visually-hidden">{SAID[progress]}: </span>
              <span className={styles.text}>{visible(text)}</span>
              {progress !== "open" && progress !== "done" && (
                <span className={styles.said}>{SAID[progress]}</span>
              )}
            </li>
          );
        })}
      </ul>
      {hasFailed(call) && <Output call={call} label="Error" />}
    </>
  );
}
