/** Alarms report conditions that an operator must fix before they stop the platform (docs/operations.md). */

export const alarmNames = [
  'disk_low',
  'backup_overdue',
  'projection_lag',
  'clock_difference',
  'label_missing',
] as const;
export type AlarmName = (typeof alarmNames)[number];

export interface Alarm {
  readonly name: AlarmName;
  /** A sentence that describes the condition to the operator. */
  readonly detail: string;
}
