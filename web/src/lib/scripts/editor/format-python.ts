import init, { format } from '@wasm-fmt/ruff_fmt/vite';
import { syntaxProblem } from './syntax-problem.ts';

/** Formats Python with Ruff, in the style of Black. Import this module dynamically: the formatter is large.
 *  @throws Error with the location of a syntax error */
export async function formatPython(text: string): Promise<string> {
  await init();
  try {
    return format(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(syntaxProblem(text, message), { cause: error });
  }
}
