/** Own prices of models, as the setting has them: `MODEL INPUT OUTPUT [CACHED]`. */
import type { Rates } from "../api/settings";

const modelOf = (item: string): string => (item.trim().split(/\s+/)[0] ?? "").toLowerCase();

/** The items with the price of a model: at the place of its former one, or at the end; null removes it. */
export function withPrice(items: readonly string[], model: string, rates: Rates | null): readonly string[] {
  const name = model.toLowerCase();
  const others = items.filter((item) => modelOf(item) !== name);
  if (!rates) return others;
  const { input, output, cachedInput } = rates;
  const item = [name, input, output, ...(cachedInput === input ? [] : [cachedInput])].join(" ");
  return items.some((one) => modelOf(one) === name)
    ? items.map((one) => (modelOf(one) === name ? item : one))
    : [...items, item];
}

/** What is wrong with a price that the user wrote; null if nothing is. */
export function problemOf(text: string): string | null {
  const value = Number(text.trim().replace(",", "."));
  if (!text.trim() || Number.isNaN(value)) return "Write a number, such as 0.5.";
  return value < 0 ? "Write 0 or more." : null;
}

export const numberOf = (text: string): number => Number(text.trim().replace(",", "."));
