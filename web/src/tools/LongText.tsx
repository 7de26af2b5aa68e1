import { Download } from "lucide-react";
import { useMemo, useState } from "react";
import { type BlobPiece, useRenderContext } from "../context/renderContext";
import { Button } from "../ui/Button";
import { downloadFile } from "../ui/download";
import { bytes } from "../ui/format";
import { toastError } from "../ui/Toasts";
import { useBlobLines } from "./blobLines";
import { LineList } from "./LineList";
import styles from "./LongText.module.css";
import { linesOf } from "./lines";
import { FIRST_BYTES, NEXT_BYTES } from "./outputs";

interface Appearance {
  readonly label: string;
  /** Interpret ANSI escape sequences. */
  readonly colours?: boolean;
  readonly numbered?: number;
  readonly tone?: "bad";
}

/** A long text. More of it renders when the user clicks "Show more". */
export function LongText({ text, label, colours = false, numbered, tone }: Appearance & { text: string }) {
  const [limit, setLimit] = useState(FIRST_BYTES);
  const lines = useMemo(() => linesOf(text.slice(0, limit), colours), [text, limit, colours]);
  return (
    <div className={styles.long}>
      <LineList
        lines={lines}
        label={label}
        numbered={numbered}
        tone={tone}
        isComplete={text.length <= limit}
        onMore={() => setLimit(limit + NEXT_BYTES)}
      />
      {text.length > limit && (
        <p className={styles.more}>
          <span>
            {bytes(limit)} of {bytes(text.length)}
          </span>
          <Button small onClick={() => setLimit(limit + NEXT_BYTES)}>
            Show more
          </Button>
        </p>
      )}
    </div>
  );
}

/** A text in a blob. More of it is loaded when the user clicks "Show more". */
export function BlobText({
  url,
  first,
  label,
  colours = false,
  numbered,
  tone,
}: Appearance & { url: string; first: BlobPiece }) {
  const { loadBlob } = useRenderContext();
  const { lines, loaded, size, isLoading, more } = useBlobLines(url, first, colours);
  const isWhole = loaded >= size;
  return (
    <div className={styles.long}>
      <LineList
        lines={lines}
        label={label}
        numbered={numbered}
        tone={tone}
        isComplete={isWhole}
        onMore={() => void more().catch(toastError)}
      />
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

/** Loads the blob only now: with an API key, even the URL of a link would require loading it. */
async function download(loading: Promise<BlobPiece>): Promise<void> {
  const { data, mediaType } = await loading;
  const name = mediaType.includes("json") ? "output.json" : "output.txt";
  downloadFile(name, new Blob([data], { type: mediaType }));
}
