/** Converts the tracebacks from structlog's `dict_tracebacks` to Python's own format. Pure. */

type Fields = Readonly<Record<string, unknown>>;

/** @param value the exceptions, from the last one to its first cause
 *  @returns `undefined` if `value` is not such a list */
export function linesOfStack(value: unknown): readonly string[] | undefined {
  if (!isStack(value)) return undefined;
  return value.toReversed().flatMap((one, index) => {
    const next = value[value.length - 2 - index];
    if (next === undefined) return linesOfException(one);
    // `is_cause` distinguishes the direct cause of the next exception from its context.
    const relation =
      one['is_cause'] === true
        ? 'The above exception was the direct cause of the following exception:'
        : 'During handling of the above exception, another exception occurred:';
    return [...linesOfException(one), '', relation, ''];
  });
}

function isStack(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => textOf(one, 'exc_type'));
}

function linesOfException(one: Fields): readonly string[] {
  const notes = listOf(one, 'exc_notes').filter((note) => typeof note === 'string');
  const [first = '', ...more] = [textOf(one, 'exc_value'), ...notes].join('\n').split('\n');
  const type = textOf(one, 'exc_type');
  const named = [first === '' ? type : `${type}: ${first}`, ...more];
  const frames = listOf(one, 'frames').map(
    (frame) =>
      `  File "${textOf(frame, 'filename')}", line ${lineOf(frame)}, in ${textOf(frame, 'name')}`,
  );
  const members = listOf(one, 'exceptions').flatMap((member) => {
    const lines = linesOfStack(member);
    return lines === undefined ? [] : [lines];
  });
  if (members.length === 0) return ['Traceback (most recent call last):', ...frames, ...named];
  return [
    '  + Exception Group Traceback (most recent call last):',
    ...[...frames, ...named].map((line) => `  | ${line}`),
    ...members.flatMap((lines, index) => [
      `${index === 0 ? '  +-' : '    '}+---------------- ${index + 1} ----------------`,
      ...lines.map((line) => `    | ${line}`),
    ]),
    '    +------------------------------------',
  ];
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Fields)[name] : undefined;
}

/** Removes line breaks from names and paths, because a line break would start a new line of the traceback. */
function textOf(value: unknown, name: string): string {
  const text = fieldOf(value, name);
  if (typeof text !== 'string') return '';
  return name === 'exc_value' ? text : text.replaceAll(/\s+/g, ' ');
}

function lineOf(frame: unknown): number {
  const line = fieldOf(frame, 'lineno');
  return typeof line === 'number' && Number.isInteger(line) && line > 0 ? line : 1;
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = fieldOf(value, name);
  return Array.isArray(list) ? list : [];
}
