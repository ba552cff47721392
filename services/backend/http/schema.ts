/** Shared parts of the schemas. A schema's `title` is its name in the API description. */
import {
  parseChainId,
  parseChannelId,
  parseDeliveryId,
  parseNoticeId,
  parseGroupId,
  parseIdentityProviderId,
  parseBackupId,
  parseErrorGroupId,
  parseCalendarId,
  parsePoolId,
  parseRepositoryId,
  parseRuleId,
  parseSecretStoreId,
  parseRunId,
  parseScheduleId,
  parseScriptId,
  parseSessionId,
  parseTokenId,
  parseUserId,
  parseWebhookId,
} from '#domain/kernel/ids.ts';
import { isStorable } from '#domain/kernel/json.ts';
import { objectPrefix, parseObjectKey } from '#domain/ports/object-keys.ts';
import Type, { type TObject, type TObjectOptions, type TProperties, type TSchema } from 'typebox';
import type { PathParameter } from './operation.ts';

/** Control characters, for use in a pattern's character class. Such characters could move a terminal's cursor. */
export const control = '\\u0000-\\u001f\\u007f-\\u009f';

/** An object that permits no other fields. */
export function Exact<Properties extends TProperties>(
  properties: Properties,
  { title, ...options }: TObjectOptions & { readonly title?: string } = {},
): TObject<Properties> {
  return Type.Object(properties, {
    ...(title !== undefined && { title }),
    additionalProperties: false,
    ...options,
  });
}

/** A single line of text that is not blank. */
export function OneLine(maxLength: number) {
  const pattern = `^(?=.*\\S)[^${control}]*$`;
  return Type.String({ minLength: 1, maxLength, pattern });
}

export const examples = {
  scriptId: '019aa3f2-5b1c-7d2e-9f30-4a1b2c3d4e5f',
  runId: '019aa3f4-01aa-7c11-8d22-5e6f70819203',
  tokenId: '019aa3f1-9911-7e0a-b5c4-2d3e4f506172',
  webhookId: '019aa3f3-0c22-7b1d-8a10-3e4f50617283',
  chainId: '019aa3f5-7a10-7e44-9c31-6f7081920314',
  errorGroupId: '019aa3f7-3c5d-7a26-b1e3-819203142536',
  repositoryId: '019aa3f7-4d6e-7b37-92f4-920314253648',
  calendarId: '019aa3f7-3c5d-7a26-b1e3-819203142538',
  poolId: '019aa3f7-3c5d-7a26-b1e3-819203142537',
  otherScriptId: '019aa3f6-2b4c-7f15-a0d2-708192031425',
  webhookToken: 'whk_3fTz0qJm8WvR-tR1VnE5cM0aB2xYk7uHs3pLzJfGiO6',
  channelId: '019aa3f5-3e55-7a4b-8c12-6071829304a5',
  identityProviderId: '6f0c2f0e-2f5e-5a51-9d3b-0a3c6d1b8e47',
  secretStoreId: '019aa3f7-3c5d-7a26-b1e3-819203142538',
  ruleId: '019aa3f5-4f66-7b5c-9d23-71829304a5b6',
  backupId: '019aa3f5-4f66-7b5c-9d23-8293a4b5c6d7',
  notificationDeliveryId: '019aa3f5-5a77-7c6d-ae34-829304a5b6c7',
  notificationId: '019aa3f5-2d44-7e3f-9b21-5f6071829304',
  groupId: '01900000-0000-7000-8000-000000000004',
  userId: '019aa3f0-7788-7abc-8def-0123456789ab',
  time: '2026-11-21T02:31:00.000Z',
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
} as const;

// Validation checks the format (http/validation.ts). An additional `pattern` would break clients that parse IDs.
export const Uuid = (description?: string) =>
  Type.String({ format: 'uuid', ...(description && { description }) });
export const Time = (description?: string) =>
  Type.String({ format: 'date-time', ...(description && { description }) });
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A page of a list. */
export const Page = <T extends TSchema>(title: string, item: T) =>
  Exact(
    {
      items: Type.Array(item),
      next_cursor: Nullable(
        Type.String({ description: 'Pass this value as `cursor` to get the next page.' }),
      ),
    },
    { title },
  );

/** The query parameters of every list. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(
    Type.String({ maxLength: 512, description: '`next_cursor` of the previous page.' }),
  ),
};

const id = <Id>(
  stream: string,
  example: string,
  parse: (text: string) => Id | undefined,
): PathParameter<Id> => ({
  description: `ID of the ${stream.replaceAll('_', ' ')}.`,
  schema: Uuid(),
  example,
  parse,
  stream,
});

/** Whether an artifact can have this path. */
export function isArtifactPath(text: string): boolean {
  return parseObjectKey(`${objectPrefix.runArtifacts(examples.runId)}${text}`) !== undefined;
}

/** Path parameters. */
export const pathParameters = {
  scriptId: id('script', examples.scriptId, parseScriptId),
  scheduleId: id('schedule', examples.scriptId, parseScheduleId),
  runId: id('run', examples.runId, parseRunId),
  approvalId: {
    ...id('run', examples.runId, parseRunId),
    description: 'ID of the approval, which is the ID of its run or change.',
  },
  tokenId: id('token', examples.tokenId, parseTokenId),
  channelId: id('channel', examples.channelId, parseChannelId),
  backupId: id('backup', examples.backupId, parseBackupId),
  repositoryId: id('repository', examples.repositoryId, parseRepositoryId),
  calendarId: id('calendar', examples.calendarId, parseCalendarId),
  poolId: id('pool', examples.poolId, parsePoolId),
  errorGroupId: id('error_group', examples.errorGroupId, parseErrorGroupId),
  identityProviderId: id('identity_provider', examples.identityProviderId, parseIdentityProviderId),
  identityProviderSlug: {
    description: 'Slug of the identity provider.',
    schema: Type.String({ pattern: '^[a-z0-9-]{1,40}$' }),
    example: 'acme',
    parse: (text: string) => (/^[a-z0-9-]{1,40}$/.test(text) ? text : undefined),
  },
  secretStoreId: id('secret_store', examples.secretStoreId, parseSecretStoreId),
  ruleId: id('rule', examples.ruleId, parseRuleId),
  notificationDeliveryId: id('delivery', examples.notificationDeliveryId, parseDeliveryId),
  notificationId: {
    ...id('notice', examples.notificationId, parseNoticeId),
    description: 'ID of the notification.',
  },
  passkeyId: {
    description: 'ID of the passkey.',
    schema: Uuid(),
    example: examples.runId,
    parse: parseRunId,
  },
  userId: id('user', examples.userId, parseUserId),
  groupId: id('group', examples.groupId, parseGroupId),
  sessionId: id('session', examples.runId, parseSessionId),
  webhookId: id('webhook', examples.webhookId, parseWebhookId),
  deliveryId: {
    description: 'ID of the delivery.',
    schema: Uuid(),
    example: examples.runId,
    parse: parseRunId,
  },
  chainId: id('chain', examples.chainId, parseChainId),
  runtimeId: {
    description: 'ID of the runtime (`ORCH_RUNTIME_ID`).',
    schema: Type.String({ pattern: '^[A-Za-z0-9._-]{1,100}$' }),
    example: 'runtime-1',
    parse: (text: string) => (/^[\w.-]{1,100}$/.test(text) ? text : undefined),
  },
  secretName: {
    description: 'Name of the secret: letters, digits and `_`; the first character is not a digit.',
    schema: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }),
    example: 'API_TOKEN',
    parse: (text: string) => (isStorable(text) ? text : undefined),
  },
  // The domain validates the path and explains the error.
  filePath: {
    description:
      'Relative path of the file within the script, at most 255 bytes. Segments are separated by `/` and cannot be ' +
      'empty, `.` or `..`. Backslashes and NUL are not allowed.',
    schema: Type.String({ minLength: 1, maxLength: 255 }),
    example: 'main.py',
    parse: (text: string) => text,
  },
  artifactPath: {
    description:
      'Relative path of the artifact within the run. Segments are separated by `/` and cannot be empty, `.` ' +
      'or `..`.',
    schema: Type.String({ minLength: 1, maxLength: 950 }),
    example: 'report/summary.csv',
    // An invalid path gets a 404 response, because no artifact can have it.
    parse: (text: string) => (isArtifactPath(text) ? text : undefined),
  },
} as const;
export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String({ description: 'Stable error code.' }),
    trace_id: Type.String({
      description: "ID of the request's trace, which the server's log also contains.",
    }),
    errors: Type.Optional(Type.Array(Exact({ pointer: Type.String(), detail: Type.String() }))),
  },
  {
    title: 'Problem',
    description: 'RFC 9457.',
    additionalProperties: false,
    examples: [
      {
        type: 'urn:orchestrator:problem:not_found',
        title: 'Not found',
        status: 404,
        detail: 'The resource does not exist, or you do not have access to it.',
        code: 'not_found',
        trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      },
    ],
  },
);
