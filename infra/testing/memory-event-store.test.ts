import { systemClock } from '#infra/system/clock.ts';
import { eventStoreConformance } from '../conformance/event-store.ts';
import { MemoryEventStore } from './memory-event-store.ts';

eventStoreConformance('in memory', () => Promise.resolve(new MemoryEventStore(systemClock)));
