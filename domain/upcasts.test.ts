import { anyCommand } from '#domain/testing/arbitraries.ts';
import { recordAll } from '#domain/testing/recorded.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RecordedEvent } from './kernel/event.ts';
import { schemaVersionOf, upcast, upcasterOf } from './upcasts.ts';

/** Three schema versions of events about a light. The first version records only on or off, the second adds the
 *  brightness, and the third adds the color. */
const light = upcasterOf({
  LightChanged: [
    (data) => ({ brightness: (data as { on: boolean }).on ? 100 : 0 }),
    (data) => ({ ...(data as { brightness: number }), colour: 'white' }),
  ],
});

async function anEvent(changes: Partial<RecordedEvent>): Promise<RecordedEvent> {
  const group = { groupId: '01980000-0000-7000-8000-000000000001', name: 'G' };
  const [event] = await recordAll([
    { type: 'CreateGroup', color: '#112233', icon: 'folder', ...group } as never,
  ]);
  if (event === undefined) throw new Error('nothing was recorded');
  return { ...event, ...changes };
}

const changed = (schemaVersion: number, data: unknown) =>
  anEvent({ type: 'LightChanged', schemaVersion, data });

describe('an event with another schema version', () => {
  test('is converted by all later upcasts in order', async () => {
    const today = { brightness: 100, colour: 'white' };
    expect(light.upcast(await changed(1, { on: true }))).toMatchObject({
      schemaVersion: 3,
      data: today,
    });
    expect(light.upcast(await changed(2, { brightness: 100 })).data).toEqual(today);
  });

  test('keeps all other fields and does not modify the stored event', async () => {
    const old = await changed(1, { on: false });
    const { data: _, schemaVersion: __, ...envelope } = structuredClone(old);
    expect(light.upcast(old)).toMatchObject(envelope);
    expect(old).toMatchObject({ schemaVersion: 1, data: { on: false } });
  });

  test('does not change when upcast again, whatever its version', async () => {
    const event = await changed(1, {});
    const shapes = fc.oneof(
      fc.record({ schemaVersion: fc.constant(1), data: fc.record({ on: fc.boolean() }) }),
      fc.record({ schemaVersion: fc.constant(2), data: fc.record({ brightness: fc.nat(100) }) }),
      fc.record({
        schemaVersion: fc.constant(3),
        data: fc.record({ brightness: fc.nat(100), colour: fc.string() }),
      }),
    );
    const property = fc.property(shapes, (shape) => {
      const once = light.upcast({ ...event, ...shape });
      expect(once).toMatchObject({ schemaVersion: light.schemaVersionOf('LightChanged') });
      expect(Object.keys(once.data as object).toSorted()).toEqual(['brightness', 'colour']);
      expect(light.upcast(once)).toEqual(once);
    });
    fc.assert(property);
  });

  test('has its type and current version in the list of upcasts', () => {
    expect(light.currentUpcasts).toEqual(['LightChanged:3']);
  });

  test('is refused if a newer release wrote it', async () => {
    const newer = await changed(4, {});
    expect(() => light.upcast(newer)).toThrow(/newer version/);
  });
});

describe('recorded events', () => {
  test('have the current schema version, so upcasting does not change them', () =>
    fc.assert(
      fc.asyncProperty(fc.array(anyCommand, { maxLength: 20 }), async (commands) => {
        for (const event of await recordAll(commands)) {
          expect(event.schemaVersion).toBe(schemaVersionOf(event.type));
          expect(upcast(event)).toBe(event);
        }
      }),
    ));
});
