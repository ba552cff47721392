/** Receives webhook calls from Git servers after pushes. The token in the URL and the signature are the credentials. */
import { buffer } from 'node:stream/consumers';
import { requestCheck } from '#infra/postgres/operations/repository-checks.ts';
import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import { findRepositoryByToken } from '#projections/repositories/queries.ts';
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { notFound, problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { hookTokenHash, openHookSecret } from './credentials.ts';
import { hookFault } from './hook-signatures.ts';
import { HookAccepted } from './schema.ts';

const maxBodyBytes = 5 * 1024 * 1024;

const announce = operation({
  method: 'post',
  path: '/api/v1/hooks/git/{token}',
  aliases: [{ path: '/hooks/git/{token}' }],
  operationId: 'announcePush',
  summary: 'Notify the platform of a push to a Git repository',
  description:
    'Git servers call this URL after a push. A sync starts soon after the response. The call must ' +
    'have a valid signature: ' +
    '`X-Hub-Signature-256` (GitHub), `X-Gitea-Signature` (Gitea) or `X-Gitlab-Token` (GitLab).',
  tag: 'Repositories',
  access: 'public',
  parameters: {
    token: {
      description: 'Token of the repository.',
      schema: Type.String(),
      example: 'ght_n8sYw2',
      // Malformed tokens are looked up like well-formed ones, so the response time reveals nothing.
      parse: (text: string) => text,
    },
  },
  body: {
    schema: Type.Unknown(),
    example: { ref: 'refs/heads/main' },
    optional: true,
    rawMaxBytes: maxBodyBytes,
    rawMediaTypes: ['*/*'],
    bytesOnly: true,
  },
  responses: { 202: { description: 'The webhook request was received.', schema: HookAccepted } },
  refusals: ['invalid_signature', 'unavailable'],
  handle: async (
    { parameters, raw, headers },
    { readModels, database, vault, wakeRepositories },
  ) => {
    const row = await findRepositoryByToken(readModels, hookTokenHash(parameters.token));
    if (row === undefined || row.hook === null) return notFound;
    const { repository_id: id, hook, settings } = row;
    const resource = `repository-${id}`;
    const body = raw === undefined ? Buffer.alloc(0) : await buffer(raw.chunks);
    let secret: string;
    try {
      secret = await openHookSecret(vault, id, hook);
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      return problem('unavailable', 'The signature cannot be checked at the moment.', { resource });
    }
    const fault = hookFault(headers, body, secret);
    if (fault !== undefined) {
      const shown = { 'WWW-Authenticate': 'Signature' };
      return problem('invalid_signature', fault, { headers: shown, resource });
    }
    if (!concerns(body, settings.branch)) return json(202, { status: 'ignored' });
    await requestCheck(database, id);
    wakeRepositories();
    return json(202, { status: 'accepted' });
  },
});

/** Whether the push changes the synced branch; true if the call does not name a branch. */
function concerns(body: Buffer, branch: string): boolean {
  try {
    const push = JSON.parse(body.toString('utf8')) as { readonly ref?: unknown } | null;
    return typeof push?.ref !== 'string' || push.ref === `refs/heads/${branch}`;
  } catch {
    return true;
  }
}

export const repositoryHookOperations: readonly Operation[] = [announce];
