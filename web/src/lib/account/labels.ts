import type { Role, Scope } from '#lib/api/types.ts';

/** Each scope's label, and the right that a user needs to create a token with this scope. */
export const scopeLabels: Record<Scope, { words: string; right: string }> = {
  'scripts:read': { words: 'Read scripts, their files and schedules', right: 'scripts.list' },
  'scripts:write': { words: 'Create, edit and delete scripts', right: 'scripts.write' },
  'runs:read': { words: 'Read runs and their logs', right: 'runs.read' },
  'runs:write': { words: 'Start and stop runs', right: 'runs.start' },
  'schedules:write': { words: 'Create, edit and delete schedules', right: 'schedules.write' },
  'webhooks:write': { words: 'Create, edit and delete webhooks', right: 'webhooks.manage' },
  'secrets:write': { words: 'Set and delete secrets', right: 'secrets.manage' },
  'audit:read': { words: 'Read the audit trail', right: 'audit.read' },
  admin: { words: 'Manage users, groups and the system', right: 'system.manage' },
  '*': { words: 'Everything you are allowed to do', right: 'tokens.manage' },
};

export const scopes = Object.keys(scopeLabels) as Scope[];

/** What each role may do within its groups. */
export const roleLabels: Record<Role, string> = {
  administrator: 'Full access to all groups',
  developer: 'Edits scripts, schedules, webhooks and secrets; starts and stops runs',
  operator: 'Views scripts and logs; starts and stops runs; disables scripts',
  viewer: 'Views scripts, runs and logs, but not code',
};

export const roles = Object.keys(roleLabels) as Role[];

interface Rights {
  role: Role;
  can_audit: boolean;
  disabled: boolean;
}

/** A sentence that describes the user's effective rights. @param groups the names of the user's groups */
export function effectiveRights(
  { role, can_audit: canAudit, disabled }: Rights,
  groups: readonly string[],
): string {
  if (disabled) return 'No access: the account is disabled.';
  if (role === 'administrator') return `${roleLabels.administrator} and to the audit trail.`;
  const audit = canAudit ? ' Reads the audit trail of the entire platform.' : '';
  if (groups.length === 0) return `No script access: not in any group.${audit}`;
  return `${roleLabels[role]}. Only in ${list(groups)}.${audit}`;
}

function list(names: readonly string[]): string {
  return new Intl.ListFormat('en').format(names);
}
