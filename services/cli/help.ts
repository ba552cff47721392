/** How commands are used, as text. */
import type { Command, Option } from './command.ts';
import { globalOptions } from './options.ts';

export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return `Usage: orchestrator COMMAND [ARGUMENTS] [OPTIONS]

Commands:
${commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')}

Options of every command:
${optionLines(globalOptions)}

Examples:
  orchestrator login http://127.0.0.1:8080
  orchestrator run "Nightly report" --follow

Variables: ORCHESTRATOR_URL and ORCHESTRATOR_TOKEN in the place of a sign-in, ORCHESTRATOR_PROFILE,
XDG_CONFIG_HOME, NO_COLOR.
Ends with 0 when it is done, 1 when something is not as it should be, 64 for a wrong command line, 65 when
the platform refuses, 66 when something is not there, 69 when the server does not answer, 77 when nobody is
signed in or the role does not allow it, 78 for a configuration that cannot be used. docs/cli.md has all.`;
}

export function helpOf(command: Command): string {
  const { name, arguments: args, summary, details, options = {}, examples } = command;
  const usage = ['orchestrator', name, args, '[OPTIONS]'].filter((word) => word !== '').join(' ');
  return `${usage}

${summary[0]?.toUpperCase()}${summary.slice(1)}.${details === undefined ? '' : `\n\n${wrapped(details)}`}

Options:
${optionLines({ ...options, ...globalOptions })}

Examples:
${examples.map(([line, what]) => `  # ${what}\n  orchestrator ${line}`).join('\n')}`;
}

function optionLines(options: Readonly<Record<string, Option>>): string {
  const rows = Object.entries(options).map(([name, { value, short, help }]) => ({
    left: `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    help,
  }));
  const width = Math.max(...rows.map(({ left }) => left.length));
  return rows.map(({ left, help }) => `  ${left.padEnd(width)}  ${help}`).join('\n');
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
