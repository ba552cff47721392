/** The texts of notifications about approvals. */
import type { RunApprovalEvent } from './events.ts';

export function approvalNews({ type, data }: RunApprovalEvent) {
  const on = 'approval_requested';
  switch (type) {
    case 'RunApprovalRequested': {
      const until = `${data.expiresAt.slice(0, 16).replace('T', ' ')} UTC`;
      const message = `A run of version ${data.scriptVersion} requires an approval by ${until}.`;
      return { on, level: 'warning', message } as const;
    }
    case 'RunApproved':
      return { on, level: 'info', message: 'The run was approved.' } as const;
    case 'RunRejected':
      return { on, level: 'info', message: 'The run was rejected.' } as const;
    case 'RunApprovalExpired':
      return { on, level: 'info', message: 'The approval request expired.' } as const;
    case 'RunApprovalWithdrawn':
      return { on, level: 'info', message: 'The approval request was withdrawn.' } as const;
  }
}
