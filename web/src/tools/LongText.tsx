import { Download } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../ui/Button";
import { bytes } from "../ui/format";
import { toastError } from "../ui/Toasts";
import { type BlobPiece, useViewing } from "../viewing/viewing";
import { useBlobLines } from "./blobLines";
import { LineList } from "./LineList";
import styles from "./LongText.module.css";
import { drawnLines } from "./lines";
import { FIRST, NEXT } from "./outputs";

interface Look {
  readonly label: string;
  /** Orders of a terminal are followed. */
  readonly colours?: boolean;
  readonly numbered?: number;
  readonly tone?: "bad";
}

/** A text that is there: its beginning, and more when it is asked for. */
export function LongText({ text, label, colours = false, numbered, tone }: Look & { text: string }) {
  const [limit, setLimit] = useState(FIRST);
  const lines = useMemo(() => drawnLines(text.slice(0, limit), colours), [text, limit, colours]);
  return (
    <div className={styles.long}>
      <LineList lines={lines} label={label} numbered={numbered} tone={tone} />
      {text.length > limit && (
        <p className={styles.more}>
          <span>
            {bytes(limit)} of {bytes(text.length)}
          </span>
          <Button small onClick={() => setLimit(limit + NEXT)}>
            Show more
          </Button>
        </p>
      )}
    </div>
  );
}

/** A text that is kept apart, of which the beginning has been fetched. */
export function BlobText({
  url,
  first,
  label,
  colours = false,
  numbered,
  tone,
}: Look & { url: string; first: BlobPiece }) {
  const { loadBlob } = useViewing();
  const { lines, loaded, size, isLoading, more } = useBlobLines(url, first, colours);
  const isWhole = loaded >= size;
  return (
    <div className={styles.long}>
      <LineList lines={lines} label={label} numbered={numbered} tone={tone} />
      <p className={styles.more}>
        <span>{isWhole ? bytes(size) : `${bytes(loaded)} of ${bytes(size)}`}</span>
        {!isWhole && (
          <Button small disabled={isLoading} onClick={() => void more().catch(toastError)}>
            Show more
          </Button>
        )}
        <Button
          small
          kind="quiet"
          icon={<Download size={13} aria-hidden />}
          onClick={() => void download(loadBlob(url)).catch(toastError)}
        >
          Download
        </Button>
      </p>
    </div>
  );
}

/** Hands a blob to the browser to keep. It is fetched only now: an address in a link might be fetched to be made. */
async function download(loading: Promise<BlobPiece>): Promise<void> {
  const { data, mediaType } = await loading;
  const address = URL.createObjectURL(new Blob([data], { type: mediaType }));
  const link = document.createElement("a");
  link.href = address;
  link.download = mediaType.includes("json") ? "output.json" : "output.txt";
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
