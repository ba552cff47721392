import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { newSigningSecret } from './credentials.ts';
import { signatureFault } from './signatures.ts';

// The example in the specification of Standard Webhooks, and that in GitHub's documentation.
const standard = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  body: '{"test": 2432232314}',
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
};
const github = {
  secret: "It's a Secret to Everybody",
  body: 'Hello, World!',
  header: 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
};
const now = new Date(1_614_265_330_000);
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);

function standardFault(changes: object = {}, body = standard.body, at = now): string | undefined {
  const headers = { ...standard.headers, ...changes };
  return signatureFault(headers, Buffer.from(body), standard.secret, at);
}

function githubFault(header: string | undefined, body = github.body): string | undefined {
  const headers = header === undefined ? {} : { 'x-hub-signature-256': header };
  return signatureFault(headers, Buffer.from(body), github.secret, now);
}

test('a call signed according to the standard is accepted', () => {
  expect(standardFault()).toBeUndefined();
});

test('a call with several signatures is accepted if one of them is valid', () => {
  const old = `v1,${Buffer.alloc(32).toString('base64')}`;
  const { 'webhook-signature': good } = standard.headers;
  expect(standardFault({ 'webhook-signature': `v1a,AAAA ${old} ${good}` })).toBeUndefined();
});

test.each([
  ['a different body', {}, '{"test": 1}'],
  ['a different ID', { 'webhook-id': 'msg_other' }, standard.body],
  ['no ID', { 'webhook-id': undefined }, standard.body],
  ['a different time', { 'webhook-timestamp': '1614265331' }, standard.body],
  ['a time in text form', { 'webhook-timestamp': 'now' }, standard.body],
  ['no signature', { 'webhook-signature': '' }, standard.body],
  ['a signature of another version', { 'webhook-signature': 'v2,g0hM9Ss' }, standard.body],
  ['a truncated signature', { 'webhook-signature': 'v1,g0hM9SsE' }, standard.body],
])('a call is refused with %s', (_name, changes, body) => {
  expect(standardFault(changes, body)).toMatch(/webhook-/);
});

test.each([
  ['accepts', 300],
  ['refuses', 301],
  ['accepts', -300],
  ['refuses', -301],
])('%s a call whose timestamp is %i seconds off', (outcome, seconds) => {
  const fault = standardFault({}, standard.body, later(seconds));
  expect(fault === undefined).toBe(outcome === 'accepts');
});

test('a GitHub call is accepted only with a valid GitHub signature', () => {
  expect(githubFault(github.header)).toBeUndefined();
  expect(githubFault(github.header, 'Hello')).toMatch('X-Hub-Signature-256');
  expect(githubFault('sha1=757107ea')).toMatch('X-Hub-Signature-256');
  expect(githubFault(undefined)).toMatch('must be signed');
});

test('each generated signing secret is different', () => {
  const secret = newSigningSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newSigningSecret()).not.toBe(secret);
  const body = Buffer.from('x');
  const header = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const headers = { 'x-hub-signature-256': header };
  expect(signatureFault(headers, body, secret, now)).toBeUndefined();
});
