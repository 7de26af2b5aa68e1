import { Coloured } from "../markdown/Code";
import { CopyButton } from "../ui/CopyButton";
import { visible } from "../ui/hostile";
import type { BodyProps } from "./bodies";
import { LongText } from "./LongText";
import { CopyOutput, hasOutput, Output, Rest } from "./Output";
import { Section } from "./Section";
import { commandOf, folderOf, ranOf } from "./shell";
import styles from "./Terminal.module.css";

/** A command, what it printed, how it ended. */
export function Terminal({ call, isBusy }: BodyProps) {
  const command = commandOf(call);
  const folder = folderOf(call);
  const ran = ranOf(call);
  const isPlain = !ran.output && !ran.errors && ran.code === undefined;
  return (
    <>
      <div className={styles.command}>
        <span className={styles.prompt} aria-hidden>
          $
        </span>
        <code className={styles.words}>
          <Coloured text={command} language="bash" />
        </code>
        {command && <CopyButton text={command} label="Copy command" />}
      </div>
      {folder && <p className={styles.folder}>in {visible(folder)}</p>}
      {hasOutput(call) && (
        <Section
          title={ran.errors ? "Printed" : "Output"}
          aside={<CopyOutput call={call} text={ran.output} />}
        >
          {isPlain ? (
            <Output call={call} colours />
          ) : (
            <>
              {ran.output && <LongText text={ran.output} label="Output" colours />}
              <Rest call={call} colours />
            </>
          )}
          {!ran.output && !isPlain && !ran.errors && <p className={styles.folder}>It printed nothing.</p>}
        </Section>
      )}
      {ran.errors && (
        <Section title="Errors (stderr)" aside={<CopyButton text={ran.errors} label="Copy errors" />}>
          <LongText text={ran.errors} label="Errors" colours tone="bad" />
        </Section>
      )}
      {ran.note && <p className={styles.folder}>{visible(ran.note)}</p>}
      {isBusy && call.part.state !== "input-streaming" && !hasOutput(call) && (
        <p className={styles.folder}>No output yet.</p>
      )}
    </>
  );
}
