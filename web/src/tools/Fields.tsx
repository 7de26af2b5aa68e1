import { capitalized } from "../ui/format";
import { visible } from "../ui/sanitize";
import styles from "./Fields.module.css";
import { LongText } from "./LongText";
import { Section } from "./Section";
import type { Field } from "./tags";

const isShort = ([, text]: Field): boolean => text.length <= 120 && !text.includes("\n");

/** The fields of an output: short ones in a list, long ones as texts. */
export function Fields({ fields }: { fields: readonly Field[] }) {
  const short = fields.filter(isShort);
  const long = fields.filter((field) => !isShort(field));
  return (
    <>
      {short.length > 0 && (
        <dl className={styles.fields}>
          {short.map(([name, text]) => (
            <Short key={name} name={nameOf(name)} text={text} />
          ))}
        </dl>
      )}
      {long.map(([name, text]) => (
        <Section key={name} title={nameOf(name)}>
          <LongText text={text} label={nameOf(name)} colours />
        </Section>
      ))}
    </>
  );
}

const Short = ({ name, text }: { name: string; text: string }) => (
  <>
    <dt className={styles.name}>{name}</dt>
    <dd className={styles.value}>{visible(text)}</dd>
  </>
);

/** `exit_code` → `Exit code` */
const nameOf = (name: string): string => capitalized(name.replace(/[_-]+/g, " "));
