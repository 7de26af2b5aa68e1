/** The shared file: a conversation that is drawn from what stands in it, with no server. */
import "../styles/tokens.css";
import "../styles/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { readShared } from "./data";
import { Reader } from "./Reader";

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <Reader shared={readShared(document.getElementById("partita")?.textContent ?? "")} />
    </StrictMode>,
  );
