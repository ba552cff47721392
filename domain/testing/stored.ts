import { canonicalJson } from '#domain/kernel/json.ts';

/** Returns a value as it is read from the store: the JSON content is the same, but the keys may have another order. */
export function stored<Value>(value: Value): Value {
  return JSON.parse(canonicalJson(value)) as Value;
}
