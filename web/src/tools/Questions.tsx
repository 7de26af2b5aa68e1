import { Circle, CircleCheckBig, CornerDownRight } from "lucide-react";
import type { Question } from "../partita.gen";
import { visible } from "../ui/sanitize";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { Output } from "./Output";
import styles from "./Questions.module.css";

/** Questions to the user, with the choices and the answers. */
export function Questions({ call }: BodyProps<"question">) {
  return (
    <>
      {(call.view.questions ?? []).map((question, at) => (
        <QuestionAndAnswer key={at} question={question} />
      ))}
      {hasFailed(call) && <Output call={call} label="Error" />}
    </>
  );
}

function QuestionAndAnswer({ question: { text, choices = [], answer = "" } }: { question: Question }) {
  const isChosen = (label: string) =>
    label !== "" && (answer === label || answer.split(", ").includes(label));
  const isChoice = choices.some(({ label }) => isChosen(label));
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
      {answer && !isChoice && (
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
