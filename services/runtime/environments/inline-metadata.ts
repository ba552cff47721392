/** Reads the inline metadata of a script, which can contain its requirements (PEP 723). Pure. */
import { parse } from 'smol-toml';

export type InlineMetadata =
  | { readonly status: 'none' }
  | {
      readonly status: 'found';
      /** The requirements in the format of a `requirements.txt`. */
      readonly requirements: string;
      /** The required Python version, such as `>=3.11`, or `undefined` for any version. */
      readonly requiresPython: string | undefined;
    }
  | { readonly status: 'invalid'; readonly problem: string };

const OPENING = /^# \/\/\/ (?<type>[a-zA-Z0-9-]+)$/;
const CLOSING = '# ///';

/** Reads the metadata from a script's text.
 *  @param path the script's name in messages */
export function readInlineMetadata(text: string, path: string): InlineMetadata {
  const invalid = (problem: string): InlineMetadata => ({
    status: 'invalid',
    problem: `The metadata in ${path} (# /// script) is not valid: ${problem}.`,
  });
  const blocks = blocksIn(text);
  const [block] = blocks;
  if (block === undefined) return { status: 'none' };
  if (blocks.length > 1) return invalid('the block appears more than once');
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = parse(block);
  } catch (error) {
    const [firstLine = ''] = (error instanceof Error ? error.message : '').split('\n');
    return invalid(`it is not valid TOML (${firstLine})`);
  }
  const { dependencies = [], 'requires-python': requiresPython } = fields;
  if (!isListOfRequirements(dependencies)) {
    return invalid('"dependencies" must be a list of requirements such as "requests>=2"');
  }
  if (requiresPython !== undefined && typeof requiresPython !== 'string') {
    return invalid('"requires-python" must be a string such as ">=3.11"');
  }
  const requirements = dependencies.map((line) => `${line}\n`).join('');
  return { status: 'found', requirements, requiresPython };
}

// Rejects options and line continuations, which are valid in a requirements file but are not requirements.
function isListOfRequirements(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.every((line) => typeof line === 'string' && /^\s*[A-Za-z0-9][^\n\r\\]*$/.test(line))
  );
}

/** Returns the contents of `script` blocks. A block ends at the last closing line in the comment lines after its
 *  opening. */
function blocksIn(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  const blocks: string[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const type = OPENING.exec(lines[index] ?? '')?.groups?.['type'];
    if (type === undefined) continue;
    let end = index + 1;
    while (isComment(lines[end])) end += 1;
    const last = lines.lastIndexOf(CLOSING, end - 1);
    if (last <= index) continue;
    if (type === 'script') blocks.push(contentOf(lines.slice(index + 1, last)));
    index = last;
  }
  return blocks;
}

function isComment(line: string | undefined): boolean {
  return line === '#' || line?.startsWith('# ') === true;
}

function contentOf(lines: readonly string[]): string {
  return lines.map((line) => line.slice(2)).join('\n');
}
