/** Git repositories that provide scripts and configuration (docs/git.md). */
import type { Sealed } from '#domain/secret/events.ts';

export const repositoryModes = ['read', 'write_back'] as const;
export type RepositoryMode = (typeof repositoryModes)[number];

export interface RepositorySettings {
  readonly name: string;
  /** URL without a password, in the format `https://host/path`, `ssh://user@host/path` or `user@host:path`. */
  readonly url: string;
  readonly branch: string;
  /** The folder that contains the configuration, such as `deploy/production`. Empty for the root of the repository. */
  readonly folder: string;
  /** The polling interval. Null if the repository is not polled. */
  readonly pollSeconds: number | null;
  readonly mode: RepositoryMode;
  /** The branch to which the platform pushes changes that users make on the platform. If absent or null, changes are
   *  pushed to `branch`. */
  readonly writeBranch?: string | null;
}

/** The file in a script's folder that contains its settings and schedules. */
export const settingsName = 'script.json';

export type Credential =
  | { readonly kind: 'token'; readonly username: string; readonly sealed: Sealed }
  | { readonly kind: 'ssh_key'; readonly knownHosts: string; readonly sealed: Sealed };

/** The credentials that authenticate webhook requests from the Git server. */
export interface RepositoryHook {
  /** SHA-256 of the token in the URL, in lower-case hex. */
  readonly tokenHash: string;
  /** The encrypted secret with which the Git server signs its requests. */
  readonly sealed: Sealed;
}

export interface CommitFacts {
  /** The complete hash, in lower-case hex. */
  readonly hash: string;
  /** The author of the commit, as `Name <address>`. */
  readonly author: string;
  /** In RFC 3339 format. */
  readonly committedAt: string;
  readonly subject: string;
  /** URL of the commit's page. Null if the URL cannot be derived from the repository's URL. */
  readonly url: string | null;
}

/** Where a script from a repository comes from. */
export interface ScriptSource {
  readonly repositoryId: string;
  /** Path of the script's folder, relative to the root of the repository. */
  readonly path: string;
  /** The hash of the commit that last changed the script. */
  readonly commit: string;
  /** URL of the commit's page. */
  readonly url: string | null;
  /** Absent if the script cannot be edited on the platform. */
  readonly writeBack?: WriteBack;
}

/** The state of changes that users made to a script on the platform and that are pushed to the repository. */
export interface WriteBack {
  /** The script version that the branch contains. Later versions contain changes made on the platform. */
  readonly version: number;
  /** The last pushed commit that the branch does not contain yet. Null if none exists. */
  readonly pushed: PushedChange | null;
  /** Why later changes cannot be pushed. Null if they can be pushed. */
  readonly conflict: string | null;
}

export interface PushedChange {
  /** The script version that the commit contains. */
  readonly version: number;
  readonly branch: string;
  readonly commit: string;
  /** URL of the commit's page. */
  readonly url: string | null;
}

/** A resource that a repository provides. */
export interface ProvidedResource {
  readonly kind: string;
  readonly id: string;
}

export const maxRepositoryUrl = 500;

export interface Address {
  readonly scheme: 'https' | 'http' | 'ssh';
  readonly host: string;
  readonly port: number | undefined;
}

// A leading dash in a user, host or path would make ssh parse it as an option.
const scpLike =
  /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)([A-Za-z0-9][A-Za-z0-9.-]*):(?![-/]{2})([^-\s:][^\s]*)$/;

/** Parses a repository URL. Returns `undefined` if the URL is invalid. */
export function addressOf(url: string): Address | undefined {
  const [, host] = scpLike.exec(url) ?? [];
  if (host !== undefined) return { scheme: 'ssh', host, port: undefined };
  const parsed = URL.parse(url);
  if (parsed === null || repositoryUrlProblem(url) !== undefined) return undefined;
  const scheme = parsed.protocol.slice(0, -1) as Address['scheme'];
  const port = parsed.port === '' ? undefined : Number(parsed.port);
  return { scheme, host: parsed.hostname.replace(/^\[|\]$/g, ''), port };
}

/** Describes the problem with a repository URL. Returns `undefined` if the URL is valid. */
export function repositoryUrlProblem(url: string): string | undefined {
  if (scpLike.test(url)) return undefined;
  const parsed = URL.parse(url);
  if (parsed === null || /[\s\\]|[^\x21-\x7e]/.test(url))
    return 'is not a URL such as https://git.example.com/team/scripts.git';
  if (parsed.hostname === '' || parsed.hostname.startsWith('-')) return 'has no valid host';
  if (parsed.password !== '' || parsed.search !== '' || parsed.hash !== '')
    return 'must not contain a password, a query or a fragment; use the credential';
  if (parsed.protocol === 'ssh:')
    return /^[A-Za-z0-9_.-]*$/.test(parsed.username) && !parsed.username.startsWith('-')
      ? undefined
      : 'has an invalid user name';
  if (parsed.username !== '') return 'must not contain a user name; use the credential';
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(parsed.hostname);
  if (parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback)) return undefined;
  return 'must use https or ssh; http is accepted for loopback addresses only';
}

/** Describes the problem with a branch name (git check-ref-format). Returns `undefined` if the name is valid. */
export function branchProblem(branch: string): string | undefined {
  const isValid =
    branch.length > 0 &&
    branch.length <= 200 &&
    /^[^\p{Cc} ~^:?*[\\]+$/u.test(branch) &&
    !/^[-/]|\.\.|@\{|\/\/|\/\.|^\.|\.lock(\/|$)|[./]$/.test(branch) &&
    // Git would use these names for the branches `refs/heads/HEAD` or `refs/heads/refs/…`.
    !/^(?:HEAD$|refs\/)/.test(branch) &&
    branch !== '@';
  return isValid ? undefined : 'is not the name of a branch';
}

/** Describes the problem with a folder. Returns `undefined` if the folder is valid. */
export function folderProblem(folder: string): string | undefined {
  if (folder === '') return undefined;
  const isValid =
    folder.length <= 500 &&
    !/[\p{Cc}\\]/u.test(folder) &&
    folder.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  return isValid
    ? undefined
    : 'must be a relative path without "." and "..", such as deploy/production';
}

/** Returns the URL of a commit's page in the format of common hosting services. The URL may not exist on other
 *  servers. */
export function commitPage(url: string, hash: string): string | null {
  const scp = /^[^@\s/]+@([^:/\s]+):(.+)$/.exec(url);
  const parsed = scp === null ? URL.parse(url) : URL.parse(`https://${scp[1]}/${scp[2]}`);
  if (parsed === null) return null;
  const origin = parsed.protocol === 'ssh:' ? `https://${parsed.hostname}` : parsed.origin;
  return `${origin}${parsed.pathname.replace(/\/+$/, '').replace(/\.git$/, '')}/commit/${hash}`;
}
