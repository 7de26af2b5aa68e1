import { useMemo } from "react";
import { HighlightedCode } from "../markdown/Code";
import { CopyButton } from "../ui/CopyButton";
import { plural } from "../ui/format";
import { ShowAll } from "../ui/ShowAll";
import { visible } from "../ui/sanitize";
import type { BodyProps } from "./bodies";
import { textOf } from "./call";
import { LongText } from "./LongText";
import { CopyOutput, hasOutput, OtherOutput, Output } from "./Output";
import { Section } from "./Section";
import styles from "./Terminal.module.css";

/** A command with its output, errors and status. */
export function Terminal({ call, isBusy }: BodyProps<"command">) {
  const { part, view } = call;
  const { command = "", directory, exitCode, status } = view;
  const output = useMemo(() => textOf(part, view.output), [part, view]);
  const errors = useMemo(() => textOf(part, view.errors), [part, view]);
  const isPlain = !output && !errors && exitCode === undefined;
  return (
    <>
      <div className={styles.command}>
        <span className={styles.prompt} aria-hidden>
          $
        </span>
        <div className={styles.code}>
          <ShowAll label="Command" size="small" what={plural(command.split("\n").length, "line")}>
            <code>
              <HighlightedCode text={command} language="bash" />
            </code>
          </ShowAll>
        </div>
        {command && <CopyButton text={command} label="Copy command" />}
      </div>
      {directory && <p className={styles.folder}>in {visible(directory)}</p>}
      {hasOutput(call) && (
        <Section
          title={errors ? "Output (stdout)" : "Output"}
          aside={<CopyOutput call={call} text={output} />}
        >
          {isPlain ? (
            <Output call={call} colours />
          ) : (
            <>
              {output && <LongText text={output} label="Output" colours />}
              <OtherOutput call={call} colours />
            </>
          )}
          {!output && !isPlain && !errors && <p className={styles.folder}>No output.</p>}
        </Section>
      )}
      {errors && (
        <Section title="Errors (stderr)" aside={<CopyButton text={errors} label="Copy errors" />}>
          <LongText text={errors} label="Errors" colours tone="bad" />
        </Section>
      )}
      {status && <p className={styles.folder}>{visible(status)}</p>}
      {isBusy && call.part.state !== "input-streaming" && !hasOutput(call) && (
        <p className={styles.folder}>No output yet.</p>
      )}
    </>
  );
}
