import { ApiError } from '#lib/api/api-error.ts';

/** Something that a person asked for: whether it is under way, and why it failed. */
export class Action {
  busy = $state(false);
  /** Why the last attempt failed; null while none has. */
  failure = $state.raw<unknown>(null);

  /** One attempt; none is made while another is under way. @returns whether it worked */
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

  /** What the server says of one body field, by its JSON pointer such as `/name`. */
  fieldError(pointer: string): string | undefined {
    return this.failure instanceof ApiError ? this.failure.fieldError(pointer) : undefined;
  }

  forget(): void {
    this.failure = null;
  }
}
