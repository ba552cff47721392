/** The permissions, written by hand from the product's contract. Only tests use this table. The permission tests
 *  compute the expected responses from it, and fail if an operation is missing. */
import type { Role } from '#domain/kernel/actor.ts';
import type { Scope } from '#domain/kernel/rights.ts';

export interface Entry {
  /** The required credential. `public`: none; `anyone`: a sign-in or an API token; `session`: a sign-in; `role`: a
   *  sign-in or a token with a permitted role. */
  readonly needs: 'public' | 'anyone' | 'session' | 'role';
  /** The permitted roles. `auditor` represents any account that may read the audit trail. */
  readonly roles: readonly (Role | 'auditor')[];
  /** Permitted scopes of API tokens, one of which is sufficient. */
  readonly scopes: readonly Scope[];
}

// Roles are abbreviated to their first letter: administrator, developer, operator, viewer. `+` stands for an auditor.
// Lists of scopes omit `*`, which includes all scopes. `any` stands for every scope. `none` means that a sign-in is
// required.
const table = `
-       public    login refreshToken health live ready metrics callWebhook openapi
-       public    listSdkProjects listSdkFiles downloadSdk
-       public    listSignInProviders startProviderSignIn finishProviderSignIn startProviderSignOut
-       public    endProviderSessions announcePush
-       anyone    me
-       session   logout createWsTicket listSessions revokeSession revokeOtherSessions changePassword
-       session   getSecondFactor createFactorKey enableSecondFactor replaceRecoveryCodes disableSecondFactor
-       session   createPasskeyOptions addPasskey renamePasskey removePasskey
-       public    createPasskeyChallenge

ADOV    scripts:read,scripts:write                    listScripts getScript listTemplates listExpectations
ADO     scripts:read,scripts:write                    listFiles getFile diffScript listScriptHistory getEnvironment
ADO     scripts:read,scripts:write                    diffApproval getApprovalFile
AD      scripts:write    createScript changeScript deleteScript undeleteScript copyScript importScript exportScript
AD      scripts:write    saveFile deleteFile moveFile rebuildEnvironment enableScript restoreScriptVersion
AD      scripts:write    rebaseApproval
ADO     scripts:write,runs:write                      disableScript

ADOV    scripts:read,scripts:write,schedules:write    listSchedules getSchedule listOccurrences previewSchedule
ADOV    scripts:read,scripts:write,schedules:write    dashboardFires
AD      schedules:write                               createSchedule changeSchedule deleteSchedule backfillSchedule

ADO     runs:write       runScript rerunRun stopRun stopScriptRuns
ADOV    runs:read,runs:write     listRuns listScriptRuns getRun listRunEvents explainRun traceRun readRunLogs
ADOV    runs:read,runs:write     listRunChanges
ADOV    runs:read,runs:write     readRunSamples listRunSpans listRelatedRuns listArtifacts getArtifact
ADOV    runs:read,runs:write     dashboardStats dashboardTimeseries dashboardNow dashboardOverview
ADOV    runs:read,runs:write     listApprovals getApproval
ADO     none             approveApproval rejectApproval
ADOV    runs:read,runs:write     listErrorGroups getErrorGroup listErrorGroupRuns
ADO     runs:write       changeErrorGroup
ADOV    runs:read,runs:write     listNotifications
ADOV    runs:write       readNotification readAllNotifications

AD      secrets:write    listSecrets setSecret deleteSecret
AD      secrets:write    listGroupSecrets setGroupSecret deleteGroupSecret
AD      secrets:write    listSecretStores getSecretStore
AD      webhooks:write   listWebhooks createWebhook getWebhook changeWebhook deleteWebhook rotateWebhook
AD      webhooks:write   listWebhookDeliveries readWebhookDelivery redeliverWebhook
AD      webhooks:write   listChains createChain getChain changeChain deleteChain listChainOccurrences

ADOV    any              listGroups getGroup systemInfo mcpInfo listRuntimes listPools getPool
ADOV    any              listCalendars getCalendar
ADOV    admin            listTokens revokeToken
ADOV    none             createToken
A       admin            createSecretStore changeSecretStore deleteSecretStore testSecretStore
A       admin            createGroup changeGroup deleteGroup
A       admin            listUsers createUser getUser changeUser
A       none             resetPassword resetSecondFactor listUserIdentities linkUserIdentity unlinkUserIdentity
A       none             listIdentityProviders createIdentityProvider getIdentityProvider changeIdentityProvider
A       none             deleteIdentityProvider tryClaims
A       admin            listUserSessions revokeUserSessions listUserTokens
A       admin            listChannels createChannel getChannel changeChannel deleteChannel testChannel
A       admin            rotateChannelSecret listRules createRule getRule changeRule deleteRule
A       admin            listNotificationDeliveries getNotificationDelivery redeliverNotification
A       admin            purgeScript pauseTriggers resumeTriggers getRetention changeRetention listSettings
A       admin            drainRuntime resumeRuntime createPool changePool deletePool
A       admin            createCalendar previewCalendar changeCalendar deleteCalendar
A       admin            exportConfiguration importConfiguration
A       admin            listRepositories createRepository getRepository changeRepository deleteRepository
A       admin            syncRepository listRepositoryCommits rotateRepositoryHook
A       admin            getUpdates checkUpdates applyUpdate rollBackUpdate discardRollback listUpdates
A       admin            getBackupSchedule changeBackupSchedule listBackups makeBackup getBackup downloadBackup
A       admin            uploadBackup verifyBackup restoreBackup deleteBackup

A+      audit:read       listAudit auditDensity listAuditValues listAuditHeads readAuditKey verifyAudit exportAudit
A+      audit:read       replay replayGroups replayUsers replayScripts replaySchedules replayWebhooks replayChains
A+      audit:read       replayRuns replayDifferences
`;

const letters: Readonly<Record<string, Role | 'auditor'>> = {
  A: 'administrator',
  D: 'developer',
  O: 'operator',
  V: 'viewer',
  '+': 'auditor',
};

/** The entry of each operation, by its ID. */
export const rightsSpecification: ReadonlyMap<string, Entry> = new Map(
  table
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [roles = '', needs = '', ...operationIds] = line.split(/ +/);
      const entry = roles === '-' ? unlisted(needs) : listed(roles, needs);
      return operationIds.map((operationId) => [operationId, entry] as const);
    }),
);

function unlisted(needs: string): Entry {
  return { needs: needs as Entry['needs'], roles: [], scopes: [] };
}

function listed(roles: string, scopes: string): Entry {
  return {
    needs: 'role',
    roles: roles.split('').map((letter) => letters[letter] ?? 'viewer'),
    scopes: scopes === 'none' ? [] : (['*', ...scopes.split(',')] as Scope[]),
  };
}

/** The sender of a request: the account and its kind of credential. */
export interface Caller {
  readonly role: Role;
  readonly isAuditor: boolean;
  /** The scope of the API token. Absent for a sign-in. */
  readonly scope?: Scope;
}

/** The status if the caller lacks a right; `undefined` if the caller is permitted.
 *  @param caller `undefined` for an unauthenticated request */
export function refusalFor(
  { needs, roles, scopes }: Entry,
  caller: Caller | undefined,
): 401 | 403 | undefined {
  if (needs === 'public') return undefined;
  if (caller === undefined) return 401;
  if (needs === 'anyone') return undefined;
  const { role, isAuditor, scope } = caller;
  if (needs === 'session') return scope === undefined ? undefined : 403;
  const isRole = roles.includes(role) || (isAuditor && roles.includes('auditor'));
  const isScope = scope === undefined || scopes.includes(scope) || scopes.includes('any' as Scope);
  return isRole && isScope ? undefined : 403;
}
