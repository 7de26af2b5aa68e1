/** The script of a shared file. It renders the conversations in the file without a server. */
import "../styles/tokens.css";
import "../styles/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { loadBodies } from "../tools/bodyLoader";
import { readIndex } from "./data";
import { Reader } from "./Reader";

const root = document.getElementById("root");
if (root)
  void loadBodies().then(() =>
    createRoot(root).render(
      <StrictMode>
        <Reader index={readIndex()} />
      </StrictMode>,
    ),
  );
