/** Records the frames that a WebSocket receives. */
import type { WebSocket } from 'ws';

export interface Frame {
  readonly type: string;
  readonly items?: readonly { readonly seq: number }[];
  readonly run?: {
    readonly run_id: string;
    readonly status: string;
    readonly stop_requested: boolean;
  };
  readonly script?: { readonly id: string; readonly name: string; readonly description: string };
  readonly run_id?: string;
  readonly progress?: { readonly fraction: number; readonly text: string };
  readonly span?: { readonly status: string };
  readonly position?: number;
  readonly resource?: string;
  readonly id?: string;
  readonly script_id?: string | null;
  readonly editors?: readonly { readonly user_id: string; readonly name: string }[];
}

export class FrameLog {
  readonly socket: WebSocket;
  readonly frames: Frame[] = [];
  /** The close code. */
  readonly closed: Promise<number>;
  readonly #listeners = new Set<() => void>();

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()) as Frame);
      for (const listener of this.#listeners) listener();
    });
    this.closed = new Promise((resolve, reject) => {
      socket.once('close', (code) => resolve(code));
      socket.once('error', reject);
    });
  }

  get lines(): readonly { readonly seq: number }[] {
    return this.frames.flatMap((frame) => frame.items ?? []);
  }

  get seqs(): readonly number[] {
    return this.lines.map((line) => line.seq);
  }

  /** Waits until the received frames satisfy a condition.
   *  @throws if the socket closes first */
  async until(isEnough: (all: this) => boolean): Promise<void> {
    const enough = new Promise<void>((resolve) => {
      const listener = (): void => {
        if (!isEnough(this)) return;
        this.#listeners.delete(listener);
        resolve();
      };
      this.#listeners.add(listener);
      listener();
    });
    const closed = this.closed.then((code) => {
      throw new Error(`the socket was closed with ${code}`);
    });
    await Promise.race([enough, closed]);
  }
}
