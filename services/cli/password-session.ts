/** Opens sessions with a password, for requests that the API refuses if they use an API token. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Api, ApiProblem } from '#services/shared/api-client.ts';
import type { Use } from './command.ts';
import { CommandProblem, exitCodes } from './problem.ts';
import { askHidden } from './prompt.ts';

const codeInstead =
  'The account has a second factor: sign in at a terminal, or create an API token in the dashboard.';

interface PasswordSession extends AsyncDisposable {
  readonly api: Api;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  /** The code of the second factor, if the server requires one. If absent, the user is prompted for it. */
  readonly code?: string;
}

/** Signs in, and prompts for the code of a second factor.
 *  @throws CommandProblem for a wrong password or code, ApiProblem */
export async function signInWith(
  url: string,
  credentials: Credentials,
  signal: AbortSignal,
): Promise<Api> {
  try {
    const { body } = await new Api(url, undefined, { signal }).call<{ access_token: string }>(
      'POST',
      '/auth/login',
      { body: credentials },
    );
    return new Api(url, body.access_token, { signal });
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status !== 401) throw error;
    if (error.code !== 'second_factor_required' || credentials.code !== undefined) {
      throw new CommandProblem(exitCodes.noPermission, error.message);
    }
  }
  const code = await askHidden(`Code of ${credentials.email}`, codeInstead);
  return await signInWith(url, { ...credentials, code }, signal);
}

/** Signs in as the owner of the API token. Disposing the session signs out.
 *  @param body the body of the request; if it contains `current_password`, this password is used to sign in */
export async function openPasswordSession(use: Use, body: unknown): Promise<PasswordSession> {
  const { url, api: own } = await use.session();
  const { email } = (await own.call<{ email: string }>('GET', '/auth/me')).body;
  const known = (body as { current_password?: string } | undefined)?.current_password;
  const password = known ?? (await passwordOf(email, use));
  const api = await signInWith(url, { email, password }, use.signal);
  return {
    api,
    [Symbol.asyncDispose]: async () => {
      // Ignores 401, because a password change has already ended the session.
      await api.call('POST', '/auth/logout').catch(() => undefined);
    },
  };
}

async function passwordOf(email: string, { options, folder, input }: Use): Promise<string> {
  const file = options.text('account-password-from');
  if (file === undefined) {
    return await askHidden(`Password of ${email}`, 'Pass --account-password-from FILE.');
  }
  const text = file === '-' ? await input() : await readFile(resolve(folder, file), 'utf8');
  return text.replace(/\r?\n$/, '');
}
