/** The retention of run data (contract §3, "Configuration"). Events are never deleted. */

/** The kinds of run data that can be deleted after the run. `payloads` are the parameters and the webhook request. */
export const removableKinds = ['logs', 'samples', 'artifacts', 'payloads'] as const;
export type RemovableKind = (typeof removableKinds)[number];

/** Days after the end of a run, at least 1. `null` means forever. */
export interface Retention {
  readonly logsDays: number | null;
  readonly samplesDays: number | null;
  readonly artifactsDays: number | null;
  readonly payloadsDays: number | null;
}

export const keepEverything: Retention = {
  logsDays: null,
  samplesDays: null,
  artifactsDays: null,
  payloadsDays: null,
};

/** The maximum retention is 100 years. */
export const maxRetentionDays = 36_500;
