/** Loads the bodies of tool calls: when the first call is open, or the user is about to open one. */
import { lazyModule } from "../ui/lazyModule";

export const { preload: loadBodies, use: useBodies } = lazyModule(() => import("./bodies"));

const prepare = () => void loadBodies();

/** Attributes of an element in which a call can be opened: then it opens without a delay. */
export const PREPARE_BODIES = { onPointerEnter: prepare, onPointerDown: prepare, onFocus: prepare };
