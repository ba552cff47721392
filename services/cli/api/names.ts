/** Names of commands, derived from operations: `RESOURCE VERB`, such as `schedules create`. */

/** Resources that are not named after the first word of their path. The longest matching prefix applies. */
const resources: readonly (readonly [prefix: string, resource: string])[] = [
  ['/api/v1/auth/tokens', 'tokens'],
  ['/api/v1/auth', 'account'],
  ['/api/v1/scripts/{id}/secrets', 'secrets'],
  ['/api/v1/scripts/{id}/files', 'files'],
  ['/api/v1/groups/{id}/secrets', 'secrets'],
  ['/api/v1/runs/{run_id}/artifacts', 'artifacts'],
  ['/api/v1/notifications/channels', 'channels'],
  ['/api/v1/notifications/rules', 'rules'],
  ['/api/v1/secret-stores', 'stores'],
  ['/api/v1/system/config', 'configuration'],
  ['/api/v1/system/updates', 'updates'],
  ['/api/v1/system/retention', 'retention'],
];

/** Operations with a handwritten command name. */
const renamed: Readonly<Record<string, string>> = {
  undeleteScript: 'scripts restore',
  makeBackup: 'backups create',
  listErrorGroups: 'errors list',
  getErrorGroup: 'errors get',
  changeErrorGroup: 'errors change',
  listErrorGroupRuns: 'errors list-runs',
  listSecretStores: 'stores list',
  createSecretStore: 'stores create',
  getSecretStore: 'stores get',
  changeSecretStore: 'stores change',
  deleteSecretStore: 'stores delete',
  testSecretStore: 'stores test',
  listIdentityProviders: 'providers list',
  createIdentityProvider: 'providers create',
  getIdentityProvider: 'providers get',
  changeIdentityProvider: 'providers change',
  deleteIdentityProvider: 'providers delete',
  tryClaims: 'providers try-claims',
  listRepositories: 'repositories list',
  createRepository: 'repositories create',
  getRepository: 'repositories get',
  changeRepository: 'repositories change',
  deleteRepository: 'repositories delete',
  syncRepository: 'repositories sync',
  listRepositoryCommits: 'repositories list-commits',
  rotateRepositoryHook: 'repositories rotate-hook',
};

/** Operations without a derived command, each with the reason. */
export const withoutCommand: Readonly<Record<string, string>> = {
  login: '`login` signs in and stores an API token instead of a session',
  refreshToken: 'sessions are for browsers; commands use API tokens',
  createPasskeyChallenge: 'only browsers can use passkeys',
  logout: '`logout` revokes the API token of the profile',
  listSignInProviders: 'the sign-in page of the dashboard shows the providers',
  endProviderSessions: 'the identity provider sends a signed token',
  createWsTicket: 'tickets open the WebSockets of browsers; `logs -f` follows a run',
  verifyAudit: '`audit verify` shows progress and exits with 1 if the trail is broken',
  listUpdates: '`updates list` shows the history',
  discardRollback: '`updates discard` sends the same request',
  rollBackUpdate: '`updates rollback` takes the same option',
  announcePush: 'the Git server signs each call',
  callWebhook: 'the token in the URL authenticates another system; use curl instead',
};

/** Derives the name of a command: the resource, followed by the operation's ID without the resource. */
export function nameOf(operationId: string, path: string, tag: string): string {
  const own = renamed[operationId];
  if (own !== undefined) return own;
  const resource = resourceOf(path, tag);
  const words = kebab(operationId).split('-');
  const verb = words.filter((word) => word !== resource && `${word}s` !== resource).join('-');
  return verb === '' ? resource : `${resource} ${verb}`;
}

function resourceOf(path: string, tag: string): string {
  const [listed] = resources
    .filter(([prefix]) => path.startsWith(prefix))
    .toSorted(([one], [other]) => other.length - one.length);
  if (listed !== undefined) return listed[1];
  return /^\/api\/v1\/([a-z]+)/.exec(path)?.[1] ?? tag.toLowerCase();
}

/** Derives the option of a field or header: `interval_seconds` becomes `interval-seconds`, and `script_id` becomes
 *  `script`. */
export function optionNameOf(field: string): string {
  return kebab(field.replace(/_ids?$/, ''));
}

/** The positional argument for a path parameter, such as `SCRIPT` or `PATH`. */
export function argumentNameOf(field: string, path: string): string {
  if (field === 'id') return /\/([a-z]+?)s?\/\{id\}/.exec(path)?.[1]?.toUpperCase() ?? 'ID';
  return optionNameOf(field).toUpperCase();
}

const kebab = (text: string): string =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
