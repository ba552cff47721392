/** Completions for shells, made from the same table as the help. */
import type { Command } from '../command.ts';
import { exitCodes, usageProblem } from '../problem.ts';
import { globalOptions } from '../options.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** @param commands all of them, this one too */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    arguments: 'bash|zsh|fish',
    summary: 'print completions for a shell',
    examples: [
      ['completion bash > ~/.local/share/bash-completion/completions/orchestrator', 'for bash'],
      ['completion zsh > "${fpath[1]}/_orchestrator"', 'for zsh'],
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
  local word=\${COMP_WORDS[COMP_CWORD]} first=\${COMP_WORDS[1]} second=\${COMP_WORDS[2]}
  local words
  if [ "$COMP_CWORD" -eq 1 ]; then words='${firstWords(commands).join(' ')}'
  else case "$first $second" in
${cases(commands)}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _orchestrator orchestrator`,
    zsh: (commands) => `#compdef orchestrator
_orchestrator() {
  local -a candidates
  if (( CURRENT == 2 )); then candidates=(${firstWords(commands).join(' ')})
  else case "$words[2] $words[3]" in
${cases(commands).replaceAll(/words='([^']*)'/g, 'candidates=($1)')}
  esac; fi
  compadd -a candidates
  _files
}
compdef _orchestrator orchestrator`,
    fish: (commands) => `complete -c orchestrator -f
${firstWords(commands)
  .map(
    (word) =>
      `complete -c orchestrator -n __fish_use_subcommand -a ${word} -d '${summaryOf(commands, word)}'`,
  )
  .join('\n')}
${commands.flatMap(fishLines).join('\n')}`,
  };

function firstWords(commands: readonly Command[]): readonly string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
}

/** Of commands of two words the second; of each its options. */
function cases(commands: readonly Command[]): string {
  const lines = commands.map(
    ({ name, options }) =>
      `    ${name.includes(' ') ? `"${name}"` : `${name}\\ *`}) words='${optionWords(options).join(' ')}' ;;`,
  );
  const groups = firstWords(commands).flatMap((first) => {
    const seconds = commands.flatMap(({ name }) =>
      name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : [],
    );
    return seconds.length === 0 ? [] : [`    ${first}\\ *) words='${seconds.join(' ')}' ;;`];
  });
  return [...lines, ...groups].join('\n');
}

function optionWords(options: Command['options'] = {}): readonly string[] {
  return Object.keys({ ...options, ...globalOptions }).map((name) => `--${name}`);
}

function fishLines({ name, options, summary }: Command): readonly string[] {
  const [first, second] = name.split(' ');
  const given = `complete -c orchestrator -n '__fish_seen_subcommand_from ${first}`;
  const own = second === undefined ? [] : [`${given}' -a ${second} -d '${quoted(summary)}'`];
  const where =
    second === undefined ? `${given}'` : `${given}; and __fish_seen_subcommand_from ${second}'`;
  return [
    ...own,
    ...Object.entries(options ?? {}).map(
      ([option, { help, value }]) =>
        `${where} -l ${option}${value === undefined ? '' : ' -r'} -d '${quoted(help)}'`,
    ),
  ];
}

function summaryOf(commands: readonly Command[], first: string): string {
  const own = commands.find(({ name }) => name === first);
  const all = commands.flatMap(({ name }) =>
    name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : [],
  );
  return quoted(own?.summary ?? all.join(', '));
}

const quoted = (text: string) => text.replaceAll("'", "\\'");
