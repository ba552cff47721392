/** Requests that store a secret. */
import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import { problem, type Problem } from './problem.ts';

/** The result of `work`, or a problem if it cannot encrypt, because its data key belongs to another master key.
 *  @param what the subject of the message, such as "The credential" */
export async function sealing<T>(what: string, work: () => Promise<T>): Promise<T | Problem> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnreadableSecret)) throw error;
    return problem('unavailable', `${what} cannot be stored: ${error.message.replace(/\.$/, '')}.`);
  }
}
