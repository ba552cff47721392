/** Notification channels in a configuration. An import keeps existing secrets, unless the document contains new
 *  values. */
import { configuredChannels } from '#projections/configuration/queries.ts';
import { mustParse, parseChannelId } from '#domain/kernel/ids.ts';
import { isSameJson } from '#domain/kernel/json.ts';
import { newSigningSecret } from '#infra/outgoing/webhook-signature.ts';
import type { ChannelsTable } from '#projections/channels/table.ts';
import { openChannel, type ChannelSecrets } from '#services/shared/channel-secrets.ts';
import { isProblem, problem, type Problem } from '../../http/problem.ts';
import { readConfig, secretsOf, type ReadConfig } from '../../notifications/channel-config.ts';
import { configJson } from '../../notifications/view.ts';
import type { Given, Kind, Present, Reading, Wanted } from '../kind.ts';

type Channel = Given<'channels'>;

const offNote = (missing: readonly string[]) =>
  `The channel stays disabled until its secrets are set. Enter ${missing.join(' and ')}, then enable ` +
  'it.';

export const channelKind: Kind<'channels'> = {
  kind: 'channel',
  section: 'channels',
  stream: 'channel',
  present: async (reading) => {
    const rows = await configuredChannels(reading.services.readModels);
    return rows.map((row) => presentChannel(row, reading));
  },
  make: (given) => {
    const { kind, name, enabled = true } = given;
    const read = readWithout(given, undefined);
    if (isProblem(read)) return Promise.resolve(read);
    const channelId = mustParse(parseChannelId, given.id);
    const missing = missingOf(read, kind === 'webhook');
    const isOn = enabled && missing.length === 0;
    return Promise.resolve({
      item: itemOf(given.id, name, isOn, read),
      missing,
      ...(missing.length > 0 && { note: offNote(missing) }),
      commands: async (keeping) => {
        const secret = kind === 'webhook' ? newSigningSecret() : undefined;
        const secrets = { ...read.secrets, ...(secret !== undefined && { secret }) };
        const sealed = await keeping.channel(channelId, secrets);
        if (secret !== undefined) {
          keeping.show({ kind: 'channel', id: channelId, name, signing_secret: secret });
        }
        const { config } = read;
        return [{ type: 'CreateChannel', channelId, name, enabled: isOn, config, sealed }];
      },
    });
  },
};

function presentChannel(row: ChannelsTable, reading: Reading): Present<Channel> {
  const channelId = mustParse(parseChannelId, row.channel_id);
  const kind = row.config.kind;
  return {
    item: itemOf(row.channel_id, row.name, row.enabled, { config: row.config }),
    hidden: false,
    change: async (given): Promise<Wanted | Problem> => {
      if (given.kind !== kind) {
        return problem(
          'validation_failed',
          `The kind of a channel cannot be changed. This channel is of kind "${kind}".`,
        );
      }
      const secrets = await openChannel(reading.services.vault, channelId, row.sealed);
      const read = readWithout(given, { config: row.config, secrets });
      if (isProblem(read)) return read;
      const missing = missingOf(read, false);
      const enabled = (given.enabled ?? row.enabled) && missing.length === 0;
      const isEntered = !isSameJson(read.secrets, secrets);
      return {
        item: {
          ...itemOf(row.channel_id, given.name, enabled, read),
          ...(isEntered && { secret_values: 'entered' }),
        },
        missing,
        ...(missing.length > 0 && { note: offNote(missing) }),
        commands: async (keeping) => [
          {
            type: 'ChangeChannel',
            channelId,
            name: given.name,
            enabled,
            config: read.config,
            ...(isEntered && {
              sealed: await keeping.channel(channelId, read.secrets),
              expectedVersion: row.stream_version,
            }),
          },
        ],
      };
    },
    remove: () => ({ type: 'DeleteChannel', channelId }),
  };
}

/** Values that stand in for missing secrets while the other fields are validated. */
const placeholders = { password: 'none', token: 'none', url: 'https://none.invalid' } as const;

/** Reads a channel's configuration like the create operation, but accepts one missing secret. */
function readWithout(given: Channel, before: ReadConfig | undefined): ReadConfig | Problem {
  const read = readConfig(given.kind, given.config, before);
  if (!isProblem(read)) return read;
  for (const [name, value] of Object.entries(placeholders)) {
    if (name in given.config) continue;
    const filled = readConfig(given.kind, { ...given.config, [name]: value }, before);
    if (isProblem(filled)) continue;
    const { [name as keyof ChannelSecrets]: _, ...secrets } = filled.secrets;
    return { config: filled.config, secrets };
  }
  return read;
}

/** @param isNew whether the import creates the channel and so generates its signing secret */
function missingOf({ config, secrets }: ReadConfig, isNew: boolean): readonly string[] {
  return secretsOf(config).filter(
    (name) => secrets[name as keyof ChannelSecrets] === undefined && !(isNew && name === 'secret'),
  );
}

function itemOf(
  id: string,
  name: string,
  enabled: boolean,
  { config }: Pick<ReadConfig, 'config'>,
) {
  const shown = configJson(config);
  return { id, name, kind: config.kind, enabled, config: shown, secrets: secretsOf(config) };
}
