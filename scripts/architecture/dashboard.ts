/** The layer folders in `web/src/lib`, with the folders that each of them may import. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  api: [],
  ui: ['api'],
  session: ['api', 'ui'],
  // `live` may import runs and scripts, because messages of the change feed update their cached data.
  live: ['api', 'ui', 'runs/api.ts', 'scripts/api.ts'],
};

/** The folders for one page or concern. Each may import all layers, and the folders listed here. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  account: [],
  approvals: ['runs', 'scripts'],
  audit: [],
  backups: [],
  calendars: [],
  chains: ['audit', 'runs', 'scripts'],
  configuration: [],
  dashboard: ['preferences', 'runs'],
  errors: ['runs', 'scripts'],
  'identity-providers': ['account', 'session'],
  models: [],
  notifications: ['runs', 'scripts'],
  people: ['account', 'audit', 'scripts'],
  pools: [],
  preferences: [],
  repositories: ['configuration'],
  replay: ['audit', 'runs', 'scripts'],
  runs: ['audit', 'preferences', 'scripts'],
  schedules: ['audit', 'calendars', 'runs', 'scripts', 'system'],
  'script-overview': ['chains', 'runs', 'schedules', 'webhooks'],
  scripts: ['audit', 'preferences', 'runs'],
  'secret-stores': [],
  secrets: ['secret-stores'],
  shell: ['notifications', 'runs', 'scripts', 'system'],
  system: [],
  updates: [],
  webhooks: ['audit'],
};

/** Each folder in `web/src/lib`, with the paths that its code may import. */
export const DASHBOARD_FOLDERS: ReadonlyMap<string, readonly string[]> = new Map(
  [
    ...Object.entries(LAYERS),
    ...Object.entries(PAGES).map(
      ([page, others]) => [page, [...Object.keys(LAYERS), ...others]] as const,
    ),
  ].map(([folder, others]) => [inLib(folder), [folder, ...others].map(inLib)]),
);

function inLib(path: string): string {
  return `web/src/lib/${path}`;
}
