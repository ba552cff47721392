/** Signs in and out. Stores an API token, never a password. */
import { hostname } from 'node:os';
import { Api, ApiProblem, part } from '#services/shared/api-client.ts';
import type { Command, Use } from '../command.ts';
import { CommandProblem, exitCodes, usageProblem } from '../problem.ts';
import { askHidden, askLine } from '../prompt.ts';
import { signInWith } from '../password-session.ts';
import {
  defaultProfile,
  profilesPath,
  readProfiles,
  writeProfiles,
  type Profile,
} from '../profiles.ts';
import { serverUrl } from '../session.ts';
import { plainLines, printTable } from '../table.ts';

const defaultUrl = 'http://127.0.0.1:8080';
const defaultDays = 30;
/** The maximum token lifetime that servers accept, in days. */
const maxDays = 3650;

interface MadeToken {
  readonly id: string;
  readonly token: string;
  readonly expires_at: string | null;
}

export const login: Command = {
  name: 'login',
  arguments: '[URL]',
  summary: 'sign in to a server and store an API token',
  details:
    'Prompts for the password, which is not stored. Creates an API token with all of your rights and an ' +
    'expiry date, and stores it in a file that only you can read. Programs do not need to sign in; they ' +
    'set ORCHESTRATOR_URL and ORCHESTRATOR_TOKEN.',
  options: {
    email: { value: 'ADDRESS', help: 'email address; prompted for if omitted' },
    'password-stdin': { help: 'read the password from standard input' },
    'token-stdin': { help: 'store the API token from standard input instead of signing in' },
    days: { value: 'N', help: `lifetime of the token in days (default ${defaultDays})` },
  },
  examples: [
    ['login', `sign in to ${defaultUrl}`],
    [
      'login https://orchestrator.example.com --profile work',
      'add a second server as a named profile',
    ],
    ['login --email ci@example.com --password-stdin < password.txt', 'without a terminal'],
  ],
  run: async (use) => {
    const { args, options, environment, terminal } = use;
    const { current, profiles } = await readProfiles(environment);
    const name =
      options.text('profile') ?? (environment['ORCHESTRATOR_PROFILE'] || current || defaultProfile);
    const url = serverUrl(args[0] ?? profiles[name]?.url ?? defaultUrl);
    const profile = options.has('token-stdin')
      ? await profileOfToken(url, (await use.input()).trim(), use.signal)
      : await signIn(url, use, profiles[name]?.email);
    await writeProfiles(environment, {
      current: name,
      profiles: { ...profiles, [name]: profile },
    });
    const until = profile.expires_at === null ? '' : ` until ${profile.expires_at}`;
    terminal.line(`Signed in to ${url} as ${profile.email}${until}.`);
    return exitCodes.done;
  },
};

async function profileOfToken(url: string, token: string, signal: AbortSignal): Promise<Profile> {
  const api = new Api(url, token, { signal });
  const { body } = await api.call<{ email: string }>('GET', '/auth/me');
  return { url, token, email: body.email, expires_at: null };
}

async function signIn(url: string, use: Use, known: string | undefined): Promise<Profile> {
  const { options } = use;
  const isPiped = options.has('password-stdin');
  if (isPiped && options.text('email') === undefined) {
    throw usageProblem('--password-stdin requires --email.');
  }
  const days = daysOf(options.text('days'));
  const email = options.text('email') ?? (await askLine('Email', known));
  const password = isPiped
    ? (await use.input()).replace(/\r?\n$/, '')
    : await askHidden(`Password of ${email}`);
  const session = await signInWith(url, { email, password }, use.signal);
  const { body: made } = await session.call<MadeToken>('POST', '/auth/tokens', {
    body: { name: `command line on ${hostname()}`, scopes: ['*'], expires_in_days: days },
  });
  // Signs out, because only the token is used from here on.
  await session.call('POST', '/auth/logout').catch(() => undefined);
  return { url, token: made.token, token_id: made.id, email, expires_at: made.expires_at };
}

function daysOf(text: string | undefined): number {
  if (text === undefined) return defaultDays;
  if (!/^[1-9]\d{0,3}$/.test(text) || Number(text) > maxDays)
    throw usageProblem(`--days is "${text}": expected a whole number from 1 to ${maxDays}.`);
  return Number(text);
}

export const logout: Command = {
  name: 'logout',
  arguments: '',
  summary: 'revoke the token of a profile and delete the profile',
  examples: [
    ['logout', 'the current profile'],
    ['logout --profile work', 'a named profile'],
  ],
  run: async ({ options, environment, terminal, signal }) => {
    const { current, profiles } = await readProfiles(environment);
    const name =
      options.text('profile') ?? (environment['ORCHESTRATOR_PROFILE'] || current || defaultProfile);
    const { [name]: profile, ...others } = profiles;
    if (profile === undefined) {
      throw new CommandProblem(exitCodes.notFound, `Profile "${name}" does not exist.`);
    }
    const problem = await revoke(profile, signal);
    const next = current === name ? (Object.keys(others)[0] ?? null) : current;
    await writeProfiles(environment, { current: next, profiles: others });
    if (problem === undefined) terminal.line(`Signed out of ${profile.url}.`);
    else {
      const reason = plainLines(problem);
      terminal.problem(`The profile was deleted, but its token was not revoked: ${reason}`);
    }
    return problem === undefined ? exitCodes.done : exitCodes.failed;
  },
};

/** @returns the reason if the token cannot be revoked */
async function revoke(
  { url, token, token_id: id }: Profile,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (id === undefined) return 'it was created elsewhere; revoke it in the dashboard.';
  try {
    await new Api(url, token, { signal }).call('DELETE', `/auth/tokens/${part(id)}`);
    return undefined;
  } catch (error) {
    // A revoked or expired token needs no revocation.
    if (error instanceof ApiProblem)
      return [401, 404].includes(error.status) ? undefined : error.message;
    throw error;
  }
}

export const profiles: Command = {
  name: 'profiles',
  arguments: '[NAME]',
  summary: 'list your profiles, or switch to one',
  examples: [
    ['profiles', 'list all'],
    ['profiles work', 'switch to a profile'],
  ],
  run: async ({ args, options, environment, terminal }) => {
    const found = await readProfiles(environment);
    const [name] = args;
    if (name !== undefined) {
      if (found.profiles[name] === undefined) {
        throw new CommandProblem(exitCodes.notFound, `Profile "${name}" does not exist.`);
      }
      await writeProfiles(environment, { ...found, current: name });
    }
    const rows = Object.entries(found.profiles).map(([each, { url, email, expires_at }]) => ({
      name: each,
      current: each === (name ?? found.current),
      url,
      email,
      expires_at,
    }));
    if (options.json) terminal.line(JSON.stringify(rows));
    else if (rows.length === 0)
      terminal.problem(`${profilesPath(environment)} contains no profiles.`);
    printTable(
      options.json ? [] : rows,
      [
        { title: '', text: ({ current }) => (current ? '*' : ' ') },
        { title: 'name', text: (row) => row.name },
        { title: 'server', text: (row) => row.url },
        { title: 'email', text: (row) => row.email },
        { title: 'expires', text: (row) => row.expires_at ?? '' },
      ],
      terminal,
    );
    return exitCodes.done;
  },
};
