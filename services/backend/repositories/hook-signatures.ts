/** Verifies the signatures of webhook calls from Git servers. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Describes the problem with a call; `undefined` if the call has a valid GitHub, Gitea or GitLab signature. */
export function hookFault(
  headers: IncomingHttpHeaders,
  body: Uint8Array,
  secret: string,
): string | undefined {
  const github = textOf(headers['x-hub-signature-256']);
  const gitea = textOf(headers['x-gitea-signature']);
  const gitlab = textOf(headers['x-gitlab-token']);
  const given = github === undefined ? gitea : /^sha256=(.*)$/i.exec(github)?.[1];
  if (github !== undefined || gitea !== undefined) {
    const name = github === undefined ? 'X-Gitea-Signature' : 'X-Hub-Signature-256';
    const expected = createHmac('sha256', secret).update(body).digest();
    const isValid =
      /^[0-9a-f]{64}$/i.test(given ?? '') &&
      timingSafeEqual(Buffer.from(given ?? '', 'hex'), expected);
    return isValid ? undefined : `The signature in ${name} does not match the body.`;
  }
  if (gitlab === undefined) {
    return 'The call must be signed. Send X-Hub-Signature-256, X-Gitea-Signature or X-Gitlab-Token.';
  }
  // Compares hashes of equal length, so that the comparison takes constant time.
  return timingSafeEqual(sha256(gitlab), sha256(secret))
    ? undefined
    : 'The token in X-Gitlab-Token is wrong.';
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
