/** How long what hangs on runs is kept (contract §3, "Configuration"). Events are kept for ever. */

/** What can be removed of a run that has ended. `payloads` are its parameters and, where a webhook made
 *  it, the body. */
export const removableKinds = ['logs', 'samples', 'artifacts', 'payloads'] as const;
export type RemovableKind = (typeof removableKinds)[number];

/** Days from the end of a run, from 1; `null` keeps them for ever. */
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

/** A hundred years. */
export const maxRetentionDays = 36_500;
