/** The wire format of external secret stores. Credentials are write-only. */
import {
  maxKeyLength,
  maxPathLength,
  storeTypes,
  type VaultAuth,
} from '#domain/secret-store/store.ts';
import Type from 'typebox';
import { Exact, examples, Nullable, OneLine, Time, Uuid } from '../http/schema.ts';

const authTypes = ['token', 'app_role'] as const satisfies readonly VaultAuth['type'][];

const name = OneLine(100);
const groupIds = Nullable(
  Type.Array(Uuid(), {
    maxItems: 100,
    uniqueItems: true,
    description: 'The groups whose scripts may read the store. `null`: all groups.',
  }),
);
const settings = {
  folder: Type.String({
    pattern: '^[a-z0-9][a-z0-9_-]{0,39}$',
    description: 'For `files`: the name of a folder listed in `ORCH_SECRET_FOLDERS`.',
  }),
  address: Type.String({ maxLength: 500, description: 'For `vault`: the base URL of the server.' }),
  namespace: Nullable(Type.String({ minLength: 1, maxLength: 200 })),
  mount: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Mount path of the key/value engine, by default `secret`.',
  }),
  kv_version: Type.Integer({
    minimum: 1,
    maximum: 2,
    description: 'Version of the key/value engine, by default 2.',
  }),
  auth: Type.Enum(authTypes, {
    description: 'How the platform signs in to the server, by default with a token.',
  }),
  auth_mount: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Mount path of the AppRole method, by default `approle`.',
  }),
  role_id: Type.String({ minLength: 1, maxLength: 200, pattern: '^\\S+$' }),
};

const credential = Type.String({
  minLength: 1,
  maxLength: 4000,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'The token, or the secret ID of the AppRole. Never returned.',
});

const example = {
  name: 'Company Vault',
  type: 'vault',
  group_ids: [examples.groupId],
  address: 'https://vault.example.com:8200',
  namespace: null,
  mount: 'secret',
  kv_version: 2,
  auth: 'app_role',
  auth_mount: 'approle',
  role_id: '59d6d1ca-47bb-4e7e-a40b-8be3bc5a0ba8',
};

export const SecretStore = Exact(
  {
    id: Uuid(),
    name,
    type: Type.Enum(storeTypes),
    group_ids: groupIds,
    folder: Nullable(settings.folder),
    address: Nullable(settings.address),
    namespace: settings.namespace,
    mount: Nullable(settings.mount),
    kv_version: Nullable(settings.kv_version),
    auth: Nullable(settings.auth),
    auth_mount: Nullable(settings.auth_mount),
    role_id: Nullable(settings.role_id),
    created_at: Time(),
    updated_at: Time(),
  },
  {
    title: 'SecretStore',
    examples: [
      {
        ...example,
        id: examples.secretStoreId,
        folder: null,
        created_at: examples.time,
        updated_at: examples.time,
      },
    ],
  },
);

export const SecretStoreItems = Exact(
  { items: Type.Array(SecretStore) },
  { title: 'SecretStoreItems' },
);

const optional = {
  folder: Type.Optional(settings.folder),
  address: Type.Optional(settings.address),
  namespace: Type.Optional(settings.namespace),
  mount: Type.Optional(settings.mount),
  kv_version: Type.Optional(settings.kv_version),
  auth: Type.Optional(settings.auth),
  auth_mount: Type.Optional(settings.auth_mount),
  role_id: Type.Optional(settings.role_id),
  credential: Type.Optional(credential),
};

export const SecretStoreInput = Exact(
  { name, type: Type.Enum(storeTypes), group_ids: groupIds, ...optional },
  { title: 'SecretStoreInput' },
);

export const newSecretStoreExample = { ...example, credential: 'the-secret-id-of-the-role' };

export const SecretStoreChange = Exact(
  { name: Type.Optional(name), group_ids: Type.Optional(groupIds), ...optional },
  { title: 'SecretStoreChange' },
);

export const SecretStoreTest = Exact(
  {
    path: Type.Optional(Type.String({ maxLength: maxPathLength })),
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxKeyLength,
        description: 'Also reads the value at this path and key, without returning it.',
      }),
    ),
  },
  { title: 'SecretStoreTest' },
);

export const SecretStoreTestResult = Exact(
  {
    ok: Type.Boolean(),
    detail: Nullable(Type.String({ description: 'Why the store cannot be read.' })),
  },
  {
    title: 'SecretStoreTestResult',
    examples: [{ ok: false, detail: 'the server refused access' }],
  },
);
