/** The user's servers and tokens, in `$XDG_CONFIG_HOME/orchestrator/config.json`. Only the file's owner can read it. */
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CommandProblem, exitCodes } from './problem.ts';

export interface Profile {
  /** The URL of the backend, without a path. */
  readonly url: string;
  readonly token: string;
  /** The token's ID, if `login` created the token. `logout` then revokes it. */
  readonly token_id?: string;
  readonly email: string;
  readonly expires_at: string | null;
}

export interface Profiles {
  /** The default profile. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

export const defaultProfile = 'default';
const none: Profiles = { current: null, profiles: {} };

export function profilesPath(environment: Environment): string {
  const { XDG_CONFIG_HOME: configured, HOME: home } = environment;
  const folder =
    configured?.startsWith('/') === true ? configured : join(home || homedir(), '.config');
  return join(folder, 'orchestrator', 'config.json');
}

/** @throws CommandProblem if the file is invalid */
export async function readProfiles(environment: Environment): Promise<Profiles> {
  const path = profilesPath(environment);
  try {
    const found = JSON.parse(await readFile(path, 'utf8')) as Partial<Profiles>;
    return { ...none, ...found };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return none;
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandProblem(
      exitCodes.configuration,
      `${path} cannot be read (${reason}). Fix it, or delete it and sign in again: orchestrator login`,
    );
  }
}

/** Replaces the file atomically, so that a reader never sees a partial file. */
export async function writeProfiles(environment: Environment, profiles: Profiles): Promise<void> {
  const path = profilesPath(environment);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(profiles, undefined, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
