import { useRef, useState } from "react";
import type { ModelPrice } from "../api/settings";
import { Button } from "../ui/Button";
import { count, money, plural } from "../ui/format";
import { Empty, Failure, Loading } from "../ui/States";
import { visible } from "../ui/sanitize";
import { FileNote } from "./FileNote";
import { PriceForm } from "./PriceForm";
import styles from "./Prices.module.css";
import { withPrice } from "./prices";
import { useChangeSettings, usePrices, useServerSetting, useServerSettings } from "./queries";

const SOURCES = { settings: "own price", list: "list price" } as const;

/** The prices of the models in the store, which the user can replace. */
export function Prices() {
  const prices = usePrices();
  const settings = useServerSettings();
  const failed = prices.error ?? settings.error;
  if (failed) return <Failure error={failed} retry={() => void prices.refetch()} />;
  if (!prices.data || !settings.data) return <Loading />;
  const { items } = prices.data;
  const setting = settings.data.settings.find((one) => one.key === "prices");
  return (
    <div className={styles.prices}>
      <p className={styles.note}>
        US dollars per million tokens. A changed price applies to responses that are recorded from now on;
        stored costs do not change.
      </p>
      {setting?.isReadOnly && <p className={styles.note}>Set by {setting.sourceName}; change it there.</p>}
      {items.length ? (
        <ul className={styles.list}>
          {items.map((price) => (
            <Model key={price.model} price={price} isReadOnly={setting?.isReadOnly ?? true} />
          ))}
        </ul>
      ) : (
        <Empty title="No models yet">
          <p>They appear when the store has responses of models.</p>
        </Empty>
      )}
      <FileNote file={settings.data.file} />
    </div>
  );
}

function Model({ price, isReadOnly }: { price: ModelPrice; isReadOnly: boolean }) {
  const { model, source, rates } = price;
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLDivElement>(null);
  const change = useChangeSettings();
  const items = useServerSetting("prices")?.value ?? [];
  const close = () => {
    setOpen(false);
    requestAnimationFrame(() => button.current?.querySelector("button")?.focus());
  };
  return (
    <li className={styles.model} data-model={model}>
      <div className={styles.text}>
        <bdi className={styles.name}>{visible(model)}</bdi>
        <p className={styles.note}>{factsOf(price)}</p>
      </div>
      {rates ? (
        <dl className={styles.rates}>
          <Rate label="Input" value={rates.input} />
          <Rate label="Output" value={rates.output} />
          <Rate label="Cached" value={rates.cachedInput} />
        </dl>
      ) : (
        <p className={styles.unknown}>Price unknown</p>
      )}
      <span className={styles.source}>{source && SOURCES[source]}</span>
      <div ref={button}>
        {!isReadOnly && (
          <Button
            small
            aria-expanded={isOpen}
            aria-label={`${rates ? "Change" : "Set price"}: ${model}`}
            onClick={() => setOpen(!isOpen)}
          >
            {rates ? "Change" : "Set price"}
          </Button>
        )}
      </div>
      {isOpen && (
        <PriceForm
          price={price}
          onClose={close}
          onSave={(next) => {
            const changed = withPrice(items, model, next);
            return change.mutateAsync({ prices: changed.length ? changed : null });
          }}
        />
      )}
    </li>
  );
}

function Rate({ label, value }: { label: string; value: number }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>${value}</dd>
    </div>
  );
}

/** What the responses of a model cost: `120 responses, $3.20, 4 without a price`. */
function factsOf({ responses, cost, unpriced }: ModelPrice): string {
  const facts = [
    plural(responses, "response"),
    cost === null ? null : money(cost),
    unpriced ? `${count(unpriced)} without a price` : null,
  ];
  return facts.filter(Boolean).join(", ");
}
