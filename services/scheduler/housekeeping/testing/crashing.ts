/** Runs a task repeatedly until it is complete. The first attempt crashes after one step, the second after two steps,
 *  and so on. */
import type { Queryable } from '#infra/postgres/database.ts';
import type { RemovableObjects } from '../objects.ts';

interface Parts {
  readonly database: Queryable;
  readonly objects: RemovableObjects;
}

/** Executes `duty` repeatedly. Each attempt crashes one step later than the previous attempt. A step is an SQL
 *  statement or the removal of an object.
 *  @returns the number of crashes */
export async function untilDone<P extends Parts>(
  parts: P,
  duty: (parts: P) => Promise<unknown>,
): Promise<number> {
  for (let steps = 1; ; steps += 1) {
    try {
      await duty(crashing(parts, steps));
      return steps - 1;
    } catch (error) {
      if (!(error instanceof SimulatedCrash)) throw error;
    }
  }
}

class SimulatedCrash extends Error {}

function crashing<P extends Parts>(parts: P, steps: number): P {
  let left = steps;
  // The step is executed, but its result is lost.
  const step = async <Result>(work: Promise<Result>): Promise<Result> => {
    const result = await work;
    left -= 1;
    if (left <= 0) throw new SimulatedCrash();
    return result;
  };
  const { database, objects } = parts;
  return {
    ...parts,
    database: { query: (text, values) => step(database.query(text, values)) },
    objects: {
      list: (prefix, options) => objects.list(prefix, options),
      delete: (key) => step(objects.delete(key)),
    },
  } satisfies P;
}
