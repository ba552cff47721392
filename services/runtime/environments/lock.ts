/** A lock lists the resolved packages, one `name==version` line per package. The lines have file hashes if the
 *  hashes of all packages are known. Pure. */

const PACKAGE = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?==[\w.!+-]+$/;
const HASH = /^sha256:[0-9a-f]{64}$/;

interface Chosen {
  readonly name: string;
  readonly version: string;
  readonly hashes: readonly string[];
}

/** Returns a package's normalized name (PEP 503). */
export function normalName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}

/** Returns the lock for a pip report, or `undefined` if the report is unreadable. */
export function lockOfReport(json: string): string | undefined {
  try {
    const { install } = JSON.parse(json) as { install: readonly ReportedPackage[] };
    return lockOf(install.map(chosenOf));
  } catch {
    return undefined;
  }
}

interface ReportedPackage {
  readonly metadata: { readonly name: string; readonly version: string };
  readonly download_info: {
    readonly archive_info?: {
      readonly hash?: string;
      readonly hashes?: { readonly sha256?: string };
    };
  };
}

function chosenOf({ metadata, download_info: { archive_info: archive } }: ReportedPackage): Chosen {
  const sha256 = archive?.hashes?.sha256 ?? archive?.hash?.replace(/^sha256=/, '');
  return { ...metadata, hashes: sha256 === undefined ? [] : [`sha256:${sha256}`] };
}

/** Converts lines in the requirements format, as uv writes them, to a lock.
 *  @returns `undefined` if any line has another format */
export function lockOfLines(text: string): string | undefined {
  const lines = text
    .replaceAll(/\\\r?\n/g, ' ')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  return lockOf(
    lines.map((line) => {
      const [pin = '', ...options] = line.split(/\s+/);
      const [name = '', version = ''] = pin.split('==');
      return { name, version, hashes: options.map((option) => option.replace(/^--hash=/, '')) };
    }),
  );
}

/** Omits all hashes if any hash is unknown, because installers require hashes for all packages or for none. */
function lockOf(packages: readonly Chosen[]): string | undefined {
  const areAllKnown = packages.every(({ hashes }) => hashes.length > 0);
  const lines = packages.map(({ name, version, hashes }) => {
    const pin = `${normalName(name)}==${version}`;
    const isUsable = PACKAGE.test(pin) && hashes.every((hash) => HASH.test(hash));
    const known = areAllKnown ? hashes.toSorted().map((hash) => ` --hash=${hash}`) : [];
    return isUsable ? `${pin}${known.join('')}\n` : undefined;
  });
  if (!lines.every((line) => line !== undefined)) return undefined;
  return lines.toSorted().join('');
}

/** Whether the lock has hashes with which an installer can verify the files. */
export function hasHashes(lock: string): boolean {
  return lock.includes(' --hash=');
}

/** Returns the lines without hashes. */
export function pinsOf(lock: string): string {
  return lock.replaceAll(/ --hash=\S+/g, '');
}
