/** The wire format of account changes and groups. */
import { maxPasswordBytes, minPasswordLength } from '#services/shared/passwords.ts';
import Type from 'typebox';
import { RoleSchema, User } from '../access/schema.ts';
import { Exact, examples, Page, Uuid, OneLine, control } from '../http/schema.ts';

const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: `^[^\\s@${control}]+@[^\\s@${control}]+$`,
});

export const UserPage = Page('UserPage', User);

const password = Type.String({
  minLength: minPasswordLength,
  description: `At least ${minPasswordLength} characters, at most ${maxPasswordBytes} bytes of UTF-8.`,
});
const personName = Type.Optional(OneLine(200));
const groupIds = Type.Optional(Type.Array(Uuid(), { maxItems: 1000, uniqueItems: true }));

export const NewUser = Exact(
  {
    email: Email,
    password: Type.Optional(password),
    name: personName,
    role: RoleSchema,
    group_ids: groupIds,
    can_audit: Type.Optional(Type.Boolean({ default: false })),
  },
  { title: 'UserInput' },
);

export const UserChange = Exact(
  {
    name: personName,
    role: Type.Optional(RoleSchema),
    group_ids: groupIds,
    can_audit: Type.Optional(Type.Boolean()),
    disabled: Type.Optional(
      Type.Boolean({
        description: 'A disabled account cannot sign in, and its tokens are rejected.',
      }),
    ),
  },
  {
    title: 'UserChange',
    description: 'Omitted fields stay unchanged.',
  },
);

export const NewPassword = Exact({ password }, { title: 'NewPassword' });

export const OwnPassword = Exact(
  { current_password: Type.String(), new_password: password },
  { title: 'OwnPassword' },
);

export const Group = Exact(
  {
    id: Uuid(),
    name: Type.String(),
    color: Type.String({ pattern: '^#[0-9a-f]{6}$' }),
    icon: Type.String(),
  },
  {
    title: 'Group',
    examples: [{ id: examples.groupId, name: 'custom', color: '#64748b', icon: 'folder' }],
  },
);

const groupName = OneLine(100);
const groupColor = Type.String({ pattern: '^#[0-9a-f]{6}$' });
const groupIcon = Type.String({
  pattern: '^[a-z][a-z0-9-]{0,49}$',
  description: "Name of an icon from the dashboard's icon set.",
});

export const NewGroup = Exact(
  {
    name: groupName,
    color: Type.Optional(groupColor),
    icon: Type.Optional(groupIcon),
  },
  { title: 'GroupInput' },
);

export const GroupChange = Exact(
  {
    name: Type.Optional(groupName),
    color: Type.Optional(groupColor),
    icon: Type.Optional(groupIcon),
  },
  {
    title: 'GroupChange',
    description: 'Omitted fields stay unchanged.',
  },
);

export const GroupPage = Page('GroupPage', Group);
