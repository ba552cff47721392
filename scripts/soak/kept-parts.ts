/** Checks the retained data of runs: finds data that is missing although it must be retained, and data that exists
 *  although it must be deleted. */

/** Parts of a run that the platform returns. */
export interface RunParts {
  readonly run: string;
  /** Whether the log has the line that the run wrote. */
  readonly hasLog: boolean;
  readonly artifacts: number;
  readonly hasParams: boolean;
}

export type Age = 'outdated' | 'recent';

/** @param artifacts number that each run stored. Parameters of runs of any age are within their retention.
 *  @returns a sentence for each wrong part */
export function wrongParts(age: Age, found: RunParts, artifacts: number): readonly string[] {
  const isKept = age === 'recent';
  const verb = isKept ? 'lost' : 'still has';
  return [
    ...(found.hasLog === isKept ? [] : [`${age} run ${found.run} ${verb} its log`]),
    ...(found.artifacts === (isKept ? artifacts : 0)
      ? []
      : [`${age} run ${found.run} has ${found.artifacts} artifacts`]),
    ...(found.hasParams ? [] : [`${age} run ${found.run} lost its parameters`]),
  ];
}
