/** Git repositories that provide scripts and configuration (docs/git.md). */
import type { Sealed } from '#domain/secret/events.ts';

export const repositoryModes = ['read', 'write_back'] as const;
export type RepositoryMode = (typeof repositoryModes)[number];

export interface RepositorySettings {
  readonly name: string;
  /** `https://host/path`, `ssh://user@host/path` or `user@host:path`, without a password. */
  readonly url: string;
  readonly branch: string;
  /** The folder with the configuration, such as `deploy/production`. Empty: the whole repository. */
  readonly folder: string;
  /** Null: the repository is not polled. */
  readonly pollSeconds: number | null;
  readonly mode: RepositoryMode;
  /** The branch to which changes made on the platform are pushed. Absent or null: the branch that is read. */
  readonly writeBranch?: string | null;
}

/** The file in the folder of a script with its settings and schedules. */
export const settingsName = 'script.json';

export type Credential =
  | { readonly kind: 'token'; readonly username: string; readonly sealed: Sealed }
  | { readonly kind: 'ssh_key'; readonly knownHosts: string; readonly sealed: Sealed };

/** The credential of webhook calls from the Git server. */
export interface RepositoryHook {
  /** SHA-256 of the token in the URL, in lower-case hex. */
  readonly tokenHash: string;
  /** The secret that signs the calls. */
  readonly sealed: Sealed;
}

export interface CommitFacts {
  /** The full hash, in lower-case hex. */
  readonly hash: string;
  /** The author of the commit, as `Name <address>`. */
  readonly author: string;
  /** RFC 3339. */
  readonly committedAt: string;
  readonly subject: string;
  /** URL of the commit's page; null if the URL cannot be derived from the repository's URL. */
  readonly url: string | null;
}

/** The origin of a script that a repository provides. */
export interface ScriptSource {
  readonly repositoryId: string;
  /** The folder of the script, from the root of the repository. */
  readonly path: string;
  /** The hash of the commit that last changed the script. */
  readonly commit: string;
  /** URL of the commit's page. */
  readonly url: string | null;
  /** Absent: the script cannot be edited on the platform. */
  readonly writeBack?: WriteBack;
}

/** Changes of a script that were made on the platform and are written back as commits. */
export interface WriteBack {
  /** The version of the script that the branch contains. Later versions are changes made on the platform. */
  readonly version: number;
  /** The last commit with changes made on the platform; null: none is outstanding. */
  readonly pushed: PushedChange | null;
  /** Why later changes cannot be pushed. */
  readonly conflict: string | null;
}

export interface PushedChange {
  /** The version of the script that the commit contains. */
  readonly version: number;
  readonly branch: string;
  readonly commit: string;
  /** The page of the commit. */
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

// ssh would parse a leading dash in a user, host or path as an option.
const scpLike =
  /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)([A-Za-z0-9][A-Za-z0-9.-]*):(?![-/]{2})([^-\s:][^\s]*)$/;

/** Parses the URL of a repository; `undefined` if the URL is invalid. */
export function addressOf(url: string): Address | undefined {
  const [, host] = scpLike.exec(url) ?? [];
  if (host !== undefined) return { scheme: 'ssh', host, port: undefined };
  const parsed = URL.parse(url);
  if (parsed === null || repositoryUrlProblem(url) !== undefined) return undefined;
  const scheme = parsed.protocol.slice(0, -1) as Address['scheme'];
  const port = parsed.port === '' ? undefined : Number(parsed.port);
  return { scheme, host: parsed.hostname.replace(/^\[|\]$/g, ''), port };
}

/** Describes the problem with the URL; `undefined` if it is valid. */
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

/** Describes the problem with a branch name (git check-ref-format); `undefined` if the name is valid. */
export function branchProblem(branch: string): string | undefined {
  const isValid =
    branch.length > 0 &&
    branch.length <= 200 &&
    /^[^\p{Cc} ~^:?*[\\]+$/u.test(branch) &&
    !/^[-/]|\.\.|@\{|\/\/|\/\.|^\.|\.lock(\/|$)|[./]$/.test(branch) &&
    // Git would look for, or create, the branch refs/heads/HEAD or refs/heads/refs/….
    !/^(?:HEAD$|refs\/)/.test(branch) &&
    branch !== '@';
  return isValid ? undefined : 'is not the name of a branch';
}

/** Describes the problem with the folder; `undefined` if it is valid. */
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

/** The URL of a commit's page, in the form that the common hosting services use. Other servers return "not found". */
export function commitPage(url: string, hash: string): string | null {
  const scp = /^[^@\s/]+@([^:/\s]+):(.+)$/.exec(url);
  const parsed = scp === null ? URL.parse(url) : URL.parse(`https://${scp[1]}/${scp[2]}`);
  if (parsed === null) return null;
  const origin = parsed.protocol === 'ssh:' ? `https://${parsed.hostname}` : parsed.origin;
  return `${origin}${parsed.pathname.replace(/\/+$/, '').replace(/\.git$/, '')}/commit/${hash}`;
}
