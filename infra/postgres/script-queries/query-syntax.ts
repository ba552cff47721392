/** Checks the syntax tree of a query against the lists. Database privileges also restrict functions and relations. They
 *  do not restrict constructs and types that the server executes without a function. */
import { allowedNodes, constructNames, positionFields } from './query-nodes.ts';

/** The kinds of names that a query may use, from `queries.syntax`. */
export const nameKinds = ['function', 'type', 'operator', 'relation', 'cast'] as const;
export type QueryNames = Readonly<Record<(typeof nameKinds)[number], readonly string[]>>;

const maxDepth = 500;
/** By function, the maximum length of the second argument, which must be a literal. The execution time of these
 *  functions grows at least with the product of both lengths, and they cannot be interrupted. */
const literalArguments = new Map([
  ['translate', 32],
  ['btrim', 32],
  ['ltrim', 32],
  ['rtrim', 32],
  ['to_char', 100],
  ['to_date', 100],
  ['to_number', 100],
  ['to_timestamp', 100],
]);
const collations = ['C', 'default'];
const timeFunctions = /^SVFOP_(CURRENT|LOCAL)_?(DATE|TIME|TIMESTAMP)(_N)?$|^SVFOP_LOCALTIME/;

/** The query uses a construct that is not permitted. */
export class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
  /** The offset in bytes from the beginning of the query, if known. */
  readonly offset: number | undefined;

  constructor(message: string, offset?: number) {
    super(message);
    this.offset = offset;
  }
}

export const tooDeep = `the query is nested more than ${maxDepth} levels deep`;

/** A syntax tree from the parser. */
export interface SyntaxTree {
  readonly stmts?: readonly { readonly stmt?: unknown; readonly stmt_location?: number }[];
}

interface Place {
  readonly depth: number;
  /** The offset of the nearest enclosing node that has an offset. */
  readonly offset: number | undefined;
  /** Names of WITH queries that are in scope. */
  readonly ctes: ReadonlySet<string>;
}

type Node = Readonly<Record<string, unknown>>;

export class QuerySyntax {
  readonly #names: Readonly<Record<keyof QueryNames, ReadonlySet<string>>>;

  constructor(names: QueryNames) {
    const setOf = (kind: keyof QueryNames) => new Set(names[kind]);
    this.#names = {
      function: setOf('function'),
      type: setOf('type'),
      operator: setOf('operator'),
      relation: setOf('relation'),
      cast: setOf('cast'),
    };
  }

  /** @throws NotAllowed for the first construct that is not permitted */
  check(tree: SyntaxTree): void {
    const [first, second] = tree.stmts ?? [];
    if (first === undefined) throw new NotAllowed('the query is empty');
    if (second !== undefined) {
      throw new NotAllowed('only one statement is allowed', second.stmt_location);
    }
    const [kind] = Object.keys(first.stmt as Node);
    if (kind !== 'SelectStmt') {
      throw new NotAllowed(`only SELECT, VALUES and WITH … SELECT are allowed (${kind})`, 0);
    }
    this.#wrapped(first.stmt, { depth: 0, offset: undefined, ctes: new Set() });
  }

  /** Checks a node, a list of nodes, or an empty object (which represents an absent node). */
  #wrapped(value: unknown, place: Place): void {
    if (Array.isArray(value)) {
      for (const one of value) this.#wrapped(one, place);
      return;
    }
    for (const [kind, node] of Object.entries(value as Node)) this.#node(kind, node as Node, place);
  }

  #node(kind: string, node: Node, outer: Place): void {
    const { location = -1 } = node as { readonly location?: number };
    const place = {
      depth: outer.depth + 1,
      offset: location >= 0 ? location : outer.offset,
      ctes: kind === 'SelectStmt' ? withNames(node, outer.ctes) : outer.ctes,
    };
    if (place.depth > maxDepth) throw new NotAllowed(tooDeep, place.offset);
    const fields = Object.hasOwn(allowedNodes, kind) ? allowedNodes[kind] : undefined;
    if (fields === undefined) throw refusal(kind, place.offset ?? firstOffset(node));
    const problem = this.#problemOf(kind, node, place.ctes);
    if (problem !== undefined) throw new NotAllowed(problem, place.offset ?? firstOffset(node));
    const [values, nodes] = [words(fields.values), words(fields.nodes)];
    for (const [field, value] of Object.entries(node)) {
      const inline = fields.inline?.[field];
      if (inline !== undefined) this.#node(inline, value as Node, place);
      else if (nodes.includes(field)) this.#wrapped(value, place);
      else if (!isPlain(value) || !(values.includes(field) || positionFields.has(field))) {
        throw refusal(field, firstOffset(value) ?? place.offset);
      }
    }
  }

  /** Returns the problem with the names in a node. */
  #problemOf(kind: string, node: Node, ctes: ReadonlySet<string>): string | undefined {
    switch (kind) {
      case 'FuncCall':
        return this.#namedProblem('function', node['funcname']) ?? literalProblem(node);
      case 'TypeName':
        return this.#namedProblem('type', node['names']);
      case 'A_Expr':
        return String(node['kind']).includes('BETWEEN')
          ? undefined
          : this.#namedProblem('operator', node['name']);
      case 'SubLink':
        return node['operName'] === undefined
          ? undefined
          : this.#namedProblem('operator', node['operName']);
      case 'RangeVar':
        return this.#relationProblem(node, ctes);
      case 'CollateClause': {
        const name = namesOf(node['collname']).join('.');
        return collations.includes(name) ? undefined : `the collation ${name} is not allowed`;
      }
      case 'SQLValueFunction': {
        const op = String(node['op']);
        const name = op.replace('SVFOP_', '').toLowerCase();
        return timeFunctions.test(op) ? undefined : `${name} is not allowed`;
      }
      case 'ColumnRef':
        return this.#fieldProblem(namesOf(node['fields']).slice(1));
      case 'A_Indirection':
        return this.#fieldProblem(namesOf(node['indirection']));
      case 'ResTarget':
        return this.#fieldProblem(namesOf(node['indirection']));
      default:
        return undefined;
    }
  }

  #namedProblem(kind: 'function' | 'type' | 'operator', value: unknown): string | undefined {
    const names = namesOf(value);
    const [schema, name] = names.length === 2 ? names : ['pg_catalog', names.join('.')];
    const isListed = schema === 'pg_catalog' && this.#names[kind].has(name ?? '');
    return isListed ? undefined : `the ${kind} ${names.join('.')} is not allowed`;
  }

  #relationProblem(node: Node, ctes: ReadonlySet<string>): string | undefined {
    const { schemaname, relname } = node as {
      readonly schemaname?: string;
      readonly relname: string;
    };
    if (schemaname === undefined && ctes.has(relname)) return undefined;
    if ((schemaname ?? 'queries') === 'queries' && this.#names.relation.has(relname)) return;
    const name = schemaname === undefined ? relname : `${schemaname}.${relname}`;
    return `the relation ${name} is not allowed`;
  }

  /** Returns the problem with a column reference. The reference may be a cast: `g.regclass` is a cast if `g` has no
   *  column named `regclass`. */
  #fieldProblem(fields: readonly string[]): string | undefined {
    const name = fields.find((field) => this.#names.cast.has(field));
    if (name === undefined) return undefined;
    return `the field ${name} is not allowed, because it is the name of a type: rename the column`;
  }
}

function withNames(node: Node, outer: ReadonlySet<string>): ReadonlySet<string> {
  const { ctes = [] } = (node['withClause'] ?? {}) as { readonly ctes?: readonly Node[] };
  if (ctes.length === 0) return outer;
  const own = ctes.map((one) => (one['CommonTableExpr'] as Node | undefined)?.['ctename']);
  return new Set([...outer, ...own.map(String)]);
}

function literalProblem(call: Node): string | undefined {
  const name = namesOf(call['funcname']).at(-1) ?? '';
  const [, second] = (call['args'] ?? []) as readonly Node[];
  const most = literalArguments.get(name);
  if (most === undefined || second === undefined) return undefined;
  const { sval } = (second['A_Const'] ?? {}) as { readonly sval?: { readonly sval?: string } };
  if (sval !== undefined && (sval.sval ?? '').length <= most) return undefined;
  return `the second argument of ${name} is not allowed, unless it is a literal of at most ${most} characters`;
}

/** Returns the texts in a list of names. */
function namesOf(list: unknown): readonly string[] {
  const nodes = (list ?? []) as readonly { readonly String?: { readonly sval?: string } }[];
  return nodes.flatMap((one) => (one.String === undefined ? [] : [one.String.sval ?? '']));
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object';
}

const split = new Map<string, readonly string[]>();
function words(text = ''): readonly string[] {
  const known = split.get(text) ?? text.split(' ');
  split.set(text, known);
  return known;
}

function refusal(construct: string, offset: number | undefined): NotAllowed {
  const name = Object.hasOwn(constructNames, construct) ? constructNames[construct] : construct;
  return new NotAllowed(`${name} is not allowed`, offset);
}

/** Returns the first position in a tree. The depth of the tree has already been checked. */
function firstOffset(value: unknown, depth = 0): number | undefined {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return undefined;
  const { location } = value as { readonly location?: unknown };
  if (typeof location === 'number' && location >= 0) return location;
  for (const one of Object.values(value)) {
    const found = firstOffset(one, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
