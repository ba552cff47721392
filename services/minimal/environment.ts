/** Selects the environment variables that a service needs. */
import type { Environment } from '#services/shared/config.ts';
import { settings } from '#services/shared/settings.ts';
import { compileCache, oneArena } from './programs/compiled.ts';
import type { Config } from './config.ts';
import type { Secrets } from './secrets.ts';
import type { PortSetting, ServiceDefinition } from './services.ts';

/** Variables from the machine: paths, language, proxies, certificates, package installation, and version manager
 *  folders. */
const INHERITED =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|(PIP|UV)_\w+|PYENV_ROOT|(ASDF|MISE)_DATA_DIR|XDG_DATA_HOME|((https?|no|all)_proxy))$/i;

const ADMIN_PASSWORD = 'ORCH_ADMIN_PASSWORD';

/** Returns the environment for a service. It contains the first administrator's password only at the first start. */
export function serviceEnvironment(
  definition: Pick<ServiceDefinition, 'secrets' | 'onDemand'> & {
    readonly ports: readonly PortSetting[];
  },
  config: Config,
  secrets: Secrets,
  environment: Environment,
): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && (INHERITED.test(name) || isPlainSetting(name))) result[name] = value;
    // Also passes on secrets that the operator must provide, such as an object store's secret key.
    if (value !== undefined && definition.secrets.includes(variableOf(name))) result[name] = value;
  }
  for (const name of Object.keys(secrets.environment)) {
    delete result[variableOf(name)];
    delete result[`${variableOf(name)}_FILE`];
  }
  for (const [name, value] of Object.entries(secrets.environment)) {
    const variable = variableOf(name);
    if (!definition.secrets.includes(variable)) continue;
    if (variable !== ADMIN_PASSWORD || secrets.isFirstStart) result[name] = value;
  }
  for (const port of definition.ports) {
    const { variable } = settings[port];
    delete result[`${variable}_FILE`];
    result[variable] = String(config[port]);
  }
  return {
    ...result,
    ORCH_DATA_DIR: config.dataDir,
    ORCH_EDITION: 'minimal',
    ORCH_SUPERVISED: 'true',
    ...(definition.onDemand === true && { ORCH_ON_DEMAND: 'true' }),
    ...compileCache(config.dataDir),
    ...oneArena,
  };
}

function variableOf(name: string): string {
  return name.replace(/_FILE$/, '');
}

function isPlainSetting(name: string): boolean {
  const variable = variableOf(name);
  return Object.values(settings).some((one) => one.variable === variable && !one.secret);
}
