import { canonicalJson } from '#domain/kernel/json.ts';

/** A value as read from the store: its JSON content, without the original order of keys. */
export function stored<Value>(value: Value): Value {
  return JSON.parse(canonicalJson(value)) as Value;
}
