import { busConformance } from '../conformance/bus.ts';
import { MemoryBus } from './memory-bus.ts';

busConformance('in memory', () => {
  const bus = new MemoryBus();
  return Promise.resolve([bus, bus]);
});
