/** A live thread whose code, with the reducer of chunks, is loaded when it is first used. */
import type { Live, LiveOptions, LiveState } from "./live";
import type { LiveThread } from "./liveThread";

const load = () => import("./liveThread");

/** Loads the code before a message is sent. */
export const prepareLive = (): void => void load().catch(() => undefined);

type Actions = Pick<Live, "send" | "edit" | "regenerate" | "stop" | "respondToApproval" | "addToolOutput">;

export class LazyLiveThread implements Actions {
  private loading: Promise<LiveThread> | undefined;
  private isOpen = true;

  constructor(
    private readonly threadId: string,
    private readonly options: { readonly current: LiveOptions },
    private readonly onState: (state: LiveState) => void,
  ) {}

  private thread(): Promise<LiveThread> {
    this.loading ??= load().then(
      ({ LiveThread }) => {
        const thread = new LiveThread(this.threadId, this.options, this.onState);
        if (!this.isOpen) thread.close();
        return thread;
      },
      (error: unknown) => {
        this.loading = undefined; // loaded again by the next action
        throw error;
      },
    );
    return this.loading;
  }

  open(): void {
    this.isOpen = true;
    this.whenLoaded((thread) => thread.open());
  }

  close(): void {
    this.isOpen = false;
    this.whenLoaded((thread) => thread.close());
  }

  private whenLoaded(act: (thread: LiveThread) => void): void {
    this.loading?.then(act, () => undefined); // the action reports the error
  }

  followRun = async (runId: string) => (await this.thread()).followRun(runId);
  send = async (...args: Parameters<Live["send"]>) => (await this.thread()).send(...args);
  edit = async (...args: Parameters<Live["edit"]>) => (await this.thread()).edit(...args);
  regenerate = async (messageId: string) => (await this.thread()).regenerate(messageId);
  stop = async () => (await this.thread()).stop();
  respondToApproval = async (...args: Parameters<Live["respondToApproval"]>) =>
    (await this.thread()).respondToApproval(...args);
  addToolOutput = async (...args: Parameters<Live["addToolOutput"]>) =>
    (await this.thread()).addToolOutput(...args);
}
