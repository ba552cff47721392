import { getRun } from '#lib/api/runs.ts';
import { failPage } from '#lib/page-error.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params }) => {
  const { run_id: id, other_id: otherId } = params;
  const [run, other] = await Promise.all([
    getRun(id).catch(failPage),
    otherId === undefined ? null : getRun(otherId).catch(failPage),
  ]);
  return { run, other };
};
