/** All resource kinds of a configuration, in the order of their dependencies. */
import type { Kind } from './kind.ts';
import { calendarKind } from './kinds/calendars.ts';
import { chainKind } from './kinds/chains.ts';
import { channelKind } from './kinds/channels.ts';
import { groupKind } from './kinds/groups.ts';
import { poolKind } from './kinds/pools.ts';
import { ruleKind } from './kinds/rules.ts';
import { scheduleKind } from './kinds/schedules.ts';
import { secretStoreKind } from './kinds/secret-stores.ts';
import { scriptKind } from './kinds/scripts.ts';
import { webhookKind } from './kinds/webhooks.ts';

/** Erases the type parameters of a kind. */
const erased = (kind: unknown) => kind as Kind;

export const kinds: readonly Kind[] = [
  groupKind,
  secretStoreKind,
  poolKind,
  scriptKind,
  channelKind,
  ruleKind,
  calendarKind,
  scheduleKind,
  webhookKind,
  chainKind,
].map(erased);
