/** The composer, which an imported session does not have. */
import { lazyComponent } from "../ui/lazyModule";
import styles from "./lazyComposer.module.css";

export const LazyComposer = lazyComponent(
  () => import("./Composer").then((it) => it.Composer),
  <div className={styles.space} />,
);
