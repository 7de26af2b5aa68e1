import { Circle, CircleCheckBig, CornerDownRight } from "lucide-react";
import { visible } from "../ui/hostile";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { Output } from "./Output";
import { type Question, questionsOf } from "./plans";
import styles from "./Questions.module.css";

/** What the user was asked, the choices, the answer. */
export function Questions({ call }: BodyProps) {
  return (
    <>
      {questionsOf(call).map((question, at) => (
        <Asked key={at} question={question} />
      ))}
      {hasFailed(call) && <Output call={call} label="Error" />}
    </>
  );
}

function Asked({ question: { text, choices, answer } }: { question: Question }) {
  const isChosen = (label: string) =>
    label !== "" && (answer === label || answer.split(", ").includes(label));
  const isAmong = choices.some(({ label }) => isChosen(label));
  return (
    <div className={styles.asked}>
      <p className={styles.question}>{visible(text)}</p>
      {choices.length > 0 && (
        <ul className={styles.choices}>
          {choices.map(({ label, about }, at) => (
            <li key={at} className={styles.choice} data-chosen={isChosen(label)}>
              {isChosen(label) ? <CircleCheckBig size={14} aria-hidden /> : <Circle size={14} aria-hidden />}
              <span>
                {isChosen(label) && <span className="visually-hidden">chosen: </span>}
                {visible(label)}
                {about && <span className={styles.about}> {visible(about)}</span>}
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
            {visible(answer.slice(0, 4000))}
          </span>
        </p>
      )}
    </div>
  );
}
