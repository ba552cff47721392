/** Parses the command line against the table of commands. */
import { parseArgs } from 'node:util';
import { nearest } from '#services/shared/nearest.ts';
import { Options, type Command, type Option } from './command.ts';
import { usageProblem } from './problem.ts';

/** Options that every command has. */
export const globalOptions: Readonly<Record<string, Option>> = {
  profile: { value: 'NAME', help: 'server to use, by profile name' },
  output: {
    value: 'FORMAT',
    short: 'o',
    help: 'table, or json for programs',
    choices: ['table', 'json'],
  },
  json: { help: 'the same as --output json' },
  help: { short: 'h', help: 'show help' },
};

export interface Parsed {
  readonly command: Command;
  readonly args: readonly string[];
  readonly options: Options;
}

/** @returns undefined if only general help is requested
 *  @throws CommandProblem */
export function parseLine(
  line: readonly string[],
  commands: readonly Command[],
): Parsed | undefined {
  const [first = '', second = ''] = line;
  if (['', '-h', '--help', 'help'].includes(first)) {
    return first === 'help' && second !== ''
      ? parseLine([...line.slice(1), '--help'], commands)
      : undefined;
  }
  const command =
    commands.find(({ name }) => name === `${first} ${second}`) ??
    commands.find(({ name }) => name === first);
  if (command === undefined) throw unknownCommand(first, commands);
  const given = { ...command.options, ...globalOptions };
  const rest = line.slice(command.name.split(' ').length);
  try {
    const { values, positionals } = parseArgs({
      args: [...rest],
      allowPositionals: true,
      allowNegative: true,
      options: Object.fromEntries(
        Object.entries(given).map(([name, one]) => [name, parserOf(one)]),
      ),
    });
    checkChoices(values, given);
    return { command, args: positionals, options: new Options(values) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const [reason = ''] = error.message.split('. To specify');
    throw usageProblem(`${reason.replace(/\.$/, '')}. See: orchestrator ${command.name} --help`);
  }
}

function parserOf({ value, short, multiple = false }: Option) {
  return {
    type: value === undefined ? ('boolean' as const) : ('string' as const),
    multiple,
    ...(short !== undefined && { short }),
  };
}

function checkChoices(
  values: Readonly<Record<string, unknown>>,
  options: Readonly<Record<string, Option>>,
): void {
  for (const [name, { choices }] of Object.entries(options)) {
    const value = values[name];
    if (choices === undefined || typeof value !== 'string') continue;
    if (value.split(',').every((one) => choices.includes(one))) continue;
    throw usageProblem(`--${name} is "${value}": expected one of ${choices.join(', ')}.`);
  }
}

function unknownCommand(first: string, commands: readonly Command[]) {
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length > 0) {
    return usageProblem(
      `Expected one of: ${group.map(({ name }) => `orchestrator ${name}`).join(', ')}.`,
    );
  }
  const words = commands.map(({ name }) => name.split(' ')[0] ?? name);
  const meant = nearest(first, words);
  return usageProblem(`Unknown command "${first}". Did you mean: orchestrator ${meant}?`);
}
