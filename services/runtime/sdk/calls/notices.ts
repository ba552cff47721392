import { mustParse, parseNoticeId } from '#domain/kernel/ids.ts';
import { isStorable } from '#domain/kernel/json.ts';
import { noticeLevels } from '#domain/notice/events.ts';
import { systemContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import Type from 'typebox';
import { answered, refused, sdkCall, type SdkCalls } from '../call.ts';

/** The maximum number of notifications per run, so that a faulty script does not flood its users. */
const maxNotices = 100;

/** Calls that send notifications to the script's group. */
export function noticeCalls(commands: Commands, ids: Ids): SdkCalls {
  return {
    notify: sdkCall({
      arguments: Type.Object(
        {
          message: Type.String({ minLength: 1, maxLength: 2_000 }),
          level: Type.Enum([...noticeLevels]),
        },
        { additionalProperties: false },
      ),
      handle: async ({ message, level }, context) => {
        const { run, log } = context;
        if (!isStorable(message))
          return refused(
            'invalid_request',
            'The message contains a NUL character or an unpaired surrogate.',
          );
        if (!context.spend('notices', maxNotices)) {
          return refused('limit_reached', `A run may send at most ${maxNotices} messages.`);
        }
        const outcome = await commands.execute(
          {
            type: 'PostNotice',
            noticeId: mustParse(parseNoticeId, ids.next()),
            runId: run.runId,
            scriptId: run.scriptId,
            level,
            message: log.masked(message),
          },
          systemContext('runtime', ids.next(), run.correlationId),
        );
        return outcome.kind === 'accepted'
          ? answered()
          : refused('refused', 'The message could not be sent.');
      },
    }),
  };
}
