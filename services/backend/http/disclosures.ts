/** Records which data a response discloses. The record is written before the response is sent, so that nothing is
 *  disclosed without an audit entry. */
import { mustParse, parseCommandId, parseDisclosureId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { Services } from '../services.ts';
import type { Answer } from './reply.ts';

/** @param resource stream ID of the affected resource
 *  @throws if recording fails; the response must then not be sent */
export async function recordDisclosure(
  answer: Answer,
  resource: string | null,
  context: CommandContext,
  { commands, ids }: Pick<Services, 'commands' | 'ids'>,
): Promise<void> {
  if (answer.kind !== 'reply' || answer.disclosure === undefined) return;
  const { action, detail } = answer.disclosure;
  const disclosureId = mustParse(parseDisclosureId, ids.next());
  await commands.execute(
    { type: 'RecordDisclosure', disclosureId, action, resource, detail: detail ?? null },
    { ...context, commandId: mustParse(parseCommandId, ids.next()) },
  );
}
