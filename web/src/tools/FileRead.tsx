import { useMemo } from "react";
import { Coloured } from "../markdown/Code";
import { CopyButton } from "../ui/CopyButton";
import { visible } from "../ui/hostile";
import type { BodyProps } from "./bodies";
import { hasFailed, textOf } from "./call";
import styles from "./FileRead.module.css";
import { LongText } from "./LongText";
import { languageOf } from "./languages";
import { Output, Rest } from "./Output";
import { FIRST } from "./outputs";
import { Scrolling } from "./Scrolling";
import { Section } from "./Section";

const MOST_COLOURED = 1500; // lines

/** A file, or some lines of it, as it was read. */
export function FileRead({ call }: BodyProps<"read">) {
  const { path = "", firstLine = 1, remark, notes = [] } = call.view;
  const text = useMemo(() => textOf(call.part, call.view.text), [call]);
  if (hasFailed(call)) return <Output call={call} label="Error" />;
  const title = [visible(path), ...notes].filter(Boolean).join(", ");
  return (
    <Section
      title={<span className={styles.path}>{title}</span>}
      aside={text && <CopyButton text={text} label="Copy text" />}
    >
      {text && <Text text={text} first={firstLine} path={path} />}
      {!text && call.given.value !== undefined && (
        <Output call={{ ...call, given: { ...call.given, files: [], others: [], large: [] } }} />
      )}
      <Rest call={call} numbered={text ? undefined : firstLine} />
      {remark && <p className={styles.note}>{visible(remark)}</p>}
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
