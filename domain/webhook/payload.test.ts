import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitWebhookPayload, webhookPayload } from './payload.ts';

test('a stored payload contains the unchanged body and the headers that describe it', () => {
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'push',
    authorization: 'Bearer secret',
    cookie: 'secret',
    'x-forwarded-for': '10.0.0.1',
    'user-agent': 'x'.repeat(2000),
  };
  fc.assert(
    fc.property(fc.uint8Array(), (body) => {
      const { headers: kept, body: same } = splitWebhookPayload(webhookPayload(headers, body));
      expect([...same]).toEqual([...body]);
      expect(JSON.parse(kept)).toEqual({
        'content-type': 'application/json',
        'x-github-event': 'push',
      });
    }),
  );
});
