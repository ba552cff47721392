/** Creates the approval request that is passed with commands that start runs or change scripts. */
import type { Clock } from '#domain/ports/clock.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { approvalSeconds, type ApprovalRequest } from '#domain/kernel/approval.ts';

/**
 * Creates an approval request from the caller. The approval request has no effect unless the script is protected.
 * Requests from webhooks and scripts name no requester.
 */
export function approvalRequest({ actor }: CommandContext, clock: Clock): ApprovalRequest {
  return {
    requestedBy: actor.kind === 'user' ? actor.userId : null,
    expiresAt: new Date(clock.now().getTime() + approvalSeconds * 1000).toISOString(),
  };
}
