import type { RuntimeDrained, RuntimeResumed } from './events.ts';

export type DrainRuntime = RuntimeDrained['data'] & { readonly type: 'DrainRuntime' };
export type ResumeRuntime = RuntimeResumed['data'] & { readonly type: 'ResumeRuntime' };

export type RuntimeCommand = DrainRuntime | ResumeRuntime;
