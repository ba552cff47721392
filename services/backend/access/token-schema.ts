/** The wire format of API tokens. */
import { scopes } from '#domain/kernel/rights.ts';
import Type from 'typebox';
import { Exact, examples, Nullable, Page, Time, Uuid, OneLine } from '../http/schema.ts';

export const maxTokenDays = 3650;

const ScopeSchema = Type.Enum(scopes, { title: 'Scope' });
const name = OneLine(100);
const scopeList = Type.Array(ScopeSchema, {
  minItems: 1,
  maxItems: scopes.length,
  uniqueItems: true,
  description:
    "Permissions of the token. `*` grants all rights of the token's owner, and `admin` grants " +
    'administrator access.',
});

const example = {
  id: examples.tokenId,
  name: 'deploy',
  scopes: ['scripts:write', 'runs:write'],
  created_at: examples.time,
  expires_at: '2027-02-19T02:31:00.000Z',
};

const token = {
  id: Uuid(),
  name,
  scopes: scopeList,
  created_at: Time(),
  expires_at: Nullable(Time('Null if the token does not expire.')),
};

export const NewApiToken = Exact(
  {
    name,
    scopes: scopeList,
    expires_in_days: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: maxTokenDays,
          default: 90,
          description: 'Null if the token does not expire.',
        }),
      ),
    ),
  },
  { title: 'ApiTokenInput' },
);

export const ShownApiToken = Exact(
  {
    ...token,
    token: Type.Optional(
      Type.String({ description: 'Returned once. A replayed response omits the value.' }),
    ),
  },
  {
    title: 'ShownApiToken',
    examples: [{ ...example, token: 'orch_3fTz0qJm8WvR-tR1VnE5cM0aB2xYk7uHs3pLzJfGiO6' }],
  },
);

export const ApiToken = Exact(
  {
    ...token,
    last_used_at: Nullable(Time('Updated about once a minute.')),
  },
  {
    title: 'ApiToken',
    examples: [{ ...example, last_used_at: examples.time }],
  },
);

export const ApiTokenPage = Page('ApiTokenPage', ApiToken);
