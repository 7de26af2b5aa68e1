import { ChevronLeft, ChevronRight } from "lucide-react";
import type { PDFDocumentProxy } from "pdfjs-dist";
import { useEffect, useRef, useState } from "react";
import { type RenderContext, useRenderContext } from "../context/renderContext";
import { IconButton } from "../ui/Button";
import { Failure, Loading } from "../ui/States";
import styles from "./FileView.module.css";
import { bytesOfData } from "./fileUrls";

/** Pixels. The PDF may claim a page of any size. */
const MAX_SIDE = 2000;

/** A PDF, one page at a time. Its scripts are not run and external resources are not loaded. */
export function PdfView({ url, name }: { url: string; name: string }) {
  const { loadBlob } = useRenderContext();
  const [file, setFile] = useState<PDFDocumentProxy | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [page, setPage] = useState(1);
  useEffect(() => {
    let isMounted = true;
    const opened = open(url, loadBlob);
    opened.then(
      (it) => isMounted && setFile(it.file),
      (error: unknown) => isMounted && setFailure(error),
    );
    return () => {
      isMounted = false;
      void opened.then((it) => it.close()).catch(() => undefined);
    };
  }, [url, loadBlob]);
  if (failure) return <Failure error={failure} />;
  if (!file) return <Loading what="Opening the PDF" />;
  return (
    <div className={styles.pdf}>
      <div className={styles.pager}>
        <IconButton label="Previous page" disabled={page <= 1} onClick={() => setPage(page - 1)}>
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

interface OpenPdf {
  readonly file: PDFDocumentProxy;
  readonly close: () => Promise<void>;
}

/** Opens a PDF in its own worker. */
async function open(url: string, loadBlob: RenderContext["loadBlob"]): Promise<OpenPdf> {
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
    return { file: await Promise.race([task.promise, workerFailure(port)]), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Never resolves, rejects if the worker fails to start: pdf.js would wait for it forever. */
const workerFailure = (worker: Worker): Promise<never> =>
  new Promise((_, reject) => {
    worker.addEventListener("error", () => reject(new Error("The PDF viewer failed to start.")));
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
    let isMounted = true;
    const draw = async () => {
      const page = await file.getPage(number);
      const element = canvas.current;
      if (!isMounted || !element) return;
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
      if (isMounted) onFailure(error);
    });
    return () => {
      isMounted = false;
      stop();
    };
  }, [file, number, onFailure]);
  return <canvas ref={canvas} role="img" aria-label={`${name}, page ${number}`} />;
}
