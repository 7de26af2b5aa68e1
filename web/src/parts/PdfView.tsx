import { ChevronLeft, ChevronRight } from "lucide-react";
import type { PDFDocumentProxy } from "pdfjs-dist";
import { useEffect, useRef, useState } from "react";
import { IconButton } from "../ui/Button";
import { Failure, Loading } from "../ui/States";
import { useViewing, type Viewing } from "../viewing/viewing";
import { bytesOfData } from "./addresses";
import styles from "./FileView.module.css";

/** Pixels along a side; a page may claim to be as big as it likes. */
const MAX_SIDE = 2000;

/** A PDF, a page at a time. Its scripts are not run, and nothing it names is fetched. */
export function PdfView({ url, name }: { url: string; name: string }) {
  const { loadBlob } = useViewing();
  const [file, setFile] = useState<PDFDocumentProxy | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [page, setPage] = useState(1);
  useEffect(() => {
    let isHere = true;
    const opened = open(url, loadBlob);
    opened.then(
      (it) => isHere && setFile(it.file),
      (error: unknown) => isHere && setFailure(error),
    );
    return () => {
      isHere = false;
      void opened.then((it) => it.close()).catch(() => undefined);
    };
  }, [url, loadBlob]);
  if (failure) return <Failure error={failure} />;
  if (!file) return <Loading what="Opening the PDF" />;
  return (
    <div className={styles.pdf}>
      <div className={styles.pager}>
        <IconButton label="Page before" disabled={page <= 1} onClick={() => setPage(page - 1)}>
          <ChevronLeft size={16} />
        </IconButton>
        <span role="status">
          Page {page} of {file.numPages}
        </span>
        <IconButton label="Next page" disabled={page >= file.numPages} onClick={() => setPage(page + 1)}>
          <ChevronRight size={16} />
        </IconButton>
      </div>
      <Page file={file} number={page} name={name} onFailure={setFailure} />
    </div>
  );
}

interface Opened {
  readonly file: PDFDocumentProxy;
  readonly close: () => Promise<void>;
}

/** A PDF, read by a worker of its own. */
async function open(url: string, loadBlob: Viewing["loadBlob"]): Promise<Opened> {
  const [library, { startWorker }] = await Promise.all([import("pdfjs-dist"), import("./pdfWorker")]);
  const data = url.startsWith("data:") ? bytesOfData(url) : (await loadBlob(url)).data;
  const port = startWorker();
  const worker = library.PDFWorker.create({ port });
  const task = library.getDocument({
    data,
    worker,
    isEvalSupported: false,
    enableXfa: false,
    disableAutoFetch: true,
    useWasm: false,
    useWorkerFetch: false,
    isOffscreenCanvasSupported: false,
  });
  const close = async () => {
    await task.destroy();
    worker.destroy();
    port.terminate();
  };
  try {
    return { file: await Promise.race([task.promise, failed(port)]), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Never resolves: a worker that cannot be started would be waited for without end. */
const failed = (worker: Worker): Promise<never> =>
  new Promise((_, reject) => {
    worker.addEventListener("error", () => reject(new Error("The reader of PDFs cannot be started.")));
  });

interface PageProps {
  readonly file: PDFDocumentProxy;
  readonly number: number;
  readonly name: string;
  readonly onFailure: (error: unknown) => void;
}

function Page({ file, number, name, onFailure }: PageProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let stop = () => {};
    let isHere = true;
    const draw = async () => {
      const page = await file.getPage(number);
      const element = canvas.current;
      if (!isHere || !element) return;
      const { width, height } = page.getViewport({ scale: 1 });
      const scale = Math.min(2, MAX_SIDE / Math.max(width, height, 1));
      const viewport = page.getViewport({ scale });
      element.width = Math.max(1, Math.floor(viewport.width));
      element.height = Math.max(1, Math.floor(viewport.height));
      const task = page.render({ canvas: element, viewport });
      stop = () => task.cancel();
      await task.promise;
    };
    draw().catch((error: unknown) => {
      if (isHere) onFailure(error);
    });
    return () => {
      isHere = false;
      stop();
    };
  }, [file, number, onFailure]);
  return <canvas ref={canvas} role="img" aria-label={`${name}, page ${number}`} />;
}
