import type { LogChunk } from '#domain/ports/run-logs.ts';
import { describe, expect, test } from 'vitest';
import { LogFrames } from './log-frames.ts';

const runId = 'run';

/** Creates a chunk of two lines with text of the given length. */
function chunk(firstSeq: number, length = 1): LogChunk {
  const line = { time: '2026-01-01T00:00:00.000Z', stream: 'stdout', text: 'x'.repeat(length) };
  const items = [firstSeq, firstSeq + 1].map((seq) => ({ seq, ...line }));
  const lastSeq = firstSeq + 1;
  return { runId, firstSeq, lastSeq, bytes: 2 * length + 2, itemsJson: JSON.stringify(items) };
}

/** Creates frames from a store with these chunks. Also returns the lines that were requested from the store. */
function given(...chunks: LogChunk[]) {
  const asked: number[] = [];
  const frames = new LogFrames({
    readChunks: (_, fromSeq, limit) => {
      asked.push(fromSeq);
      return Promise.resolve(chunks.filter((one) => one.lastSeq >= fromSeq).slice(0, limit));
    },
  });
  return { asked, chunks, frames };
}

function seqsOf(bytes: Buffer | undefined): readonly number[] {
  const { items } = JSON.parse(String(bytes)) as { items: { seq: number }[] };
  return items.map((item) => item.seq);
}

describe('subscribers of one run', () => {
  test('share a storage read and a frame when they read concurrently', async () => {
    const { asked, frames } = given(chunk(1));
    const [one, other] = await Promise.all([frames.next(runId, 1), frames.next(runId, 1)]);
    expect(asked).toEqual([1]);
    expect(one).toMatchObject({ frames: [{ firstSeq: 1, lastSeq: 2 }], isMore: false });
    expect(other.frames[0]?.bytes).toBe(one.frames[0]?.bytes);
  });

  test('reuse the previous read when they join late, and read only later lines from storage', async () => {
    const { asked, chunks, frames } = given(chunk(1), chunk(3));
    await frames.next(runId, 1);
    chunks.push(chunk(5));
    const places = [await frames.next(runId, 1), await frames.next(runId, 3)];
    expect(places.map(({ isMore }) => isMore)).toEqual([true, true]);
    expect(asked).toEqual([1]);
    const rest = await frames.next(runId, 5);
    expect(rest.frames.map(({ bytes }) => seqsOf(bytes))).toEqual([[5, 6]]);
    expect(rest.isMore).toBe(false);
  });

  test('get the lines from their start position within a chunk', async () => {
    const { frames } = given(chunk(1), chunk(3));
    await frames.next(runId, 1);
    const { frames: found } = await frames.next(runId, 2);
    expect(found.map(({ bytes }) => seqsOf(bytes))).toEqual([[2], [3, 4]]);
  });

  test('read old lines from storage again when other lines have evicted them', async () => {
    const mebibyte = 1024 * 1024;
    const { asked, frames } = given(
      ...Array.from({ length: 8 }, (_, index) => chunk(1 + 2 * index, mebibyte)),
    );
    await frames.next(runId, 1);
    await frames.next(runId, 9);
    await frames.next(runId, 1);
    expect(asked).toEqual([1, 9, 1]);
  });
});
