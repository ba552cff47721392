import { ApiError } from '#lib/api/api-error.ts';

/** The state of a user action: whether it is in progress, and the error of the last attempt. */
export class Action {
  busy = $state(false);
  /** The error of the last attempt, or null if it succeeded. */
  failure = $state.raw<unknown>(null);

  /** Runs `work`, unless the action is already in progress. @returns whether it succeeded */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.failure = null;
    try {
      await work();
      return true;
    } catch (error) {
      this.failure = error;
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** Returns the server's error for the body field at a JSON pointer such as `/name`. */
  fieldError(pointer: string): string | undefined {
    return this.failure instanceof ApiError ? this.failure.fieldError(pointer) : undefined;
  }

  forget(): void {
    this.failure = null;
  }
}
