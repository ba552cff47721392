/** Shell completions, generated from the same table as the help. */
import type { Command, Option } from '../command.ts';
import { exitCodes, usageProblem } from '../problem.ts';
import { globalOptions } from '../options.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** @param commands all commands, including this one */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    arguments: 'bash|zsh|fish',
    summary: 'print completions for a shell',
    examples: [
      ['completion bash > ~/.local/share/bash-completion/completions/orchestrator', 'for bash'],
      ['completion zsh > ~/.zfunc/_orchestrator', 'for zsh, with fpath+=~/.zfunc before compinit'],
      ['completion fish > ~/.config/fish/completions/orchestrator.fish', 'for fish'],
    ],
    run: ({ args, terminal }) => {
      const shell = shells.find((one) => one === args[0]);
      if (shell === undefined || args.length !== 1)
        throw usageProblem('Expected bash, zsh or fish.');
      terminal.line(scripts[shell](commands()));
      return Promise.resolve(exitCodes.done);
    },
  };
}

const scripts: Readonly<Record<(typeof shells)[number], (commands: readonly Command[]) => string>> =
  {
    bash: (commands) => `_orchestrator() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  local first=\${COMP_WORDS[1]} second=\${COMP_WORDS[2]} words
  if [ "$COMP_CWORD" -eq 1 ]; then words='${commandNames(commands).join(' ')}'
  else case "$first $second $before" in
${cases(commands)}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _orchestrator orchestrator`,
    // zsh loads the file on the first completion, and expects the candidates from the same call.
    zsh: (commands) => `#compdef orchestrator
_orchestrator() {
  local -a candidates
  if (( CURRENT == 2 )); then candidates=(${commandNames(commands).join(' ')})
  else case "$words[2] $words[3] $words[CURRENT-1]" in
${cases(commands).replaceAll(/words='([^']*)'/g, 'candidates=($1)')}
  esac; fi
  compadd -a candidates || _files
}
if [[ $funcstack[1] == _orchestrator ]]; then _orchestrator "$@"
else compdef _orchestrator orchestrator; fi`,
    fish: (commands) =>
      [
        ...commandNames(commands).map(
          (word) =>
            `complete -c orchestrator -n __fish_use_subcommand -f -a ${word} -d '${summaryOf(commands, word)}'`,
        ),
        ...Object.entries(globalOptions).map(([name, option]) => fishOption('', name, option)),
        ...commands.flatMap(fishLines),
      ].join('\n'),
  };

function commandNames(commands: readonly Command[]): readonly string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
}

/** Generates the `case` that selects the candidates by the command and the previous word: the values of an option, the
 *  options of the command, or the second word of a two-word command. The first match applies. */
function cases(commands: readonly Command[]): string {
  // Puts two-word commands before commands that have only the same first word.
  const ordered = commands.toSorted(
    (one, other) => Number(other.name.includes(' ')) - Number(one.name.includes(' ')),
  );
  const values = ordered.flatMap(({ name, options }) =>
    optionsOf(options).flatMap(([option, { choices = [], short }]) =>
      choices.length === 0
        ? []
        : [`--${option}`, ...(short === undefined ? [] : [`-${short}`])].map(
            (word) => `    ${pattern(name)}${word}) words='${choices.join(' ')}' ;;`,
          ),
    ),
  );
  const own = ordered.map(
    ({ name, options }) => `    ${pattern(name)}*) words='${optionNames(options).join(' ')}' ;;`,
  );
  const groups = commandNames(commands).flatMap((first) => {
    const seconds = commands.flatMap(({ name }) =>
      name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : [],
    );
    const alone = commands.find(({ name }) => name === first);
    const words = [...seconds, ...(alone === undefined ? [] : optionNames(alone.options))];
    return seconds.length === 0
      ? []
      : [`    ${first}\\ *\\ ${first}) words='${words.join(' ')}' ;;`];
  });
  return [...groups, ...values, ...own].join('\n');
}

/** The `case` pattern of a command line up to the previous word. */
function pattern(name: string): string {
  return name.includes(' ') ? `${name.replace(' ', '\\ ')}\\ ` : `${name}\\ *\\ `;
}

function optionNames(options: Command['options']): readonly string[] {
  return optionsOf(options).flatMap(([name, { negatable }]) =>
    negatable ? [`--${name}`, `--no-${name}`] : [`--${name}`],
  );
}

function optionsOf(options: Command['options'] = {}): readonly (readonly [string, Option])[] {
  return Object.entries({ ...options, ...globalOptions });
}

function fishLines({ name, options = {}, summary }: Command): readonly string[] {
  const [first, second] = name.split(' ');
  const seen = `__fish_seen_subcommand_from ${first}`;
  const where = second === undefined ? seen : `${seen}; and __fish_seen_subcommand_from ${second}`;
  const own = `complete -c orchestrator -n '${seen}; and test (count (commandline -opc)) -eq 2' -f -a ${second} -d '${quoted(summary)}'`;
  return [
    ...(second === undefined ? [] : [own]),
    ...Object.entries(options).flatMap(([option, one]) => [
      fishOption(where, option, one),
      ...(one.negatable ? [fishOption(where, `no-${option}`, one)] : []),
    ]),
  ];
}

/** @param where the condition for the completion; empty if it always applies */
function fishOption(where: string, name: string, { short, value, choices, help }: Option): string {
  return [
    'complete -c orchestrator',
    where && `-n '${where}'`,
    `-l ${name}`,
    short === undefined ? '' : `-s ${short}`,
    value === undefined ? '' : '-r',
    choices === undefined ? '' : `-f -a '${choices.join(' ')}'`,
    `-d '${quoted(help)}'`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function summaryOf(commands: readonly Command[], first: string): string {
  const own = commands.find(({ name }) => name === first);
  const all = commands.flatMap(({ name }) =>
    name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : [],
  );
  return quoted(own?.summary ?? all.join(', '));
}

const quoted = (text: string) => text.replaceAll("'", "\\'");
