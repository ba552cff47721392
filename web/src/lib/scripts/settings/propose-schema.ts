/** Proposes a parameter schema based on the parameters that a script's code reads. The code is parsed but never
 *  executed. */
import { pythonLanguage } from '@codemirror/lang-python';
import type { SyntaxNode } from '@lezer/common';
import { annotationSchema, castSchema, literalOf, textLiteral } from './python-values.ts';

type Schema = Record<string, unknown>;

export interface ProposedSchema {
  type: 'object';
  properties: Record<string, Schema>;
  required?: string[];
  /** The property names in the order of the form's fields. */
  order: string[];
}

interface Use {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: Schema;
}

const confidential = /password|passwd|secret|token|api_?key/i;

/** Returns a schema for the parameters that the code reads. For example, `platform.params["city"]` becomes a required
 *  parameter, and `platform.params.get("days", 7)` an optional integer.
 *  @param sources the Python files of the script, the entry point first
 *  @returns null if the code reads no parameters */
export function proposeSchema(sources: readonly string[]): ProposedSchema | null {
  const properties: Record<string, Schema> = {};
  const required = new Set<string>();
  for (const { name, isRequired, schema } of sources.flatMap(usesIn)) {
    properties[name] = { ...schema, ...properties[name] };
    if (isRequired) required.add(name);
  }
  const names = Object.keys(properties);
  if (names.length === 0) return null;
  for (const name of names) properties[name] = completed(name, properties[name] ?? {});
  const needed = names.filter(
    (name) => required.has(name) && !('default' in (properties[name] ?? {})),
  );
  return {
    type: 'object',
    properties,
    ...(needed.length > 0 && { required: needed }),
    order: names,
  };
}

function completed(name: string, schema: Schema): Schema {
  const { type = 'string', ...rest } = schema;
  const isSecret = type === 'string' && confidential.test(name);
  return { type, ...rest, ...(isSecret && { format: 'password' }) };
}

function usesIn(source: string): Use[] {
  const code = new Code(source);
  const uses: Use[] = [];
  code.each((node) => {
    const use = code.useAt(node);
    if (use) uses.push(use);
  });
  return uses;
}

/** A source file, with the names that refer to its parameters. */
class Code {
  readonly #source: string;
  /** Variables that hold the parameters, such as `params = platform.params`. */
  readonly #params = new Set<string>();
  /** Parameter names that the code tests with `"name" in params`. */
  readonly #tested = new Set<string>();
  readonly #platforms = new Set(['platform']);

  constructor(source: string) {
    this.#source = source;
    this.each((node) => this.#collectName(node));
  }

  each(visit: (node: SyntaxNode) => void): void {
    pythonLanguage.parser.parse(this.#source).iterate({ enter: ({ node }) => visit(node) });
  }

  /** Returns the parameter that the code reads at a syntax node, if any. */
  useAt(node: SyntaxNode): Use | undefined {
    const isCall = node.name === 'CallExpression';
    const member = isCall ? node.firstChild : node;
    const holder = member?.firstChild;
    if (member?.name !== 'MemberExpression' || !holder || !this.#isParams(holder)) return undefined;
    if (isCall) {
      if (!/^(get|pop)$/.test(this.#text(member.lastChild))) return undefined;
      const [key, fallback] = this.#arguments(node);
      return this.#useOf(node, key, fallback, false);
    }
    const key = holder.nextSibling?.nextSibling;
    return this.#text(holder.nextSibling) === '['
      ? this.#useOf(node, key, undefined, true)
      : undefined;
  }

  #useOf(
    node: SyntaxNode,
    key: SyntaxNode | null | undefined,
    fallback: SyntaxNode | undefined,
    isRequired: boolean,
  ): Use | undefined {
    const name = textLiteral(this.#text(key));
    if (name === undefined) return undefined;
    const schema = {
      ...this.#schemaFromUse(node),
      ...(fallback && defaultSchema(this.#text(fallback))),
      ...this.#description(node),
    };
    return { name, isRequired: isRequired && !this.#tested.has(name), schema };
  }

  /** Infers the type of a parameter from the code that uses it. */
  #schemaFromUse(node: SyntaxNode): Schema {
    const { parent } = node;
    switch (parent?.name) {
      case 'ArgList':
        return castSchema(this.#text(parent.parent?.firstChild));
      case 'AssignStatement': {
        const annotation = parent.getChild('TypeDef');
        return annotation ? annotationSchema(this.#text(annotation).slice(1).trim()) : {};
      }
      case 'ForStatement':
        return { type: 'array', items: { type: 'string' } };
      case 'BinaryExpression': {
        const isFallback =
          parent.firstChild?.to === node.to && this.#text(node.nextSibling) === 'or';
        return isFallback ? defaultSchema(this.#text(parent.lastChild)) : {};
      }
      default:
        return {};
    }
  }

  /** Uses the comment at the end of the line as the description. */
  #description(node: SyntaxNode): Schema {
    const end = this.#source.indexOf('\n', node.to);
    const rest = this.#source.slice(node.to, end < 0 ? undefined : end);
    const comment = /^[^"'#]*#\s*(.+)$/.exec(rest)?.[1]?.trim();
    return comment && !/^(noqa|type:|pragma)/.test(comment) ? { description: comment } : {};
  }

  #collectName(node: SyntaxNode): void {
    if (node.name === 'BinaryExpression' && this.#text(node.firstChild?.nextSibling) === 'in') {
      const name = textLiteral(this.#text(node.firstChild));
      if (name !== undefined && node.lastChild && this.#isParams(node.lastChild))
        this.#tested.add(name);
    }
    if (node.name !== 'AssignStatement' || node.firstChild?.name !== 'VariableName') return;
    const [name, value] = [this.#text(node.firstChild), node.lastChild];
    if (/^(orchestrator\.)?Platform\(/.test(this.#text(value))) this.#platforms.add(name);
    if (value && this.#isParams(value)) this.#params.add(name);
  }

  #isParams(node: SyntaxNode): boolean {
    const text = this.#text(node);
    if (node.name === 'VariableName') return this.#params.has(text);
    if (/^(orchestrator\.)?Platform\(\)\.params$/.test(text)) return true;
    const holder = /^(?:[\w.]+\.)?(\w+)\.params$/.exec(text)?.[1];
    if (holder !== undefined) return this.#platforms.has(holder);
    return (
      /^event(\[["']params["']\]|\.get\(["']params["'].*\))$/.test(text) ||
      /^json\.loads\(\s*os\.(environ(\.get)?|getenv)\s*[[(]\s*["']ORCH_PARAMS["']/.test(text)
    );
  }

  #arguments(call: SyntaxNode): SyntaxNode[] {
    const list = call.getChild('ArgList');
    const found: SyntaxNode[] = [];
    for (let one = list?.firstChild; one; one = one.nextSibling) {
      if (!['(', ')', ','].includes(one.name)) found.push(one);
    }
    return found;
  }

  #text(node: SyntaxNode | null | undefined): string {
    return node ? this.#source.slice(node.from, node.to) : '';
  }
}

function defaultSchema(text: string): Schema {
  const value = literalOf(text);
  if (value === undefined || value === null) return {};
  if (Array.isArray(value)) {
    const isNumeric = value.length > 0 && value.every((one) => typeof one === 'number');
    return { type: 'array', items: { type: isNumeric ? 'number' : 'string' }, default: value };
  }
  if (typeof value === 'number') {
    return {
      type: Number.isInteger(value) && !text.includes('.') ? 'integer' : 'number',
      default: value,
    };
  }
  return { type: typeof value === 'object' ? 'object' : typeof value, default: value };
}
