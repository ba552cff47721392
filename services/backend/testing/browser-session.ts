/** The session data that a browser keeps after a sign-in, as request headers. */
import type { Answer } from './test-client.ts';

/** The cookie and the session key, as the dashboard sends them. */
export function sessionHeaders(signedIn: Answer): { Cookie: string; 'Orch-Session-Key': string } {
  const { session_key: key } = signedIn.json as { session_key: string };
  return { Cookie: cookieOf(signedIn.headers), 'Orch-Session-Key': key };
}

/** The cookie that a response sets, as a `Cookie` header. */
export function cookieOf(headers: Headers): string {
  return (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}
