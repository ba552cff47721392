import type { DataDisclosed } from './events.ts';

export type RecordDisclosure = DataDisclosed['data'] & { readonly type: 'RecordDisclosure' };

export type DisclosureCommand = RecordDisclosure;
