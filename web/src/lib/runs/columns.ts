/** The optional columns of the run list. */
export const runColumns = [
  { key: 'started', title: 'Started', class: 'hidden md:table-cell' },
  { key: 'trigger', title: 'Trigger', class: 'hidden md:table-cell' },
  { key: 'who', title: 'Requested by', class: 'hidden lg:table-cell' },
  { key: 'version', title: 'Version', class: 'hidden lg:table-cell' },
  { key: 'memory', title: 'Peak memory', class: 'hidden xl:table-cell' },
  { key: 'cpu', title: 'CPU time', class: 'hidden xl:table-cell' },
  { key: 'exit', title: 'Exit code', class: 'hidden lg:table-cell' },
] as const;

export const defaultRunColumns = ['trigger', 'who'];
