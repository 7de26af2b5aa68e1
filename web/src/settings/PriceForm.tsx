import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import type { ModelPrice, Rates } from "../api/settings";
import { Button } from "../ui/Button";
import { textOf } from "./AddFolder";
import styles from "./Prices.module.css";
import { numberOf, problemOf } from "./prices";

interface Props {
  readonly price: ModelPrice;
  /** Saves the price; null removes the own one. */
  readonly onSave: (rates: Rates | null) => Promise<unknown>;
  readonly onClose: () => void;
}

const FIELDS = [
  { name: "input", label: "Input" },
  { name: "output", label: "Output" },
  { name: "cachedInput", label: "Cached input" },
] as const;

/** The fields for the own price of a model, in US dollars per million tokens. */
export function PriceForm({ price, onSave, onClose }: Props) {
  const id = useId();
  const first = useRef<HTMLInputElement>(null);
  const [texts, setTexts] = useState(() => {
    const { input = "", output = "", cachedInput = "" } = price.rates ?? {};
    return { input: String(input), output: String(output), cachedInput: String(cachedInput) };
  });
  const [isChecked, setChecked] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => first.current?.focus(), []);
  /** Without its own price, cached input costs as much as other input. */
  const full = { ...texts, cachedInput: texts.cachedInput.trim() || texts.input };
  const save = async (rates: Rates | null) => {
    try {
      await onSave(rates);
      onClose();
    } catch (problem) {
      setError(problem);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (FIELDS.some(({ name }) => problemOf(full[name]))) return;
    void save({
      input: numberOf(full.input),
      output: numberOf(full.output),
      cachedInput: numberOf(full.cachedInput),
    });
  };
  return (
    <form className={styles.form} aria-label={`Price of ${price.model}`} onSubmit={submit} noValidate>
      {FIELDS.map(({ name, label }, at) => {
        const problem = isChecked ? problemOf(full[name]) : null;
        return (
          <div key={name} className={styles.field}>
            <label htmlFor={`${id}-${name}`}>{label}</label>
            <input
              ref={at === 0 ? first : undefined}
              id={`${id}-${name}`}
              inputMode="decimal"
              autoComplete="off"
              placeholder={name === "cachedInput" ? texts.input : undefined}
              value={texts[name]}
              aria-invalid={problem !== null}
              aria-describedby={problem ? `${id}-${name}-error` : undefined}
              onChange={(event) => setTexts({ ...texts, [name]: event.target.value })}
            />
            {problem && (
              <p role="alert" id={`${id}-${name}-error`} className={styles.error}>
                {problem}
              </p>
            )}
          </div>
        );
      })}
      <div className={styles.buttons}>
        <Button type="submit" kind="primary">
          Save
        </Button>
        {price.source === "settings" && (
          <Button onClick={() => void save(null)}>{price.listed ? "Use list price" : "Remove"}</Button>
        )}
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
      {error !== null && (
        <p role="alert" className={styles.error}>
          {textOf(error)}
        </p>
      )}
    </form>
  );
}
