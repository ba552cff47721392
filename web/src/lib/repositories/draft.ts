/** The values of the repository form. */
import type { Repository, RepositoryInput } from '#lib/api/types.ts';

export interface Draft {
  name: string;
  url: string;
  branch: string;
  folder: string;
  /** The polling interval as text; empty disables polling. */
  pollSeconds: string;
  mode: 'read' | 'write_back';
  /** The branch for written changes; empty selects the branch that is read. */
  writeBranch: string;
  kind: 'keep' | 'none' | 'token' | 'ssh_key';
  username: string;
  token: string;
  privateKey: string;
  knownHosts: string;
}

export function draftOf(repository: Repository | null): Draft {
  const credential = repository?.credential;
  return {
    name: repository?.name ?? '',
    url: repository?.url ?? '',
    branch: repository?.branch ?? 'main',
    folder: repository?.folder ?? '',
    pollSeconds: repository ? String(repository.poll_seconds ?? '') : '60',
    mode: repository?.mode ?? 'read',
    writeBranch: repository?.write_branch ?? '',
    kind: repository ? 'keep' : 'none',
    username: credential?.kind === 'token' ? credential.username : 'git',
    token: '',
    privateKey: '',
    knownHosts: credential?.kind === 'ssh_key' ? credential.known_hosts : '',
  };
}

export function inputOf(draft: Draft): RepositoryInput {
  const { name, url, branch, folder, pollSeconds, mode, writeBranch } = draft;
  return {
    name: name.trim(),
    url: url.trim(),
    branch: branch.trim(),
    folder: folder.trim().replace(/^\/+|\/+$/g, ''),
    poll_seconds: pollSeconds.trim() === '' ? null : Number(pollSeconds),
    mode,
    write_branch: mode === 'write_back' ? writeBranch.trim() || null : null,
    ...(draft.kind !== 'keep' && { credential: credentialOf(draft) }),
  };
}

function credentialOf({ kind, username, token, privateKey, knownHosts }: Draft) {
  switch (kind) {
    case 'token':
      return { kind, username: username.trim() || 'git', token: token.trim() };
    case 'ssh_key':
      return { kind, private_key: privateKey, known_hosts: knownHosts };
    case 'none':
    case 'keep':
      return null;
  }
}
