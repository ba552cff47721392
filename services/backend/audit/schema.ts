/** The wire format of the audit trail (docs/audit.md). */
import { auditOutcomes } from '#projections/audit/table.ts';
import { breaks } from '#projections/audit/verification.ts';
import Type from 'typebox';
import { Exact, examples, Nullable, Page, pageQuery, Sha256, Time, Uuid } from '../http/schema.ts';

const hashExample = '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752';

const keyId = Type.String({ pattern: '^[0-9a-f]{16}$', description: 'ID of the signing key.' });

export const AuditEntry = Exact(
  {
    audit_seq: Type.Integer({ minimum: 1, description: 'Consecutive number, starting at 1.' }),
    time: Time(),
    actor: Type.String(),
    action: Type.String({
      description:
        'What happened, such as `script_created`. For a rejected request, its method and path.',
    }),
    resource: Type.String({ description: 'The affected resource, such as `script-<id>`.' }),
    resource_name: Nullable(
      Type.String({
        description:
          'Current name of the resource, or of its script. Not covered by the hash. `null` for ' +
          'deleted resources.',
      }),
    ),
    error_type: Nullable(
      Type.String({
        description: 'Error type of a failed run. Not covered by the hash.',
      }),
    ),
    error_group_id: Nullable(Uuid('Error group of a failed run. Not covered by the hash.')),
    outcome: Type.Enum(auditOutcomes, {
      description: '`failed`: the run failed.',
    }),
    detail: Nullable(Type.String()),
    ip: Nullable(Type.String()),
    correlation_id: Type.String({ description: 'Shared by all entries with the same root cause.' }),
    causation_id: Nullable(Uuid('The event that caused this event.')),
    event_id: Uuid(),
    event_position: Type.Integer({ minimum: 1, description: 'Not covered by the hash.' }),
    event_hash: Sha256,
    prev_hash: Sha256,
    hash: Sha256,
  },
  {
    title: 'AuditEntry',
    examples: [
      {
        audit_seq: 42,
        time: examples.time,
        actor: 'ada@example.com',
        action: 'script_created',
        resource: `script-${examples.scriptId}`,
        resource_name: 'Night report',
        error_type: null,
        error_group_id: null,
        outcome: 'accepted',
        detail: 'Night report',
        ip: '127.0.0.1',
        correlation_id: '4bf92f3577b34da6a3ce929d0e0e4736',
        causation_id: null,
        event_id: '019aa3f2-5b1c-7d2e-9f30-4a1b2c3d4e60',
        event_position: 57,
        event_hash: examples.sha256,
        prev_hash: examples.sha256,
        hash: hashExample,
      },
    ],
  },
);

export const AuditPage = Page('AuditPage', AuditEntry);

export const AuditValues = Exact(
  {
    actors: Type.Array(Type.String()),
    actions: Type.Array(Type.String()),
  },
  {
    title: 'AuditValues',
    examples: [{ actors: ['ada@example.com', 'runtime'], actions: ['file_saved', 'run_queued'] }],
  },
);

const position = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 53 - 1, description }));
const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 400, description }));

export const auditQuery = Exact({
  ...pageQuery,
  order: Type.Optional(
    Type.Enum(['desc', 'asc'], { default: 'desc', description: 'Sorted by `audit_seq`.' }),
  ),
  actor: text('Actor of the entries, such as `ada@example.com`.'),
  q: text(
    'Matches part of the actor, the action or the resource name, such as `ada` or `file saved`, or an ID.',
  ),
  people: Type.Optional(
    Type.Boolean({ default: false, description: 'Only entries of users and their API tokens.' }),
  ),
  action: text('Action of the entries, such as `script_deleted`.'),
  resource: text('Resource of the entries, such as `script-<id>`.'),
  outcome: Type.Optional(Type.Enum(auditOutcomes)),
  from: Type.Optional(Time('Only entries recorded at or after this time.')),
  to: Type.Optional(Time('Only entries recorded before this time.')),
  position: position('Only the entry of the event at this position.'),
  from_position: position('Only entries of events at or after this position.'),
  to_position: position('Only entries of events at or before this position.'),
});

/** The maximum number of bars in a timeline. */
const maxDensityBuckets = 500;

export const densityQuery = Exact({
  actor: text('Actor of the entries, such as `ada@example.com`.'),
  from: Type.Optional(Time('Start of the range. Default: the first entry.')),
  to: Type.Optional(Time('End of the range, exclusive. Default: now.')),
  buckets: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxDensityBuckets,
      default: 120,
      description: 'Number of buckets of equal length.',
    }),
  ),
});

export const AuditDensity = Exact(
  {
    from: Time(),
    to: Time(),
    bucket_seconds: Type.Number(),
    estimated: Type.Boolean({
      description:
        'Whether the counts are estimates. Above 20,000 entries, about that many evenly spaced ' +
        'entries are ' +
        'sampled.',
    }),
    items: Type.Array(
      Exact({
        time: Time('Start of the bucket.'),
        entries: Type.Integer({ minimum: 1 }),
        not_accepted: Type.Integer({
          minimum: 0,
          description: 'Number of rejected or failed entries in the bucket.',
        }),
      }),
      { description: 'In chronological order. Empty buckets are omitted.' },
    ),
  },
  {
    title: 'AuditDensity',
    examples: [
      {
        from: '2026-11-21T02:00:00.000Z',
        to: '2026-11-21T04:00:00.000Z',
        bucket_seconds: 60,
        estimated: false,
        items: [{ time: '2026-11-21T02:31:00.000Z', entries: 12, not_accepted: 1 }],
      },
    ],
  },
);

export const AuditHead = Exact(
  {
    audit_seq: Type.Integer({ minimum: 1 }),
    hash: Sha256,
    time: Time('Time of the signature.'),
    key_id: keyId,
    signature: Type.String({
      description: 'Ed25519 over the canonical JSON of the other members, in base64.',
    }),
  },
  {
    title: 'AuditHead',
    examples: [
      {
        audit_seq: 42,
        hash: hashExample,
        time: examples.time,
        key_id: '21fe31dfa154a261',
        signature:
          'kCJ3XNIQ0TWmkqYJZGVb1JP6ZDrCG6u4PfpwTzmdyqwI1ylnzvhJ2+dQvQVSkkzhz7i0PZkKhZs6yqVMH4uCCw==',
      },
    ],
  },
);

export const AuditHeadPage = Page('AuditHeadPage', AuditHead);

export const AuditVerification = Exact(
  {
    valid: Type.Boolean(),
    entries: Type.Integer({ minimum: 0, description: 'Number of entries in the audit trail.' }),
    head: Nullable(AuditHead),
    first_broken: Nullable(
      Type.Integer({ minimum: 1, description: '`audit_seq` of the first broken entry.' }),
    ),
    reason: Nullable(Type.Enum(breaks)),
  },
  {
    title: 'AuditVerification',
    examples: [
      { valid: false, entries: 412, head: null, first_broken: 42, reason: 'event_changed' },
    ],
  },
);

export const headParameter = Type.Optional(
  Type.String({
    pattern: '^[1-9][0-9]{0,14}:[0-9a-f]{64}$',
    description: 'A previously saved head, as `<audit_seq>:<hash>`.',
    examples: [`42:${hashExample}`],
  }),
);

export const keyParameter = Type.Optional(keyId);
