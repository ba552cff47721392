/** Retention of run data (contract §3, "Configuration"). Events are never deleted. */

/** Data of a finished run that can be deleted. `payloads` are the parameters and the webhook request. */
export const removableKinds = ['logs', 'samples', 'artifacts', 'payloads'] as const;
export type RemovableKind = (typeof removableKinds)[number];

/** Days from the end of a run, from 1; `null`: forever. */
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

/** The maximum retention: a hundred years. */
export const maxRetentionDays = 36_500;
