import type { ScriptPatch } from '../api/scripts.ts';
import type { Script } from '../api/types.ts';

const mebibyte = 1024 * 1024;

/** The settings of a script as the form shows them. An empty limit is no limit. */
export interface SettingsDraft {
  name: string;
  description: string;
  groupId: string;
  maxConcurrentRuns: number | null;
  cpuSeconds: number | null;
  memoryMib: number | null;
  wallClockSeconds: number | null;
}

export function draftOf(script: Script): SettingsDraft {
  const { memory_bytes: memoryBytes } = script.limits;
  return {
    name: script.name,
    description: script.description,
    groupId: script.group_id,
    maxConcurrentRuns: script.max_concurrent_runs,
    cpuSeconds: script.limits.cpu_seconds,
    memoryMib: memoryBytes === null ? null : memoryBytes / mebibyte,
    wallClockSeconds: script.limits.wall_clock_seconds,
  };
}

/** The merge patch that leads from `before` to `draft`; empty when nothing differs. */
export function patchOf(before: SettingsDraft, draft: SettingsDraft): ScriptPatch {
  const limits = {
    ...(draft.cpuSeconds !== before.cpuSeconds && { cpu_seconds: draft.cpuSeconds }),
    ...(draft.memoryMib !== before.memoryMib && {
      memory_bytes: draft.memoryMib === null ? null : Math.round(draft.memoryMib * mebibyte),
    }),
    ...(draft.wallClockSeconds !== before.wallClockSeconds && {
      wall_clock_seconds: draft.wallClockSeconds,
    }),
  };
  return {
    ...(draft.name !== before.name && { name: draft.name.trim() }),
    ...(draft.description !== before.description && { description: draft.description }),
    ...(draft.groupId !== before.groupId && { group_id: draft.groupId }),
    ...(draft.maxConcurrentRuns !== before.maxConcurrentRuns && {
      max_concurrent_runs: draft.maxConcurrentRuns ?? 1,
    }),
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}
