/** The channels of this runtime's runs. All runs share one socket, which scripts cannot reach. A run's supervisor
 *  connects to this socket, and identifies the run with a token. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Logger } from '#services/shared/logger.ts';
import { makeOwnFolder } from '../own-folders.ts';
import type { SdkCalls, SdkContext } from './call.ts';
import { RunChannel } from './run-channel.ts';

const tokenLength = 43;
/** How long a connection may take to send its token. Supervisors send it immediately. */
const tokenTimeoutMs = 5_000;
/**
 * The maximum number of connections with a pending token. When the limit is exceeded, the oldest connection is closed.
 */
const maxWithoutToken = 64;

export class SdkChannels {
  readonly #folder: string;
  readonly #server: Server;
  readonly #calls: SdkCalls;
  readonly #logger: Pick<Logger, 'error'>;
  /** The channels by token. */
  readonly #channels = new Map<string, RunChannel>();
  readonly #withoutToken = new Set<Socket>();

  private constructor(folder: string, calls: SdkCalls, logger: Pick<Logger, 'error'>) {
    this.#folder = folder;
    this.#calls = calls;
    this.#logger = logger;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#admit(socket));
  }

  static async open(
    parent: string,
    calls: SdkCalls,
    logger: Pick<Logger, 'error'>,
  ): Promise<SdkChannels> {
    // The name is short, because a Unix socket path has at most 107 bytes.
    const folder = await makeOwnFolder(parent, 'orch-sdk');
    // Scripts may run as other users. Such a user must be able to reach the script's socket, but not list the folder.
    await chmod(folder, 0o711);
    const channels = new SdkChannels(folder, calls, logger);
    await channels.#listen();
    return channels;
  }

  /** Opens a channel for one run. */
  of(run: Omit<SdkContext, 'spend'>): RunChannel {
    const context = { ...run, spend: spending() };
    const token = randomBytes(32).toString('base64url');
    const path = join(this.#folder, `${randomBytes(12).toString('base64url')}.sock`);
    const channel = new RunChannel(
      { path, server: this.#path, token },
      {
        calls: this.#calls,
        context,
        logger: this.#logger,
        onClose: () => this.#channels.delete(token),
      },
    );
    this.#channels.set(token, channel);
    return channel;
  }

  /** Removes the folder. All channels must be closed. */
  async close(): Promise<void> {
    for (const socket of this.#withoutToken) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #path(): string {
    return join(this.#folder, 'platform.sock');
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#path);
    await once(this.#server, 'listening');
    await chmod(this.#path, 0o600);
    // Errors occur if, for example, too many files are open. The connection then breaks.
    this.#server.on('error', (error) =>
      this.#logger.error({ error }, 'script connection could not be accepted'),
    );
  }

  /** Reads the token, and passes the connection to the run that the token identifies. */
  #admit(socket: Socket): void {
    // Ignored, because the script has disconnected.
    socket.on('error', () => undefined);
    const [oldest] = this.#withoutToken;
    if (this.#withoutToken.size >= maxWithoutToken) oldest?.destroy();
    this.#withoutToken.add(socket);
    socket.once('close', () => this.#withoutToken.delete(socket));
    socket.setTimeout(tokenTimeoutMs, () => socket.destroy());
    const end = () => socket.destroy();
    const read = () => {
      const token = socket.read(tokenLength) as Buffer | null;
      if (token === null) return;
      this.#withoutToken.delete(socket);
      socket.off('readable', read).off('end', end).removeAllListeners('timeout');
      const channel = this.#channels.get(token.toString('latin1'));
      if (channel === undefined) socket.destroy();
      else channel.accept(socket);
    };
    socket.on('readable', read).once('end', end);
  }
}

function spending(): SdkContext['spend'] {
  const spent = new Map<string, number>();
  return (what, most) => {
    const count = (spent.get(what) ?? 0) + 1;
    spent.set(what, Math.min(count, most));
    return count <= most;
  };
}
