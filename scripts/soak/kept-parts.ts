/**
 * Checks the retained data of runs. Finds missing data that must be retained, and remaining data that must be removed.
 */

/** The parts of a run that the platform still stores. */
export interface RunParts {
  readonly run: string;
  /** Whether the log contains the line that the run wrote. */
  readonly hasLog: boolean;
  readonly artifacts: number;
  readonly hasParams: boolean;
}

export type Age = 'outdated' | 'recent';

/** Compares a run's remaining data with the data that must be retained. Parameters must be retained regardless of the
 *  run's age.
 *  @param artifacts the number of artifacts that the run stored
 *  @returns a sentence for each difference */
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
