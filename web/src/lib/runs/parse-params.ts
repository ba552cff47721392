/** The API accepts at most 64 KiB of parameters. */
const maxParamsBytes = 64 * 1024;

type Parsed = { params: Record<string, unknown>; problem?: undefined } | { problem: string };

/** Parses entered parameters. An empty text stands for an empty object. */
export function parseParams(text: string): Parsed {
  if (new TextEncoder().encode(text).length > maxParamsBytes) {
    return { problem: 'Parameters are limited to 64 KiB.' };
  }
  try {
    const value: unknown = text.trim() === '' ? {} : JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { params: value as Record<string, unknown> };
    }
    return { problem: 'Enter a JSON object, such as {"limit": 10}.' };
  } catch (error) {
    return { problem: `Invalid JSON: ${error instanceof Error ? error.message : ''}` };
  }
}
