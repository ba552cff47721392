/** The web worker that runs Ruff. In the page itself, a check could take longer than a frame and block the user
 *  interface. */
import init, { PositionEncoding, Workspace, type Diagnostic } from '@astral-sh/ruff-wasm-web';
import wasm from '@astral-sh/ruff-wasm-web/ruff_wasm_bg.wasm?url';
import type { RuffReply, RuffRequest } from './messages.ts';

/** Enables Ruff's default rules and the rules for likely bugs and errors. With a newer target version, the formatter
 *  could produce code that older Python versions reject. */
const settings = {
  'target-version': 'py312',
  lint: { select: ['E4', 'E7', 'E9', 'F', 'B', 'PLE'] },
};

const workspace = init({ module_or_path: wasm }).then(
  () => new Workspace(settings, PositionEncoding.Utf16),
);

self.addEventListener('message', ({ data }: MessageEvent<RuffRequest>) => {
  void answer(data).then((reply) => self.postMessage(reply));
});

async function answer({ id, method, text }: RuffRequest): Promise<RuffReply> {
  try {
    const ruff = await workspace;
    return method === 'check'
      ? { id, found: ruff.check(text) as Diagnostic[] }
      : { id, formatted: ruff.format(text) };
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : String(error) };
  }
}
