import { useMemo } from "react";
import { Coloured } from "../markdown/Code";
import { CopyButton } from "../ui/CopyButton";
import { visible } from "../ui/hostile";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import styles from "./FileRead.module.css";
import { LongText } from "./LongText";
import { Output, Rest } from "./Output";
import { FIRST } from "./outputs";
import { filesOf, fileText, languageOf, rangeOf } from "./reading";
import { Scrolling } from "./Scrolling";
import { Section } from "./Section";

const MOST_COLOURED = 1500; // lines

/** A file, or some lines of it, as it was read. */
export function FileRead({ call }: BodyProps) {
  const file = useMemo(() => fileText(call), [call]);
  const path = filesOf(call);
  if (hasFailed(call)) return <Output call={call} label="Error" />;
  const title = [visible(path), rangeOf(call)].filter(Boolean).join(", ");
  return (
    <Section
      title={<span className={styles.path}>{title}</span>}
      aside={file.text && <CopyButton text={file.text} label="Copy text" />}
    >
      {file.text && <Text text={file.text} first={file.first} path={path} />}
      {!file.text && call.given.value !== undefined && (
        <Output call={{ ...call, given: { ...call.given, files: [], others: [], large: [] } }} />
      )}
      <Rest call={call} numbered={file.text ? undefined : file.first} />
      {file.note && <p className={styles.note}>{visible(file.note)}</p>}
    </Section>
  );
}

function Text({ text, first, path }: { text: string; first: number; path: string }) {
  const shown = text.replace(/\r\n/g, "\n").replace(/\n$/, "");
  const count = useMemo(() => shown.split("\n").length, [shown]);
  const label = `Text of ${visible(path)}`;
  if (shown.length > FIRST || count > MOST_COLOURED)
    return <LongText text={shown} label={label} numbered={first} />;
  const numbers = Array.from({ length: count }, (_, at) => first + at).join("\n");
  return (
    <Scrolling className={styles.box} label={label}>
      <pre className={styles.numbers} aria-hidden>
        {numbers}
      </pre>
      <pre className={styles.text}>
        <Coloured text={shown} language={languageOf(path)} />
      </pre>
    </Scrolling>
  );
}
