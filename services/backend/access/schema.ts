/** The wire format of accounts, sign-ins and sessions. */
import { roles } from '#domain/kernel/actor.ts';
import { maxUnread } from '#projections/notices/queries.ts';
import Type from 'typebox';
import { Exact, examples, Uuid, Time, Nullable } from '../http/schema.ts';
import { passkeyField } from './second-factor/passkey-schema.ts';
import { codeField } from './second-factor/second-factor-schema.ts';

export const RoleSchema = Type.Enum(roles, { title: 'Role' });

export const accountExample = {
  id: examples.userId,
  email: 'ada@example.com',
  name: 'Ada',
  role: 'viewer',
  group_ids: [examples.groupId],
  can_audit: false,
  disabled: false,
  second_factor: false,
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
  second_factor: Type.Boolean({
    description: 'Whether password sign-ins require a one-time code.',
  }),
};

const user = {
  ...account,
  created_at: Time(),
  last_login_at: Nullable(Time('Null if the user has never signed in.')),
};

export const User = Exact(user, {
  title: 'User',
  examples: [userExample],
});

const Session = Exact(
  {
    id: Uuid(),
    current: Type.Boolean({ description: 'Whether this is the session of the request.' }),
    opened_at: Time(),
    refreshed_at: Time('Time of the last renewal. Active sessions are renewed every 15 minutes.'),
    ip: Nullable(Type.String({ description: 'IP address of the sign-in.' })),
    user_agent: Nullable(Type.String({ description: 'User agent of the client.' })),
  },
  {
    title: 'Session',
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

export const SessionItems = Exact({ items: Type.Array(Session) }, { title: 'SessionItems' });

export const Me = Exact(
  {
    ...user,
    rights: Type.Array(Type.String(), {
      description: 'Rights that the role grants within its groups.',
    }),
    second_factor_missing: Type.Boolean({
      description:
        'Whether you must enable a second factor because your role requires one. Until then, ' +
        'other requests of this session are refused.',
    }),
    unread_notifications: Type.Integer({
      description: `Number of your unread notifications, counted up to ${maxUnread}. 0 if you may not read them.`,
    }),
    paused_triggers: Nullable(
      Exact({
        since: Nullable(Time()),
        by: Nullable(Type.String({ description: 'Who paused the triggers.' })),
      }),
    ),
  },
  {
    title: 'Me',
    examples: [
      {
        ...userExample,
        rights: ['scripts.list', 'runs.read', 'groups.read', 'system.read'],
        second_factor_missing: false,
        unread_notifications: 1,
        paused_triggers: null,
      },
    ],
  },
);

export const Credentials = Exact(
  {
    email: Type.String({ maxLength: 254 }),
    password: Type.String(),
    code: Type.Optional(codeField),
    passkey: Type.Optional(passkeyField),
  },
  { title: 'Credentials' },
);

export const WsTicket = Exact(
  { ticket: Type.String(), expires_at: Time() },
  {
    title: 'WsTicket',
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

export const AccessToken = Exact(
  {
    ...accessToken,
    position: Type.Integer({
      description:
        'Everything that you read with this token includes the events up to this position. A `resync` ' +
        'frame of `/ws` with the same position therefore means that nothing has changed since.',
    }),
  },
  { title: 'AccessToken', examples: [{ ...accessTokenExample, position: 1207 }] },
);

export const SessionTokens = Exact(
  {
    ...accessToken,
    session_key: Type.String({ description: 'Required with the cookie to refresh the session.' }),
  },
  {
    title: 'SessionTokens',
    examples: [
      { ...accessTokenExample, session_key: '3vYdSAn6Zr0Q2x5oT0gkqkS7Vh1m1cJq4l9l3bY8WdE' },
    ],
  },
);
