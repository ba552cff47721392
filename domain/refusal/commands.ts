import type { RequestRefused } from './events.ts';

export type RecordRefusal = RequestRefused['data'] & { readonly type: 'RecordRefusal' };

export type RefusalCommand = RecordRefusal;
