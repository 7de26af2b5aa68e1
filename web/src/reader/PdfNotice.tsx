/** Replaces the preview of a PDF in a shared file. */
export function PdfView() {
  return <p>PDF previews are not available in a shared file. Download the document to open it.</p>;
}
