/** A document has no preview in a shared file; it can be saved and opened. */
export function PdfView() {
  return <p>This file shows no documents. Save it, and open it elsewhere.</p>;
}
