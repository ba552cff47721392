/** Prepares the `ssh` command for one repository. The private key is stored in a file that only this user can read. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GitProblem } from '#domain/ports/git.ts';
import { privateKeyProblem } from '#domain/repository/private-key.ts';
import type { Address } from '#domain/repository/repository.ts';

/** Accepts only the given host keys. */
export async function sshCommand(
  folder: string,
  { privateKey, knownHosts }: { readonly privateKey: string; readonly knownHosts: string },
  { host, port = 22 }: Address,
  address: string,
): Promise<string> {
  const problem = privateKeyProblem(privateKey);
  if (problem !== undefined) throw new GitProblem(`The private key ${problem}.`);
  const files = { key: join(folder, 'ssh-key'), hosts: join(folder, 'ssh-hosts') };
  await writeFile(files.key, `${privateKey.replaceAll('\r', '').trim()}\n`, { mode: 0o600 });
  await writeFile(files.hosts, `${knownHosts.replaceAll('\r', '').trim()}\n`, { mode: 0o600 });
  const options = [
    `IdentityFile=${files.key}`,
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    `UserKnownHostsFile=${files.hosts}`,
    'GlobalKnownHostsFile=/dev/null',
    'ForwardAgent=no',
    'PermitLocalCommand=no',
    'ConnectTimeout=20',
    // Connects to the checked address, but expects the host key of the named host.
    `HostName=${address}`,
    // The format that `ssh-keyscan` uses.
    `HostKeyAlias=${port === 22 ? host : `[${host}]:${port}`}`,
  ];
  return `ssh -F /dev/null ${options.map((one) => `-o '${one}'`).join(' ')}`;
}
