import { expect, test } from 'vitest';
import { readMinimalConfig } from './config.ts';
import { healthEndpoints, services } from './services.ts';

test('every service that is not started on demand has a health endpoint', () => {
  const config = readMinimalConfig({});
  const permanent = services.filter(({ onDemand }) => onDemand !== true);
  expect(permanent.flatMap((service) => healthEndpoints(service, config))).toEqual([
    { name: 'backend', url: 'http://127.0.0.1:8080/health' },
    { name: 'scheduler', url: 'http://127.0.0.1:9092/health' },
    { name: 'runtime', url: 'http://127.0.0.1:9091/health' },
  ]);
});
