import { useMemo } from "react";
import { HighlightedCode } from "../markdown/Code";
import { CopyButton } from "../ui/CopyButton";
import { plural } from "../ui/format";
import { ShowAll } from "../ui/ShowAll";
import { visible } from "../ui/sanitize";
import { AddedText } from "./AddedText";
import type { BodyProps } from "./bodies";
import { hasFailed, textOf } from "./call";
import styles from "./FileRead.module.css";
import { LongText } from "./LongText";
import { languageOf } from "./language";
import { OtherOutput, Output } from "./Output";
import { FIRST_BYTES } from "./outputs";
import { Section } from "./Section";
import { splitReminders } from "./tags";

const MAX_HIGHLIGHTED = 1500; // lines

/** A file that was read, or some lines of it. */
export function FileRead({ call }: BodyProps<"read">) {
  const { path = "", firstLine = 1, remark } = call.view;
  const text = useMemo(() => textOf(call.part, call.view.text), [call]);
  if (hasFailed(call)) return <Output call={call} label="Error" />;
  return (
    <Section aside={text && <CopyButton text={text} label="Copy text" />}>
      {text && <Text text={text} first={firstLine} path={path} />}
      {!text && call.content.value !== undefined && (
        <Output call={{ ...call, content: { ...call.content, files: [], others: [], large: [] } }} />
      )}
      <OtherOutput call={call} numbered={text ? undefined : firstLine} />
      {remark && <Remark text={remark} />}
    </Section>
  );
}

/** What the agent appended to the text. */
function Remark({ text }: { text: string }) {
  const { text: note, reminders } = splitReminders(text);
  return (
    <>
      {note && <p className={styles.note}>{visible(note)}</p>}
      {reminders && <AddedText notice={{ kind: "notice", label: "System reminder", text: reminders }} />}
    </>
  );
}

function Text({ text, first, path }: { text: string; first: number; path: string }) {
  const shown = text.replace(/\r\n/g, "\n").replace(/\n$/, "");
  const count = useMemo(() => shown.split("\n").length, [shown]);
  const label = `Text of ${visible(path)}`;
  if (shown.length > FIRST_BYTES || count > MAX_HIGHLIGHTED)
    return <LongText text={shown} label={label} numbered={first} />;
  const numbers = Array.from({ length: count }, (_, at) => first + at).join("\n");
  return (
    <ShowAll className={styles.box} label={label} what={plural(count, "line")}>
      <pre className={styles.numbers} aria-hidden>
        {numbers}
      </pre>
      <pre className={styles.text}>
        <HighlightedCode text={shown} language={languageOf(path)} />
      </pre>
    </ShowAll>
  );
}
