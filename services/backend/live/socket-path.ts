/** Parses the URL of a WebSocket. */
import { parseRunId, type RunId } from '#domain/kernel/ids.ts';

export type Wanted = { readonly ticket: string | undefined } & (
  | { readonly kind: 'feed' }
  /** `undefined`: an invalid run ID. */
  | { readonly kind: 'run'; readonly runId: RunId | undefined; readonly fromSeq: number }
);

const runPath = /^\/ws\/runs\/([^/]+)$/;

/** The requested stream, or the status line of the refusal. */
export function wantedOf(url: string): Wanted | string {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const ticket = searchParams.get('token') ?? undefined;
  if (pathname === '/ws') return { kind: 'feed', ticket };
  const name = runPath.exec(pathname)?.[1];
  if (name === undefined) return '404 Not Found';
  const fromSeq = searchParams.get('from_seq') ?? '1';
  if (!/^[1-9]\d{0,14}$/.test(fromSeq)) return '400 Bad Request';
  return { kind: 'run', runId: parseRunId(name), fromSeq: Number(fromSeq), ticket };
}
