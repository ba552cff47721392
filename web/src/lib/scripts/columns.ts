/** The optional columns of the script list. */
export const scriptColumns = [
  { key: 'group', title: 'Group', class: 'hidden sm:table-cell' },
  { key: 'state', title: 'State', class: 'hidden lg:table-cell' },
  { key: 'recent', title: 'Last 10 runs', class: 'hidden whitespace-nowrap md:table-cell' },
  { key: 'next', title: 'Next', class: 'hidden xl:table-cell' },
  { key: 'tags', title: 'Tags', class: 'hidden lg:table-cell' },
  { key: 'changed', title: 'Changed', class: 'hidden lg:table-cell' },
  { key: 'owner', title: 'Created by', class: 'hidden xl:table-cell' },
] as const;

export const defaultScriptColumns = ['group', 'state', 'recent', 'next'];
