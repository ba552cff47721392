/** The supervisor's settings. They are validated together with the settings of the services that the supervisor
 *  starts. */
import { readConfig, type Environment, type Settings } from '#services/shared/config.ts';
import { settings } from '#services/shared/settings.ts';

export type Config = Settings;

/** The minimal edition generates these keys if they are missing. */
const MADE_HERE = ['SECRET_MASTER_KEY', 'ORCH_TOKEN_KEY', 'ORCH_AUDIT_KEY'];
/** A placeholder for keys that are not generated yet. */
const anyKey = Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('hex');
const EMBEDDED = ['ORCH_DATABASE_URL', 'ORCH_DATABASE_ADMIN_URL'];

/** Reads the settings.
 *  @throws ConfigError that lists every invalid setting of every service */
export function readMinimalConfig(environment: Environment): Config {
  const complete: Record<string, string | undefined> = { ...environment };
  for (const name of MADE_HERE) {
    if (!environment[name] && !environment[`${name}_FILE`]) complete[name] = anyKey;
  }
  for (const name of EMBEDDED) {
    complete[name] = 'postgres://embedded';
    delete complete[`${name}_FILE`];
  }
  return readConfig(Object.keys(settings) as (keyof Settings)[], complete);
}

/** Lists the settings that have no effect in the minimal edition, one per line. */
export function unusedSettings(environment: Environment): readonly string[] {
  return EMBEDDED.filter((name) => environment[name] || environment[`${name}_FILE`]).map(
    (name) => `${name} is not used: this edition brings its own database`,
  );
}
