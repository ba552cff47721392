/** Reads and changes the files of a branch on a Git server. */

/** A repository and the decrypted credential to access it. */
export interface GitRemote {
  /** A URL that `repositoryUrlProblem` considers valid. */
  readonly url: string;
  readonly branch: string;
  /** Path of the folder, relative to the root of the repository. Empty for the root. */
  readonly folder: string;
  /** The credential. Null for a public repository. */
  readonly access: GitAccess | null;
}

export type GitAccess =
  | { readonly kind: 'token'; readonly username: string; readonly token: string }
  | { readonly kind: 'ssh_key'; readonly privateKey: string; readonly knownHosts: string };

export interface GitFile {
  /** Path relative to the folder. */
  readonly path: string;
  readonly content: Uint8Array;
}

export interface GitCommit {
  /** The complete hash, in lower-case hex. */
  readonly hash: string;
  /** The author of the commit in the format `Name <address>`. */
  readonly author: string;
  /** In RFC 3339 format. */
  readonly committedAt: string;
  readonly subject: string;
}

/** The newest commit of a branch. */
export interface GitSnapshot {
  readonly commit: GitCommit;
  /** The files of the commit, or the problem if the commit is invalid. */
  readonly files: readonly GitFile[] | { readonly problem: string };
}

/** The content of a new commit. The same change to the same commit always results in the same hash. */
export interface GitChange {
  /** New file contents by path, relative to the folder. Null deletes a file. */
  readonly files: ReadonlyMap<string, Uint8Array | null>;
  readonly author: { readonly name: string; readonly email: string };
  /** When the author made the change. */
  readonly at: Date;
  readonly message: string;
}

export interface GitWrite {
  /** The branch to change. If missing, the branch is created from the newest commit of the remote's branch. */
  readonly branch: string;
  /** Selects the files to read, by their paths relative to the folder. */
  readonly isWanted: (path: string) => boolean;
  /** Returns the change to make to the newest commit, or `undefined` for no change. Called again if another commit
   *  was pushed to the branch in the meantime.
   *  @param messages reads the messages of the newest commits of the branch, newest first */
  readonly decide: (
    snapshot: GitSnapshot,
    messages: () => Promise<readonly string[]>,
  ) => Promise<GitChange | undefined>;
}

/** The server refused the request, could not be reached, or sent an invalid response. The message is shown to users
 *  and contains no credential. */
export class GitProblem extends Error {
  override readonly name = 'GitProblem';
}

export interface GitServer {
  /** Returns the hash of the newest commit. @throws GitProblem */
  head(remote: GitRemote, signal: AbortSignal): Promise<string>;
  /** Reads the newest commit.
   *  @param isWanted selects the files to read, by their paths relative to the folder
   *  @param previous the hash of the last commit that was read
   *  @returns the commit, and whether the previous commit is no longer in the branch, for example after a force
   *  push. A previous commit with more than 100 later commits also counts as missing.
   *  @throws GitProblem */
  read(
    remote: GitRemote,
    isWanted: (path: string) => boolean,
    signal: AbortSignal,
    previous?: string,
  ): Promise<GitSnapshot & { readonly isRewritten: boolean }>;
  /** Changes a branch. Never overwrites existing commits of the branch.
   *  @returns the newest commit of the branch
   *  @throws GitProblem if nothing was pushed, or if the server's response was lost */
  write(remote: GitRemote, write: GitWrite, signal: AbortSignal): Promise<GitCommit>;
}
