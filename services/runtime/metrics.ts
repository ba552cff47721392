import { Gauge, Registry } from 'prom-client';

/** What the runtime counts. Run and script ids are never labels. */
export function runtimeMetrics(slots: number, running: () => number): Registry {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'orchestrator_runtime_slots',
    help: 'Runs that this runtime executes at once',
    registers,
  }).set(slots);
  new Gauge({
    name: 'orchestrator_runtime_running',
    help: 'Runs that occupy a slot now',
    registers,
    collect() {
      this.set(running());
    },
  });
  return registry;
}
