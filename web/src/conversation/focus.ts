/** Where the focus goes in a conversation when the element that has it disappears. */

/** Focuses the next call that waits for a reply, after the one that has the focus. Returns whether there is one. */
export function focusPendingCall(): boolean {
  const forms = [...document.querySelectorAll<HTMLFormElement>("main form[data-reply]")];
  const current = forms.findIndex((one) => one.contains(document.activeElement));
  const others = [...forms.slice(current + 1), ...forms.slice(0, Math.max(0, current))];
  const field = others.map(firstField).find((one) => one !== null);
  field?.focus();
  field?.scrollIntoView({ block: "nearest" });
  return field !== undefined;
}

/** The button of a form, or the field that it needs. Null while the form is being sent. */
const firstField = (form: HTMLFormElement): HTMLElement | null =>
  form.querySelector<HTMLElement>("[type=submit]:not(:disabled)") ??
  form.querySelector<HTMLElement>("input:not(:disabled)");

/** Focuses an element of a message, at once or as soon as it has rendered; else the message. */
export function focusInMessage(messageId: string, selector: string, tries = 30): void {
  const row = document.querySelector<HTMLElement>(`[data-message="${CSS.escape(messageId)}"]`);
  const element = row?.querySelector<HTMLElement>(selector) ?? (tries > 0 ? null : row);
  if (element) element.focus({ preventScroll: true });
  else if (tries > 0) requestAnimationFrame(() => focusInMessage(messageId, selector, tries - 1));
}
