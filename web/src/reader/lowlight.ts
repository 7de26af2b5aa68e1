/** Highlighting of common languages only. The main entry of lowlight contains all of them. */
export { common, createLowlight } from "lowlight";
