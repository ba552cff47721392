/** The publish and subscribe commands, such as SUBSCRIBE and PUBLISH. */
import { parseRunId } from '#domain/kernel/ids.ts';
import type { Bus } from '#domain/ports/bus.ts';
import { failures, type Failure } from '#domain/run/run.ts';
import Type from 'typebox';
import { may, missing } from '../callers.ts';
import { noKeys, type Answer, type Call, type Command, type MemberCall } from '../command.ts';
import { channels, isChannel, type Hub } from '../channels/hub.ts';
import type { Leases } from '../jobs/leases.ts';
import { messageReader } from '../messages.ts';
import type { Code, Refusals } from '../refusals.ts';
import { failure, push, type Reply } from '../resp/replies.ts';
import { subscriptionCount, type Session } from '../session.ts';

const maxSubscriptions = 100;
const maxNameBytes = 256;

export interface ChannelDeps {
  readonly hub: Hub;
  readonly bus: Bus;
  readonly leases: Leases;
  readonly refusals: Refusals;
}

type Names = 'channels' | 'patterns';

export function channelCommands(deps: ChannelDeps): readonly Command[] {
  const common = {
    flags: ['pubsub', 'noscript', 'loading', 'stale'],
    keys: noKeys,
    whileSubscribed: true,
    // EXEC refuses these commands, because its reply array cannot contain their replies.
    transaction: 'refused',
  } as const;
  return [
    {
      ...common,
      name: 'subscribe',
      arity: -2,
      access: 'groups.read',
      run: (call) => subscribe(call, 'channels', deps),
    },
    {
      ...common,
      name: 'psubscribe',
      arity: -2,
      access: 'groups.read',
      run: (call) => subscribe(call, 'patterns', deps),
    },
    {
      ...common,
      name: 'unsubscribe',
      arity: -1,
      access: 'member',
      run: (call) => unsubscribe(call, 'channels'),
    },
    {
      ...common,
      name: 'punsubscribe',
      arity: -1,
      access: 'member',
      run: (call) => unsubscribe(call, 'patterns'),
    },
    {
      name: 'publish',
      arity: 3,
      flags: ['pubsub', 'loading', 'stale', 'fast'],
      keys: noKeys,
      access: 'groups.read',
      run: (call) => publish(call, deps),
    },
  ];
}

function subscribe(
  { args, caller, session }: MemberCall,
  names: Names,
  { refusals }: ChannelDeps,
): Answer {
  for (const name of args) {
    const channel = name.toString('latin1');
    if (name.length > maxNameBytes) return failure('ERR the channel name is too long');
    if (names === 'patterns' || !isChannel(channel) || may(caller, channels[channel])) continue;
    const turned = {
      session,
      caller,
      name: 'subscribe',
      code: 'forbidden',
      resource: null,
    } as const;
    return refusals.refused(
      turned,
      `cannot subscribe to ${channel}: ${missing(channels[channel])}`,
    );
  }
  const added = new Set(args.map((name) => name.toString('latin1')));
  if (session[names].union(added).size > maxSubscriptions) {
    return failure(`ERR a connection may have at most ${maxSubscriptions} subscriptions`);
  }
  return several(args, (name) => {
    session[names].add(name.toString('latin1'));
    return counted(names === 'channels' ? 'subscribe' : 'psubscribe', name, session);
  });
}

function unsubscribe({ args, session }: Call, names: Names): Answer {
  const kind = names === 'channels' ? 'unsubscribe' : 'punsubscribe';
  const all = [...session[names]].map((name) => Buffer.from(name, 'latin1'));
  const wanted = args.length === 0 ? all : args;
  if (wanted.length === 0) return counted(kind, null, session);
  return several(wanted, (name) => {
    session[names].delete(name.toString('latin1'));
    return counted(kind, name, session);
  });
}

function several(names: readonly Buffer[], reply: (name: Buffer) => Reply): Reply {
  return { kind: 'several', replies: names.map(reply) };
}

function counted(kind: string, name: Buffer | null, session: Session): Reply {
  return push(kind, name, subscriptionCount(session));
}

const Completed = Type.Object(
  {
    run_id: Type.String({ maxLength: 36 }),
    status: Type.Enum(['success', 'failed', 'stopped']),
    exit_code: Type.Optional(
      Type.Union([Type.Integer({ minimum: -255, maximum: 255 }), Type.Null()]),
    ),
    failure_reason: Type.Optional(Type.Enum(failures.filter((one) => one !== 'expired'))),
    /** The job ID, which identifies the lease. A report for another lease is refused. */
    job_id: Type.Optional(Type.String({ maxLength: 36 })),
    script_id: Type.Optional(Type.String({ maxLength: 36 })),
    position: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  },
  { additionalProperties: false },
);

const readCompleted = messageReader(Completed, 'The message');

async function publish(call: MemberCall, deps: ChannelDeps): Promise<Answer> {
  const [name, message = Buffer.alloc(0)] = call.args;
  switch (name?.toString('latin1')) {
    case 'script.completed':
      return await complete(call, message, deps);
    case 'scheduler:reload':
      if (!may(call.caller, 'schedules.write')) {
        return reject(call, deps, 'forbidden', missing('schedules.write'));
      }
      deps.bus.publish({ topic: 'reload' });
      return deps.hub.listeners('scheduler:reload');
    default:
      return failure(
        'ERR cannot publish to this channel; use script.completed or scheduler:reload (only the platform ' +
          'publishes script.updated)',
      );
  }
}

/** Ends a run that the caller has leased. Subscribers are notified after the end is recorded. */
async function complete(call: MemberCall, message: Buffer, deps: ChannelDeps): Promise<Answer> {
  const { leases, hub } = deps;
  if (!may(call.caller, 'runs.start')) {
    return reject(call, deps, 'forbidden', missing('runs.start'));
  }
  const read = readCompleted(message);
  if (!('value' in read)) return reject(call, deps, read.code, read.detail);
  const { value } = read;
  const runId = parseRunId(value.run_id);
  const held = runId && (await leases.held(runId, call));
  const isOther =
    (value.job_id !== undefined && value.job_id !== held?.jobId) ||
    (value.script_id !== undefined && value.script_id !== held?.script_id);
  if (held === undefined || isOther) {
    const resource = runId === undefined ? null : `run-${runId}`;
    const detail =
      'You do not hold the lease on this run: it has ended, or another worker holds it.';
    return reject(call, deps, 'run_fenced', detail, resource);
  }
  const failed: Failure = value.failure_reason ?? 'exit_code';
  const exitCode = value.exit_code ?? (value.status === 'success' ? 0 : null);
  const outcome = value.status === 'failed' ? failed : value.status;
  const ended = await leases.finish(held, { outcome, exitCode }, call);
  if (ended.kind === 'refused') {
    return reject(call, deps, ended.refusal.code, ended.refusal.detail, `run-${held.runId}`);
  }
  return hub.listeners('script.completed');
}

function reject(
  { session, caller }: MemberCall,
  { refusals }: ChannelDeps,
  code: Code,
  detail: string,
  resource: string | null = null,
): Reply {
  return refusals.refused({ session, caller, name: 'publish', code, resource }, detail);
}
