export interface AuditTable {
  /** Dense, from 1. */
  readonly audit_seq: number;
  readonly event_id: string;
  /** A place in this store: a restored one has its own, so it is not part of the hash. */
  readonly event_position: number;
  /** SHA-256 of the event as it is stored. */
  readonly event_hash: string;
  readonly time: Date;
  readonly actor: string;
  /** The event's type in words of the wire, such as `script_created`. */
  readonly action: string;
  /** What it happened to, such as `script-0198…`. */
  readonly resource: string;
  readonly outcome: AuditOutcome;
  readonly detail: string | null;
  readonly ip: string | null;
  readonly correlation_id: string;
  readonly causation_id: string | null;
  /** `hash` of the entry before; zeros for the first. */
  readonly prev_hash: string;
  /** SHA-256 of the entry as canonical JSON: docs/audit.md. */
  readonly hash: string;
  /** Group that it belonged to then; null where that is none. */
  readonly group_id: string | null;
  /** Stream of the run, schedule or webhook that it followed from; null where it did not. */
  readonly caused_by: string | null;
}

export const auditOutcomes = ['accepted', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** Where in the chain a time or a position can be: `spanSize` entries a row. */
export interface AuditSpansTable {
  readonly span: number;
  readonly first_time: Date;
  readonly last_time: Date;
  readonly first_position: number;
  readonly last_position: number;
}

export const spanSize = 1_000;

/** The group of each script as of its last entry. */
export interface AuditScriptsTable {
  readonly script_id: string;
  readonly group_id: string;
}
