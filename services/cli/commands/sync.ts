/** The commands that synchronize a folder with a script. Their code is loaded when it is needed. */
import type { Command, Option } from '../command.ts';

const prune: Option = { help: 'also delete files that were deleted on the other side' };
const rules =
  'A file that was changed on both sides is a conflict. Nothing is done then, unless --theirs or ' +
  "--ours selects a side. Without --prune, nothing is deleted. The script's secrets, settings and " +
  'schedules stay unchanged. Files named .env, caches and links in the folder are skipped.';

export const pull: Command = {
  name: 'sync pull',
  arguments: '[SCRIPT] [FOLDER]',
  summary: 'download the files of a script into a folder',
  details:
    'The first time, pass SCRIPT and optionally FOLDER (default: the name of the script). Later, run the command ' +
    `in that folder without arguments. ${rules}`,
  options: { prune, theirs: { help: "in a conflict, use the script's files" } },
  examples: [
    ['sync pull "Nightly report"', 'into ./Nightly report'],
    ['sync pull', 'in its folder: download changes'],
    ['sync pull -o json', 'the downloaded changes, for a program'],
  ],
  run: async (use) => (await import('../sync/synchronize.ts')).pullFiles(use),
};

export const diff: Command = {
  name: 'sync diff',
  arguments: '',
  summary: 'compare a folder with its script; exits with 1 if they differ',
  details:
    'Lines that start with - are from the script; lines that start with + are from the folder. With --names, shows ' +
    'on which side ' +
    'each file was changed.',
  options: { names: { help: 'only the paths' } },
  examples: [
    ['sync diff', 'all differences'],
    ['sync diff --names -o json', 'for a program'],
  ],
  run: async (use) => (await import('../sync/synchronize.ts')).printDifferences(use),
};

export const push: Command = {
  name: 'sync push',
  arguments: '',
  summary: 'upload the changes in a folder to its script',
  details:
    'Files are saved only if the script has not changed since the comparison, so concurrent changes are ' +
    `never overwritten. ${rules}`,
  options: {
    prune,
    ours: { help: "in a conflict, use the folder's files" },
    'dry-run': { help: 'show the planned changes without making them' },
  },
  examples: [
    ['sync push', "in the script's folder"],
    ['sync push --dry-run', 'preview'],
  ],
  run: async (use) => (await import('../sync/synchronize.ts')).pushFiles(use),
};
