import styles from "./ButtonGroup.module.css";

interface Props<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly { readonly value: T; readonly label: string }[];
  readonly onChange: (value: T) => void;
}

/** A group of buttons of which one is selected. */
export function ButtonGroup<T extends string>({ label, value, choices, onChange }: Props<T>) {
  return (
    <fieldset className={styles.choice}>
      <legend className="visually-hidden">{label}</legend>
      {choices.map((one) => (
        <button
          key={one.value}
          type="button"
          aria-pressed={one.value === value}
          onClick={() => onChange(one.value)}
        >
          {one.label}
        </button>
      ))}
    </fieldset>
  );
}
