import { Braces } from "lucide-react";
import type { ReactNode } from "react";
import type { CustomPart, DataPart, ForeignPart, UnknownPart } from "../partita.gen";
import { JsonTree } from "../tools/JsonTree";
import { visible } from "../ui/hostile";
import type { PartProps } from "./PartView";
import styles from "./Trees.module.css";

/** Data of the application, by its name. */
export const DataPartView = ({ part }: PartProps<DataPart>) => (
  <Well name={part.name} what="data" value={part.data} />
);

/** Content that one provider alone knows. */
export const CustomView = ({ part }: PartProps<CustomPart>) => (
  <Well name={part.kind} what="of its provider" value={part.providerMetadata} />
);

/** A part of another format, kept whole. */
export const ForeignView = ({ part }: PartProps<ForeignPart>) => (
  <Well name={part.format} what="part of another format" value={part.value} />
);

/** A part whose kind this release does not know. */
export function UnknownView({ part }: PartProps<UnknownPart>) {
  const { type, ...rest } = part;
  return <Well name={type} what="unknown kind of part" value={rest} />;
}

/** A name and a tree below it. */
export function Well({ name, what, value }: { name: string; what: ReactNode; value: unknown }) {
  return (
    <div className={styles.well}>
      <div className={styles.head}>
        <Braces size={13} aria-hidden />
        <span className={styles.name}>{visible(name)}</span>
        <span className={styles.what}>{what}</span>
      </div>
      {value !== undefined && <JsonTree value={value} open={1} />}
    </div>
  );
}
