/** The production edition's frontend without backends. It logs requests. */
import { caddyService, TestFront } from '#infra/testing/front.ts';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';

const token = 'a-token-that-nobody-is-to-see';

describeWith(caddyService, 'Caddy', () => {
  test('does not log tokens when the backend does not respond', async () => {
    const front = await TestFront.start({
      change: (text) => text.replace('lb_try_duration 5s', 'lb_try_duration 0s'),
    });
    const { url, log } = front;
    const headers = {
      Authorization: `Bearer ${token}`,
      Cookie: `orch_refresh=${token}`,
      'Orch-Session-Key': token,
    };
    const asked = [
      await fetch(`${url}/hooks/${token}`, { method: 'POST', headers }),
      await fetch(`${url}/api/v1/hooks/${token}?x=1`, { method: 'POST' }),
      await fetch(`${url}/ws?token=${token}`),
      await fetch(`${url}/ws`, {
        headers: { 'Sec-WebSocket-Protocol': `orch.v1, orch.bearer.${token}` },
      }),
    ];
    await front.stop();
    expect(asked.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
    expect(log.filter((line) => line.includes('"uri"'))).toHaveLength(asked.length);
    expect(log.filter((line) => line.includes(token))).toEqual([]);
  });
});
