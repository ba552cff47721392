/**
 * Chooses the location of a cluster: the owner's folder if the server's account can access that folder. A clone below
 * /root, for example, is inaccessible to the server's account.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { passesAs, type Account } from './account.ts';

/** The kernel limits the length of a socket path. */
const MAX_SOCKET_PATH_BYTES = 107;
const SOCKET_FILE = '.s.PGSQL.5432.lock';

export interface Placement {
  /** `.` means the owner's folder, so that the owner can move the folder. */
  readonly home: string;
  readonly data: string;
  readonly sockets: string;
}

export interface PlacementRequest {
  /** The owner's folder, which must exist. */
  readonly directory: string;
  readonly account: Account | undefined;
  /** The parent folder for the cluster if the account cannot access `directory`. */
  readonly fallbackParent: string;
  /** The cluster's folder when the server last started. */
  readonly knownHome: string | undefined;
  readonly say: (line: string) => void;
}

/** Finds or creates the folders of a cluster and sets the required permissions.
 *  @throws Error if a folder is missing, is not a folder, or belongs to another user */
export function place(request: PlacementRequest): Placement {
  const { directory, account, knownHome } = request;
  chmodSync(directory, account === undefined ? 0o700 : 0o711);
  if (knownHome !== undefined) checkKnownHome(request, knownHome);
  const home = knownHome ?? chooseHome(request);
  const place = home === '.' ? directory : home;
  const data = join(place, 'data');
  makeFolder(data, 0o700, account);
  return { home, data, sockets: placeSockets(place, account) };
}

function chooseHome(request: PlacementRequest): string {
  const { directory, account, fallbackParent, say } = request;
  if (isReachable(account, directory)) return '.';
  makeFolder(fallbackParent, 0o711);
  if (!isReachable(account, fallbackParent)) {
    throw new Error(`the user "${account?.name}" cannot access ${directory} or ${fallbackParent}`);
  }
  const home = join(fallbackParent, shortHash(directory));
  if (existsSync(home)) {
    // The cluster's passwords were deleted together with the owner's folder, so the cluster cannot be used. Its folder
    // is renamed and kept.
    const aside = `${home}-${Date.now()}`;
    renameSync(home, aside);
    say(`The database of an earlier ${directory} is kept in ${aside}`);
  }
  makeFolder(home, 0o711);
  writeFileSync(ownerFile(home), directory);
  say(`The user "${account?.name}" cannot access ${directory}: the database is stored in ${home}`);
  return home;
}

function checkKnownHome(request: PlacementRequest, home: string): void {
  const { directory, account } = request;
  if (home === '.') {
    if (isReachable(account, directory)) return;
    throw new Error(
      `${directory} was moved to a folder that the user "${account?.name}" cannot access`,
    );
  }
  if (!existsSync(join(home, 'data'))) {
    throw new Error(`${home}, the database of ${directory}, is missing; restore it`);
  }
  const owner = readFileSync(ownerFile(home), 'utf8');
  if (owner !== directory && existsSync(owner)) {
    throw new Error(`${directory} is a copy: its database ${home} belongs to ${owner}`);
  }
  writeFileSync(ownerFile(home), directory);
}

function ownerFile(home: string): string {
  return join(home, 'belongs-to');
}

function isReachable(account: Account | undefined, folder: string): boolean {
  return account === undefined || passesAs(account, 'test -x "$1"', folder);
}

function placeSockets(home: string, account: Account | undefined): string {
  const nextToData = join(home, 'run');
  const fits = Buffer.byteLength(join(nextToData, SOCKET_FILE)) <= MAX_SOCKET_PATH_BYTES;
  const sockets = fits ? nextToData : join(tmpdir(), `orch-${shortHash(home)}`);
  makeFolder(sockets, 0o700, account);
  return sockets;
}

/** Creates a folder that belongs to `owner`. Refuses an existing folder that belongs to another user. Also refuses a
 *  symbolic link, because another user may have planted it in a shared folder. */
function makeFolder(path: string, mode: number, owner?: Account): void {
  mkdirSync(path, { recursive: true, mode: 0o711 });
  const entry = lstatSync(path);
  const here = process.getuid?.();
  const wanted = owner?.uid ?? here;
  if (!entry.isDirectory() || (entry.uid !== wanted && entry.uid !== here)) {
    throw new Error(`${path} belongs to another user; start as that user, or remove it`);
  }
  if (owner !== undefined && entry.uid !== owner.uid) chownSync(path, owner.uid, owner.gid);
  chmodSync(path, mode);
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
