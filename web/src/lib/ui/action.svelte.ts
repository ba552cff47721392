import { ApiError } from '#lib/api/api-error.ts';

/** A user action: whether it is in progress, and why it failed. */
export class Action {
  busy = $state(false);
  /** Why the last attempt failed; null without a failure. */
  failure = $state.raw<unknown>(null);

  /** Performs one attempt, unless another is in progress. @returns whether it succeeded */
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

  /** The server's error for a body field, by its JSON pointer such as `/name`. */
  fieldError(pointer: string): string | undefined {
    return this.failure instanceof ApiError ? this.failure.fieldError(pointer) : undefined;
  }

  forget(): void {
    this.failure = null;
  }
}
