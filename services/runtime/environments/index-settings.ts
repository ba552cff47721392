/** Reads the machine's package index settings for pip and uv. Other variables from the platform's environment are
 *  omitted. */
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;

export interface IndexSettings {
  /** Variables for every installer: proxies and certificates. */
  readonly common: Readonly<Record<string, string>>;
  readonly pip: Readonly<Record<string, string>>;
  readonly uv: Readonly<Record<string, string>>;
  /** The user's `pip.conf` and `uv.toml`. Builds cannot find these files, because they run with a different home
   *  folder. */
  readonly pipConfig: ConfigFile | undefined;
  readonly uvConfig: ConfigFile | undefined;
  /** Files and folders referenced by the settings. */
  readonly paths: readonly string[];
}

export interface ConfigFile {
  readonly path: string;
  readonly content: string;
}

const COMMON = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
];
const PIP = [
  'INDEX_URL',
  'EXTRA_INDEX_URL',
  'FIND_LINKS',
  'NO_INDEX',
  'TRUSTED_HOST',
  'CERT',
  'CLIENT_CERT',
  'PROXY',
  'TIMEOUT',
  'DEFAULT_TIMEOUT',
  'RETRIES',
  'CONSTRAINT',
  'PRE',
  'PREFER_BINARY',
].map((name) => `PIP_${name}`);
const UV = [
  'DEFAULT_INDEX',
  'INDEX',
  'INDEX_URL',
  'EXTRA_INDEX_URL',
  'FIND_LINKS',
  'INDEX_STRATEGY',
  'INSECURE_HOST',
  'NATIVE_TLS',
  'SYSTEM_CERTS',
  'HTTP_TIMEOUT',
  'HTTP_RETRIES',
  'OFFLINE',
  'CONSTRAINT',
  'EXCLUDE_NEWER',
  'PRERELEASE',
  'RESOLUTION',
].map((name) => `UV_${name}`);
const UV_CREDENTIALS = /^UV_INDEX_\w+_(?:USERNAME|PASSWORD)$/;

function pick(variables: Variables, isWanted: (name: string) => boolean): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of Object.keys(variables).toSorted()) {
    const value = variables[name];
    if (value !== undefined && value !== '' && isWanted(name)) picked[name] = value;
  }
  return picked;
}

function firstFile(paths: readonly (string | undefined)[]): ConfigFile | undefined {
  for (const path of paths) {
    if (path !== undefined && isAbsolute(path) && existsSync(path)) {
      return { path, content: readFileSync(path, 'utf8') };
    }
  }
  return undefined;
}

function pathsIn(variables: Readonly<Record<string, string>>): string[] {
  return Object.entries(variables)
    .filter(([name]) => /CERT|BUNDLE|FIND_LINKS|CONSTRAINT/.test(name))
    .flatMap(([, value]) => value.split(/[\s,]+/))
    .map((text) => text.replace(/^file:\/\//, ''))
    .filter((path) => isAbsolute(path) && existsSync(path));
}

/** Reads the settings from a process's environment, and from the user's configuration files. */
export function readIndexSettings(variables: Variables): IndexSettings {
  const home = variables['HOME'];
  const config = variables['XDG_CONFIG_HOME'] ?? (home && join(home, '.config'));
  const common = pick(variables, (name) => COMMON.includes(name));
  const pip = pick(variables, (name) => PIP.includes(name));
  const uv = pick(variables, (name) => UV.includes(name) || UV_CREDENTIALS.test(name));
  return {
    common,
    pip,
    uv,
    pipConfig: firstFile([
      variables['PIP_CONFIG_FILE'],
      config && join(config, 'pip', 'pip.conf'),
      home && join(home, '.pip', 'pip.conf'),
      '/etc/pip.conf',
    ]),
    uvConfig: firstFile([
      variables['UV_CONFIG_FILE'],
      config && join(config, 'uv', 'uv.toml'),
      '/etc/uv/uv.toml',
    ]),
    paths: [...new Set([common, pip, uv].flatMap(pathsIn))],
  };
}

// Splits at both separators, because pip and uv accept both.
function existing(locations: string): string {
  const isThere = (text: string) => !isAbsolute(text) || existsSync(text);
  return locations
    .split(/[\s,]+/)
    .filter(isThere)
    .join(',');
}

/** Converts pip settings for uv, which ignores them. uv settings take precedence. */
export function uvVariables({ pip, uv }: IndexSettings): Record<string, string> {
  const hasOwnIndex = ['UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INDEX_URL', 'UV_EXTRA_INDEX_URL'].some(
    (name) => name in uv,
  );
  const translated: Record<string, string | undefined> = {
    UV_DEFAULT_INDEX: hasOwnIndex ? undefined : pip['PIP_INDEX_URL'],
    UV_INDEX: hasOwnIndex ? undefined : pip['PIP_EXTRA_INDEX_URL'],
    // uv fails if one of these folders does not exist, while pip ignores missing folders.
    UV_FIND_LINKS: existing(pip['PIP_FIND_LINKS'] ?? ''),
    UV_INSECURE_HOST: pip['PIP_TRUSTED_HOST'],
    UV_CONSTRAINT: pip['PIP_CONSTRAINT'],
    UV_HTTP_TIMEOUT: pip['PIP_DEFAULT_TIMEOUT'],
    SSL_CERT_FILE: pip['PIP_CERT'],
  };
  return { ...pick(translated, () => true), ...uv };
}

/** Whether pip's package source is configured in a file, which uv does not read. */
export function needsPip({ pipConfig, uv }: IndexSettings): boolean {
  const says = /^\s*(?:index-url|extra-index-url|find-links|no-index)\s*=/m;
  return Object.keys(uv).length === 0 && says.test(pipConfig?.content ?? '');
}
