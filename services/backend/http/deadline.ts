/** How long a request may take to arrive, so that slow clients hold no connections. */
import type { IncomingMessage } from 'node:http';

const arrivalMs = 120_000;
const silenceMs = 60_000;
const deadlines = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Ends the connection of a request that has not arrived in time. */
export function limitArrival(request: IncomingMessage): void {
  const timer = endLater(request, arrivalMs);
  deadlines.set(request, timer);
  request.once('close', () => clearTimeout(timer));
}

/** The body of a request that may take longer, as long as something comes. */
export async function* unhurried(
  request: IncomingMessage,
  chunks: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  clearTimeout(deadlines.get(request));
  try {
    for (;;) {
      const timer = endLater(request, silenceMs);
      const { value, done } = await chunks.next().finally(() => clearTimeout(timer));
      if (done === true) return;
      yield value;
    }
  } finally {
    await chunks.return();
  }
}

function endLater(request: IncomingMessage, ms: number): NodeJS.Timeout {
  return setTimeout(() => {
    if (!request.complete) request.destroy();
  }, ms).unref();
}
