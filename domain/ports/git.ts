/** Reads and changes the files of a branch on a Git server. */

/** A repository with its opened credential. */
export interface GitRemote {
  /** A URL that `repositoryUrlProblem` accepts. */
  readonly url: string;
  readonly branch: string;
  /** The path of the folder from the root of the repository; empty for the root. */
  readonly folder: string;
  /** Null for a public repository. */
  readonly access: GitAccess | null;
}

export type GitAccess =
  | { readonly kind: 'token'; readonly username: string; readonly token: string }
  | { readonly kind: 'ssh_key'; readonly privateKey: string; readonly knownHosts: string };

export interface GitFile {
  /** The path relative to the folder. */
  readonly path: string;
  readonly content: Uint8Array;
}

export interface GitCommit {
  /** The full hash in lower-case hex. */
  readonly hash: string;
  /** The author of the commit, as `Name <address>`. */
  readonly author: string;
  /** RFC 3339. */
  readonly committedAt: string;
  readonly subject: string;
}

/** The newest commit of the branch. */
export interface GitSnapshot {
  readonly commit: GitCommit;
  /** The files are absent if the commit is invalid. */
  readonly files: readonly GitFile[] | { readonly problem: string };
}

/** A new commit. The same change of the same commit always produces the same hash. */
export interface GitChange {
  /** New contents by path, relative to the folder; null deletes the file. */
  readonly files: ReadonlyMap<string, Uint8Array | null>;
  readonly author: { readonly name: string; readonly email: string };
  /** When the author made the change. */
  readonly at: Date;
  readonly message: string;
}

export interface GitWrite {
  /** The branch to change. A missing branch is created at the newest commit of the remote's branch. */
  readonly branch: string;
  /** Which files to read, by their paths relative to the folder. */
  readonly isWanted: (path: string) => boolean;
  /** Returns the change to the newest commit; `undefined` for no change. Called again if the branch has moved.
   *  @param messages reads the messages of the newest commits of the branch, newest first */
  readonly decide: (
    snapshot: GitSnapshot,
    messages: () => Promise<readonly string[]>,
  ) => Promise<GitChange | undefined>;
}

/** The server refused the request, could not be reached, or sent an invalid response. The message is for users and
 *  contains no credential. */
export class GitProblem extends Error {
  override readonly name = 'GitProblem';
}

export interface GitServer {
  /** The hash of the newest commit. @throws GitProblem */
  head(remote: GitRemote, signal: AbortSignal): Promise<string>;
  /** The newest commit.
   *  @param isWanted which files to read, by their paths relative to the folder
   *  @param previous the hash of the commit that was read before
   *  @returns also whether the previous commit is no longer in the branch, as after a force push. True as well if more
   *  than 100 commits follow it.
   *  @throws GitProblem */
  read(
    remote: GitRemote,
    isWanted: (path: string) => boolean,
    signal: AbortSignal,
    previous?: string,
  ): Promise<GitSnapshot & { readonly isRewritten: boolean }>;
  /** Changes a branch. Never replaces commits of others.
   *  @returns the newest commit of the branch
   *  @throws GitProblem if nothing was pushed, or if the server's response was lost */
  write(remote: GitRemote, write: GitWrite, signal: AbortSignal): Promise<GitCommit>;
}
