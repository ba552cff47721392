/** JSON values that scripts send to the platform. */
import type { JsonValue } from '#domain/kernel/event.ts';
import { refused, type SdkAnswer } from '../call.ts';

export const maxValueBytes = 64 * 1024;
const maxDepth = 64;

/** Returns the JSON text of a value, or why the value is refused. */
export function textOf(value: unknown): { readonly text: string } | SdkAnswer {
  if (!isShallow(value)) {
    return refused('invalid_request', `The value is nested more than ${maxDepth} levels deep.`);
  }
  const text = JSON.stringify(value);
  return Buffer.byteLength(text) > maxValueBytes
    ? refused('limit_reached', `The value exceeds ${maxValueBytes} bytes as JSON.`)
    : { text };
}

function isShallow(root: unknown): boolean {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [
    { value: root, depth: 0 },
  ];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    const { value, depth } = one;
    if (typeof value !== 'object' || value === null) continue;
    if (depth === maxDepth) return false;
    for (const part of Object.values(value)) waiting.push({ value: part, depth: depth + 1 });
  }
  return true;
}

/** Masks secrets in all texts in the value, and numbers that are secrets. */
export function maskedValue(value: JsonValue, masked: (text: string) => string): JsonValue {
  if (typeof value === 'string') return masked(value);
  if (typeof value === 'number') return masked(String(value)) === String(value) ? value : '***';
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part: JsonValue) => maskedValue(part, masked));
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [masked(key), maskedValue(part, masked)]),
  );
}

/**
 * Removes secrets from a fraction by rounding. A fraction that contains a secret is rounded to hundredths, or to an
 * integer if necessary.
 */
export function maskedFraction(fraction: number, masked: (text: string) => string): number {
  const rounded = [fraction, Math.round(fraction * 100) / 100];
  return rounded.find((one) => masked(String(one)) === String(one)) ?? Math.round(fraction);
}
