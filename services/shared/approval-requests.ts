/** Describes requests for approval, for commands that start runs or change scripts. */
import type { Clock } from '#domain/ports/clock.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { approvalSeconds, type ApprovalRequest } from '#domain/kernel/approval.ts';

/** The request for an approval by the caller. It is used only if the script is protected. Webhooks and scripts have no
 *  requester. */
export function approvalRequest({ actor }: CommandContext, clock: Clock): ApprovalRequest {
  return {
    requestedBy: actor.kind === 'user' ? actor.userId : null,
    expiresAt: new Date(clock.now().getTime() + approvalSeconds * 1000).toISOString(),
  };
}
