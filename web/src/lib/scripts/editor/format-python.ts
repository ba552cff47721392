import init, { format } from '@wasm-fmt/ruff_fmt/vite';
import { syntaxProblem } from './syntax-problem.ts';

/** Python in the layout of Ruff, which is that of Black. To be imported when it is asked for: the formatter is
 *  large.
 *  @throws Error that says where the text is no Python */
export async function formatPython(text: string): Promise<string> {
  await init();
  try {
    return format(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(syntaxProblem(text, message), { cause: error });
  }
}
