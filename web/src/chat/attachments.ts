/** Files that go with a message, as `data:` urls. */
import { useCallback, useState } from "react";
import { bytes } from "../ui/format";
import { toast } from "../ui/Toasts";
import type { Attachment } from "./live";

/** All files of a message together: written as base64 they still fit into a request. */
export const MOST_BYTES = 20_000_000;

export interface Attached extends Attachment {
  readonly key: number;
  readonly size: number;
}

let last = 0;

async function read(file: File): Promise<Attached> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  const mediaType = file.type || "application/octet-stream";
  return { key: ++last, url, mediaType, filename: file.name || "file", size: file.size };
}

/** Which of these files still fit, given what is attached already. */
export function fitting(files: readonly File[], attached: number): readonly [File[], File[]] {
  const taken: File[] = [];
  const refused: File[] = [];
  let sum = attached;
  for (const file of files) {
    const fits = sum + file.size <= MOST_BYTES;
    (fits ? taken : refused).push(file);
    if (fits) sum += file.size;
  }
  return [taken, refused];
}

export function useAttachments() {
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const add = useCallback(
    async (given: readonly File[]) => {
      const [taken, refused] = fitting(given, size);
      if (refused.length) {
        const names = refused.map((file) => file.name).join(", ");
        toast(`Too large: ${names}. All files together may have ${bytes(MOST_BYTES)}.`, { bad: true });
      }
      const loaded = await Promise.all(taken.map(read));
      setFiles((now) => [...now, ...loaded]);
    },
    [size],
  );
  const remove = useCallback((key: number) => setFiles((now) => now.filter((one) => one.key !== key)), []);
  return { files, add, remove, set: setFiles };
}
