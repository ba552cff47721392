import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { mustParse, parseGroupId } from '#domain/kernel/ids.ts';
import type { NoticeCommand } from './commands.ts';
import type { NoticeEvent } from './events.ts';
import { evolveNotice, initialNotice, type NoticeState } from './state.ts';

export interface NoticeDecisionFacts {
  /** The group of the notice's script. `undefined` if the script does not exist. */
  readonly groupId: string | undefined;
}

export function decideNotice(
  state: NoticeState,
  command: NoticeCommand,
  { groupId }: NoticeDecisionFacts,
): Decision<NoticeEvent> {
  switch (command.type) {
    case 'PostNotice': {
      if (state.status !== 'absent') return accept();
      const { type: _, ...data } = command;
      if (command.scriptId === null) {
        return accept({
          type: 'NoticePosted',
          data: { ...data, groupId: command.groupId ?? null },
        });
      }
      if (groupId === undefined) return refuse('not_found', 'Script not found.');
      return accept({
        type: 'NoticePosted',
        data: { ...data, groupId: command.groupId ?? mustParse(parseGroupId, groupId) },
      });
    }
  }
}

export const noticeAggregate: Aggregate<
  NoticeState,
  NoticeCommand,
  NoticeEvent,
  NoticeDecisionFacts
> = {
  streamType: 'notice',
  commands: { PostNotice: true },
  events: { NoticePosted: true },
  initial: initialNotice,
  evolve: evolveNotice,
  stateVersion: 1,
  decide: decideNotice,
  streamOf: (command) => `notice-${command.noticeId}`,
  guards: () => [],
  readFacts: async ({ scriptId }, reads) => ({
    groupId: scriptId === null ? undefined : (await reads.script(scriptId))?.groupId,
  }),
};
