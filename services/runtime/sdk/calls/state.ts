import type { JsonValue } from '#domain/kernel/event.ts';
import { isStorable } from '#domain/kernel/json.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import {
  getState,
  maxStateBytes,
  maxStateKeys,
  removeState,
  setState,
} from '#infra/postgres/operations/script-state.ts';
import Type from 'typebox';
import { answered, refused, sdkCall, type SdkCalls } from '../call.ts';
import { textOf } from './json.ts';

const key = Type.String({ minLength: 1, maxLength: 200 });
const badKey = refused(
  'invalid_request',
  'The key contains a NUL character or an unpaired surrogate.',
);

/** Calls that access the persistent state of the run's script. */
export function stateCalls(db: Queryable): SdkCalls {
  return {
    'state.get': sdkCall({
      arguments: Type.Object({ key }, { additionalProperties: false }),
      handle: async (given, { run }) => {
        if (!isStorable(given.key)) return badKey;
        const text = await getState(db, run.scriptId, given.key);
        return text === undefined
          ? refused('not_found', `No value is stored under the key "${given.key}".`)
          : answered(JSON.parse(text) as JsonValue);
      },
    }),
    'state.set': sdkCall({
      arguments: Type.Object({ key, value: Type.Unknown() }, { additionalProperties: false }),
      handle: async (given, { run }) => {
        if (!isStorable(given.key)) return badKey;
        const value = textOf(given.value);
        if (!('text' in value)) return value;
        return (await setState(db, run.scriptId, given.key, value.text))
          ? answered()
          : refused(
              'limit_reached',
              `A script may store at most ${maxStateKeys} state values with ${maxStateBytes} bytes in total.`,
            );
      },
    }),
    'state.delete': sdkCall({
      arguments: Type.Object({ key }, { additionalProperties: false }),
      handle: async (given, { run }) => {
        if (!isStorable(given.key)) return badKey;
        await removeState(db, run.scriptId, given.key);
        return answered();
      },
    }),
  };
}
