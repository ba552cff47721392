/** Executes transactions: commands are queued after MULTI, and EXEC runs them in order. As in Redis, a failed command
 *  rolls nothing back. Other clients' commands may run in between, because several processes serve the queue. */
import { isJobDelivery, type Answer, type Command, type JobDelivery } from './command.ts';
import { encode, failure, status, type Reply } from './resp/replies.ts';
import { authenticatedLimits, type Request } from './resp/requests.ts';
import type { Session, Transaction } from './session.ts';

const maxQueued = 1024;
const maxReplyBytes = 4 * 1024 * 1024;

const tooLarge = failure(
  `ERR a transaction may contain at most ${maxQueued} commands and 4 MiB of arguments in total`,
);
const repliesTooLarge = failure(
  'ERR not executed: the replies of the transaction exceed 4 MiB; split the transaction',
);

/** Queues a command for EXEC. */
export function queue(request: Request, command: Command, transaction: Transaction): Reply {
  const bytes = request.reduce((sum, { length }) => sum + length, transaction.bytes);
  const isFull =
    transaction.queued.length >= maxQueued || bytes > authenticatedLimits.maxCommandBytes;
  if (isFull || command.transaction === 'refused') {
    transaction.isBroken = true;
    return isFull ? tooLarge : failure('ERR Command not allowed inside a transaction');
  }
  transaction.queued.push(request);
  transaction.bytes = bytes;
  return status('QUEUED');
}

/** Executes the queued commands. @returns an array of all replies */
export async function executeQueued(
  { queued, isBroken }: Transaction,
  session: Session,
  execute: (request: Request) => Promise<Answer>,
): Promise<Answer> {
  if (isBroken) {
    return failure('EXECABORT Transaction discarded because of previous errors.');
  }
  const replies: Reply[] = [];
  const deliveries: JobDelivery[] = [];
  let bytes = 0;
  for (const request of queued) {
    if (bytes > maxReplyBytes) {
      replies.push(repliesTooLarge);
      continue;
    }
    const answer = await execute(request);
    if (isJobDelivery(answer)) deliveries.push(answer);
    const reply = isJobDelivery(answer) ? answer.reply : answer;
    bytes += encode(reply, session.protocol).length;
    replies.push(reply);
  }
  if (deliveries.length === 0) return replies;
  return {
    kind: 'delivery',
    reply: replies,
    withinMs: Math.min(...deliveries.map(({ withinMs }) => withinMs)),
    settle: async (sent) => {
      await Promise.all(deliveries.map(({ settle }) => settle(sent)));
    },
  };
}
