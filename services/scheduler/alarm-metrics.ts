/** Exports the measurements behind the platform's alarms as Prometheus metrics. */
import { diskSpace } from '#infra/system/disk.ts';
import { newestBackup } from '#projections/backups/queries.ts';
import { backupOverdueMs, type AlarmDeps } from '#services/shared/alarms.ts';
import { Gauge, type Registry } from 'prom-client';

/** Adds metrics that are measured at each scrape. Unknown values are omitted. */
export function addAlarmMetrics(
  { reads, clock, folder }: Omit<AlarmDeps, 'database'>,
  registry: Registry,
): void {
  const gauge = (name: string, help: string, valueOf: () => Promise<number | undefined>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const value = await valueOf();
        this.reset();
        if (value !== undefined) this.set(value);
        else this.remove();
      },
    });
  gauge('orchestrator_backup_age_seconds', 'Age of the newest complete backup', async () => {
    const newest = await newestBackup(reads);
    return newest && (clock.now().getTime() - newest.getTime()) / 1000;
  });
  gauge(
    'orchestrator_backup_overdue_seconds',
    'Time since the oldest overdue backup was due; 0 if none is overdue',
    async () => (await backupOverdueMs(reads, clock.now())) / 1000,
  );
  gauge(
    'orchestrator_disk_free_bytes',
    'Free space on the disk with objects and backups',
    async () => (folder === undefined ? undefined : (await diskSpace(folder))?.freeBytes),
  );
}
