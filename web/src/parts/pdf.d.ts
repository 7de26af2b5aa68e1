/** The reader's other half; it is only handed over. */
declare module "pdfjs-dist/build/pdf.worker.min.mjs";
