import { Braces } from "lucide-react";
import type { ReactNode } from "react";
import type { CustomPart, DataPart, ForeignPart, UnknownPart } from "../partita.gen";
import { visible } from "../ui/sanitize";
import styles from "./DataViews.module.css";
import type { PartProps } from "./PartView";
import { Tree } from "./Tree";

/** Data of the application. */
export const DataPartView = ({ part }: PartProps<DataPart>) => (
  <NamedTree name={part.name} what="data" value={part.data} />
);

/** Content of a specific provider. */
export const CustomView = ({ part }: PartProps<CustomPart>) => (
  <NamedTree name={part.kind} what="provider content" value={part.providerMetadata} />
);

/** A part of another format, kept unchanged. */
export const ForeignView = ({ part }: PartProps<ForeignPart>) => (
  <NamedTree name={part.format} what="part of another format" value={part.value} />
);

/** A part of a type that this release does not know. */
export function UnknownView({ part }: PartProps<UnknownPart>) {
  const { type, ...rest } = part;
  return <NamedTree name={type} what="unknown part type" value={rest} />;
}

/** A name with a JSON tree. */
function NamedTree({ name, what, value }: { name: string; what: ReactNode; value: unknown }) {
  return (
    <div className={styles.tree}>
      <div className={styles.head}>
        <Braces size={13} aria-hidden />
        <span className={styles.name}>{visible(name)}</span>
        <span className={styles.what}>{what}</span>
      </div>
      {value !== undefined && <Tree value={value} />}
    </div>
  );
}
