import type { Approval } from './types.ts';

/** Thrown when the script is protected. The action is waiting for approval and has had no effect yet. */
export class ApprovalRequested extends Error {
  readonly approval: Approval;

  constructor(approval: Approval) {
    super('Your change is waiting for approval.');
    this.approval = approval;
  }
}

/** @throws ApprovalRequested if the response is an approval request instead of the changed resource */
export function refuseRequested(status: number, body: unknown): void {
  const isRequest =
    status === 202 &&
    typeof body === 'object' &&
    body !== null &&
    'kind' in body &&
    body.kind === 'save';
  if (isRequest) throw new ApprovalRequested(body as unknown as Approval);
}
