/** Decides which scripts may share an environment, from their `requirements.txt`. Pure. */

export type Requirements =
  /** Nothing to install. */
  | { readonly kind: 'none' }
  /** Only names and versions. The text is in a canonical form, so that scripts with equal requirements share an
   *  environment. */
  | { readonly kind: 'shared'; readonly text: string }
  /** Has paths, URLs, options or variables, so the environment may depend on the script. Never shared. */
  | { readonly kind: 'private'; readonly text: string };

// The format is `name [extras] versions ; marker` (PEP 508 without URLs).
const NAME = '[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?';
const EXTRAS = String.raw`(?:\s*\[[\w.,\s-]*\])?`;
const VERSION = String.raw`(?:~=|===?|!=|<=?|>=?)\s*[\w.*+!-]+`;
const VERSIONS = String.raw`(?:\s*\(?\s*${VERSION}(?:\s*,\s*${VERSION})*\s*,?\s*\)?)?`;
const MARKER = String.raw`(?:\s*;[\w\s.'"<>=!~()*+,-]*)?`;
const PLAIN = new RegExp(`^${NAME}${EXTRAS}${VERSIONS}${MARKER}$`);
// The only permitted option. Other options are rejected, because an option could be disguised as a marker.
const HASHES = /\s--hash[=\s]\s*\w+:[0-9a-fA-F]+(?=\s|$)/g;
const OPTION = /\s-/;
// Installers treat a name with one of these extensions as a file.
const ARCHIVE = /^\S*\.(?:whl|zip|tar|tgz|tbz|txz|tlz|gz|bz2|xz|lzma|egg)$/i;

/** Returns the lines as installers read them: joined after `\`, without comments and blank lines. */
function linesOf(text: string): string[] {
  return text
    .replace(/^\ufeff/, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .map((line) =>
      line
        .replace(/(?:^|\s)#.*$/, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter((line) => line !== '');
}

function isPlain(line: string): boolean {
  const bare = line.replaceAll(HASHES, '');
  return PLAIN.test(bare) && !OPTION.test(bare) && !ARCHIVE.test(bare);
}

export function readRequirements(text: string): Requirements {
  const lines = linesOf(text);
  if (lines.length === 0) return { kind: 'none' };
  if (!lines.every(isPlain)) return { kind: 'private', text };
  return { kind: 'shared', text: `${[...new Set(lines)].toSorted().join('\n')}\n` };
}
