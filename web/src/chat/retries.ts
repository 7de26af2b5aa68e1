/** Retries a lost connection, with growing pauses. */

const FIRST = 300;
const MOST = 5000;

export class Reconnecting {
  active = false;
  private wait = FIRST;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly attempt: () => void) {}

  /** The connection was lost or an attempt failed: schedule the next one. */
  failed(): void {
    this.cancel();
    this.active = true;
    this.timer = setTimeout(this.attempt, this.wait);
    this.wait = Math.min(this.wait * 2, MOST);
  }

  /** The server has responded. */
  succeeded(): void {
    this.cancel();
    this.wait = FIRST;
  }

  cancel(): void {
    clearTimeout(this.timer);
    this.active = false;
  }
}
