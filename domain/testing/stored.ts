import { canonicalJson } from '#domain/kernel/json.ts';

/** A value as it comes back from the store: what JSON holds of it, without the order of keys. */
export function stored<Value>(value: Value): Value {
  return JSON.parse(canonicalJson(value)) as Value;
}
