/** Retries a lost connection with exponential backoff. */

const FIRST_DELAY = 300;
const MAX_DELAY = 5000;

export class Reconnector {
  active = false;
  private delay = FIRST_DELAY;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly attempt: () => void) {}

  /** The connection was lost or an attempt failed: schedule the next one. */
  failed(): void {
    this.cancel();
    this.active = true;
    this.timer = setTimeout(this.attempt, this.delay);
    this.delay = Math.min(this.delay * 2, MAX_DELAY);
  }

  /** The server has responded. */
  succeeded(): void {
    this.cancel();
    this.delay = FIRST_DELAY;
  }

  cancel(): void {
    clearTimeout(this.timer);
    this.active = false;
  }
}
