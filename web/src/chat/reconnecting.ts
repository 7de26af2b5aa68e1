/** Tries again after a connection broke: soon at first, then ever more patiently. */

const FIRST = 300;
const MOST = 5000;

export class Reconnecting {
  active = false;
  private wait = FIRST;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly attempt: () => void) {}

  /** The connection broke, or an attempt failed: the next one comes later. */
  broken(): void {
    this.cancel();
    this.active = true;
    this.timer = setTimeout(this.attempt, this.wait);
    this.wait = Math.min(this.wait * 2, MOST);
  }

  /** The server answers again. */
  mended(): void {
    this.cancel();
    this.wait = FIRST;
  }

  cancel(): void {
    clearTimeout(this.timer);
    this.active = false;
  }
}
