/** The tags by which the API description groups operations. */
export const tagDescriptions = {
  Authentication: 'Sign-in, sessions, and the caller’s own account.',
  'API tokens': 'Tokens for programs, each with scopes and an expiry date.',
  Scripts: 'Scripts with their settings, history, archives and environments.',
  Secrets: 'Encrypted values for scripts, available through the SDK and as environment variables.',
  Schedules: 'Cron and interval schedules, their next runs and the history of their due times.',
  Files: 'The files of a script. Each change creates a new version.',
  Runs: 'Executions of scripts, with their logs, resource usage, artifacts and upstream runs.',
  Groups: 'Groups control access to scripts and their runs.',
  Notifications: 'The inbox, and notification channels, rules and deliveries.',
  Users: 'Accounts, their roles, sessions and tokens.',
  Repositories: 'Git repositories that provide scripts and configuration.',
  'Identity providers': 'Single sign-on with OpenID Connect.',
  Audit: 'The audit trail: search, verification, export and replay.',
  System: 'Health, metrics, settings, updates, retention and dashboard statistics.',
  Backups: 'Backups, their schedule, verification and download.',
  Webhooks: 'URLs that start a script, and the history of their calls.',
  Chains: 'Runs that start when a run of another script ends.',
  SDK: 'The Python package `orchestrator` as a package index.',
} as const;

/** A tag of the API. */
export type Tag = keyof typeof tagDescriptions;
