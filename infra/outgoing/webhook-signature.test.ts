import { expect, test } from 'vitest';
import { newSigningSecret, signedHeaders } from './webhook-signature.ts';

test('a signature matches the example in the specification', () => {
  const headers = signedHeaders(
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    new Date(1_614_265_330_000),
    '{"test": 2432232314}',
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  );
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('a request is signed with both secrets during a rotation', () => {
  const [one, other] = [newSigningSecret(), newSigningSecret()];
  expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const signature = (...secrets: string[]) =>
    signedHeaders('id', new Date(0), '{}', secrets)['webhook-signature'];
  expect(signature(one, other)).toBe(`${signature(one)} ${signature(other)}`);
});
