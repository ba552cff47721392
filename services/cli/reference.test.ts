/** Checks that docs/cli.md lists the program's commands. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commands, ownCommands } from './program.ts';

const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');

/** Returns the rows of a table as cells. */
function rowsUnder(title: string): readonly string[] {
  const [, table = ''] = page.split(new RegExp(`^\\| ${title} .*\\n\\|.*\\n`, 'm'));
  const rows = table.split('\n\n')[0]?.trimEnd().split('\n') ?? [];
  return rows.map((row) => row.replaceAll(/ +/g, ' '));
}

const row = (name: string, text: string): string =>
  `| \`${name.replaceAll('|', String.raw`\|`)}\` | ${text.replaceAll('|', String.raw`\|`)} |`;

test('the reference lists every resource with its verbs', () => {
  const verbs = new Map<string, string[]>();
  for (const { name } of commands()) {
    const [resource = '', verb] = name.split(' ');
    if (ownCommands.some((own) => own.name === name)) continue;
    verbs.set(resource, [...(verbs.get(resource) ?? []), ...(verb === undefined ? [] : [verb])]);
  }
  const expected = [...verbs].map(([resource, each]) => row(resource, each.join(', ')));
  expect(rowsUnder('Resource').toSorted()).toEqual(expected.toSorted());
});

test('the reference lists every other command with its arguments and purpose', () => {
  const expected = ownCommands.map((own) =>
    row(`${own.name} ${own.arguments}`.trim(), own.summary),
  );
  expect(rowsUnder('Command')).toEqual(expected);
});
