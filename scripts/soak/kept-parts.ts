/** Checks the retained data of runs: finds data that is missing although it must be retained, and data that exists
 *  although it must be deleted. */

/** The parts of a run that the platform still has. */
export interface RunParts {
  readonly run: string;
  /** Whether the log has the line that the run wrote. */
  readonly hasLog: boolean;
  readonly artifacts: number;
  readonly hasParams: boolean;
}

export type Age = 'outdated' | 'recent';

/** Compares the parts of a run with those that it must have. Every run must have its parameters, whatever its age.
 *  @param artifacts the number of artifacts that the run stored
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
