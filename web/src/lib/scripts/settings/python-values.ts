/** Converts Python literals to JSON values, and casts and annotations to JSON Schemas. */

type Schema = Record<string, unknown>;

const scalars: Readonly<Record<string, Schema>> = {
  str: { type: 'string' },
  int: { type: 'integer' },
  float: { type: 'number' },
  Decimal: { type: 'number' },
  bool: { type: 'boolean' },
  dict: { type: 'object' },
  list: { type: 'array', items: { type: 'string' } },
  date: { type: 'string', format: 'date' },
  datetime: { type: 'string', format: 'date-time' },
};

/** Returns the schema of the argument of a function such as `int` or `date.fromisoformat`. Returns an empty schema for
 *  unknown functions. */
export function castSchema(callee: string): Schema {
  const parsed = /(\w+)\.fromisoformat$/.exec(callee)?.[1];
  if (parsed !== undefined) return { ...scalars[parsed] };
  // `list` accepts any iterable, even text, so it does not reveal the type of its argument.
  return /^(str|int|float|Decimal|bool)$/.test(callee) ? { ...scalars[callee] } : {};
}

/** Returns the schema for an annotation such as `list[int]`, `Literal["a", "b"]` or `str | None`. Returns an empty
 *  schema for unknown annotations. */
export function annotationSchema(text: string): Schema {
  const plain = text.replace(/\s*\|\s*None$/, '').replace(/^(?:typing\.)?Optional\[(.*)\]$/, '$1');
  const literal = /^(?:typing\.)?Literal\[(.*)\]$/s.exec(plain)?.[1];
  if (literal !== undefined) {
    const values = literalOf(`[${literal}]`);
    return Array.isArray(values) ? { enum: values } : {};
  }
  const items = /^[Ll]ist\[(\w+)\]$/.exec(plain)?.[1];
  if (items !== undefined)
    return { type: 'array', items: { ...(scalars[items] ?? { type: 'string' }) } };
  const name = plain.replace(/^datetime\./, '').replace(/^[Dd]ict\[.*\]$/, 'dict');
  return { ...scalars[name] };
}

/** Returns the value of a string literal without prefix or escapes, or undefined for any other code. */
export function textLiteral(text: string): string | undefined {
  return /^(["'])([^"'\\\n]*)\1$/.exec(text)?.[2];
}

/** Returns the value of a literal, or undefined for any other code. */
export function literalOf(text: string): unknown {
  const code = text.trim();
  const string = textLiteral(code);
  if (string !== undefined) return string;
  if (code === 'None') return null;
  if (code === 'True' || code === 'False') return code === 'True';
  if (/^-?\d[\d_]*(\.\d+)?$/.test(code)) return Number(code.replaceAll('_', ''));
  if (!/^\[.*\]$/s.test(code)) return code === '{}' ? {} : undefined;
  const inner = code.slice(1, -1).replace(/,\s*$/, '');
  const items = inner.trim() === '' ? [] : inner.split(',').map(literalOf);
  return items.some((item) => item === undefined || Array.isArray(item)) ? undefined : items;
}
