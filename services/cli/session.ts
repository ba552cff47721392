/** Connects commands to a server, as the owner of an API token. */
import { Api } from '#services/shared/api-client.ts';
import { CommandProblem, exitCodes } from './problem.ts';
import { defaultProfile, readProfiles, type Profile } from './profiles.ts';

export interface Session {
  readonly api: Api;
  /** The URL of the backend, without a path. */
  readonly url: string;
  readonly token: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Opens a session with `ORCHESTRATOR_URL` and `ORCHESTRATOR_TOKEN`, or else with the requested profile.
 *  @throws CommandProblem if the user is not signed in or the token has expired */
export async function openSession(
  environment: Environment,
  signal: AbortSignal,
  named?: string,
): Promise<Session> {
  const { ORCHESTRATOR_URL: url, ORCHESTRATOR_TOKEN: token } = environment;
  if (named === undefined && (url || token)) return sessionOfVariables(url, token, signal);
  const { current, profiles } = await readProfiles(environment);
  const name = named ?? (environment['ORCHESTRATOR_PROFILE'] || current || defaultProfile);
  const profile = profiles[name];
  if (profile === undefined) throw signedOut(name, Object.keys(profiles));
  if (hasExpired(profile)) {
    throw new CommandProblem(
      exitCodes.noPermission,
      `The token for ${profile.url} expired at ${profile.expires_at}. Sign in again: ${loginLine(name, profile)}`,
    );
  }
  return sessionOf(profile.url, profile.token, signal);
}

function sessionOfVariables(
  url: string | undefined,
  token: string | undefined,
  signal: AbortSignal,
): Session {
  if (!url || !token) {
    throw new CommandProblem(
      exitCodes.configuration,
      `ORCHESTRATOR_${url ? 'TOKEN' : 'URL'} is missing. Set both variables, or unset both and sign in: ` +
        'orchestrator login',
    );
  }
  return sessionOf(serverUrl(url), token, signal);
}

function sessionOf(url: string, token: string, signal: AbortSignal): Session {
  return { url, token, api: new Api(url, token, { signal }) };
}

/** The origin of a URL that the user entered.
 *  @throws CommandProblem */
export function serverUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.pathname !== '/') {
    throw new CommandProblem(
      exitCodes.usage,
      `"${text}" is not a server URL such as https://orchestrator.example.com`,
    );
  }
  return url.origin;
}

function hasExpired({ expires_at: end }: Profile): boolean {
  return end !== null && Date.parse(end) <= Date.now();
}

function signedOut(name: string, others: readonly string[]): CommandProblem {
  const known = others.length === 0 ? '' : ` Profiles: ${others.join(', ')}.`;
  const option = name === defaultProfile ? '' : ` --profile ${name}`;
  return new CommandProblem(
    exitCodes.noPermission,
    `Not signed in${option === '' ? '' : ` as "${name}"`}.${known} Sign in: orchestrator login ` +
      `URL${option}`,
  );
}

function loginLine(name: string, { url }: Profile): string {
  return `orchestrator login ${url}${name === defaultProfile ? '' : ` --profile ${name}`}`;
}
