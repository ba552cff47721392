/** Converts the values of the parameter form to a run's parameters. */
import { whole, type FieldValue, type FieldValues, type ParameterField } from './fields.ts';

type Read = { readonly value: unknown } | { readonly error: string };

/** Returns the entered parameters without empty fields, or the errors by field name. */
export function paramsOf(
  fields: readonly ParameterField[],
  values: FieldValues,
):
  | { readonly params: Record<string, unknown> }
  | { readonly errors: Readonly<Record<string, string>> } {
  const params: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const field of fields) {
    const read = valueOf(field, values[field.name] ?? field.initial);
    if ('error' in read) errors[field.name] = read.error;
    else if (read.value !== undefined) params[field.name] = read.value;
  }
  if (Object.keys(errors).length > 0) return { errors };
  if (fields[0]?.name !== whole) return { params };
  const all = params[whole] ?? {};
  return isObject(all) ? { params: all } : { errors: { [whole]: 'Enter a JSON object.' } };
}

function valueOf(field: ParameterField, entered: FieldValue): Read {
  if (typeof entered === 'boolean') return { value: entered };
  if (typeof entered !== 'string') return listOf(field, entered);
  if (field.kind === 'list') return listOf(field, entered.split('\n'));
  const text = field.kind === 'text' || field.kind === 'lines' ? entered : entered.trim();
  if (text.trim() === '') return absent(field);
  switch (field.kind) {
    case 'number':
      return numberOf(field, text);
    case 'choice':
    case 'json':
      return jsonOf(text);
    case 'secret':
      return { value: entered };
    default:
      return { value: text };
  }
}

function absent({ label, required }: ParameterField): Read {
  return required ? { error: `${label} is required.` } : { value: undefined };
}

function listOf(field: ParameterField, entered: readonly string[]): Read {
  const items = entered.filter((item) => item.trim() !== '');
  if (items.length === 0) return absent(field);
  const read = items.map((item): Read => {
    if (field.kind === 'choices') return jsonOf(item);
    return field.number ? numberOf(field, item) : { value: item.trim() };
  });
  const wrong = read.find((one) => 'error' in one);
  return wrong ?? { value: read.map((one) => ('value' in one ? one.value : undefined)) };
}

function numberOf({ number }: ParameterField, text: string): Read {
  const value = Number(text);
  if (!Number.isFinite(value)) return { error: 'Enter a number.' };
  const isWrong = number === 'integer' && !Number.isInteger(value);
  return isWrong ? { error: 'Enter a whole number.' } : { value };
}

function jsonOf(text: string): Read {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { error: 'Enter valid JSON.' };
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
