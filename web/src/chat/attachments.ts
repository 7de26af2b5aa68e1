/** The files of the next message, as `data:` URLs. */
import { useCallback, useState } from "react";
import { bytes } from "../ui/format";
import { toast } from "../ui/Toasts";
import type { Attachment } from "./live";

/** The limit for all files of a message. Encoded as base64 they still fit into a request. */
export const MAX_BYTES = 20_000_000;

export interface AttachedFile extends Attachment {
  readonly key: number;
  readonly size: number;
}

let last = 0;

async function read(file: File): Promise<AttachedFile> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  const mediaType = file.type || "application/octet-stream";
  return { key: ++last, url, mediaType, filename: file.name || "file", size: file.size };
}

/** The files of a message that could not be sent, to attach them again. */
export const attachedAgain = (files: readonly Attachment[]): readonly AttachedFile[] =>
  files.map((file) => ({
    ...file,
    key: ++last,
    size: Math.floor((file.url.length - file.url.indexOf(",") - 1) * 0.75), // base64
  }));

/** Splits files into those that fit beside `attached` bytes and those that do not. */
export function splitBySize(files: readonly File[], attached: number): readonly [File[], File[]] {
  const accepted: File[] = [];
  const rejected: File[] = [];
  let sum = attached;
  for (const file of files) {
    const fits = sum + file.size <= MAX_BYTES;
    (fits ? accepted : rejected).push(file);
    if (fits) sum += file.size;
  }
  return [accepted, rejected];
}

export function useAttachments() {
  const [files, setFiles] = useState<readonly AttachedFile[]>([]);
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const add = useCallback(
    async (added: readonly File[]) => {
      const [accepted, rejected] = splitBySize(added, size);
      if (rejected.length) {
        const names = rejected.map((file) => file.name).join(", ");
        toast(`Too large: ${names}. The limit for all files is ${bytes(MAX_BYTES)}.`, { bad: true });
      }
      const loaded = await Promise.all(accepted.map(read));
      setFiles((now) => [...now, ...loaded]);
    },
    [size],
  );
  const remove = useCallback((key: number) => setFiles((now) => now.filter((one) => one.key !== key)), []);
  return { files, add, remove, set: setFiles };
}
