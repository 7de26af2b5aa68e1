/** The script of a shared file. It renders the conversation in the file without a server. */
import "../styles/tokens.css";
import "../styles/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { parseShared } from "./data";
import { Reader } from "./Reader";

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <Reader shared={parseShared(document.getElementById("partita")?.textContent ?? "")} />
    </StrictMode>,
  );
