/** The channel for one run's calls. The supervisor only passes on connections from the run's processes
 *  (`sdk_broker.py`), so requests need no token. */
import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import type { Logger } from '#services/shared/logger.ts';
import type { SdkEntry } from '../sandbox/sandbox.ts';
import { Compile, type Validator } from 'typebox/compile';
import { refused, type SdkAnswer, type SdkCall, type SdkCalls, type SdkContext } from './call.ts';
import { Pace } from './pace.ts';
import { readRequest, RequestCut, type SdkRequest } from './request.ts';

/** The maximum number of connections, which exceeds the number that scripts can open. */
const maxConnections = 512;
const defaultTimeoutMs = 30_000;

export interface RunChannelDeps {
  readonly calls: SdkCalls;
  readonly context: SdkContext;
  readonly logger: Pick<Logger, 'error'>;
  /** Called when the channel accepts no more connections. */
  readonly onClose: () => void;
  /** How long a script may pause while it sends a request or receives a response. */
  readonly timeoutMs?: number;
}

export class RunChannel {
  /** The paths of the sockets, and the token that identifies the run. */
  readonly entry: SdkEntry;
  readonly #deps: RunChannelDeps;
  readonly #sockets = new Set<Socket>();
  readonly #pace = new Pace();
  readonly #closing = new AbortController();

  constructor(entry: SdkEntry, deps: RunChannelDeps) {
    this.entry = entry;
    this.#deps = deps;
  }

  get #readTimeoutMs(): number {
    return this.#deps.timeoutMs ?? defaultTimeoutMs;
  }

  /** Aborts all requests. Idempotent. Never throws. */
  close(): void {
    this.#deps.onClose();
    this.#closing.abort(new Error('the run has ended'));
    for (const socket of this.#sockets) socket.destroy();
    // The supervisor may have been killed before it removed the socket. This is faster than waiting for a thread.
    try {
      rmSync(this.entry.path, { force: true });
    } catch (error) {
      const { runId } = this.#deps.context.run;
      this.#deps.logger.error({ error, runId }, 'socket could not be removed');
    }
  }

  /** Handles a connection from the run. Never throws. */
  accept(socket: Socket): void {
    if (this.#sockets.size >= maxConnections) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    void this.#serve(socket).finally(() => socket.destroySoon());
  }

  async #serve(socket: Socket): Promise<void> {
    try {
      const request = await readRequest(socket, this.#readTimeoutMs);
      // The request is complete, so the call may take as long as necessary.
      if (typeof request === 'object' && request.sizeBytes === 0) socket.setTimeout(0);
      const work = async () => await this.#send(socket, await this.#answer(request));
      await this.#pace.keep(work, this.#closing.signal);
    } catch (error) {
      // Closes the connection. The script detects an incomplete response by the missing bytes.
      if (!socket.destroyed && !(error instanceof RequestCut)) this.#complain(error);
      socket.destroy();
    }
  }

  async #answer(request: SdkRequest | string): Promise<SdkAnswer> {
    if (typeof request === 'string') return refused('invalid_request', request);
    const call = Object.hasOwn(this.#deps.calls, request.call)
      ? this.#deps.calls[request.call]
      : undefined;
    if (call === undefined) {
      return refused('invalid_request', 'The platform does not support this call.');
    }
    const problem = problemOf(call, request);
    if (problem !== undefined) return problem;
    const { given, sizeBytes, chunks } = request;
    try {
      return await call.handle(given, this.#deps.context, { sizeBytes, chunks });
    } catch (error) {
      if (error instanceof RequestCut) return refused('invalid_request', 'The body ended early.');
      this.#complain(error, request.call);
      return refused('unavailable', 'The platform could not handle the call. Try again.');
    }
  }

  async #send(socket: Socket, answer: SdkAnswer): Promise<void> {
    socket.setTimeout(this.#readTimeoutMs);
    switch (answer.kind) {
      case 'value':
        socket.write(`${JSON.stringify({ ok: true, result: answer.value })}\n`);
        break;
      case 'refused': {
        const { code, message } = answer;
        socket.write(`${JSON.stringify({ ok: false, code, message })}\n`);
        break;
      }
      case 'bytes':
        socket.write(`${JSON.stringify({ ok: true, result: null, size: answer.sizeBytes })}\n`);
        for await (const chunk of answer.chunks) {
          if (!socket.write(chunk)) await once(socket, 'drain');
        }
    }
    socket.end();
    await finished(socket, { readable: false });
  }

  #complain(error: unknown, call?: string): void {
    if (this.#closing.signal.aborted) return;
    const { runId } = this.#deps.context.run;
    this.#deps.logger.error({ error, runId, call }, 'script request failed');
  }
}

const validators = new WeakMap<SdkCall, Validator>();

function problemOf(call: SdkCall, { given, sizeBytes }: SdkRequest): SdkAnswer | undefined {
  if (sizeBytes > (call.maxBodyBytes ?? 0)) {
    return refused('limit_reached', `The body may have at most ${call.maxBodyBytes ?? 0} bytes.`);
  }
  const validator = validators.get(call) ?? Compile(call.arguments);
  validators.set(call, validator);
  if (validator.Check(given)) return undefined;
  const [first] = validator.Errors(given);
  const where = first?.instancePath.slice(1) || 'The arguments';
  return refused('invalid_request', `${where}: ${first?.message ?? 'not valid'}.`);
}
