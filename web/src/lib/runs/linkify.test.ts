import { expect, test } from 'vitest';
import { linkify, hrefOfStream } from './linkify.ts';

const id = '019aa3f4-01aa-7c11-8d22-5e6f70819203';

test('a message contains links to the runs and schedules that it names', () => {
  expect(linkify(`Run ${id} failed; schedule ${id} was due.`)).toEqual([
    { text: 'Run ' },
    { text: '…70819203', href: `/runs/${id}` },
    { text: ' failed; schedule ' },
    { text: '…70819203', href: `/schedules/${id}` },
    { text: ' was due.' },
  ]);
  expect(linkify('The script ended normally.')).toEqual([{ text: 'The script ended normally.' }]);
});

test('a resource is linked if it has a page', () => {
  expect(hrefOfStream(`run-${id}`)).toBe(`/runs/${id}`);
  expect(hrefOfStream(`notice-${id}`)).toBeUndefined();
});
