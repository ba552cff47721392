import { mustParse, parseCommandId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { systemIds } from '#infra/system/ids.ts';

/** Returns the context of an idempotent command whose actor is the system. */
export function context(): CommandContext {
  const commandId = mustParse(parseCommandId, systemIds.next());
  const actor = { kind: 'system', name: 'runtime' } as const;
  return { commandId, actor, ip: null, correlationId: commandId, causationId: null };
}
