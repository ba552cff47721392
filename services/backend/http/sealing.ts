/** Handles encryption failures in requests that store a secret. */
import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import { problem, type Problem } from './problem.ts';

/** Runs `work`.
 *  @param what names the secret in messages, such as "The credential"
 *  @returns the result, or a problem if the data key was encrypted with another master key */
export async function sealing<T>(what: string, work: () => Promise<T>): Promise<T | Problem> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnreadableSecret)) throw error;
    return problem('unavailable', `${what} cannot be stored: ${error.message.replace(/\.$/, '')}.`);
  }
}
