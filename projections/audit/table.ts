export interface AuditTable {
  /** Consecutive number of the entry, from 1, without gaps. */
  readonly audit_seq: number;
  readonly event_id: string;
  /** The event's position in this store. A restored store has other positions, so the hash excludes it. */
  readonly event_position: number;
  /** SHA-256 of the stored event. */
  readonly event_hash: string;
  readonly time: Date;
  readonly actor: string;
  /** The event's type as the API names it, such as `script_created`. */
  readonly action: string;
  /** The affected resource, such as `script-0198…`. */
  readonly resource: string;
  readonly outcome: AuditOutcome;
  readonly detail: string | null;
  readonly ip: string | null;
  readonly correlation_id: string;
  readonly causation_id: string | null;
  /** `hash` of the previous entry; zeros for the first. */
  readonly prev_hash: string;
  /** SHA-256 of the entry as canonical JSON: docs/audit.md. */
  readonly hash: string;
  /** The group of the script at that time; null without a group. */
  readonly group_id: string | null;
  /** Stream of the run, schedule or webhook that caused the entry; null without one. */
  readonly caused_by: string | null;
}

export const auditOutcomes = ['accepted', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** The times and positions in each part of the chain: one row per `spanSize` entries. */
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
