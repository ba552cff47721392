import { failPage } from '#lib/api/page-error.ts';
import { getRun } from '#lib/runs/api.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => {
  const { run_id: id, other_id: otherId } = params;
  const [run, other] = await Promise.all([
    getRun(id).catch(failPage),
    otherId === undefined ? null : getRun(otherId).catch(failPage),
  ]);
  return { run, other };
};
