import type { LogLine, Run, RunProgress, RunSample, RunSpan, RunStatus } from '#lib/api/types.ts';
import { LiveSocket, type LinkState, type LivePorts, type Socket } from '#lib/live/live-socket.ts';
import { parseFrame, type RunFrame } from './frames.ts';

export interface RunSocketPorts extends LivePorts {
  /** Opens `/ws/runs/{run_id}`, starting at line `fromSeq`. */
  open(fromSeq: number, token: string): Socket;
}

export interface RunSocketEvents {
  onLines(lines: LogLine[]): void;
  onRun(run: Run): void;
  onProgress(progress: RunProgress): void;
  onSpan(span: RunSpan): void;
  onSample(sample: RunSample): void;
  onEnd(status: RunStatus): void;
  onLink(link: LinkState): void;
}

/** Follows a run. After a reconnect, the stream resumes after the last received line, so the listener receives each
 *  line once. */
export class RunSocket {
  readonly #socket: LiveSocket;
  readonly #events: RunSocketEvents;
  #nextSeq: number;

  constructor(fromSeq: number, ports: RunSocketPorts, events: RunSocketEvents) {
    this.#nextSeq = fromSeq;
    this.#events = events;
    this.#socket = new LiveSocket(
      { ...ports, open: (token) => ports.open(this.#nextSeq, token) },
      {
        onText: (text) => {
          const frame = parseFrame(text);
          if (frame) this.#take(frame);
        },
        onLink: (link) => events.onLink(link),
      },
      null,
    );
  }

  /** Connects immediately, even during a backoff, for example after the network has recovered. */
  connect(): Promise<void> {
    return this.#socket.connect();
  }

  /** Closes the connection permanently. Calling it again has no effect. */
  close(): void {
    this.#socket.close();
  }

  #take(frame: RunFrame): void {
    switch (frame.type) {
      case 'log':
        return this.#takeLines(frame.items);
      case 'status':
        return this.#events.onRun(frame.run);
      case 'progress':
        return this.#events.onProgress(frame.progress);
      case 'span':
        return this.#events.onSpan(frame.span);
      case 'sample':
        return this.#events.onSample(frame);
      case 'end':
        this.#events.onEnd(frame.status);
        return this.#socket.end();
    }
  }

  #takeLines(items: LogLine[]): void {
    const fresh = items.filter((line) => line.seq >= this.#nextSeq);
    const last = fresh.at(-1);
    if (!last) return;
    this.#nextSeq = Math.max(last.seq, last.to_seq ?? 0) + 1;
    this.#events.onLines(fresh);
  }
}
