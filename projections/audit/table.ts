export interface AuditTable {
  /** Dense, from 1. */
  readonly audit_seq: number;
  readonly event_id: string;
  readonly event_position: number;
  readonly time: Date;
  readonly actor: string;
  /** The event's type in words of the wire, such as `script_created`. */
  readonly action: string;
  /** What it happened to, such as `script-0198…`. */
  readonly resource: string;
  readonly outcome: 'accepted' | 'refused' | 'failed';
  readonly detail: string | null;
  readonly ip: string | null;
  readonly correlation_id: string;
  readonly causation_id: string | null;
}
