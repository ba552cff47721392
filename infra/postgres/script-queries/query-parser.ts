/** The program that `QueryCheck` runs in a separate process. It parses queries with PostgreSQL's own grammar and
 *  reports the first problem. */
import { hasSqlDetails, loadModule, parseSync } from 'libpg-query';
import type { QueryAnswer, QueryQuestion } from './query-check.ts';
import { NotAllowed, QuerySyntax, tooDeep, type SyntaxTree } from './query-syntax.ts';

let syntax: QuerySyntax | undefined;

process.on('message', ({ names, query }: QueryQuestion) => {
  if (names !== undefined) syntax = new QuerySyntax(names);
  process.send?.(answerTo(query), () => undefined);
});
process.once('disconnect', () => process.exit(0));
await loadModule();
process.send?.('ready');

function answerTo(query: string): QueryAnswer {
  try {
    const tree = parseSync(query) as SyntaxTree;
    if (syntax === undefined) throw new Error('the parser received no list of allowed names');
    syntax.check(tree);
    return {};
  } catch (error) {
    if (error instanceof NotAllowed) {
      const place = placeOf(query, error.offset);
      return { problem: `${place}${error.message}. docs/sdk.md lists what queries may use` };
    }
    if (hasSqlDetails(error)) {
      return { problem: `${placeAt(query, error.sqlDetails?.cursorPosition)}${error.message}` };
    }
    // The parser exhausted its stack and is unusable.
    return { problem: error instanceof RangeError ? tooDeep : String(error), isSpent: true };
  }
}

function placeOf(query: string, bytes: number | undefined): string {
  if (bytes === undefined) return '';
  return placeAt(query, Buffer.from(query).subarray(0, bytes).toString().length);
}

function placeAt(query: string, characters = 0): string {
  const lines = query.slice(0, characters).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}: `;
}
