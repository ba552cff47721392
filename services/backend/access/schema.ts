/** Accounts, sign-ins and sessions on the wire. */
import { roles } from '#domain/kernel/actor.ts';
import Type from 'typebox';
import { examples, Uuid, Time, Nullable } from '../http/schema.ts';

export const RoleSchema = Type.Enum(roles, { title: 'Role' });

export const accountExample = {
  id: examples.userId,
  email: 'ada@example.com',
  name: 'Ada',
  role: 'viewer',
  group_ids: [examples.groupId],
  can_audit: false,
  disabled: false,
};

export const userExample = {
  ...accountExample,
  created_at: examples.time,
  last_login_at: examples.time,
};

/** The fields of an account. */
export const account = {
  id: Uuid(),
  email: Type.String(),
  name: Type.String(),
  role: RoleSchema,
  group_ids: Type.Array(Uuid()),
  can_audit: Type.Boolean(),
  disabled: Type.Boolean(),
};

const user = {
  ...account,
  created_at: Time(),
  last_login_at: Nullable(Time('Null if the user has never signed in.')),
};

export const User = Type.Object(user, {
  title: 'User',
  additionalProperties: false,
  examples: [userExample],
});

const Session = Type.Object(
  {
    id: Uuid(),
    current: Type.Boolean({ description: 'Whether this is the session of the request.' }),
    opened_at: Time(),
    refreshed_at: Time('Last renewal. An active session is renewed every 15 minutes.'),
    ip: Nullable(Type.String({ description: 'IP address of the sign-in.' })),
    user_agent: Nullable(Type.String({ description: 'User agent of the client.' })),
  },
  {
    title: 'Session',
    additionalProperties: false,
    examples: [
      {
        id: examples.runId,
        current: true,
        opened_at: examples.time,
        refreshed_at: examples.time,
        ip: '127.0.0.1',
        user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
      },
    ],
  },
);

export const SessionItems = Type.Object(
  { items: Type.Array(Session) },
  { title: 'SessionItems', additionalProperties: false },
);

export const Me = Type.Object(
  {
    ...user,
    rights: Type.Array(Type.String(), {
      description: 'Rights that the role grants within its groups.',
    }),
  },
  {
    title: 'Me',
    additionalProperties: false,
    examples: [
      { ...userExample, rights: ['scripts.list', 'runs.read', 'groups.read', 'system.read'] },
    ],
  },
);

export const Credentials = Type.Object(
  { email: Type.String({ maxLength: 254 }), password: Type.String() },
  { title: 'Credentials', additionalProperties: false },
);

export const WsTicket = Type.Object(
  { ticket: Type.String(), expires_at: Time() },
  {
    title: 'WsTicket',
    additionalProperties: false,
    examples: [
      { ticket: '3fTz0qJm8WvR-tR1VnE5cM0aB2xYk7uHs3pLzJfGiO6', expires_at: examples.time },
    ],
  },
);

const accessToken = {
  access_token: Type.String(),
  token_type: Type.Literal('bearer'),
  expires_in: Type.Integer({ description: 'Lifetime of the token in seconds.' }),
};

const accessTokenExample = { access_token: 'eyJhbGciOi…', token_type: 'bearer', expires_in: 900 };

export const AccessToken = Type.Object(accessToken, {
  title: 'AccessToken',
  additionalProperties: false,
  examples: [accessTokenExample],
});

export const SessionTokens = Type.Object(
  {
    ...accessToken,
    session_key: Type.String({ description: 'Required with the cookie to refresh the session.' }),
  },
  {
    title: 'SessionTokens',
    additionalProperties: false,
    examples: [
      { ...accessTokenExample, session_key: '3vYdSAn6Zr0Q2x5oT0gkqkS7Vh1m1cJq4l9l3bY8WdE' },
    ],
  },
);
