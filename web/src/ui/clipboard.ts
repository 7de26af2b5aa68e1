import { toast, toastError } from "./Toasts";

/** Copies a text to the clipboard. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) await navigator.clipboard.writeText(text);
  else copySelection(text);
}

/** Copies a text and shows a toast. */
export async function copyWithToast(text: string, notice = "Copied"): Promise<void> {
  try {
    await copyText(text);
    toast(notice);
  } catch (error) {
    toastError(error);
  }
}

/** Copies by the command of the browser: a page that another host serves without TLS has no other way. */
function copySelection(text: string): void {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.setAttribute("aria-hidden", "true");
  field.style.position = "fixed";
  field.style.insetBlockStart = "-100vh";
  // In a modal dialog only its own elements can have the focus.
  (document.querySelector("dialog:modal") ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  if (!isCopied) throw new Error("The browser did not allow copying.");
}
