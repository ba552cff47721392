/** The backend is killed between a request, its approval and its execution. No approved run or change may be lost or
 *  applied twice. The only user is an administrator, who approves their own requests. */
import { join } from 'node:path';
import { embeddedAddresses } from '#infra/embedded/postgres.ts';
import { withClient } from '#infra/testing/client.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Product, until } from './testing/product.ts';

let product: Product;
beforeAll(async () => {
  product = await Product.start();
}, 120_000);
afterAll(async () => {
  await product.stop();
  await product.remove();
});

/** Kills the backend, and waits until the supervisor has started another. */
async function killBackend(): Promise<void> {
  const pid = await product.pidOf('backend');
  process.kill(pid, 'SIGKILL');
  await until('another backend runs', async () =>
    (await product.pidOf('backend')) === pid ? undefined : true,
  );
  await product.untilHealthy();
}

interface Approval {
  readonly id: string;
  readonly status: string;
}

const approvalOf = (id: string) => product.call<Approval>('GET', `/approvals/${id}`);
const approve = (id: string) => product.call<Approval>('POST', `/approvals/${id}/approve`, {});

/** Sends an approval, and kills the backend while the approval's transaction waits for a lock. */
async function killDuringApproval(id: string): Promise<void> {
  const { adminUrl = '' } = embeddedAddresses(join(product.dataDir, 'postgres')) ?? {};
  await withClient(adminUrl, async (client) => {
    await client.query('BEGIN');
    await client.query('SELECT FROM approvals WHERE approval_id = $1 FOR UPDATE', [id]);
    const answer = approve(id).catch(() => undefined);
    await until('the transaction waits', async () => {
      const { rows } = await client.query(
        `SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))`,
      );
      return rows.length > 0 ? true : undefined;
    });
    process.kill(await product.pidOf('backend'), 'SIGKILL');
    expect(await answer).toBeUndefined();
    await client.query('ROLLBACK');
  });
  await product.untilHealthy();
}

describe('a requested run', { timeout: 120_000 }, () => {
  async function request(source = 'print("paid")\n'): Promise<string> {
    const settings = { protected: { run: true, save: false } };
    const scriptId = await product.script('Pay', { 'main.py': source }, settings);
    return (await product.run(scriptId)).run_id;
  }

  /** Checks that the run was executed exactly once. */
  async function expectOnce(id: string): Promise<void> {
    expect(await product.untilFinished(id)).toMatchObject({ status: 'success' });
    expect((await product.log(id)).filter(({ text }) => text === 'paid')).toHaveLength(1);
    const { items } = await product.call<{ items: { decision: string }[] }>(
      'GET',
      `/runs/${id}/why`,
    );
    const times = (decision: string) => items.filter((one) => one.decision === decision).length;
    expect([times('approved'), times('started'), times('ended')]).toEqual([1, 1, 1]);
    const runs = await product.call<{ items: object[] }>(
      'GET',
      `/runs?script_id=${(await product.call<{ script_id: string }>('GET', `/runs/${id}`)).script_id}`,
    );
    expect(runs.items).toHaveLength(1);
  }

  test('still waits for approval after the backend was killed', async () => {
    const id = await request();
    await killBackend();
    expect(await approvalOf(id)).toMatchObject({ status: 'pending' });
    expect(await product.runState(id)).toMatchObject({ status: 'queued' });
    await approve(id);
    await expectOnce(id);
  });

  test('is executed once if the backend is killed during the approval, and the approval is repeated', async () => {
    const id = await request();
    await killDuringApproval(id);
    await approve(id);
    await expectOnce(id);
  });

  test('is executed once if the backend is killed after the approval', async () => {
    const id = await request();
    await approve(id);
    await killBackend();
    await approve(id);
    await expectOnce(id);
  });

  test('is executed once if the backend is killed during the execution', async () => {
    const id = await request('import time\nprint("paid", flush=True)\ntime.sleep(3)\n');
    await approve(id);
    await until('the run prints', async () =>
      (await product.log(id)).length > 0 ? true : undefined,
    );
    await killBackend();
    await expectOnce(id);
  });
});

describe('a requested change', { timeout: 120_000 }, () => {
  interface Script {
    readonly id: string;
    readonly version: number;
  }
  const before = 'print(1)\n';
  const after = 'print(2)\n';

  async function request(): Promise<{ readonly script: Script; readonly id: string }> {
    const scriptId = await product.script('Change', { 'main.py': before });
    await product.call('PATCH', `/scripts/${scriptId}`, { protected: { run: false, save: true } });
    const script = await product.call<Script>('GET', `/scripts/${scriptId}`);
    const path = `/scripts/${scriptId}/files/main.py`;
    const { id } = await product.call<Approval>('PUT', path, { content: after });
    return { script, id };
  }

  async function expectChange({ id, version }: Script, applied: boolean): Promise<void> {
    const now = await product.call<Script>('GET', `/scripts/${id}`);
    expect(now.version).toBe(version + Number(applied));
    const file = await product.fetch('GET', `/scripts/${id}/files/main.py`);
    expect(await file.text()).toBe(applied ? after : before);
  }

  test('still waits for approval after the backend was killed', async () => {
    const { script, id } = await request();
    await killBackend();
    await expectChange(script, false);
    expect(await approve(id)).toMatchObject({ status: 'approved' });
    await expectChange(script, true);
  });

  test('is applied once if the backend is killed during the approval, and the approval is repeated', async () => {
    const { script, id } = await request();
    await killDuringApproval(id);
    const { status } = await approvalOf(id);
    await expectChange(script, status === 'approved');
    expect(await approve(id)).toMatchObject({ status: 'approved' });
    await expectChange(script, true);
  });

  test('is applied once if the backend is killed after the approval', async () => {
    const { script, id } = await request();
    await approve(id);
    await killBackend();
    expect(await approve(id)).toMatchObject({ status: 'approved' });
    await expectChange(script, true);
  });
});
