/** Parses the URL of a WebSocket. */
import { parseRunId, parseScriptId, type RunId, type ScriptId } from '#domain/kernel/ids.ts';
import { pathProblem } from '#domain/script/path.ts';

export type Wanted = { readonly ticket: string | undefined } & (
  | { readonly kind: 'feed' }
  /** `undefined` if the run ID is invalid. */
  | { readonly kind: 'run'; readonly runId: RunId | undefined; readonly fromSeq: number }
  | {
      readonly kind: 'editors';
      /** `undefined` if the script ID is invalid. */
      readonly scriptId: ScriptId | undefined;
      readonly path: string;
    }
);

const runPath = /^\/ws\/runs\/([^/]+)$/;
const editorsPath = /^\/ws\/scripts\/([^/]+)\/editors$/;

/** The requested stream, or the status line of the refusal. */
export function wantedOf(url: string): Wanted | string {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const ticket = searchParams.get('token') ?? undefined;
  if (pathname === '/ws') return { kind: 'feed', ticket };
  const scriptId = editorsPath.exec(pathname)?.[1];
  if (scriptId !== undefined) {
    const path = searchParams.get('path') ?? '';
    if (pathProblem(path) !== undefined) return '400 Bad Request';
    return { kind: 'editors', scriptId: parseScriptId(scriptId), path, ticket };
  }
  const name = runPath.exec(pathname)?.[1];
  if (name === undefined) return '404 Not Found';
  const fromSeq = searchParams.get('from_seq') ?? '1';
  if (!/^[1-9]\d{0,14}$/.test(fromSeq)) return '400 Bad Request';
  return { kind: 'run', runId: parseRunId(name), fromSeq: Number(fromSeq), ticket };
}
