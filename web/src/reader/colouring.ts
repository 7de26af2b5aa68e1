/** The colouring of code with the usual languages alone: asked for as a whole, it would bring all there are. */
export { common, createLowlight } from "lowlight";
