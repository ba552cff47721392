/** An installation's secrets. They are generated at the first start and stored in files that only their owner can
 *  read. The services receive the paths of these files, so no environment variable contains a secret. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '#services/shared/config.ts';

/** Secrets and their generators. The first secret is the master key, which encrypts stored data. */
const makers = {
  SECRET_MASTER_KEY: () => randomBytes(32).toString('base64'),
  ORCH_TOKEN_KEY: () => randomBytes(32).toString('base64'),
  ORCH_AUDIT_KEY: () => randomBytes(32).toString('base64'),
  ORCH_ADMIN_PASSWORD: () => randomBytes(12).toString('base64url'),
  ORCH_REDIS_PASSWORD: () => randomBytes(24).toString('base64url'),
} as const;

type SecretName = keyof typeof makers;

export interface Secrets {
  /** The variables of all secrets for a service's environment, each as `NAME` or `NAME_FILE`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the first administrator must be created. */
  readonly isFirstStart: boolean;
  /** The generated first password, or undefined if the operator set one. */
  readonly generatedPassword: string | undefined;
  /** Adds a secret from another source, and passes it to the services. */
  withSecret(name: string, value: string): Secrets;
  /** Records that the first start succeeded. */
  firstStartDone(): void;
}

/** Reads the secrets in `folder`, and generates missing ones. Values from the environment take precedence and are not
 *  stored.
 *  @throws Error if the master key of an installation with data is missing */
export function prepareSecrets(folder: string, environment: Environment): Secrets {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const done = join(folder, 'first-start-done');
  const isFirstStart = !existsSync(done);
  const given: Record<string, string> = {};
  for (const name of Object.keys(makers) as SecretName[]) {
    if (environment[name]) given[name] = environment[name];
    else if (environment[`${name}_FILE`]) given[`${name}_FILE`] = environment[`${name}_FILE`] ?? '';
    else given[`${name}_FILE`] = storedSecret(folder, name, isFirstStart);
  }
  const passwordFile = join(folder, 'ORCH_ADMIN_PASSWORD');
  const isGenerated = given['ORCH_ADMIN_PASSWORD_FILE'] === passwordFile;
  return {
    environment: given,
    isFirstStart,
    generatedPassword: isGenerated ? readFileSync(passwordFile, 'utf8').trim() : undefined,
    withSecret(name, value) {
      store(folder, name, value);
      return {
        ...this,
        environment: { ...this.environment, [`${name}_FILE`]: join(folder, name) },
      };
    },
    firstStartDone: () => writeFileSync(done, `${new Date().toISOString()}\n`),
  };
}

function storedSecret(folder: string, name: SecretName, isFirstStart: boolean): string {
  const file = join(folder, name);
  if (existsSync(file)) return file;
  if (name === 'SECRET_MASTER_KEY' && !isFirstStart) {
    throw new Error(
      `The master key is missing: ${file} does not exist and SECRET_MASTER_KEY is not set. Restore the ` +
        'file. Without the key, stored secrets cannot be read.',
    );
  }
  store(folder, name, makers[name]());
  return file;
}

/** Writes atomically, so that a crash leaves either the old or the new file. */
function store(folder: string, name: string, value: string): void {
  const file = join(folder, name);
  writeFileSync(`${file}.new`, `${value}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}
