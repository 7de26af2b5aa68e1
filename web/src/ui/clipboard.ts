import { toast, toastError } from "./Toasts";

/** Copies a text to the clipboard and shows a toast. */
export async function copyWithToast(text: string, notice = "Copied"): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(notice);
  } catch (error) {
    toastError(error);
  }
}
