/** The help texts of commands. */
import type { Command, Option } from './command.ts';
import { globalOptions } from './options.ts';

/** @param own the commands to list individually. Resources with generated commands follow, each with its verbs. */
export function overview(own: readonly Command[], all: readonly Command[]): string {
  const width = Math.max(...own.map(({ name }) => name.length));
  const resources = [
    ...new Set(all.filter((one) => !own.includes(one)).map(({ name }) => name.split(' ')[0] ?? '')),
  ];
  return `Usage: orchestrator COMMAND [ARGUMENTS] [OPTIONS]

Commands:
${own.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')}

Every operation of the API, as orchestrator RESOURCE VERB:
${resources
  .toSorted()
  .map((resource) => `  ${resource.padEnd(width)}  ${verbsOf(resource, all).join(', ')}`)
  .join('\n')}

orchestrator RESOURCE --help describes the verbs.

Options for every command:
${optionLines(globalOptions)}

Examples:
  orchestrator login http://127.0.0.1:8080
  orchestrator run "Nightly report" --follow

Environment variables: ORCHESTRATOR_URL and ORCHESTRATOR_TOKEN replace a sign-in; ORCHESTRATOR_PROFILE,
XDG_CONFIG_HOME and NO_COLOR are also supported.
Exit codes: 0 success, 1 problem or difference found, 64 wrong usage, 65 rejected by the platform, 66 not
found, 69 server not reachable, 77 not signed in or not allowed, 78 configuration not valid.
See docs/cli.md.`;
}

/** The help of a resource, which lists its commands. */
export function helpOfGroup(group: string, commands: readonly Command[]): string {
  const own = commands.filter(({ name }) => isIn(group, name));
  const width = Math.max(...own.map(({ name }) => name.length));
  return `orchestrator ${group} VERB [ARGUMENTS] [OPTIONS]

Commands:
${own.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')}

Examples:
${own
  .slice(0, 1)
  .map(({ name }) => `  # show the options\n  orchestrator ${name} --help`)
  .join('\n')}`;
}

/** The resource whose help is requested; undefined for commands. */
export function groupAsked(line: readonly string[], commands: readonly Command[]) {
  const words = line.filter((word) => !['help', '--help', '-h'].includes(word));
  const [group] = words;
  if (words.length === line.length || words.length !== 1 || group === undefined) return undefined;
  if (commands.some(({ name }) => name === group)) return undefined;
  return commands.some(({ name }) => isIn(group, name)) ? group : undefined;
}

const isIn = (group: string, name: string): boolean => name.startsWith(`${group} `);

function verbsOf(group: string, commands: readonly Command[]): readonly string[] {
  return commands
    .filter(({ name }) => isIn(group, name))
    .map(({ name }) => name.slice(group.length + 1));
}

export function helpOf(command: Command, all: readonly Command[]): string {
  const { name, arguments: args, summary, details, options = {}, examples } = command;
  const verbs = verbsOf(name, all).map((verb) => `${name} ${verb}`);
  const usage = ['orchestrator', name, args, '[OPTIONS]'].filter((word) => word !== '').join(' ');
  return `${usage}

${summary[0]?.toUpperCase()}${summary.slice(1)}.${details === undefined ? '' : `\n\n${wrapped(details)}`}

Options:
${optionLines({ ...options, ...globalOptions })}

Examples:
${examples.map(([line, what]) => `  # ${what}\n  orchestrator ${line}`).join('\n')}${verbs.length === 0 ? '' : `\n\n${wrapped(`Further commands, each with --help: ${verbs.join(', ')}.`)}`}`;
}

function optionLines(options: Readonly<Record<string, Option>>): string {
  const rows = Object.entries(options).map(
    ([name, { value, short, negatable, choices, help }]) => ({
      left: `${short === undefined ? '    ' : `-${short}, `}--${negatable ? '[no-]' : ''}${name}${value === undefined ? '' : ` ${value}`}`,
      help: `${help}${isNamed(choices, help) ? '' : `: ${choices?.join(', ')}`}`,
    }),
  );
  const width = Math.max(...rows.map(({ left }) => left.length));
  return rows.map(({ left, help }) => `  ${left.padEnd(width)}  ${help}`).join('\n');
}

function isNamed(choices: readonly string[] | undefined, help: string): boolean {
  return choices === undefined || choices.every((one) => help.includes(one));
}

const lineWidth = 100;

function wrapped(text: string): string {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length >= lineWidth) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}
