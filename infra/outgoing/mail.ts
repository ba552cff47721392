/** Sends one email through an SMTP server. */
import type { MailSecurity } from '#domain/channel/channel.ts';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Targets } from './targets.ts';

/** The timeout for the server's greeting. After the greeting, only the caller's signal limits the time. */
const silenceMs = 10_000;

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly security: MailSecurity;
  readonly username: string | null;
  readonly password: string | undefined;
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Identical for all delivery attempts, so that the receiver can detect duplicates. */
  readonly messageId: string;
}

/** @param signal aborts the delivery at any stage
 *  @throws TargetRefused, or the error of the server or the connection */
export async function sendMail(
  { host, port, security, username, password = '' }: MailServer,
  mail: Mail,
  targets: Targets,
  signal: AbortSignal,
): Promise<void> {
  // The library uses 7 MB of memory, so it is imported when the first email is sent.
  const { createTransport } = await import('nodemailer');
  const address = await targets.addressOf(host);
  signal.throwIfAborted();
  // Opens the connection here, so that only the checked address is used and the connection can be aborted at any time.
  const socket = connect({ host: address, port });
  const end = () => socket.destroy(signal.reason as Error);
  signal.addEventListener('abort', end);
  try {
    await once(socket, 'connect');
    const transport = createTransport({
      host,
      port,
      connection: socket,
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      ...(username !== null && { auth: { user: username, pass: password } }),
      greetingTimeout: silenceMs,
      socketTimeout: silenceMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    await transport.sendMail({
      ...mail,
      to: [...mail.to],
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
  } finally {
    signal.removeEventListener('abort', end);
    socket.destroy();
  }
}
