import type { Reaction } from './reaction.ts';
import { whenAlarmPostNotice } from './when-alarm-post-notice.ts';
import { whenApprovalChangedPostNotice } from './when-approval-changed-post-notice.ts';
import { whenErrorRecursReopenGroup } from './when-error-recurs-reopen-group.ts';
import { whenExpectationChangedPostNotice } from './when-expectation-changed-post-notice.ts';
import { whenGroupDeletedLeave } from './when-group-deleted-leave.ts';
import { whenRepositoryFailsPostNotice } from './when-repository-fails-post-notice.ts';
import { whenRotationDuePostNotice } from './when-rotation-due-post-notice.ts';
import { whenRunFinishedStartChained } from './when-run-finished-start-chained.ts';
import { whenRunFailedPostNotice } from './when-run-failed-post-notice.ts';
import { whenRunFailedRetry } from './when-run-failed-retry.ts';
import { whenScriptWithdrawnStopRuns } from './when-script-withdrawn-stop-runs.ts';
import { whenSomethingHappenedDeliver } from './when-something-happened-deliver.ts';

/** All reactions of the platform. */
export const reactions: readonly Reaction[] = [
  whenScriptWithdrawnStopRuns,
  whenRunFailedRetry,
  whenRunFinishedStartChained,
  whenRunFailedPostNotice,
  whenErrorRecursReopenGroup,
  whenAlarmPostNotice,
  whenExpectationChangedPostNotice,
  whenRotationDuePostNotice,
  whenRepositoryFailsPostNotice,
  whenApprovalChangedPostNotice,
  whenSomethingHappenedDeliver,
  whenGroupDeletedLeave,
];
