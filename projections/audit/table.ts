export interface AuditTable {
  /** Number of the entry, starting at 1. Entry numbers have no gaps. */
  readonly audit_seq: number;
  readonly event_id: string;
  /** The event's position in this event store. A restored store has different positions, so the hash does not
   *  include the position. */
  readonly event_position: number;
  /** SHA-256 of the event as stored. */
  readonly event_hash: string;
  readonly time: Date;
  readonly actor: string;
  /** The event type in the format of the API, such as `script_created`. */
  readonly action: string;
  /** The affected resource, such as `script-0198…`. */
  readonly resource: string;
  readonly outcome: AuditOutcome;
  readonly detail: string | null;
  readonly ip: string | null;
  readonly correlation_id: string;
  readonly causation_id: string | null;
  /** The `hash` of the previous entry. All zeros for the first entry. */
  readonly prev_hash: string;
  /** SHA-256 of the entry as canonical JSON (docs/audit.md). */
  readonly hash: string;
  /** The group of the script when the event was recorded. Null if the entry belongs to no group. */
  readonly group_id: string | null;
  /** Stream of the run, schedule or webhook that caused the entry. Null if none of them did. */
  readonly caused_by: string | null;
}

export const auditOutcomes = ['accepted', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** The range of times and positions in each part of the chain. Each row covers `spanSize` entries. */
export interface AuditSpansTable {
  readonly span: number;
  readonly first_time: Date;
  readonly last_time: Date;
  readonly first_position: number;
  readonly last_position: number;
}

export const spanSize = 1_000;

/** The group of each script in its latest entry. */
export interface AuditScriptsTable {
  readonly script_id: string;
  readonly group_id: string;
}
