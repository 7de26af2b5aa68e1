import { Circle, CircleCheckBig, CornerDownRight } from "lucide-react";
import type { Question } from "../partita.gen";
import { visible } from "../ui/hostile";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { Output } from "./Output";
import styles from "./Questions.module.css";

/** What the user was asked, the choices, the answer. */
export function Questions({ call }: BodyProps<"question">) {
  return (
    <>
      {(call.view.questions ?? []).map((question, at) => (
        <Asked key={at} question={question} />
      ))}
      {hasFailed(call) && <Output call={call} label="Error" />}
    </>
  );
}

function Asked({ question: { text, choices = [], answer = "" } }: { question: Question }) {
  const isChosen = (label: string) =>
    label !== "" && (answer === label || answer.split(", ").includes(label));
  const isAmong = choices.some(({ label }) => isChosen(label));
  return (
    <div className={styles.asked}>
      <p className={styles.question}>{visible(text)}</p>
      {choices.length > 0 && (
        <ul className={styles.choices}>
          {choices.map(({ label, description }, at) => (
            <li key={at} className={styles.choice} data-chosen={isChosen(label)}>
              {isChosen(label) ? <CircleCheckBig size={14} aria-hidden /> : <Circle size={14} aria-hidden />}
              <span>
                {isChosen(label) && <span className="visually-hidden">chosen: </span>}
                {visible(label)}
                {description && <span className={styles.about}> {visible(description)}</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
      {answer && !isAmong && (
        <p className={styles.answer}>
          <CornerDownRight size={14} aria-hidden />
          <span>
            <span className="visually-hidden">Answer: </span>
            {visible(answer)}
          </span>
        </p>
      )}
    </div>
  );
}
